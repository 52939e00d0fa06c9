package main

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"docent/internal/config"
	"docent/internal/llm/llmtest"
)

// Two Answer blocks on one page answer at once. Questions, sources, cards and
// follow-up questions stay with their own block, and so do conversations when the
// page is loaded again.
func TestBrowserTwoAnswers(t *testing.T) {
	gates := []chan struct{}{make(chan struct{}), make(chan struct{})}
	first := llmtest.Stream("Open at ten [1].\n\n", "Come early.")
	first.Gate = gates[0]
	second := llmtest.Stream("Ten euros [1].\n\n", "Pay at the gate.")
	second.Gate = gates[1]
	s := answering(t, first, second, llmtest.Stream("By tram [1]."), llmtest.Stream("In cash [1]."))
	s.answers(func(settings *config.AnswerSettings) { settings.PerMinute = 0 })
	const answerUUID, questionUUID = "0192a4c0-5d00-7000-8000-0000000000b1", "0192a4c0-5d00-7000-8000-0000000000b2"
	ids := []string{config.SiteAnswerID, config.BlockDOMID(config.BlockAnswer, answerUUID)}
	here := config.Visibility{Paths: []string{config.AnswersPath}}
	s.configure(func(store *config.Store) error {
		answer := config.Placement{UUID: answerUUID, Label: "Prices", Region: config.RegionBottom, Visibility: here,
			Block: config.Block{Answer: &config.AnswerBlock{Agent: config.SiteName, FollowUp: true, References: true, Feedback: true}}}
		if err := config.Put(t.Context(), store, "second_answer", answer, "test"); err != nil {
			return err
		}
		question := config.Placement{UUID: questionUUID, Label: "Ask for prices", Region: config.RegionAfter, Visibility: here,
			Block: config.Block{Question: &config.QuestionBlock{Target: ids[1]}}}
		return config.Put(t.Context(), store, "second_question", question, "test")
	})
	eventually(t, "the blocks on the page", func() bool {
		_, body := s.get(client(t), "/answers")
		return strings.Contains(body, answerUUID) && strings.Contains(body, questionUUID)
	})
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	ask := func(n int, kind, question string) {
		form := "form[data-docent-" + kind + "][data-ai-answers-target='" + ids[n] + "'] "
		do(t, ctx, chromedp.SendKeys(form+"input[name=question]", question), chromedp.Click(form+"button[type=submit]"))
	}
	has := func(n int, text string) {
		t.Helper()
		until(t, ctx, "document.querySelector('#"+ids[n]+" .d-turn__body')?.innerText.includes('"+text+"')")
	}
	// What each block shows, as questions and as titles of the sources that follow it.
	shown := func(n int) string {
		return script[string](t, ctx, "[...document.querySelectorAll('#"+ids[n]+" [data-docent-turn] h2')].map(h => h.innerText).join('|')")
	}
	title := func(n int) string {
		return script[string](t, ctx, "document.querySelector(`[data-ai-answers-sources-target='"+ids[n]+"'] [data-docent-source='1'] .d-source__title a`)?.firstChild.textContent.trim() ?? ''")
	}
	ask(0, "question", "When is the garden open in winter?")
	pass(t, gates[0], 2)
	has(0, "Open at ten")
	ask(1, "question", "How much is a family ticket?")
	pass(t, gates[1], 2)
	has(1, "Ten euros")
	if n := script[int](t, ctx, "document.querySelectorAll('[data-docent-stream]').length"); n != 2 {
		t.Fatalf("%d streams are open, want two", n)
	}
	close(gates[1])
	has(1, "Pay at the gate")
	until(t, ctx, "document.querySelector('#"+ids[1]+" [data-docent-state=done]')")
	if got := script[string](t, ctx, "document.querySelector('#"+ids[0]+" .d-turn__body').getAttribute('aria-busy') + document.querySelectorAll('#"+ids[0]+" form[data-docent-follow]').length"); got != "true0" {
		t.Errorf("the end of the second answer is taken for that of the first: %s", got)
	}
	close(gates[0])
	has(0, "Come early")
	until(t, ctx, "document.querySelectorAll('[data-docent-state=done]').length === 2 && !document.querySelector('[data-docent-stream]')")
	shot(t, ctx, "two")
	titles := []string{title(0), title(1)}
	if titles[0] == "" || titles[1] == "" || titles[0] == titles[1] {
		t.Fatalf("the blocks cite %q, want a page of its own each", titles)
	}
	for n := range ids {
		if cards := script[int](t, ctx, "document.querySelectorAll(`[data-ai-answers-sources-target='"+ids[n]+"'] [data-docent-source]`).length"); cards != 1 {
			t.Errorf("block %d has %d sources, want one", n, cards)
		}
		script[bool](t, ctx, "(document.querySelector(`#"+ids[n]+" .d-cite a`).scrollIntoView({block: 'center'}), true)")
		hover(t, ctx, "#"+ids[n]+" .d-cite a")
		until(t, ctx, "document.querySelector('#"+ids[n]+" .d-citecard')")
		if got := script[string](t, ctx, "document.querySelector('#"+ids[n]+" .d-citecard__title').lastChild.textContent"); got != titles[n] {
			t.Errorf("the card of block %d shows %q, want %q", n, got, titles[n])
		}
		do(t, ctx, chromedp.KeyEvent("\x1b"))
		until(t, ctx, "!document.querySelector('.d-citecard')")
	}
	ask(1, "follow", "Can I pay in cash?")
	until(t, ctx, "document.querySelectorAll('#"+ids[1]+" [data-docent-state=done]').length === 2")
	ask(0, "follow", "How do I get there?")
	until(t, ctx, "document.querySelectorAll('#"+ids[0]+" [data-docent-state=done]').length === 2")
	want := []string{"When is the garden open in winter?|How do I get there?", "How much is a family ticket?|Can I pay in cash?"}
	for n := range ids {
		if got := shown(n); got != want[n] {
			t.Errorf("block %d shows %q, want %q", n, got, want[n])
		}
	}
	do(t, ctx, chromedp.Reload())
	ready(t, ctx)
	until(t, ctx, "document.querySelectorAll('[data-docent-state=done]').length === 4")
	for n := range ids {
		if got := shown(n); got != want[n] {
			t.Errorf("after loading again block %d shows %q, want %q", n, got, want[n])
		}
		if got := title(n); got != titles[n] {
			t.Errorf("after loading again block %d cites %q, want %q", n, got, titles[n])
		}
	}
	if n := script[int](t, ctx, "document.querySelectorAll('[id]').length - new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size"); n != 0 {
		t.Errorf("%d ids are there twice", n)
	}
	// A new question in one block leaves the other alone.
	do(t, ctx, chromedp.Click("#"+ids[1]+" [data-docent-turn]:last-child [data-docent-new]"))
	until(t, ctx, "!document.querySelector('#"+ids[1]+" [data-docent-turn]')")
	if shown(0) != want[0] || title(0) != titles[0] || title(1) != "" {
		t.Errorf("then the blocks show %q with %q and %q", shown(0), title(0), title(1))
	}
}
