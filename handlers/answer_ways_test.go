package handlers

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/internal/llm"
	"docent/internal/llm/llmtest"
)

// saying gives a site a model that says these turns.
func saying(t *testing.T, turns ...llmtest.Turn) func(*Deps) {
	return func(d *Deps) {
		var err error
		d.Answers, err = answer.New(t.Context(), answer.Options{DB: d.DB, Config: d.Config, Content: d.Content, Search: d.Search,
			Model: llmtest.NewScript(turns...), SiteURL: d.BaseURL, Log: d.Log, Texts: madeUpTexts()})
		if err != nil {
			t.Fatal(err)
		}
		answers := d.Answers
		t.Cleanup(func() { answers.Close(context.Background()) })
	}
}

// pondSite has a page about a pond, which every question finds.
func pondSite(t *testing.T, d *db.DB, turns ...llmtest.Turn) *testSite {
	t.Helper()
	s := newTestSite(t, d, bilingual(d), saying(t, turns...))
	if err := config.Put(t.Context(), s.Config, "es", config.Language{Label: "Español", Weight: 1}, ""); err != nil {
		t.Fatal(err)
	}
	agent := config.DefaultAgent()
	agent.MinScore, agent.TopicDrift, agent.Share = 0, true, true
	if err := config.Put(t.Context(), s.Config, config.SiteName, agent, ""); err != nil {
		t.Fatal(err)
	}
	s.save(t, content.Input{Title: "The pond", Path: "/pond/", Fields: content.Fields{"body": "Frogs live in the pond. It is two metres deep."}})
	return s
}

// sendForm posts a form of a page as a browser without scripts does and opens the page
// that this leads to.
func (b *browser) sendForm(t *testing.T, form *goquery.Selection, change url.Values, headers ...string) (page *goquery.Document, at *url.URL) {
	t.Helper()
	if form.Length() != 1 {
		t.Fatalf("%d forms", form.Length())
	}
	fields := url.Values{}
	for _, in := range form.Find("input[name]").EachIter() {
		fields.Set(in.AttrOr("name", ""), in.AttrOr("value", ""))
	}
	for name, values := range change {
		fields[name] = values
	}
	headers = append(headers, "Content-Type", formType, "Sec-Fetch-Site", "same-origin", "Accept", "text/html")
	r := b.send(http.MethodPost, form.AttrOr("action", ""), fields.Encode(), headers...).want(t, http.StatusSeeOther)
	at, err := url.Parse(r.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return b.get(at.RequestURI(), "Accept", "text/html").want(t, http.StatusOK).page(t), at
}

// asked puts a question without scripts to the Answer block with a DOM id.
func (b *browser) asked(t *testing.T, fields url.Values, headers ...string) (*goquery.Document, *url.URL) {
	t.Helper()
	form, err := goquery.NewDocumentFromReader(strings.NewReader(`<form action="` + questionURL + `"></form>`))
	if err != nil {
		t.Fatal(err)
	}
	return b.sendForm(t, form.Find("form"), fields, headers...)
}

func conversationOf(at *url.URL) string { return strings.TrimPrefix(at.Path, conversationsURL) }

// Whoever wants the rest of an answer gets it from the same pages, in the language
// of the answer, whatever the language of the page around it.
func TestContinueGoesOn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, lang := range []string{"en", "es", "ar"} {
			if !GoesOn(goOnQuestion(lang)) || !slices.Contains(i18n.Languages(), lang) {
				t.Errorf("%q is no way to go on", goOnQuestion(lang))
			}
		}
		if GoesOn("Please continue.") || GoesOn("") {
			t.Error("any words go on")
		}
		s := pondSite(t, d,
			llmtest.Turn{llmtest.Text("In the pond [1] live"), llmtest.End(llm.FinishLength)},
			llmtest.Turn{llmtest.Text("frogs [1].")})
		b := s.browser()
		_, at := b.asked(t, url.Values{"question": {"¿Qué vive en el pond?"}, "agent": {"site"}, "lang": {"es"}})
		page := b.get(at.Path+"?lang=en", "Accept", "text/html").want(t, http.StatusOK).page(t)
		again := page.Find("form[data-docent-again]")
		if got := again.Find(`input[name="question"]`).AttrOr("value", ""); got != goOnQuestion("es") || again.Find(`input[name="lang"]`).AttrOr("value", "") != "es" {
			t.Errorf("the rest is asked for with %q", got)
		}
		page, _ = b.sendForm(t, again, nil)
		if page.Find("[data-docent-turn]").Length() != 2 || page.Find(`[data-docent-state="done"]`).Length() != 1 {
			t.Errorf("the page shows %s", page.Find("[data-docent-transcript]").Text())
		}
		_, states, err := s.Answers.Conversation(t.Context(), conversationOf(at), account.Account{})
		if err != nil || len(states) != 2 || len(states[1].Sources) == 0 || states[1].Sources[0].Key != states[0].Sources[0].Key {
			t.Fatalf("%+v, %v", states, err)
		}
		r, err := s.Answers.Record(t.Context(), states[1].LogID)
		if err != nil || len(r.Steps) != 1 || r.Steps[0].Kind != answer.StepModel {
			t.Errorf("the rest took %+v, %v", r.Steps, err)
		}
	})
}

// What is left off in a block stays left off, whatever is done without scripts.
func TestFormsKeepTheirBlock(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := pondSite(t, d, llmtest.Turn{llmtest.Text("Frogs [1].")})
		block := config.NewBlock(config.BlockAnswer)
		block.Answer.FollowUp = false
		const uuid = "0192a4c0-5d00-7000-8000-0000000000aa"
		if err := config.Put(t.Context(), s.Config, "quiet", config.Placement{UUID: uuid, Label: "Quiet", Region: config.RegionAfter, Block: block}, ""); err != nil {
			t.Fatal(err)
		}
		id := config.BlockDOMID(config.BlockAnswer, uuid)
		b := s.browser()
		start := b.get("/pond/").want(t, http.StatusOK).page(t)
		page, _ := b.sendForm(t, start.Find("#"+id+"-ask"), url.Values{"question": {"What lives in the pond?"}})
		check := func(what string, page *goquery.Document) {
			t.Helper()
			if page.Find("#"+id+`[data-docent-block="answer"]`).Length() != 1 || page.Find("form[data-docent-follow]").Length() != 0 {
				t.Errorf("%s: the block is another, or has a follow-up form", what)
			}
			forms := page.Find(".d-feedback form, .d-share form")
			if forms.Length() < 2 {
				t.Errorf("%s: %d forms", what, forms.Length())
			}
			for _, f := range forms.EachIter() {
				action, err := url.Parse(f.AttrOr("action", ""))
				if q := action.Query(); err != nil || q.Get("block") != id || q.Get("without") != partFollowUp || q.Get("lang") != "en" || f.AttrOr("hx-post", "") != action.String() {
					t.Errorf("%s: a form goes to %s, with scripts to %s", what, action, f.AttrOr("hx-post", ""))
				}
			}
		}
		check("the answer", page)
		with := func(form *goquery.Selection, fields url.Values) *goquery.Document {
			t.Helper()
			for _, in := range form.Find("input[type=hidden]").EachIter() {
				fields.Set(in.AttrOr("name", ""), in.AttrOr("value", ""))
			}
			return b.send(http.MethodPost, form.AttrOr("hx-post", ""), fields.Encode(), "Content-Type", formType, "Sec-Fetch-Site", "same-origin", "HX-Request", "true").want(t, http.StatusOK).page(t)
		}
		for _, step := range []struct {
			what, form string
			fields     url.Values
			fragment   string
		}{
			{"a vote", "form.d-feedback__vote", url.Values{"rating": {"down"}}, ".d-feedback"},
			{"reasons", "form.d-feedback__why", url.Values{"reasons": {"wrong"}}, ".d-feedback"},
			{"a link", ".d-share form", url.Values{}, ".d-share"},
			{"no link", ".d-share form", url.Values{}, ".d-share"},
		} {
			var at *url.URL
			page, at = b.sendForm(t, page.Find(step.form), step.fields)
			if at.Query().Get("block") != id || at.Query().Get("without") != partFollowUp || at.Fragment == "" {
				t.Errorf("%s leads to %s", step.what, at)
			}
			check(step.what, page)
		}
		for _, form := range []string{"form.d-feedback__vote", ".d-share form"} {
			fragment := with(page.Find(form), url.Values{"rating": {"up"}})
			action, _ := url.Parse(fragment.Find("form").AttrOr("hx-post", ""))
			if action.Query().Get("block") != id || action.Query().Get("without") != partFollowUp {
				t.Errorf("with scripts %s becomes one that goes to %s", form, action)
			}
		}
	})
}

// After a conversation, visitors come back to where they asked, or to where they
// can ask; never to a page that is not there.
func TestWaysBack(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		frogs := llmtest.Turn{llmtest.Text("Frogs [1].")}
		s := pondSite(t, d, slices.Repeat([]llmtest.Turn{frogs}, 20)...)
		b := s.browser()
		ask := func(headers ...string) (*goquery.Document, *url.URL) {
			t.Helper()
			return b.asked(t, url.Values{"question": {"What lives in the pond?"}, "agent": {"site"}, "lang": {"en"}}, headers...)
		}
		deleted := func(headers ...string) string {
			t.Helper()
			page, _ := ask(headers...)
			action := page.Find(`form[action*="/delete"]`).AttrOr("action", "")
			r := b.send(http.MethodPost, action, "", "Content-Type", formType, "Sec-Fetch-Site", "same-origin", "Accept", "text/html").want(t, http.StatusSeeOther)
			return r.Header.Get("Location")
		}
		askLink := func() string {
			t.Helper()
			page, _ := ask()
			_, at := b.sendForm(t, page.Find(".d-share form"), nil)
			page = b.get(at.RequestURI(), "Accept", "text/html").page(t)
			link, err := url.Parse(page.Find(".d-share input[type=url]").AttrOr("value", ""))
			if err != nil || link.Path == "" {
				t.Fatalf("no link: %v", err)
			}
			var to []string
			for _, address := range []string{link.Path, sharedURL + strings.Repeat("0", 32)} {
				shared := b.get(address, "Accept", "text/html").page(t)
				to = append(to, shared.Find("main a.btn").Last().AttrOr("href", ""))
			}
			return strings.Join(to, " ")
		}
		newURL := func(headers ...string) string {
			page, _ := ask(headers...)
			return page.Find("a[data-docent-new]").AttrOr("href", "")
		}
		check := func(what, home string) {
			t.Helper()
			for _, tt := range []struct{ name, got, want string }{
				{"deleting what was asked on a page", deleted("Referer", s.url+"/pond/?x=1"), "/pond/"},
				{"a new question there", newURL("Referer", s.url+"/pond/"), "/pond/"},
				{"deleting what was asked nowhere", deleted(), home},
				{"deleting what was asked elsewhere", deleted("Referer", "https://other.example/pond/"), home},
				{"deleting what was asked at a hostile address", deleted("Referer", s.url+`/%5Cother.example/`), home},
				{"a new question", newURL(), home},
				{"shared answers", askLink(), home + " " + home},
			} {
				if tt.got != tt.want {
					t.Errorf("%s, %s leads to %q, want %q", what, tt.name, tt.got, tt.want)
				}
			}
		}
		check("with blocks", "/answers")
		all, err := config.All[config.Placement](t.Context(), s.Config)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if p.Value.Region == config.RegionContent || p.Value.Region == config.RegionAside {
				p.Value.Visibility.Paths = []string{"/elsewhere/"}
				if err := config.Put(t.Context(), s.Config, p.Name, p.Value, ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		b.get("/answers", "Accept", "text/html").want(t, http.StatusNotFound)
		check("without", "/")
	})
}

// Answers that failed lead to the search for their question.
func TestFailuresLeadToTheSearch(t *testing.T) {
	s := pondSite(t, dbtest.SQLite(t))
	ctx := t.Context()
	for _, tt := range []struct {
		turn     answer.Turn
		question string
		want     string
	}{
		{answer.Turn{Status: answer.Failed, Failure: answer.FailBusy}, "Frogs & co?", "/search?q=Frogs+%26+co%3F"},
		{answer.Turn{Status: answer.Interrupted}, "Frogs?", "/search?q=Frogs%3F"},
		{answer.Turn{Status: answer.Done, Refused: true}, "Frogs?", "/search?q=Frogs%3F"},
		{answer.Turn{Status: answer.Failed, Failure: answer.FailBusy}, goOnQuestion("en"), "/search"},
		{answer.Turn{Status: answer.Done}, "Frogs?", ""},
		{answer.Turn{Status: answer.Stopped}, "Frogs?", ""},
	} {
		tt.turn.ID, tt.turn.Lang, tt.turn.Question = strings.Repeat("1", 32), "en", tt.question
		if got := s.turnProps(ctx, answer.State{Turn: tt.turn}, answersBlock{ID: config.SiteAnswerID, Lang: "en"}).SearchURL; got != tt.want {
			t.Errorf("%s %v %q leads to %q, want %q", tt.turn.Status, tt.turn.Refused, tt.question, got, tt.want)
		}
	}
}
