package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// noteViolations keeps what a page's policy forbids it from before its first script on.
const noteViolations = `window.docentViolations = []
	addEventListener("securitypolicyviolation", (e) => docentViolations.push(e.effectiveDirective + " " + e.blockedURI + " " + e.sourceFile + ":" + e.lineNumber))`

// No page of any kind does what the policy of pages forbids: no inline script or
// style, no eval, nothing from elsewhere.
func TestBrowserNoPageBreaksThePolicy(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": editingPassword, "DOCENT_CONFIG_WRITABLE": "on"})
	ctx := browser(t, 1280, 900)
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: noteViolations}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var log []string
	go func() {
		for m, err := range chromedp.Console(ctx) {
			if err != nil {
				return
			}
			if text := fmt.Sprint(m); strings.Contains(text, "Content Security Policy") || strings.Contains(text, "Refused to") {
				mu.Lock()
				log = append(log, text)
				mu.Unlock()
			}
		}
	}()
	seen := 0
	look := func(path string) {
		t.Helper()
		do(t, ctx, chromedp.Navigate(s.url+path))
		until(t, ctx, "document.readyState === 'complete' && document.querySelector('h1')")
		seen++
		if bad := script[[]string](t, ctx, "window.docentViolations ?? ['nobody looked']"); len(bad) > 0 {
			t.Errorf("%s: %q", path, bad)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(log) > 0 {
			t.Errorf("%s: %q", path, log)
			log = nil
		}
	}
	for _, path := range slices.Sorted(maps.Values(publicPages(t, s))) {
		look(path)
	}
	for _, path := range []string{"/answers", "/es/answers", "/ar/answers", "/user/login", "/user/signin/nothing", "/nothing/here", "/ai-answers/conversations/nothing", "/ai-answers/shared/nothing"} {
		look(path)
	}
	// An answer, with all that comes in while it grows, and the page of its own.
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open in winter?")
	until(t, ctx, allDone)
	script[bool](t, ctx, "document.querySelectorAll('details').forEach(d => d.open = true), true")
	conversation := script[string](t, ctx, "document.querySelector('[data-docent-turn]').dataset.docentConversation")
	if bad := script[[]string](t, ctx, "docentViolations"); len(bad) > 0 {
		t.Errorf("an answer: %q", bad)
	}
	look("/ai-answers/conversations/" + conversation)

	signIn(t, ctx, s, "admin")
	c := s.signedIn(editingPassword)
	pages := adminPages(t, s, c)
	for _, path := range pages {
		look(path)
	}
	if len(pages) < 30 {
		t.Errorf("%d pages of the administration were found", len(pages))
	}
	t.Logf("%d pages", seen)
}
