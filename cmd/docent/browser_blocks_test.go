package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"docent/db"
	"docent/internal/config"
	"docent/internal/llm/llmtest"
)

// answering serves a site whose model gives these replies.
func answering(t *testing.T, replies ...llmtest.Reply) *testSite {
	t.Helper()
	model := llmtest.NewFakeOpenAI(replies...)
	t.Cleanup(model.Close)
	return serveSite(t, map[string]string{"DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake"})
}

// pass lets the model say this many pieces more.
func pass(t *testing.T, gate chan<- struct{}, pieces int) {
	t.Helper()
	for range pieces {
		select {
		case gate <- struct{}{}:
		case <-time.After(30 * time.Second):
			t.Fatal("the model is not asked, or not heard to the end")
		}
	}
}

// configure changes the configuration of a site that runs, as another process would.
func (s *testSite) configure(change func(*config.Store) error) {
	s.t.Helper()
	d, err := db.Open(s.t.Context(), "", s.data)
	if err != nil {
		s.t.Fatal(err)
	}
	defer d.Close()
	store, err := config.Open(s.t.Context(), d)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := change(store); err != nil {
		s.t.Fatal(err)
	}
}

func (s *testSite) answers(change func(*config.AnswerSettings)) {
	s.t.Helper()
	s.configure(func(store *config.Store) error {
		settings, err := config.Get[config.AnswerSettings](s.t.Context(), store, config.SiteName)
		if err != nil {
			return err
		}
		change(&settings)
		return config.Put(s.t.Context(), store, config.SiteName, settings, "test")
	})
}

// on opens a page and waits for its scripts.
func on(t *testing.T, ctx context.Context, url string) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(url))
	ready(t, ctx)
}

func keys(t *testing.T, ctx context.Context, keys string, opts ...chromedp.KeyOption) {
	t.Helper()
	do(t, ctx, chromedp.KeyEvent(keys, opts...))
}

// promised is what a promise in the page comes to.
func promised[T any](t *testing.T, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}

// beforeScripts runs a script in every page that is opened from now on, before
// the page's own.
func beforeScripts(t *testing.T, ctx context.Context, js string) {
	t.Helper()
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: js}); err != nil {
		t.Fatal(err)
	}
}

// allDone holds once an answer is there and nothing is being written.
const allDone = "document.querySelector('[data-docent-state=done]') && !document.querySelector('[data-docent-stream]')"

// A conversation is there again after a reload, its question is among the recent
// ones, a new question clears every place, and deleting deletes on the server too.
func TestBrowserConversations(t *testing.T) {
	s := answering(t, llmtest.Stream("Open at ten [1].\n\n", "Closed on Monday [2]."), llmtest.Stream("Ten euros [1]."), llmtest.Stream("By tram [1]."))
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open?")
	until(t, ctx, allDone)
	if n := script[int](t, ctx, "document.querySelectorAll('[data-docent-source]').length"); n != 2 {
		t.Errorf("%d sources, want 2", n)
	}
	do(t, ctx, chromedp.SendKeys(".d-follow input[name=question]", "What does it cost?"), chromedp.Click("form[data-docent-follow] button[type=submit]"))
	until(t, ctx, "document.querySelectorAll('[data-docent-state=done]').length == 2")
	if n := script[int](t, ctx, "[...document.querySelectorAll('[data-docent-new]')].filter(e => e.checkVisibility()).length"); n != 1 {
		t.Errorf("%d controls for a new question, want one, on the last turn", n)
	}

	do(t, ctx, chromedp.Reload())
	ready(t, ctx)
	until(t, ctx, "document.querySelectorAll('[data-docent-turn]').length == 2 && document.querySelectorAll('[data-docent-source]').length == 2 && document.querySelector('form[data-docent-follow]')")
	if got := script[string](t, ctx, "location.pathname + location.search + location.hash"); got != "/answers" {
		t.Errorf("the address became %s", got)
	}
	// Another page with the same block, or a tab of its own, shows it not.
	id := script[string](t, ctx, "document.querySelector('[data-docent-conversation]').dataset.docentConversation")

	do(t, ctx, chromedp.Click("[data-docent-turn]:last-child [data-docent-new]"))
	until(t, ctx, "document.querySelector('[data-docent-transcript] .d-answer__empty') && !document.querySelector('[data-docent-turn], [data-docent-source], form[data-docent-follow]')")
	if !script[bool](t, ctx, "document.activeElement === document.querySelector('"+questionField+"')") {
		t.Error("the focus is not in the field for a new question")
	}
	shot(t, ctx, "recent")
	if got := script[string](t, ctx, "[...document.querySelectorAll('[data-docent-reopen]')].map(b => b.textContent).join('|')"); got != "When is the garden open?" {
		t.Errorf("recent questions %q", got)
	}
	if got := script[string](t, ctx, "document.querySelector('[data-docent-forget]').getAttribute('aria-labelledby').split(' ').map(id => document.getElementById(id)).map(e => e.getAttribute('aria-label') ?? e.textContent).join(' ')"); got != "Delete When is the garden open?" {
		t.Errorf("the button to delete is called %q", got)
	}
	do(t, ctx, chromedp.Reload())
	ready(t, ctx)
	until(t, ctx, "document.querySelector('[data-docent-reopen]')")
	if script[bool](t, ctx, "document.querySelector('[data-docent-turn]') !== null") {
		t.Error("a cleared conversation came back")
	}

	do(t, ctx, chromedp.Click("[data-docent-reopen]"))
	until(t, ctx, "document.querySelectorAll('[data-docent-turn]').length == 2 && document.activeElement.matches('[data-docent-turn]:first-child h2')")
	do(t, ctx, chromedp.Click("[data-docent-turn]:last-child [data-docent-new]"))
	until(t, ctx, "document.querySelector('[data-docent-reopen]')")
	put(t, ctx, "How do I get there?")
	until(t, ctx, allDone+" && document.querySelectorAll('[data-docent-turn]').length == 1")
	do(t, ctx, chromedp.Click("[data-docent-turn] [data-docent-new]"))
	until(t, ctx, "document.querySelectorAll('[data-docent-reopen]').length == 2")
	if got := script[string](t, ctx, "document.querySelector('[data-docent-reopen]').textContent"); got != "How do I get there?" {
		t.Errorf("first among the recent questions is %q", got)
	}

	exists := func(id string) bool {
		return promised[int](t, ctx, "fetch('/ai-answers/conversations/"+id+"', {headers: {Accept: 'text/html'}}).then(r => r.status)") == 200
	}
	if !exists(id) {
		t.Fatal("the first conversation is gone too early")
	}
	do(t, ctx, chromedp.Click("[data-docent-recent-id='"+id+"'] [data-docent-forget]"))
	until(t, ctx, "document.querySelectorAll('[data-docent-reopen]').length == 1 && document.activeElement.matches('[data-docent-forget]')")
	if exists(id) {
		t.Error("the deleted conversation is still on the server")
	}
	do(t, ctx, chromedp.Click("[data-docent-forget-all]"))
	until(t, ctx, "!document.querySelector('[data-docent-recent-list]') && localStorage.length === 0")
}

// A recent question whose conversation is over is filled in, and nothing is asked.
func TestBrowserRecentGone(t *testing.T) {
	s := answering(t)
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	script[bool](t, ctx, `(() => { localStorage.setItem('ai-answers-recent', JSON.stringify([{id: '0192a4c0-5d00-7000-8000-00000000dead', question: 'What <b>bloomed</b>?', time: 1}, 7, {id: 3}]));
		sessionStorage.setItem('ai-answers-shown:/answers#'+document.querySelector('[data-docent-block=answer]').id, 'nonsense'); return true })()`)
	do(t, ctx, chromedp.Reload())
	ready(t, ctx)
	do(t, ctx, chromedp.Click("[data-docent-reopen]"))
	until(t, ctx, "document.activeElement.value === 'What <b>bloomed</b>?' && document.querySelector('.d-question__notice .notice')")
	if script[bool](t, ctx, "document.querySelector('[data-docent-turn]') !== null || sessionStorage.length > 0") {
		t.Error("something was asked, or what is gone is remembered")
	}
}

// A page that may not store anything answers all the same.
func TestBrowserWithoutStorage(t *testing.T) {
	s := answering(t, llmtest.Stream("Open at ten [1]."))
	ctx := browser(t, 1280, 900)
	beforeScripts(t, ctx, `for (const name of ["localStorage", "sessionStorage"])
		Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError"); } });`)
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open?")
	until(t, ctx, allDone)
	do(t, ctx, chromedp.Click("[data-docent-new]"))
	until(t, ctx, "!document.querySelector('[data-docent-turn]')")
	// From another page the browser posts the form itself.
	on(t, ctx, s.url+"/visit/")
	put(t, ctx, "When is the garden open?")
	until(t, ctx, "location.pathname.startsWith('/ai-answers/conversations/')")
}

// Ctrl+K leads to the first question if the site wants it, and only then.
func TestBrowserShortcut(t *testing.T) {
	s := answering(t)
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/visit/?q=tulips")
	focused := "document.activeElement === document.querySelector('" + questionField + "')"
	keys(t, ctx, "k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	if script[bool](t, ctx, focused+" || document.querySelector('.d-question__key') !== null") {
		t.Error("the shortcut works though the site does not turn it on")
	}
	s.answers(func(settings *config.AnswerSettings) { settings.Shortcut = true })
	eventually(t, "the shortcut in the page", func() bool {
		_, body := s.get(client(t), "/visit/")
		return strings.Contains(body, "data-docent-shortcut")
	})
	on(t, ctx, s.url+"/visit/?q=roses")
	if got := script[string](t, ctx, "document.querySelector('"+questionField+"').value"); got != "roses" {
		t.Errorf("the field says %q", got)
	}
	shot(t, ctx, "hint")
	keys(t, ctx, "k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	until(t, ctx, focused+" && getSelection().toString() === 'roses'")
	if got := script[string](t, ctx, "document.activeElement.getAttribute('aria-keyshortcuts') + document.querySelector('.d-question__key').textContent"); got != "Control+KCtrl K" {
		t.Errorf("the shortcut is told as %q", got)
	}
	shot(t, ctx, "shortcut")
	script[bool](t, ctx, "(() => { const a = document.createElement('textarea'); document.querySelector('main').append(a); a.focus(); return true })()")
	keys(t, ctx, "k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	if script[bool](t, ctx, focused) {
		t.Error("the shortcut took a key from a text of several lines")
	}
	if script[bool](t, ctx, "document.querySelector('[data-docent-turn]') !== null") {
		t.Error("a question in the address was asked")
	}
}

// A page opens with the focus in a question's field if its block says so, and not
// otherwise, nor where the address leads elsewhere.
func TestBrowserAutofocus(t *testing.T) {
	s := answering(t)
	ctx := browser(t, 1280, 900)
	focused := "document.activeElement === document.querySelector('" + questionField + "')"
	on(t, ctx, s.url+"/visit/")
	if script[bool](t, ctx, focused) {
		t.Error("a page takes the focus though no block says so")
	}
	s.configure(func(store *config.Store) error {
		p, err := config.Get[config.Placement](t.Context(), store, "site_question")
		if err != nil {
			return err
		}
		question := *p.Question
		question.Autofocus = true
		p.Question = &question
		return config.Put(t.Context(), store, "site_question", p, "test")
	})
	eventually(t, "the setting in the page", func() bool {
		_, body := s.get(client(t), "/visit/")
		return strings.Contains(body, "data-docent-autofocus")
	})
	on(t, ctx, s.url+"/visit/?fresh")
	until(t, ctx, focused)
	on(t, ctx, s.url+"/visit/?fresh#main")
	if script[bool](t, ctx, focused) {
		t.Error("the focus is taken from the place that the address names")
	}
}

// A preview of a Question block, which is inert, takes no part: the question of the
// address, the shortcut, the focus and the busy buttons are for the block behind it.
func TestBrowserInertPreview(t *testing.T) {
	gate := make(chan struct{})
	reply := llmtest.Stream("Open at ten [1].")
	reply.Gate = gate
	s := answering(t, reply)
	s.answers(func(settings *config.AnswerSettings) { settings.Shortcut = true })
	eventually(t, "the shortcut in the page", func() bool {
		_, body := s.get(client(t), "/answers")
		return strings.Contains(body, "data-docent-shortcut")
	})
	ctx := browser(t, 1280, 900)
	beforeScripts(t, ctx, `document.addEventListener("readystatechange", () => {
		if (document.readyState !== "interactive") return
		const real = document.querySelector("[data-docent-block=question]"), preview = document.createElement("div")
		preview.inert = true
		preview.id = "preview"
		preview.append(real.cloneNode(true))
		for (const e of preview.querySelectorAll("[id]")) e.id = "preview-" + e.id
		preview.querySelector("input[name=question]").removeAttribute("value")
		preview.querySelector("form").dataset.docentAutofocus = ""
		preview.querySelector("form").dataset.docentNotice = "preview-" + preview.querySelector("form").dataset.docentNotice
		real.before(preview)
	})`)
	on(t, ctx, s.url+"/answers?q=roses")
	const field = "#preview ~ [data-docent-block=question] input[name=question]"
	if got := script[string](t, ctx, "['#preview input[name=question]', '"+field+"'].map(f => document.querySelector(f).value + document.querySelector(f).hasAttribute('aria-keyshortcuts')).join()"); got != "false,rosestrue" {
		t.Errorf("the fields say %s", got)
	}
	keys(t, ctx, "k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	until(t, ctx, "document.activeElement === document.querySelector('"+field+"')")
	keys(t, ctx, "\r")
	until(t, ctx, "document.querySelector('"+field+"').form.querySelector('button').getAttribute('aria-disabled') === 'true'")
	if script[bool](t, ctx, "document.querySelector('#preview button[type=submit]').hasAttribute('aria-disabled')") {
		t.Error("the preview's button is busy")
	}
	close(gate)
	until(t, ctx, allDone)
	do(t, ctx, chromedp.Click("[data-docent-new]"))
	until(t, ctx, "document.activeElement === document.querySelector('"+field+"')")
}

// A question in the address of an Answer block's page is filled in, and asked only
// if this tab has just sent it there.
func TestBrowserHandOff(t *testing.T) {
	s := answering(t, llmtest.Stream("Open at ten [1]."))
	ctx := browser(t, 1280, 900)
	hash := "#ai-answers-ask=" + config.SiteAnswerID + ":"
	on(t, ctx, s.url+"/answers"+hash+"Are%20dogs%20allowed%3F")
	until(t, ctx, "document.querySelector('"+questionField+"').value === 'Are dogs allowed?' && location.hash === ''")
	on(t, ctx, s.url+"/answers"+hash+"%E0%A4%A")
	on(t, ctx, s.url+"/visit/"+hash+"nobody")
	until(t, ctx, "document.querySelector('"+questionField+"').value === 'nobody'") // its block is not here: the question is kept
	on(t, ctx, s.url+"/visit/")
	// From here on a visitor asks.
	do(t, ctx, chromedp.Click(".chip"))
	until(t, ctx, "location.pathname === '/answers' && "+allDone)
	asked := script[string](t, ctx, "document.querySelector('[data-docent-turn] h2').innerText")
	if asked != "When is the garden open this winter?" || script[bool](t, ctx, "sessionStorage.getItem('ai-answers-ask') !== null") {
		t.Errorf("asked %q, or the mark is left", asked)
	}
	// The page of the conversation deletes it, and the browser forgets it.
	id := script[string](t, ctx, "document.querySelector('[data-docent-conversation]').dataset.docentConversation")
	on(t, ctx, s.url+"/ai-answers/conversations/"+id)
	do(t, ctx, chromedp.Click(".answers-foot form[action*='/delete'] button"))
	until(t, ctx, "location.pathname === '/answers' && window.htmx")
	if n := script[int](t, ctx, "localStorage.length + document.querySelectorAll('[data-docent-turn], [data-docent-reopen]').length"); n != 0 {
		t.Errorf("%d traces of a deleted conversation", n)
	}
}
