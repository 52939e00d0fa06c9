package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"docent/db"
	"docent/internal/config"
	"docent/internal/llm/llmtest"
)

// takeSession gives the browser the cookies of a client.
func (s *testSite) takeSession(ctx context.Context, c *http.Client) {
	s.t.Helper()
	base, err := url.Parse(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, cookie := range c.Jar.Cookies(base) {
		if _, err := chromedp.Call(ctx, network.SetCookie, network.SetCookieParams{Name: cookie.Name, Value: cookie.Value, URL: s.url}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// previewPath is the preview of one of the site's pages, for whoever edits it.
func (s *testSite) previewPath(editor *http.Client) string {
	s.t.Helper()
	_, list := s.get(editor, "/admin/content", "Accept", "text/html")
	for _, a := range parse(s.t, list).Find("main a[href^='/admin/node/'], main a[href^='/admin/content/']").EachIter() {
		_, form := s.get(editor, a.AttrOr("href", ""), "Accept", "text/html")
		if path, ok := parse(s.t, form).Find("a[href^='/preview/']").Attr("href"); ok {
			return path
		}
	}
	s.t.Fatalf("no page of the site can be previewed: %v", parse(s.t, list).Find("main a[href]").Map(func(_ int, a *goquery.Selection) string { return a.AttrOr("href", "") }))
	return ""
}

// refuseQuestion posts a question that is none as a browser without scripts does.
func refuseQuestion(t *testing.T, ctx context.Context, s *testSite) {
	t.Helper()
	on(t, ctx, s.url+"/visit/")
	script[bool](t, ctx, `(() => { const form = document.querySelector("form[data-docent-question]");
		form.elements.question.value = " "; HTMLFormElement.prototype.submit.call(form); return true })()`)
	until(t, ctx, "location.pathname === '/ai-answers/question' && document.readyState === 'complete' && document.querySelector('.lone form[data-docent-question]')")
}

// cutOff is an answer that ends at the model's limit of length.
func cutOff(text string) llmtest.Reply {
	r := llmtest.Stream(text)
	for i, piece := range r.Pieces {
		r.Pieces[i] = strings.Replace(piece, `"finish_reason":"stop"`, `"finish_reason":"length"`, 1)
	}
	return r
}

// The pages on which answers stand for longer, and the ends of answers that are
// met less often.
func TestAxeAnswersKept(t *testing.T) {
	model := llmtest.NewFakeOpenAI(llmtest.Stream("In winter the garden opens at ten [1].\n\n| Day | Opens |\n| --- | --- |\n| Monday | 10:00 |\n\n```sh\nls --color\n```\n"),
		llmtest.Stream("A family pays less [1]."), cutOff("It closes at [1]"), llmtest.Stream(), llmtest.Stream())
	t.Cleanup(model.Close)
	s := serveSite(t, map[string]string{"DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake", "DOCENT_ADMIN_PASSWORD": "correct horse battery"})
	ctx := browser(t, desktop.width, desktop.height)
	judge := func(state string) {
		t.Helper()
		for _, scheme := range []string{"light", "dark"} {
			emulate(t, ctx, "prefers-color-scheme", scheme)
			axe(t, ctx, state+" "+scheme)
		}
		for _, screen := range []screen{wide, small} {
			screen.show(t, ctx)
			reflow(t, ctx, state+" "+screen.name)
		}
		desktop.show(t, ctx)
	}
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open in winter?")
	until(t, ctx, allDone)
	do(t, ctx, chromedp.SendKeys(".d-follow input[name=question]", "And for a family?"), chromedp.Click("form[data-docent-follow] button[type=submit]"))
	until(t, ctx, "document.querySelectorAll('[data-docent-state=done]').length == 2 && !document.querySelector('[data-docent-stream]')")
	do(t, ctx, chromedp.Click(".d-share button[type=submit]"))
	until(t, ctx, "document.querySelector('.d-share--on')")
	link := script[string](t, ctx, "new URL(document.querySelector('.d-share input').value).pathname")
	conversation := script[string](t, ctx, "document.querySelector('[data-docent-turn]').dataset.docentConversation")
	do(t, ctx, chromedp.Click("[data-docent-turn]:last-child [data-docent-new]"))
	until(t, ctx, "document.querySelector('[data-docent-reopen]')")
	judge("recent")
	put(t, ctx, "When does the garden close in winter?")
	until(t, ctx, "document.querySelector('[data-docent-state=cutoff]') && !document.querySelector('[data-docent-stream]')")
	judge("cutoff")
	do(t, ctx, chromedp.Click("[data-docent-turn]:last-child [data-docent-new]"))
	put(t, ctx, "zzzqqq")
	until(t, ctx, "document.querySelector('[data-docent-state=refused]') && !document.querySelector('[data-docent-stream]')")
	judge("refused")

	on(t, ctx, s.url+"/ai-answers/conversations/"+conversation)
	until(t, ctx, "document.querySelectorAll('[data-docent-turn]').length == 2")
	judge("conversation")
	on(t, ctx, s.url+link)
	until(t, ctx, "document.querySelector('.d-turn__body table')")
	judge("shared")
	d, err := db.Open(t.Context(), "", s.data)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Exec(t.Context(), "update answer_shares set expires_at = ?", db.Now()); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"shared, over": link, "shared, unknown": "/ai-answers/shared/none"} {
		on(t, ctx, s.url+path)
		until(t, ctx, "document.querySelector('.lone h1') && !document.querySelector('.d-turn')")
		judge(name)
	}
	refuseQuestion(t, ctx, s)
	judge("question refused")

	s.configure(func(store *config.Store) error {
		agent, err := config.Get[config.Agent](t.Context(), store, config.SiteName)
		if err != nil {
			return err
		}
		agent.Enabled = false
		return config.Put(t.Context(), store, config.SiteName, agent, "test")
	})
	script[bool](t, ctx, "sessionStorage.clear(), true") // the block shows no conversation again
	// Another process changed it: the site and the browser may show for a moment what they have.
	const closed = "document.querySelector('[data-docent-transcript] .d-answer__empty .notice') !== null"
	for n := range 100 {
		on(t, ctx, fmt.Sprintf("%s/answers?look=%d", s.url, n))
		if script[bool](t, ctx, closed) {
			break
		}
	}
	until(t, ctx, closed)
	judge("closed")

	editor := s.signedIn("correct horse battery")
	s.takeSession(ctx, editor)
	on(t, ctx, s.url+s.previewPath(editor))
	until(t, ctx, "document.querySelector('[data-docent-preview]')")
	judge("preview")
}
