package main

import (
	"context"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"docent/internal/config"
	"docent/internal/llm/llmtest"
)

const active = "document.activeElement"

// A visitor without a mouse asks, looks at a source beside its marker, follows it
// to the list and comes back, and asks on.
func TestBrowserKeyboard(t *testing.T) {
	s := answering(t, llmtest.Stream("Open at ten [1].\n\n", "Closed on Monday [2]."), llmtest.Stream("Ten euros [1]."))
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	press := func(keys ...string) {
		t.Helper()
		for _, k := range keys {
			do(t, ctx, chromedp.KeyEvent(k))
		}
	}
	back := func() { do(t, ctx, chromedp.KeyEvent(kb.Tab, chromedp.KeyModifiers(chromedp.ModifierShift))) }
	tabTo := func(what string) {
		t.Helper()
		for range 40 {
			press(kb.Tab)
			if script[bool](t, ctx, active+".matches(\""+what+"\")") {
				return
			}
		}
		t.Fatalf("Tab never leads to %s", what)
	}
	tabTo(questionField)
	press("When is the garden open?", kb.Escape)
	if got := script[string](t, ctx, active+".value"); got != "When is the garden open?" {
		t.Errorf("Escape left %q of the question", got)
	}
	press(kb.Enter)
	until(t, ctx, allDone+" && "+active+".matches('[data-docent-turn] h2')")

	tabTo(".d-cite a[href='#source-1']")
	until(t, ctx, "document.querySelector('.d-citecard') && "+active+".getAttribute('aria-expanded') === 'true'")
	press(kb.Tab)
	if !script[bool](t, ctx, active+".closest('.d-citecard') !== null && "+active+".tagName === 'A'") {
		t.Error("Tab does not lead from the marker into its card")
	}
	back()
	if !script[bool](t, ctx, active+".matches(\".d-cite a[href='#source-1']\") && document.querySelector('.d-citecard') !== null") {
		t.Error("Shift and Tab do not lead back to the marker")
	}
	press(kb.Tab, kb.Escape)
	if !script[bool](t, ctx, active+".matches(\".d-cite a[href='#source-1']\") && document.querySelector('.d-citecard') === null && !"+active+".hasAttribute('aria-expanded')") {
		t.Error("Escape does not close the card and leave the focus on the marker")
	}
	press(kb.Tab)
	until(t, ctx, active+".matches(\".d-cite a[href='#source-2']\") && document.querySelector('.d-citecard')")
	// Through the card and out of it, to what follows the marker.
	inside := script[int](t, ctx, "document.querySelectorAll('.d-citecard :is(a, button)').length")
	for range inside + 1 {
		press(kb.Tab)
	}
	if !script[bool](t, ctx, "document.querySelector('.d-citecard') === null && ("+active+".compareDocumentPosition(document.querySelector(\".d-cite a[href='#source-2']\")) & 2) !== 0 && document.querySelector('[data-docent-turn]').contains("+active+")") {
		t.Errorf("Tab leads out of the card to %s", script[string](t, ctx, active+".outerHTML"))
	}
	back()
	until(t, ctx, active+".matches(\".d-cite a[href='#source-2']\")")
	press(kb.Enter)
	if !script[bool](t, ctx, active+".matches(\".d-source--followed[data-docent-source='2'][aria-current=true]\") && document.querySelectorAll('.d-source--followed, [aria-current=true].d-source').length === 1 && location.hash === ''") {
		t.Error("Enter does not lead to the source")
	}
	press(kb.Escape)
	if !script[bool](t, ctx, active+".matches(\".d-cite a[href='#source-2']\")") {
		t.Error("Escape does not lead back to the marker")
	}
	tabTo("form[data-docent-follow] input[name=question]")
	press("What does it cost?", kb.Enter)
	until(t, ctx, "document.querySelectorAll('[data-docent-state=done]').length === 2 && "+active+".innerText === 'What does it cost?'")
}

// A card shows what the list says of the source: its title, the passage, and a link
// that opens the page at the passage in a tab of its own.
func TestBrowserCitationCard(t *testing.T) {
	s := answering(t, llmtest.Stream("Open at ten [1].\n\n", "Closed on Monday [2]."))
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open in winter?")
	until(t, ctx, allDone)
	for _, n := range []string{"1", "2"} {
		listed := "document.querySelector(\"[data-docent-source='" + n + "']\")"
		hover(t, ctx, ".d-cite a[href='#source-"+n+"']")
		until(t, ctx, "document.querySelector('.d-citecard') && document.querySelector('.d-cite--open').getAttribute('href') === '#source-"+n+"'")
		title := script[string](t, ctx, listed+".querySelector('.d-source__title a').firstChild.textContent.trim()")
		if got := script[string](t, ctx, "document.querySelector('.d-citecard__title').lastChild.textContent"); title == "" || got != title {
			t.Errorf("the card of %s is called %q, want %q", n, got, title)
		}
		passage := script[string](t, ctx, listed+".querySelector('q').textContent")
		if got := script[string](t, ctx, "document.querySelector('.d-citecard q').textContent"); passage == "" || got != passage {
			t.Errorf("the card of %s quotes %q, want %q", n, got, passage)
		}
		link := script[string](t, ctx, "(a => a.target + ' ' + a.rel + ' ' + a.href)(document.querySelector('.d-citecard__links a'))")
		if !strings.HasPrefix(link, "_blank noopener") || !strings.Contains(link, " "+s.url+"/") || !strings.Contains(link, ":~:text=") {
			t.Errorf("the card of %s links to %q", n, link)
		}
		keys(t, ctx, kb.Escape)
		until(t, ctx, "!document.querySelector('.d-citecard')")
	}
}

// tap touches the middle of an element, late enough after another tap not to be
// one double tap with it.
func tap(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	at := promised[[]float64](t, ctx, "(async e => { e.scrollIntoView({block: 'center'}); await new Promise(done => setTimeout(done, 500)); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })(document.querySelector(\""+selector+"\"))")
	for _, p := range []input.DispatchTouchEventParams{
		{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: at[0], Y: at[1]}}},
		{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}},
	} {
		if _, err := chromedp.Call(ctx, input.DispatchTouchEvent, p); err != nil {
			t.Fatal(err)
		}
	}
}

// On a phone a tap opens the card, inside the window in both directions of
// writing, a tap beside it closes it and a second tap follows.
func TestBrowserCitationsByTouch(t *testing.T) {
	long := "Word after word after word after word, and then some more of them [1]. Again word after word [2].\n\n"
	s := answering(t, llmtest.Stream(long, long, long, long, long, long), llmtest.Stream(long, long, long, long, long, long))
	ctx := browser(t, 390, 844)
	do(t, ctx, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	for _, path := range []string{"/answers", "/ar/answers"} {
		on(t, ctx, s.url+path)
		put(t, ctx, "When is the garden open?")
		until(t, ctx, allDone)
		markers := script[int](t, ctx, "document.querySelectorAll('.d-cite a').length")
		for i := range markers {
			tap(t, ctx, ".d-turn__body > :nth-child("+string(rune('1'+i/2))+") .d-cite:nth-of-type("+string(rune('1'+i%2))+") a")
			until(t, ctx, "document.querySelector('.d-citecard')")
			if got := script[string](t, ctx, "(r => r.left < 0 || r.right > document.documentElement.clientWidth + 0.5 || r.top < 0 || r.bottom > innerHeight ? JSON.stringify(r) : '')(document.querySelector('.d-citecard').getBoundingClientRect())"); got != "" {
				t.Errorf("%s: card %d lies outside of the window: %s", path, i, got)
			}
			if i == markers-1 {
				shot(t, ctx, "card"+strings.ReplaceAll(path, "/", "-"))
				break
			}
			keys(t, ctx, kb.Escape) // it may lie over the next marker
		}
		tap(t, ctx, "[data-docent-turn] h2")
		until(t, ctx, "!document.querySelector('.d-citecard')")
		tap(t, ctx, ".d-cite a[href='#source-1']")
		until(t, ctx, "document.querySelector('.d-citecard')")
		tap(t, ctx, ".d-cite a[href='#source-1']")
		until(t, ctx, active+".matches('.d-source--followed') && !document.querySelector('.d-citecard')")
	}
}

// point moves the mouse to a place in the window.
func point(t *testing.T, ctx context.Context, x, y float64) {
	t.Helper()
	do(t, ctx, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
}

// hover moves it to the middle of an element.
func hover(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	at := script[[]float64](t, ctx, "(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector(\""+selector+"\").getBoundingClientRect())")
	point(t, ctx, at[0], at[1])
}

// The pointer opens a card, may move into it, and Escape closes it.
func TestBrowserCitationsByMouse(t *testing.T) {
	gate := make(chan struct{})
	reply := llmtest.Stream("Open at ten [1].", " And now the text grows", " and grows.")
	reply.Gate = gate
	s := answering(t, reply)
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open?")
	pass(t, gate, 2)
	until(t, ctx, "document.querySelector('.d-cite a')")
	hover(t, ctx, ".d-cite a")
	until(t, ctx, "document.querySelector('.d-citecard')")
	if !script[bool](t, ctx, "document.querySelector('.d-citecard').getBoundingClientRect().bottom <= document.querySelector('.d-turn__body > :last-child').getBoundingClientRect().top + 8") {
		t.Error("the card lies over the text that is being written")
	}
	shot(t, ctx, "above")
	hover(t, ctx, ".d-citecard")
	promised[bool](t, ctx, "new Promise(done => setTimeout(done, 600, true))") // longer than a card stays without the pointer
	if !script[bool](t, ctx, "document.querySelector('.d-citecard') !== null") {
		t.Error("the card closed under the pointer")
	}
	keys(t, ctx, kb.Escape)
	until(t, ctx, "!document.querySelector('.d-citecard')")
	close(gate)
	until(t, ctx, allDone)
	point(t, ctx, 5, 5)
	hover(t, ctx, ".d-cite a")
	until(t, ctx, "document.querySelector('.d-citecard')")
	point(t, ctx, 5, 5)
	until(t, ctx, "!document.querySelector('.d-citecard')")
}

// What is copied says where it comes from; Markdown is what the server keeps.
func TestBrowserCopies(t *testing.T) {
	s := answering(t, llmtest.Stream("Open at ten [1].\n\n", "- boots [2]\n", "- a coat\n\n", "| Day | Hour |\n| --- | --- |\n| Monday | ten |\n\n", "```go\nfmt.Println(1)\n```\n"))
	ctx := browser(t, 1280, 900)
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		if _, err := chromedp.CallBrowser(ctx, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
			Permission: &cdpbrowser.PermissionDescriptor{Name: name, AllowWithoutSanitization: name == "clipboard-write"}, Setting: cdpbrowser.PermissionSettingGranted}); err != nil {
			t.Fatal(err)
		}
	}
	// Browsers let the page in front use the clipboard only.
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open?")
	until(t, ctx, allDone)
	copied := func() string { return promised[string](t, ctx, "navigator.clipboard.readText()") }
	do(t, ctx, chromedp.Click(".d-tools [data-docent-copy]"))
	until(t, ctx, "document.querySelector('.d-tools [data-docent-copy]').innerText.trim() === 'Copied.'")
	want := "Open at ten [1].\n\n- boots [2]\n- a coat\n\nDay\tHour\nMonday\tten\n\nfmt.Println(1)\n\n[1] "
	if got := copied(); !strings.HasPrefix(got, want) || strings.Count(got, s.url) != 2 {
		t.Errorf("copied %q, want %q and the addresses", got, want)
	}
	until(t, ctx, "document.querySelector('.d-tools [data-docent-copy]').innerText.trim() === 'Copy' && document.querySelector('#docent-announcer').textContent === 'Copied.'")

	do(t, ctx, chromedp.Click("[data-docent-copy-code]"))
	until(t, ctx, "document.querySelector('[data-docent-copy-code]').innerText === 'Copied.'")
	if got := copied(); strings.TrimSuffix(got, "\n") != "fmt.Println(1)" {
		t.Errorf("copied %q of the code", got)
	}
	do(t, ctx, chromedp.Click("a[data-docent-copy-markdown]"))
	until(t, ctx, "document.querySelector('a[data-docent-copy-markdown]').innerText.trim() === 'Copied.'")
	if got := copied(); !strings.Contains(got, "| Monday | ten |") || !strings.Contains(got, "- boots") {
		t.Errorf("copied as Markdown: %q", got)
	}
}

// Two lists of sources that follow one Answer block fill, a list that follows
// another one stays empty.
func TestBrowserSourcesBlocks(t *testing.T) {
	s := answering(t, llmtest.Stream("Open at ten [1].\n\n", "Closed on Monday [2]."))
	sources := func(store *config.Store, name, uuid, target string, region config.Region) error {
		p := config.Placement{UUID: uuid, Label: name, Region: region, Visibility: config.Visibility{Paths: []string{config.AnswersPath}},
			Block: config.Block{Sources: &config.SourcesBlock{Target: target}}}
		return config.Put(t.Context(), store, name, p, "test")
	}
	const second, elsewhere = "0192a4c0-5d00-7000-8000-0000000000a1", "0192a4c0-5d00-7000-8000-0000000000a2"
	s.configure(func(store *config.Store) error {
		if err := sources(store, "second_list", second, config.SiteAnswerID, config.RegionBottom); err != nil {
			return err
		}
		return sources(store, "other_list", elsewhere, "ai-answers-answer-0192a4c0-5d00-7000-8000-0000000000a3", config.RegionBefore)
	})
	eventually(t, "the lists on the page", func() bool {
		_, body := s.get(client(t), "/answers")
		return strings.Contains(body, second) && strings.Contains(body, elsewhere)
	})
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open?")
	until(t, ctx, allDone)
	got := script[string](t, ctx, "[...document.querySelectorAll('[data-docent-block=sources]')].map(l => (l.id.endsWith('0a2') ? 'other' : 'ours') + l.querySelectorAll('[data-docent-source]').length).sort().join()")
	if got != "other0,ours2,ours2" {
		t.Errorf("lists %s", got)
	}
	if n := script[int](t, ctx, "document.querySelectorAll('[id]').length - new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size"); n != 0 {
		t.Errorf("%d ids are there twice", n)
	}
	do(t, ctx, chromedp.Reload())
	ready(t, ctx)
	until(t, ctx, "document.querySelectorAll('[data-docent-source]').length === 4")
	do(t, ctx, chromedp.Click("[data-docent-new]"))
	until(t, ctx, "document.querySelectorAll('[data-docent-source]').length === 0")
}
