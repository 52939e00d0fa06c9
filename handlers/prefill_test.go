package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/config"
	"docent/internal/content"
)

// A question in an address stands in the first Question form, and nowhere is it
// asked or kept.
func TestQuestionInTheAddress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)
		question := map[string]any{"type": "block", "block": config.BlockQuestion, "uuid": "0192a4c0-5d00-7000-8000-0000000000ab", "settings": map[string]any{"target": config.SiteAnswerID}}
		s.save(t, content.Input{Title: "Ask", Path: "/ask/", Fields: content.Fields{"parts": []any{question}}})
		agent := config.DefaultAgent()
		agent.QuestionLimit = 50
		if err := config.Put(t.Context(), s.Config, config.SiteName, agent, ""); err != nil {
			t.Fatal(err)
		}
		values := func(page *goquery.Document) []string {
			return page.Find(`form[data-docent-question] input[name="question"]`).Map(func(_ int, in *goquery.Selection) string { return in.AttrOr("value", "") })
		}
		b := s.browser()
		for _, path := range []string{"/", "/visit/", "/answers", "/es/answers", "/es/visit/pond/", "/articles/", "/ask/", "/topics/"} {
			plain := b.get(path).want(t, http.StatusOK)
			for _, tt := range []struct{ q, want string }{
				{"Where are the frogs?", "Where are the frogs?"},
				{" Where\nare\x00 \t the\xff frogs? ", "Where are the� frogs?"},
				{`"><script>alert(1)</script>`, `"><script>alert(1)</script>`},
				{strings.Repeat("蛙", 3000), strings.Repeat("蛙", 50)},
				{" \n", ""}, {"", ""},
			} {
				r := b.get(path+"?"+url.Values{"q": {tt.q}}.Encode(), "Accept-Encoding", "gzip, identity;q=0").want(t, http.StatusOK)
				cached := tt.want == ""
				if cached {
					r = b.get(path+"?"+url.Values{"q": {tt.q}}.Encode()).want(t, http.StatusOK)
				}
				got := values(r.page(t))
				want := slices.Repeat([]string{""}, len(got))
				if len(got) == 0 {
					t.Fatalf("%s has no form", path)
				}
				want[0] = tt.want
				if !slices.Equal(got, want) {
					t.Errorf("%s with %.40q has %.80q", path, tt.q, got)
				}
				if control := r.Header.Get("Cache-Control"); cached != (control == anyoneMayKeep) || !cached && (control != "private, no-store" || r.Header.Get("ETag") != "" || r.Header.Get("Content-Encoding") != "") {
					t.Errorf("%s with %.40q: %v", path, tt.q, r.Header)
				}
				if cached && r.body != plain.body {
					t.Errorf("%s with %q is another page", path, tt.q)
				}
			}
			if again := b.get(path).want(t, http.StatusOK); again.body != plain.body || again.Header.Get("ETag") != plain.Header.Get("ETag") || again.Header.Get("Cache-Control") != anyoneMayKeep {
				t.Errorf("%s is another page after one had a question", path)
			}
		}
		// On a site whose only form is in the text of a page it is that one.
		all, err := config.All[config.Placement](t.Context(), s.Config)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if p.Value.Question != nil {
				p.Value.Region = config.RegionBottom
				if err := config.Put(t.Context(), s.Config, p.Name, p.Value, ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := values(b.get("/ask/?q=Frogs").page(t)); !slices.Equal(got, []string{"Frogs", ""}) {
			t.Errorf("the forms of the page hold %q", got)
		}
		var turns int
		if err := s.DB.Get(t.Context(), &turns, "select count(*) from turns"); err != nil || turns != 0 {
			t.Errorf("%d questions were asked, %v", turns, err)
		}
	})
}
