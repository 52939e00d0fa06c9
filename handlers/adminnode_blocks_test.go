package handlers

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/llm"
)

// answering gives a site answers with all the words that go into them.
func answering(t *testing.T) func(*Deps) {
	return func(d *Deps) {
		var err error
		d.Answers, err = answer.New(t.Context(), answer.Options{DB: d.DB, Config: d.Config, Content: d.Content, Search: d.Search,
			Model: llm.NewOffline(nil), SiteURL: d.BaseURL, Log: d.Log, Texts: madeUpTexts()})
		if err != nil {
			t.Fatal(err)
		}
		answers := d.Answers
		t.Cleanup(func() { answers.Close(context.Background()) })
	}
}

// gardenAgent is an agent that is not the site's own, to tell whose answers they are.
func (s *testSite) gardenAgent() {
	s.t.Helper()
	agent := config.DefaultAgent()
	agent.Label, agent.QuestionLimit = "Garden answers", 77
	if err := config.Put(s.t.Context(), s.Config, "garden", agent, ""); err != nil {
		s.t.Fatal(err)
	}
}

// asks puts a question to an Answer block without scripts and without saying which
// agent it is for, and tells who answered.
func (s *testSite) asks(block string) (agent string) {
	s.t.Helper()
	b := s.browser()
	r := b.send(http.MethodPost, questionURL, url.Values{"question": {"When is the garden open?"}, "block": {block}}.Encode(),
		"Content-Type", formType, "Sec-Fetch-Site", "same-origin", "Accept", "text/html")
	if r.StatusCode != http.StatusSeeOther {
		return http.StatusText(r.StatusCode)
	}
	where, err := url.Parse(r.Header.Get("Location"))
	if err != nil {
		s.t.Fatal(err)
	}
	page := b.get(where.String(), "Accept", "text/html").want(s.t, http.StatusOK).page(s.t)
	return page.Find("#"+block+`-ask input[name="agent"]`).AttrOr("value", "")
}

// An editor without scripts adds an Answer block and a Question block to a page,
// which then answers, and is found by blocks elsewhere.
func TestBlocksInContent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s, root := newStructureSite(t, d, answering(t))
		s.language("es", "Español")
		s.gardenAgent()
		s.person("ed", account.RoleEditor)
		ed := s.browser().login("ed")

		form := ed.get("/admin/content/add/page").want(t, http.StatusOK)
		form = ed.press(form, "add:parts:text", url.Values{"f.title.0": {"Visit"}}).want(t, http.StatusOK)
		form = ed.press(form, "add:parts:question", url.Values{"f.parts.0": {"Hello"}}).want(t, http.StatusOK)
		form = ed.press(form, "add:parts:answer", nil).want(t, http.StatusOK)
		form = ed.press(form, "add:parts:sources", nil).want(t, http.StatusOK)
		page := form.page(t)
		answer := strings.TrimSpace(page.Find("#f-parts-2 .block__id code").Text())
		if _, ok := config.AnswerUUID(answer); !ok {
			t.Fatalf("the new block's id is %q", answer)
		}
		if keys := rowKeys(page, "parts"); !slices.Equal(keys, []string{"0", "1", "2", "3"}) {
			t.Fatalf("rows %q", keys)
		}
		// Sources came after the Answer block of the page, and belong to it; the question came before.
		if got := page.Find(`select[name="f.parts.3.b.target"] option[selected]`); got.AttrOr("value", "") != answer || got.Text() != "On this page" {
			t.Errorf("the Sources block belongs to %q", got.Text())
		}
		if got := page.Find(`select[name="f.parts.1.b.target"] option[selected]`).AttrOr("value", ""); got != config.SiteAnswerID {
			t.Errorf("the Question block belongs to %q", got)
		}
		form = ed.press(form, "up:parts:2", nil).want(t, http.StatusOK)
		if got := strings.TrimSpace(form.page(t).Find("#f-parts-2 .block__id code").Text()); got != answer {
			t.Errorf("moved, the block has the id %q", got)
		}

		// What cannot be is refused at its row, and nothing else is lost.
		bad := ed.press(form, "publish", url.Values{"f.parts.1.b.target": {"main"}, "f.parts.1.b.label.en": {`<i>Ask</i>`}, "f.parts.2.b.agent": {"garden"}}).want(t, http.StatusUnprocessableEntity)
		page = bad.page(t)
		if page.Find("#f-parts-1-target-error").Length() != 1 || page.Find(`#form-errors a[href="#f-parts-1"]`).Length() != 1 || page.Find("#f-parts-1").Length() != 1 || page.Find("#field-parts-error").Length() != 0 {
			t.Errorf("complaints: %q", page.Find("#form-errors").Text())
		}
		if page.Find("#f-parts-1-label-en").AttrOr("value", "") != `<i>Ask</i>` || strings.Contains(bad.body, "<i>Ask") || page.Find("#f-parts-2-agent option[selected]").AttrOr("value", "") != "garden" {
			t.Error("what was typed is not kept as it should")
		}
		typed := ed.follow(ed.press(bad, "preview", url.Values{"f.parts.1.b.target": {answer}})).page(t)
		if typed.Find("article #"+answer).Length() != 1 || typed.Find("article .d-question__label").Text() != "<i>Ask</i>" {
			t.Error("the preview of what is typed shows no blocks")
		}
		draft := ed.follow(ed.press(bad, "draft", url.Values{"f.parts.1.b.target": {answer}}))
		address := draft.Request.URL.Path
		path := draft.page(t).Find("#side-path").AttrOr("value", "")
		id := strings.Split(address, "/")[3]

		// While it is a draft, visitors get no answer there; its preview shows it.
		if got := s.asks(answer); got == "garden" {
			t.Error("a visitor reaches the block of a draft")
		}
		preview := ed.get(draft.page(t).Find(`.tabs a[href^="/preview/"]`).AttrOr("href", "")).want(t, http.StatusOK).page(t)
		if preview.Find("article #"+answer).Length() != 1 || preview.Find("article .d-question").Length() != 1 {
			t.Error("the preview shows no blocks")
		}
		if options := root.get(blocksURL + "/add/question").page(t).Find(`#block-target option[value="` + answer + `"]`); !strings.Contains(options.Text(), "draft of “Visit”") {
			t.Errorf("the draft's block is offered as %q", options.Text())
		}
		published := ed.follow(ed.press(draft, "publish", nil))
		public := s.browser().get(path).want(t, http.StatusOK).page(t)
		var order []string
		for _, n := range public.Find("article .prose p, article [data-docent-block]").Nodes {
			for _, a := range n.Attr {
				if a.Key == "data-docent-block" {
					order = append(order, a.Val)
				}
			}
			if n.Data == "p" && n.FirstChild != nil && n.FirstChild.Data == "Hello" {
				order = append(order, "text")
			}
		}
		// The Answer block lists its sources itself, too.
		if want := []string{"text", "answer", "sources", "question", "sources"}; !slices.Equal(order, want) {
			t.Errorf("the page has %q, want %q", order, want)
		}
		question := public.Find("article .d-question form[data-docent-question]")
		if question.AttrOr("data-ai-answers-target", "") != answer || question.Find(`input[name="question"]`).AttrOr("maxlength", "") != "77" || question.Find("label").Text() != "<i>Ask</i>" {
			t.Error("the Question block is not as it should")
		}
		if got := s.asks(answer); got != "garden" {
			t.Errorf("the answer comes from %q", got)
		}
		for _, nonsense := range []string{answer[:len(answer)-1] + "%", "ai-answers-answer-%", strings.Repeat("x", 5000), config.BlockDOMID(config.BlockAnswer, "0192a4c0-5d00-7000-8000-0000000000ff")} {
			if got := s.asks(nonsense); got == "garden" {
				t.Errorf("%.40q answers", nonsense)
			}
		}

		// Placed blocks can belong to it, and say so before the page's block goes.
		placing := root.get(blocksURL + "/add/question")
		if options := placing.page(t).Find(`#block-target option[value="` + answer + `"]`); options.Text() != "In the page “Visit”" || placing.page(t).Find(`datalist option[value="`+path+`"]`).Length() != 1 {
			t.Errorf("the block is offered as %q", options.Text())
		}
		root.fill(placing, url.Values{"title": {"Ask on every page"}, "region": {"top"}, "target": {answer}, "target_path": {path}}).want(t, http.StatusSeeOther)
		elsewhere := s.browser().get("/answers").want(t, http.StatusOK).page(t)
		if elsewhere.Find(`form[data-ai-answers-target="`+answer+`"][data-ai-answers-target-url="`+path+`"] input[maxlength="77"]`).Length() != 1 {
			t.Error("a placed Question block does not find the Answer block of the page")
		}

		// A translation is the same page: its blocks are the same. Texts are per language.
		translation := ed.get("/admin/content/"+id+"/es").want(t, http.StatusOK)
		if got := strings.TrimSpace(translation.page(t).Find("#f-parts-1 .block__id code, #f-parts-2 .block__id code").First().Text()); got != answer {
			t.Errorf("translated, the block has the id %q", got)
		}
		spanish := ed.follow(ed.press(translation, "publish", url.Values{"f.title.0": {"Visita"}, "f.parts.2.b.label.es": {"Pregunta"}}))
		it, err := s.Content.Latest(ctx, admin, content.Ref{ID: id}, "es")
		if err != nil {
			t.Fatal(err)
		}
		part, _ := it.Fields["parts"].([]any)[2].(map[string]any)
		if labels, _ := part["settings"].(map[string]any)["label"].(map[string]any); labels["en"] != "<i>Ask</i>" || labels["es"] != "Pregunta" {
			t.Errorf("the texts are %v", labels)
		}
		if spanish.page(t).Find(`select[name="f.parts.2.b.target"] option[value="`+answer+`"]`).Length() != 1 {
			t.Error("a block of the same page is offered twice, or not at all")
		}

		// Comparing names blocks and what changed of their settings.
		changed := ed.follow(ed.press(published, "draft", url.Values{"f.parts.1.b.agent": {config.SiteName}}))
		compare := ed.get("/admin/content/"+id+"/en/compare").want(t, http.StatusOK).page(t).Find(".diffs")
		if text := compare.Text(); !strings.Contains(text, "[Answer]") || !strings.Contains(text, "Agent that answers") || compare.Find("del").Text() == "" || compare.Find("ins").Text() == "" {
			t.Errorf("the comparison says %q", text)
		}

		// Removed from the page, it is gone for visitors once that is public.
		removed := ed.press(changed, "remove:parts:1", nil).want(t, http.StatusOK)
		if got := s.asks(answer); got != "garden" {
			t.Errorf("before that is public the answer comes from %q", got)
		}
		ed.follow(ed.press(removed, "publish", nil))
		if err := s.Content.DeleteTranslation(ctx, admin, content.Ref{Type: content.TypeNode, ID: id}, "es"); err != nil {
			t.Fatal(err)
		}
		if got := s.asks(answer); got == "garden" {
			t.Error("a block that is gone answers")
		}
	})
}

// Blocks with one id are told apart on a page, wherever they come from, and all of
// the sources that follow one follow it.
func TestBlockIDsAreUniqueOnAPage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStructureSite(t, d)
		const uuid = "0192a4c0-5d00-7000-8000-0000000000aa"
		part := map[string]any{"type": "block", "block": config.BlockAnswer, "uuid": uuid, "settings": map[string]any{"agent": config.SiteName}}
		s.keep(content.Input{Bundle: "page", Title: "Twice", Path: "/twice/", Fields: content.Fields{"parts": []any{part, part}}})
		if err := config.Put(t.Context(), s.Config, "again", config.Placement{UUID: uuid, Label: "Again", Region: config.RegionAfter, Block: config.NewBlock(config.BlockAnswer)}, ""); err != nil {
			t.Fatal(err)
		}
		page := s.browser().get("/twice/").want(t, http.StatusOK).page(t)
		seen := map[string]bool{}
		for _, n := range page.Find("[id]").Nodes {
			for _, a := range n.Attr {
				if a.Key == "id" && seen[a.Val] {
					t.Errorf("the id %q is there twice", a.Val)
				} else if a.Key == "id" {
					seen[a.Val] = true
				}
			}
		}
		id := config.BlockDOMID(config.BlockAnswer, uuid)
		for _, want := range []string{id, id + "-2", id + "-3"} {
			if page.Find("#"+want+`[data-docent-block="answer"]`).Length() != 1 || page.Find("#"+want+` form[data-docent-ask][hx-target="#`+want+`-transcript"]`).Length() != 1 ||
				page.Find("#"+want+` [data-ai-answers-sources-target="`+want+`"]`).Length() != 1 {
				t.Errorf("the block %s is not as it should", want)
			}
		}
	})
}

// A block that this program cannot make anything of is kept while the rest of the
// page is edited, and one whose Answer block is gone is shown as such.
func TestStaleBlocksInContent(t *testing.T) {
	s, root := newStructureSite(t, dbtest.SQLite(t))
	gone := config.BlockDOMID(config.BlockAnswer, "0192a4c0-5d00-7000-8000-0000000000bb")
	it := s.keep(content.Input{Bundle: "page", Title: "Old", Path: "/old/", Fields: content.Fields{"parts": []any{
		map[string]any{"type": "block", "block": config.BlockSources, "settings": map[string]any{"target": gone}},
		map[string]any{"type": "block", "block": config.BlockAnswer, "settings": map[string]any{"agent": "site"}},
	}}})
	if _, err := s.DB.Exec(t.Context(), `update revisions set fields = replace(fields, '"answer"', '"poll"')`); err != nil {
		t.Fatal(err)
	}
	form := root.get(nodeURL(it.ID, "en")).want(t, http.StatusOK)
	if option := form.page(t).Find(`select[name="f.parts.0.b.target"] option[selected]`); option.AttrOr("value", "") != gone || !strings.Contains(option.Text(), "Not found") {
		t.Errorf("the stale target is shown as %q", option.Text())
	}
	if form.page(t).Find("#f-parts-1 select").Length() != 0 {
		t.Error("an unknown block has settings")
	}
	saved := root.follow(root.press(form, "publish", url.Values{"f.title.0": {"New"}}))
	root.press(saved, "add:parts:poll", nil).want(t, http.StatusOK)
	now, err := s.Content.Latest(t.Context(), admin, it.Ref, "en")
	if err != nil || now.Title != "New" {
		t.Fatalf("%+v, %v", now, err)
	}
	parts := now.Fields["parts"].([]any)
	if parts[0].(map[string]any)["settings"].(map[string]any)["target"] != gone || parts[1].(map[string]any)["block"] != "poll" {
		t.Errorf("stored is %v", parts)
	}
	bad := root.press(root.press(saved, "add:parts:poll", nil), "publish", nil).want(t, http.StatusUnprocessableEntity)
	if !strings.Contains(bad.page(t).Find("#form-errors").Text(), "no block called") {
		t.Errorf("complaints: %q", bad.page(t).Find("#form-errors").Text())
	}
	s.browser().get("/old/").want(t, http.StatusOK)
}
