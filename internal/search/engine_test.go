package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/search"
)

var visitor = account.Account{Roles: []string{account.RoleAnonymous}, Permissions: map[account.Permission]bool{account.AccessContent: true}}

func withRole(role string) account.Account {
	a := visitor
	a.ID, a.Roles = "someone", []string{account.RoleAuthenticated, role}
	return a
}

// page is a published item; edit changes it.
func page(id, title, summary, body string, edit ...func(*content.Item)) content.Item {
	it := content.Item{
		Ref: content.Ref{Type: content.TypeNode, ID: id}, Bundle: "page", Lang: "en", Title: title, Path: "/" + id + "/",
		Fields: content.Fields{content.FieldSummary: summary, content.FieldBody: body},
		State:  content.Published, Published: true, Languages: []string{"en"},
	}
	for _, e := range edit {
		e(&it)
	}
	return it
}

func in(lang string, langs ...string) func(*content.Item) {
	return func(it *content.Item) { it.Lang, it.Languages = lang, langs }
}

func put(t *testing.T, e *search.Engine, d *db.DB, items ...content.Item) {
	t.Helper()
	if err := e.PutItems(t.Context(), d, items); err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, e *search.Engine, q search.Query) []search.Hit {
	t.Helper()
	if q.Who.Permissions == nil {
		q.Who = visitor
	}
	hits, err := e.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range hits {
		if h.Score < 0 || h.Score > 1 || i > 0 && h.Score > hits[i-1].Score {
			t.Errorf("%q: hit %d has score %v behind %v", q.Text, i, h.Score, hits[max(i-1, 0)].Score)
		}
	}
	return hits
}

func ids(hits []search.Hit) (out []string) {
	for _, h := range hits {
		if !slices.Contains(out, h.ID) {
			out = append(out, h.ID)
		}
	}
	return out
}

func TestSearch(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		e := search.New(d)
		if hits := find(t, e, search.Query{Text: "anything", Lang: "en"}); len(hits) != 0 {
			t.Errorf("an empty index gives %v", ids(hits))
		}
		date := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
		put(t, e, d,
			page("hours", "Opening hours", "When the garden is open.", "## Summer\n\nFrom May we open at 9.\n\n## Winter\n\nClosed on Mondays.", func(it *content.Item) {
				it.Date, it.Origin = date, "import:hours.md"
			}),
			page("prices", "Prices", "", "Adults pay 12 euro, children go free."),
			page("pointer", "The accessibility toolkit", "A collection of wheelchair routes kept elsewhere.", ""),
			page("empty", "Orchard", "", ""),
		)
		if err := e.Warm(t.Context()); err != nil {
			t.Fatal(err)
		}
		hits := find(t, e, search.Query{Text: "When are you closed in winter?", Lang: "en"})
		if len(hits) == 0 || hits[0].ID != "hours" {
			t.Fatalf("hits %v", ids(hits))
		}
		h := hits[0]
		if h.Heading != "Winter" && !strings.Contains(h.Text, "Closed on Mondays") || h.Title != "Opening hours" || h.Path != "/hours/" ||
			h.Origin != "import:hours.md" || !h.Date.Equal(date) || h.ChunkID == "" || h.Type != content.TypeNode || h.Bundle != "page" {
			t.Errorf("hit %+v", h)
		}
		for query, want := range map[string]string{
			"What is the admission fee": "prices",  // a synonym
			"wheelchiar routes":         "pointer", // a slip, in a page that is only a summary
			"orchard":                   "empty",   // a page that is only a title
			"clsoed mondays":            "hours",
			"What do children pay??":    "prices",
		} {
			if got := ids(find(t, e, search.Query{Text: query, Lang: "en"})); len(got) == 0 || got[0] != want {
				t.Errorf("%q finds %v, want %s", query, got, want)
			}
		}
		if got := find(t, e, search.Query{Text: "closed mondays banana bread recipe", Lang: "en"}); len(got) == 0 || got[0].Score > 0.6 {
			t.Errorf("half a match scores %+v", got)
		}
		if got := find(t, e, search.Query{Text: "closed mondays", Lang: "en", MinScore: 0.99}); len(got) != 0 {
			t.Errorf("MinScore lets %v through", got)
		}
		if got := find(t, e, search.Query{Text: "closed open prices orchard", Lang: "en", Limit: 2}); len(got) != 2 {
			t.Errorf("Limit 2 gives %d", len(got))
		}
		stats, err := e.Stats(t.Context())
		if err != nil || stats.Documents != 4 || stats.Chunks < 5 || time.Since(stats.LastChange) > time.Minute {
			t.Errorf("stats %+v, %v", stats, err)
		}
	})
}

func TestSearchShowsOnlyWhatMayBeSeen(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		e := search.New(d)
		put(t, e, d,
			page("public", "Secret recipe", "", "The secret recipe of the cafe."),
			page("members", "Secret recipe", "", "The secret recipe for members.", func(it *content.Item) { it.ViewRoles = []string{"member", "patron"} }),
			page("draft", "Secret recipe", "", "The secret recipe in draft.", func(it *content.Item) { it.State, it.Published = content.Draft, false }),
			page("archived", "Secret recipe", "", "The secret recipe of old.", func(it *content.Item) { it.State = content.Archived }),
			page("left-out", "Secret recipe", "", "The secret recipe left out.", func(it *content.Item) { it.OutOfAnswers = true }),
			page("news", "Secret recipe", "", "The secret recipe in the news.", func(it *content.Item) { it.Bundle = "news" }),
			page("spanish", "Secret recipe", "", "The secret recipe in Spanish.", in("es", "es")),
		)
		nobody := account.Account{Roles: []string{account.RoleAnonymous}, Permissions: map[account.Permission]bool{account.UseAnswers: true}}
		administrator := withRole(account.RoleAdministrator)
		for name, c := range map[string]struct {
			q    search.Query
			want []string
		}{
			"site search": {search.Query{}, []string{"left-out", "news", "public", "spanish"}},
			"answers":     {search.Query{ForAnswers: true}, []string{"news", "public", "spanish"}},
			"member":      {search.Query{Who: withRole("patron"), ForAnswers: true}, []string{"members", "news", "public", "spanish"}},
			"other role":  {search.Query{Who: withRole("editor"), ForAnswers: true}, []string{"news", "public", "spanish"}},
			"all":         {search.Query{Who: administrator}, []string{"left-out", "members", "news", "public", "spanish"}},
			"no access":   {search.Query{Who: nobody}, nil},
			"bundles":     {search.Query{Index: config.Index{Bundles: []string{"news", "event"}}}, []string{"news"}},
			"languages":   {search.Query{Index: config.Index{Languages: []string{"es"}}}, []string{"spanish"}},
			"nowhere":     {search.Query{Index: config.Index{Languages: []string{"es"}, Bundles: []string{"news"}}}, nil},
		} {
			c.q.Text, c.q.Lang, c.q.Limit = "secret recipe", "en", 50
			got := ids(find(t, e, c.q))
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: found %v, want %v", name, got, c.want)
			}
		}
	})
}

// Restricted pages must not push what a visitor may see out of the candidates.
func TestRestrictedPagesDoNotCrowdOut(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		e := search.New(d)
		var items []content.Item
		for i := range 900 {
			items = append(items, page(fmt.Sprint("hidden", i), "Budget", "", "The budget of the budget committee.", func(it *content.Item) { it.ViewRoles = []string{"board"} }))
		}
		items = append(items, page("open", "Minutes", "", "A long text that mentions the budget once among other things."))
		put(t, e, d, items...)
		if got := ids(find(t, e, search.Query{Text: "budget", Lang: "en"})); !slices.Equal(got, []string{"open"}) {
			t.Errorf("found %v", got)
		}
	})
}

func TestIndexFollowsContent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		e := search.New(d)
		found := func(text string) []string { return ids(find(t, e, search.Query{Text: text, Lang: "en"})) }
		put(t, e, d, page("a", "Kiln", "", "The kiln burns lime."), page("b", "Barn", "", "The barn holds lime."))
		before, err := e.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		put(t, e, d, page("a", "Kiln", "", "The kiln burns lime."), page("b", "Barn", "", "The barn holds lime."))
		if after, err := e.Stats(t.Context()); err != nil || after.Documents != before.Documents || after.Chunks != before.Chunks {
			t.Errorf("indexing the same twice: %+v, then %+v, %v", before, after, err)
		}

		// A word no snapshot has seen is found at once; what was replaced is not.
		state := []content.Item{page("a", "Kiln", "", "The kiln now fires zeppelins."), page("a", "Horno", "", "El horno.", in("es", "en", "es"))}
		load := func(_ context.Context, id string) ([]content.Item, error) {
			if id != "a" {
				t.Errorf("loads %q", id)
			}
			return state, nil
		}
		refresh := func() {
			t.Helper()
			if err := e.Refresh(t.Context(), load, "a"); err != nil {
				t.Fatal(err)
			}
		}
		refresh()
		if got := found("zeppelins"); !slices.Equal(got, []string{"a"}) {
			t.Errorf("zeppelins: %v", got)
		}
		if got := found("lime"); !slices.Equal(got, []string{"b"}) {
			t.Errorf("lime: %v", got)
		}
		if got := found("horno"); !slices.Equal(got, []string{"a"}) {
			t.Errorf("horno: %v", got)
		}
		state = state[:1]
		refresh()
		if got := found("horno"); len(got) != 0 {
			t.Errorf("a translation that is gone is found: %v", got)
		}
		state[0].State = content.Archived
		refresh()
		if got := found("zeppelins"); len(got) != 0 {
			t.Errorf("an archived page is found: %v", got)
		}
		state[0].State = content.Published
		refresh()
		state = nil
		refresh()
		if got := found("zeppelins"); len(got) != 0 {
			t.Errorf("a deleted page is found: %v", got)
		}
		if err := e.Remove(t.Context(), d, []string{"b", "unknown"}); err != nil {
			t.Fatal(err)
		}
		if err := e.Remove(t.Context(), d, nil); err != nil {
			t.Fatal(err)
		}
		if s, err := e.Stats(t.Context()); err != nil || s.Documents != 0 || s.Chunks != 0 {
			t.Errorf("after removing all: %+v, %v", s, err)
		}
	})
}

func TestPutItemsIsPartOfTheTransaction(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		e := search.New(d)
		rollback := errors.New("roll back")
		err := d.InTx(t.Context(), func(tx *db.DB) error {
			put(t, e, tx, page("a", "Kiln", "", "lime"))
			return rollback
		})
		if !errors.Is(err, rollback) {
			t.Fatal(err)
		}
		if got := find(t, e, search.Query{Text: "lime", Lang: "en"}); len(got) != 0 {
			t.Errorf("found %v", ids(got))
		}
	})
}

func TestPreferredLanguage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		e := search.New(d)
		put(t, e, d,
			page("hours", "Opening hours", "", "The museum opens at nine.", in("en", "en", "es", "ar")),
			page("hours", "Horario del museo", "", "El museo abre a las nueve.", in("es", "en", "es", "ar")),
			page("hours", "مواعيد المتحف", "", "يفتح المتحف في التاسعة.", in("ar", "en", "es", "ar")),
			page("parking", "Parking", "", "Cars park behind the museum.", in("en", "en")),
			page("tokyo", "東京の博物館", "", "開館時間は九時です。", in("ja", "ja")),
			page("beijing", "北京博物馆", "", "开放时间是九点。", in("zh-cn", "zh-cn")),
		)
		for _, c := range []struct{ lang, text, id, hitLang string }{
			{"en", "museum opening hours", "hours", "en"},
			{"es", "¿A qué hora abre el museo?", "hours", "es"},
			{"ar", "متى يفتح المتحف", "hours", "ar"},
			{"es", "¿Dónde está el estacionamiento?", "parking", "en"}, // there is no Spanish page
			{"en", "¿Dónde está el estacionamiento?", "parking", "en"},
			{"ar", "أين موقف السيارات", "parking", "en"},
			{"ja", "開館時間", "tokyo", "ja"},
			{"zh-cn", "开放时间", "beijing", "zh-cn"},
		} {
			hits := find(t, e, search.Query{Text: c.text, Lang: c.lang})
			if len(hits) == 0 || hits[0].ID != c.id || hits[0].Lang != c.hitLang {
				t.Errorf("%s %q: %+v", c.lang, c.text, hits)
				continue
			}
			if c.id == "hours" && len(hits[0].OtherLangs) != 2 {
				t.Errorf("other languages %v", hits[0].OtherLangs)
			}
		}
	})
}

func TestHostileQueries(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		e := search.New(d)
		put(t, e, d, page("a", "O'Brien \"said\" ^x \\ (a|b)", "\x00\xff", "The 'quick' AND NEAR(fox, 2) col:umn * -- ; NUL\x00 \xc3( bad \u0000 ok 漢字😀"))
		for _, text := range []string{
			"", " ", "'", `"`, `\`, "'; drop table search_documents; --", `" OR "1"="1`, "NEAR(fox 2)", "^", "^obrien", "a*", "col:umn", "-fox",
			"fox & !quick | (", "\x00", "\xff\xfe", "{}[]()<>", "the of and", "%s%d", "$1 ? :name", strings.Repeat("word ", 5000),
			strings.Repeat("漢", 5000), strings.Repeat("a'b-c.d", 3000), strings.Repeat("unknowable", 500), "😀", "O'Brien",
		} {
			find(t, e, search.Query{Text: text, Lang: "en"})
			find(t, e, search.Query{Text: text, Lang: "'"})
		}
		if got := ids(find(t, e, search.Query{Text: "O'Brien", Lang: "en"})); len(got) != 1 {
			t.Errorf("O'Brien: %v", got)
		}
	})
}

func TestReadersBesideWriters(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		e := search.New(d)
		load := func(_ context.Context, id string) ([]content.Item, error) {
			return []content.Item{page(id, "Kiln "+id, "", "The kiln burns lime and more lime.")}, nil
		}
		if err := e.Refresh(t.Context(), load, "p0"); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for i := range 10 {
					if err := e.Refresh(t.Context(), load, fmt.Sprint("p", (w+i)%5)); err != nil {
						t.Error(err)
					}
				}
			})
			wg.Go(func() {
				for range 10 {
					hits, err := e.Search(t.Context(), search.Query{Text: "kiln lime", Lang: "en", Who: visitor})
					if err != nil || len(hits) == 0 {
						t.Errorf("%d hits, %v", len(hits), err)
					}
				}
			})
		}
		wg.Wait()
		if s, err := e.Stats(t.Context()); err != nil || s.Documents != 5 || s.Chunks != 5 {
			t.Errorf("%+v, %v", s, err)
		}
	})
}
