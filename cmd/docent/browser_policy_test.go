package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"docent/internal/llm/llmtest"
)

// noteViolations keeps what a page's policy forbids it from before its first script on.
const noteViolations = `window.docentViolations = []
	addEventListener("securitypolicyviolation", (e) => docentViolations.push(e.effectiveDirective + " " + e.blockedURI + " " + e.sourceFile + ":" + e.lineNumber))`

// No page of any kind does what the policy of pages forbids: no inline script or
// style, no eval, nothing from elsewhere.
func TestBrowserNoPageBreaksThePolicy(t *testing.T) {
	model := llmtest.NewFakeOpenAI(llmtest.Stream("The garden opens at ten [1].\n\n", "| Day | Opens |\n| --- | ---: |\n", "| Monday | 10:00 |\n\n", "```sh\nls ", "--color\n```\n\n", "It closes **early** [2]."))
	t.Cleanup(model.Close)
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": editingPassword, "DOCENT_CONFIG_WRITABLE": "on", "DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake"})
	ctx := browser(t, 1280, 900)
	beforeScripts(t, ctx, noteViolations)
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
	judge := func(what string) {
		t.Helper()
		if bad := script[[]string](t, ctx, "window.docentViolations ?? ['nobody looked']"); len(bad) > 0 {
			t.Errorf("%s: %q", what, bad)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(log) > 0 {
			t.Errorf("%s: %q", what, log)
			log = nil
		}
	}
	look := func(path string) {
		t.Helper()
		do(t, ctx, chromedp.Navigate(s.url+path))
		until(t, ctx, "document.readyState === 'complete' && document.querySelector('h1')")
		seen++
		judge(path)
	}
	for _, path := range slices.Sorted(maps.Values(publicPages(t, s))) {
		look(path)
	}
	for _, path := range []string{"/answers", "/es/answers", "/ar/answers", "/user/login", "/user/signin/nothing", "/nothing/here", "/ai-answers/conversations/nothing", "/ai-answers/shared/nothing"} {
		look(path)
	}
	// An answer, with all that comes in while it grows and all that can be done with
	// it, and the pages of its own.
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open in winter?")
	until(t, ctx, allDone)
	until(t, ctx, "document.querySelector('.d-turn__body table') && document.querySelector('.d-turn__body pre')")
	script[bool](t, ctx, "document.querySelectorAll('details').forEach(d => d.open = true), true")
	conversation := script[string](t, ctx, "document.querySelector('[data-docent-turn]').dataset.docentConversation")
	keys(t, ctx, "\t") // the focus shows itself to whoever uses the keyboard
	script[bool](t, ctx, "document.querySelector('.d-turn__body .d-cite a').focus(), true")
	until(t, ctx, "document.querySelector('.d-citecard')")
	keys(t, ctx, kb.Escape)
	do(t, ctx, chromedp.Click(".d-turn__body .d-cite a[href='#source-2']"))
	until(t, ctx, "document.querySelector('.d-source--followed')")
	do(t, ctx, chromedp.Click(".d-feedback button[value=down]"))
	until(t, ctx, "document.querySelector('.d-feedback__why')")
	do(t, ctx, chromedp.Click(".d-share button[type=submit]"))
	until(t, ctx, "document.querySelector('.d-share--on')")
	link := script[string](t, ctx, "new URL(document.querySelector('.d-share input').value).pathname")
	// Browsers let the page in front use the clipboard only.
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	for _, control := range []string{".d-share [data-docent-copy]", ".d-tools > [data-docent-copy]", "a[data-docent-copy-markdown]", "[data-docent-copy-code]"} {
		do(t, ctx, chromedp.Click(control))
		until(t, ctx, "document.querySelector("+quote(control)+").innerText.trim() === 'Copied.'")
	}
	judge("an answer")
	look("/ai-answers/conversations/" + conversation)
	look(link)
	until(t, ctx, "document.querySelector('.d-turn__body table')")
	refuseQuestion(t, ctx, s)
	judge("a refused question")

	signIn(t, ctx, s, "admin")
	c := s.signedIn(editingPassword)
	for _, path := range []string{"/styleguide", "/styleguide?lang=ar"} {
		look(path)
		until(t, ctx, "document.querySelector('.styleguide__title')")
	}
	look(s.previewPath(c))
	until(t, ctx, "document.querySelector('[data-docent-preview]')")
	pages := adminPages(t, s, c)
	for _, path := range pages {
		look(path)
	}
	if len(pages) < 30 {
		t.Errorf("%d pages of the administration were found", len(pages))
	}
	t.Logf("%d pages", seen)
}
