package handlers

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
)

// layout is the layout of blocks as text: "@top: a b".
func layout(page *goquery.Document) string {
	var slots []string
	page.Find("[data-docent-slot]").Each(func(_ int, slot *goquery.Selection) {
		names := []string{slot.AttrOr("data-docent-slot", "") + ":"}
		slot.Find("[data-docent-node]").Each(func(_ int, n *goquery.Selection) { names = append(names, n.AttrOr("data-docent-node", "")) })
		slots = append(slots, strings.Join(names, " "))
	})
	return strings.Join(slots, ", ")
}

const blockForm = "#" + blockFormID

// fill sends the form of a block with changes.
func (b *browser) fill(page reply, change url.Values) reply {
	b.site.t.Helper()
	action, fields := formOf(b.site.t, page.page(b.site.t), blockForm)
	for name, values := range change {
		fields[name] = values
	}
	return b.submit(action, fields)
}

func TestBlockRoutesNeedPermissions(t *testing.T) {
	s, root := newStructureSite(t, dbtest.SQLite(t), func(d *Deps) { d.ConfigWritable = false })
	s.person("member")
	s.person("editor", account.RoleEditor)
	member, editor := s.browser().login("member"), s.browser().login("editor")
	for _, path := range []string{blocksURL, blocksURL + "/add", blocksURL + "/add/answer", blocksURL + "/site_answer", blocksURL + "/site_answer/delete"} {
		root.get(path).want(t, http.StatusOK)
		member.get(path).want(t, http.StatusForbidden)
		editor.get(path).want(t, http.StatusForbidden)
		if got := s.browser().get(path).StatusCode; got != http.StatusSeeOther {
			t.Errorf("%s gives a visitor %d", path, got)
		}
	}
	for _, path := range []string{blocksURL + "/move", blocksURL + "/add/answer", blocksURL + "/add/answer/preview", blocksURL + "/site_answer", blocksURL + "/site_answer/preview", blocksURL + "/site_answer/delete"} {
		editor.submitWithToken(path, url.Values{"move": {"down:site_answer"}, "title": {"Taken"}}).want(t, http.StatusForbidden)
		root.submit(path, url.Values{"move": {"down:site_answer"}, "title": {"Taken"}}).want(t, http.StatusForbidden) // without the token
	}
	if root.get(blocksURL).page(t).Find(`.tabs a[aria-current][href="`+blocksURL+`"]`).Length() != 1 || editor.get("/admin").page(t).Find(`a[href="`+blocksURL+`"]`).Length() != 0 {
		t.Error("the way to the blocks is not as it should")
	}
	for _, path := range []string{blocksURL + "/add/poll", blocksURL + "/nothing", blocksURL + "/nothing/delete"} {
		root.get(path).want(t, http.StatusNotFound)
	}
	if p, err := config.Get[config.Placement](t.Context(), s.Config, "site_answer"); err != nil || p.Label != "Answers" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestPlacingBlocks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s, root := newStructureSite(t, d)
		s.language("es", "Español")
		page := root.get(blocksURL).want(t, http.StatusOK).page(t)
		want := "@top: answers_question site_question, @before:, @content: site_answer, @content.body:, @aside: site_sources, @after:, @bottom:"
		if got := layout(page); got != want {
			t.Fatalf("the layout is %s", got)
		}
		if text := page.Find("#row-site_question").Text(); !strings.Contains(text, "Not on /answers") || !strings.Contains(text, "Answers (on /answers)") {
			t.Errorf("the block says %q", text)
		}

		form := root.get(blocksURL+"/add/question?region=aside").want(t, http.StatusOK)
		uuid := form.page(t).Find(`input[name="uuid"]`).AttrOr("value", "")
		if form.page(t).Find("#block-domid").AttrOr("value", "") != "ai-answers-question-"+uuid || uuid == "" || uuid[14] != '7' {
			t.Errorf("the UUID is %q", uuid)
		}
		bad := root.fill(form, url.Values{"title": {" "}, "paths": {"visit"}, "target_path": {"//elsewhere"}, "label.en": {strings.Repeat("x", 2001)}, "label.es": {`<b>"Pregunta"</b>`}}).want(t, http.StatusUnprocessableEntity)
		for _, id := range []string{"block-title", "block-paths", "block-target_path", "block-label-en"} {
			if bad.page(t).Find("#"+id+"-error").Length() != 1 || bad.page(t).Find(`.notice--danger a[href="#`+id+`"]`).Length() != 1 {
				t.Errorf("%s is not refused", id)
			}
		}
		if bad.page(t).Find("#block-label-es").AttrOr("value", "") != `<b>"Pregunta"</b>` || strings.Contains(bad.body, `<b>"Preg`) {
			t.Error("what was typed is not kept as it should")
		}
		change := url.Values{"title": {"Ask the gardeners"}, "paths": {"/visit/\r\n/join"}, "target_path": {"/answers"}, "label.en": {"Ask us"},
			"suggestions.en": {"One?\n\n Two? \n"}, "types": {"page"}, "roles": {"editor"}, "languages": {"en"}, "display": {"band"}}
		root.fill(bad, change).wantLocation(t, blocksURL+"?done=added#row-ask_the_gardeners")
		root.fill(bad, change).wantLocation(t, blocksURL+"?done=added#row-ask_the_gardeners") // sent twice
		all, err := config.All[config.Placement](ctx, s.Config)
		if err != nil || len(all) != 5 {
			t.Fatalf("%d blocks, %v", len(all), err)
		}
		p, err := config.Get[config.Placement](ctx, s.Config, "ask_the_gardeners")
		if err != nil {
			t.Fatal(err)
		}
		if p.UUID != uuid || p.Region != config.RegionAside || p.Weight != 1 || !slices.Equal(p.Visibility.Paths, []string{"/visit/", "/join"}) || !slices.Equal(p.Visibility.Roles, []string{"editor"}) ||
			p.Question.Label["en"] != "Ask us" || p.Question.Label["es"] != `<b>"Pregunta"</b>` || !slices.Equal(p.Question.Suggestions["en"], []string{"One?", "Two?"}) || p.Question.Display != config.DisplayBand || p.Question.Target != config.SiteAnswerID {
			t.Errorf("stored is %+v, %+v", p, p.Question)
		}
		page = root.get(blocksURL).page(t)
		if text := page.Find("#row-ask_the_gardeners").Text(); !strings.Contains(text, "Only on /visit/, /join") || !strings.Contains(text, "type Page") || !strings.Contains(text, "In English") || !strings.Contains(text, "For Editor") {
			t.Errorf("the block says %q", text)
		}

		// The id is for ever, and texts in languages that are gone from the form stay.
		edit := root.get(blocksURL+"/ask_the_gardeners").want(t, http.StatusOK)
		root.fill(edit, url.Values{"uuid": {"0192a4c0-5d00-7000-8000-0000000000ff"}, "title": {"Ask"}, "label.es": nil, "region": {"content"}, "after": {"body"}}).wantLocation(t, blocksURL+"?done=saved#row-ask_the_gardeners")
		p, err = config.Get[config.Placement](ctx, s.Config, "ask_the_gardeners")
		if err != nil || p.UUID != uuid || p.Label != "Ask" || p.Question.Label["es"] == "" || p.Region != config.RegionContent || p.After != "body" || p.Weight != 1 {
			t.Errorf("stored is %+v, %v", p, err)
		}
		if got := layout(root.get(blocksURL).page(t)); !strings.Contains(got, "@content.body: ask_the_gardeners,") {
			t.Errorf("the layout is %s", got)
		}

		// A form that says nothing new about the place leaves a block where it was moved meanwhile.
		edit = root.get(blocksURL + "/ask_the_gardeners")
		root.submitWithToken(blocksURL+"/move", url.Values{"drop": {"ask_the_gardeners:inside:@bottom"}}).wantLocation(t, blocksURL+"?done=moved#row-ask_the_gardeners")
		root.fill(edit, url.Values{"title": {"Ask again"}}).want(t, http.StatusSeeOther)
		if p, err = config.Get[config.Placement](ctx, s.Config, "ask_the_gardeners"); err != nil || p.Region != config.RegionBottom || p.After != "" || p.Label != "Ask again" {
			t.Errorf("stored is %+v, %v", p, err)
		}

		// Before an Answer block goes, what belongs to it is named; afterwards that shows.
		confirm := root.get(blocksURL+"/site_answer/delete").want(t, http.StatusOK).page(t)
		for _, name := range []string{"ask_the_gardeners", "site_question", "answers_question", "site_sources"} {
			if confirm.Find(`.consequences a[href="`+blocksURL+`/`+name+`"]`).Length() != 1 {
				t.Errorf("%s is not named", name)
			}
		}
		open := root.get(blocksURL + "/site_answer")
		root.submitWithToken(blocksURL+"/site_answer/delete", nil).wantLocation(t, blocksURL+"?done=deleted")
		root.submitWithToken(blocksURL+"/site_answer/delete", nil).wantLocation(t, blocksURL+"?done=deleted")
		root.fill(open, url.Values{"title": {"Back"}}).want(t, http.StatusNotFound) // it does not come back
		page = root.get(blocksURL).page(t)
		if page.Find("#row-site_sources .layout__wrong").Length() != 1 {
			t.Error("the layout does not show that the Answer block is gone")
		}
		stale := root.get(blocksURL + "/site_sources")
		if option := stale.page(t).Find("#block-target option[selected]"); option.AttrOr("value", "") != config.SiteAnswerID || !strings.Contains(option.Text(), "Not found") {
			t.Errorf("the stale target is shown as %q", option.Text())
		}
		root.fill(stale, url.Values{"label.en": {"Where from"}}).want(t, http.StatusSeeOther)
		if p, err := config.Get[config.Placement](ctx, s.Config, "site_sources"); err != nil || p.Sources.Target != config.SiteAnswerID || p.Sources.Label["en"] != "Where from" {
			t.Errorf("stored is %+v, %v", p.Sources, err)
		}
		if text := root.get("/admin/config").page(t).Find(".overview").Text(); !strings.Contains(text, "“Ask again” belongs to an Answer block that is gone") {
			t.Error("the overview does not say what is missing")
		}
	})
}

func TestBlockMoves(t *testing.T) {
	placed := func(names ...string) (out []config.Named[config.Placement]) {
		for _, n := range names {
			region, name, _ := strings.Cut(n, ":")
			region, after, _ := strings.Cut(region, ".")
			out = append(out, config.Named[config.Placement]{Name: name, Value: config.Placement{Region: config.Region(region), After: after}})
		}
		return out
	}
	fields := []pageField{{"summary", "Summary"}, {"body", "Text"}}
	blocks := placed("top:a", "top:b", "content:c", "content.body:d", "content.gone:e", "bottom:f")
	for _, tt := range []struct {
		move move
		want string // slots with blocks, or "" when it is refused
	}{
		{move{id: "b", how: "up"}, "@top b a, @content c, @content.body d, @content.gone e, @bottom f"},
		{move{id: "a", how: "up"}, "@top a b, @content c, @content.body d, @content.gone e, @bottom f"},
		{move{id: "b", how: "down"}, "@top a, @before b, @content c, @content.body d, @content.gone e, @bottom f"},
		{move{id: "c", how: "down"}, "@top a b, @content.body c d, @content.gone e, @bottom f"},
		{move{id: "d", how: "up"}, "@top a b, @content c d, @content.gone e, @bottom f"},
		{move{id: "f", how: "down"}, "@top a b, @content c, @content.body d, @content.gone e, @bottom f"},
		{move{id: "f", how: "before", target: "d"}, "@top a b, @content c, @content.body f d, @content.gone e"},
		{move{id: "a", how: "after", target: "f"}, "@top b, @content c, @content.body d, @content.gone e, @bottom f a"},
		{move{id: "a", how: "inside", target: "@aside"}, "@top b, @content c, @content.body d, @content.gone e, @aside a, @bottom f"},
		{move{id: "a", how: "inside", target: "@content.summary"}, ""},
		{move{id: "a", how: "inside", target: "b"}, ""},
		{move{id: "a", how: "before", target: "@top"}, ""},
		{move{id: "@top", how: "down"}, ""},
		{move{id: "@top", how: "inside", target: "@bottom"}, ""},
		{move{id: "a", how: "in"}, ""},
		{move{id: "zz", how: "up"}, ""},
	} {
		slots, err := tt.move.placeBlocks(blockSlots(blocks, fields))
		var got []string
		for _, s := range slots {
			words := s.id()
			for i, p := range s.blocks {
				words += " " + p.Name
				if p.Value.Region != s.region || p.Value.After != s.after || p.Value.Weight != i {
					t.Errorf("%+v leaves %+v in %s", tt.move, p.Value, s.id())
				}
			}
			if len(s.blocks) > 0 {
				got = append(got, words)
			}
		}
		if strings.Join(got, ", ") != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%+v gives %s, %v; want %s", tt.move, strings.Join(got, ", "), err, tt.want)
		}
	}
}

// However many move at once, no block is lost or doubled, and the order is what
// the moves make of it one after the other.
func TestBlockMovesAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, root := newStructureSite(t, d)
		before := strings.Fields(strings.NewReplacer(":", "", ",", "").Replace(layout(root.get(blocksURL).page(t))))
		token := root.get("/session/token").want(t, http.StatusOK).body
		names := []string{"site_question", "answers_question", "site_answer", "site_sources"}
		var wg sync.WaitGroup
		statuses := make([]int, 24)
		for i := range statuses {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			move := []string{"up", "down"}[r.IntN(2)] + ":" + names[r.IntN(len(names))]
			drop := ""
			if i%3 == 0 {
				drop = names[i/3%len(names)] + ":inside:@" + string(config.Regions()[r.IntN(6)])
			}
			wg.Go(func() {
				statuses[i] = root.submit(blocksURL+"/move", url.Values{"csrf_token": {token}, "move": {move}, "drop": {drop}}).StatusCode
			})
		}
		wg.Wait()
		for _, status := range statuses {
			if status != http.StatusSeeOther {
				t.Errorf("a move ends with %d", status)
			}
		}
		after := strings.Fields(strings.NewReplacer(":", "", ",", "").Replace(layout(root.get(blocksURL).page(t))))
		slices.Sort(before)
		slices.Sort(after)
		if !slices.Equal(before, after) {
			t.Errorf("there were %q, now there are %q", before, after)
		}

		// Two who open the same page: the second move goes on from the first.
		set := func(drop string) {
			root.submitWithToken(blocksURL+"/move", url.Values{"drop": {drop}}).want(t, http.StatusSeeOther)
		}
		for _, name := range names {
			set(name + ":inside:@after")
		}
		set("site_sources:before:site_question")
		set("site_answer:before:site_question")
		if got := layout(root.get(blocksURL).page(t)); !strings.Contains(got, "@after: site_sources site_answer site_question answers_question") {
			t.Errorf("the layout is %s", got)
		}
		// What stands there no more is no place to go to.
		if err := config.Delete[config.Placement](t.Context(), s.Config, "site_question", ""); err != nil {
			t.Fatal(err)
		}
		root.submitWithToken(blocksURL+"/move", url.Values{"drop": {"site_answer:before:site_question"}}).want(t, http.StatusNotFound)
		root.submitWithToken(blocksURL+"/move", url.Values{"drop": {"site_question:inside:@top"}}).want(t, http.StatusNotFound)
		for _, bad := range []url.Values{{}, {"move": {"sideways:site_answer"}}, {"drop": {"site_answer:before:site_answer"}}, {"drop": {"site_answer:inside:site_sources"}}} {
			root.submitWithToken(blocksURL+"/move", bad).want(t, http.StatusBadRequest)
		}
		if _, err := config.Get[config.Placement](t.Context(), s.Config, "site_question"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("a block came back: %v", err)
		}
	})
}

func TestBlockPreview(t *testing.T) {
	s, root := newStructureSite(t, dbtest.SQLite(t))
	s.language("ar", "العربية")
	form := root.get(blocksURL + "/site_question")
	_, fields := formOf(t, form.page(t), blockForm)
	fields.Set("label.en", `<script>alert(1)</script>`)
	fields.Set("autofocus", "on")
	path := blocksURL + "/site_question/preview"
	preview := root.send(http.MethodPost, path, fields.Encode(), "Content-Type", formType, "Sec-Fetch-Site", "same-origin", "HX-Request", "true").want(t, http.StatusOK)
	stage := preview.page(t).Find(".blockform__stage[inert]")
	if stage.Length() != 1 || strings.Contains(preview.body, "<script") || strings.Contains(preview.body, "<html") || stage.Find(".d-question__label").Text() != `<script>alert(1)</script>` ||
		stage.Find("[data-docent-autofocus]").Length() != 0 {
		t.Errorf("the preview is %s", preview.body)
	}
	// Without scripts it is the whole page, with what was typed.
	fields.Set("preview_lang", "ar")
	fields.Set("label.ar", "اسأل")
	fields.Set("paths", "wrong")
	whole := root.submit(path, fields).want(t, http.StatusOK).page(t)
	if whole.Find(`.blockform__stage[lang="ar"][dir="rtl"] .d-question__label`).Text() != "اسأل" || whole.Find("#block-paths").Text() != "wrong" || whole.Find(`button[formaction="`+path+`"]`).Length() != 1 {
		t.Error("the page without scripts does not show the block")
	}
	if p, err := config.Get[config.Placement](t.Context(), s.Config, "site_question"); err != nil || p.Question.Label != nil {
		t.Errorf("the preview stored something: %+v, %v", p.Question, err)
	}

	// An Answer block shows what its boxes leave out.
	_, fields = formOf(t, root.get(blocksURL+"/add/answer").want(t, http.StatusOK).page(t), blockForm)
	parts := func() (follow, feedback, sources int) {
		stage := root.submit(blocksURL+"/add/answer/preview", fields).want(t, http.StatusOK).page(t).Find(".blockform__stage").Last()
		return stage.Find("form[data-docent-follow]").Length(), stage.Find(".d-feedback").Length(), stage.Find(".d-sources .d-source").Length()
	}
	if follow, feedback, sources := parts(); follow != 1 || feedback != 1 || sources != 2 {
		t.Errorf("with everything: %d, %d, %d", follow, feedback, sources)
	}
	fields.Del("follow_up")
	fields.Del("feedback")
	fields.Del("references")
	if follow, feedback, sources := parts(); follow != 0 || feedback != 0 || sources != 0 {
		t.Errorf("with nothing: %d, %d, %d", follow, feedback, sources)
	}
	if all, err := config.All[config.Placement](t.Context(), s.Config); err != nil || len(all) != 4 {
		t.Errorf("%d blocks are placed, %v", len(all), err)
	}

	// A Question block whose agent is closed is not shown, and the form says so.
	agent, err := config.Get[config.Agent](t.Context(), s.Config, config.SiteName)
	if err != nil {
		t.Fatal(err)
	}
	agent.Enabled = false
	if err := config.Put(t.Context(), s.Config, config.SiteName, agent, ""); err != nil {
		t.Fatal(err)
	}
	if page := root.get(blocksURL + "/site_question").page(t); page.Find(".blockform__stage").Length() != 0 || page.Find("#block-preview .notice--wait").Length() != 1 {
		t.Error("the preview of a closed block is shown")
	}
	if page := root.get(blocksURL).page(t); page.Find("#row-site_answer .layout__wrong").Length() != 1 {
		t.Error("the layout does not say that the agent is closed")
	}
}

func TestHugeBlockForms(t *testing.T) {
	s, root := newStructureSite(t, dbtest.SQLite(t))
	form := root.get(blocksURL + "/add/answer")
	root.fill(form, url.Values{"title": {strings.Repeat("x", adminLimit)}}).want(t, http.StatusRequestEntityTooLarge)
	root.fill(form, url.Values{"title": {strings.Repeat("ا", 121)}, "suggestions.en": {strings.Repeat("Why?\n", 13)}}).want(t, http.StatusUnprocessableEntity)
	root.fill(form, url.Values{"title": {"A"}, "uuid": {"../../etc"}}).want(t, http.StatusUnprocessableEntity)
	root.fill(form, url.Values{"title": {"A"}, "agent": {"nobody"}}).want(t, http.StatusUnprocessableEntity)
	root.fill(form, url.Values{"title": {"A"}, "region": {"attic"}}).want(t, http.StatusUnprocessableEntity)
	root.fill(form, url.Values{"title": {"A"}, "region": {"content"}, "after": {"<x>"}}).want(t, http.StatusUnprocessableEntity)
	question := root.get(blocksURL + "/add/question")
	root.fill(question, url.Values{"title": {"A"}, "target": {"ai-answers-answer-0192a4c0"}}).want(t, http.StatusUnprocessableEntity)
	root.fill(question, url.Values{"title": {"A"}, "target": {""}}).want(t, http.StatusUnprocessableEntity)
	if all, err := config.All[config.Placement](t.Context(), s.Config); err != nil || len(all) != 4 {
		t.Errorf("%d blocks are placed, %v", len(all), err)
	}
	// Names that are addresses of other pages, or taken, are given to none.
	for _, want := range []string{"add_2", "add_3"} {
		root.fill(root.get(blocksURL+"/add/answer"), url.Values{"title": {"Add"}}).wantLocation(t, blocksURL+"?done=added#row-"+want)
	}
	root.fill(root.get(blocksURL+"/add/answer"), url.Values{"title": {"أجوبة"}}).wantLocation(t, blocksURL+"?done=added#row-answer")
}

func TestShortcutSetting(t *testing.T) {
	s, root := newStructureSite(t, dbtest.SQLite(t))
	s.keep(content.Input{Bundle: "page", Title: "Home", Path: "/"})
	shortcut := func() bool {
		_, on := s.browser().get("/").want(t, http.StatusOK).page(t).Find("html").Attr("data-docent-shortcut")
		return on
	}
	for _, on := range []bool{true, false} {
		action, fields := formOf(t, root.get(answersConfigURL).want(t, http.StatusOK).page(t), ".structform")
		if fields.Del("shortcut"); on {
			fields.Set("shortcut", "yes")
		}
		root.submit(action, fields).want(t, http.StatusSeeOther)
		if shortcut() != on || root.get(answersConfigURL).page(t).Find("#answers-shortcut[checked]").Length() == 1 != on {
			t.Errorf("the shortcut is not %v", on)
		}
	}
}
