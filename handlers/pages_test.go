package handlers

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
)

// garden fills a site with a few pages in two languages.
func garden(t *testing.T, s *testSite) {
	t.Helper()
	ctx := t.Context()
	if err := config.Put(ctx, s.Config, "es", config.Language{Label: "Español", Weight: 1}, ""); err != nil {
		t.Fatal(err)
	}
	save := func(in content.Input) content.Item { return s.save(t, in) }
	save(content.Input{Title: "The garden", Path: "/", SectionIndex: true, Fields: content.Fields{"body": "Welcome to the pond."}})
	save(content.Input{Title: "Visit", Path: "/visit/", SectionIndex: true, Menu: "main", Fields: content.Fields{"summary": "Before you come.", "body": "See the [pond](/visit/pond/)."}})
	pond := save(content.Input{Title: "The pond <b>", Path: "/visit/pond/", Fields: content.Fields{"summary": "A & B", "body": "# The pond\n\nFrogs <script>alert(1)</script> live here.\n\n## Depth\n\nTwo metres.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"}})
	save(content.Input{Title: "The bridge", Path: "/visit/bridge/", Fields: content.Fields{"body": "Oak."}})
	save(content.Input{Title: "Secret", Path: "/visit/secret/", Access: &content.Access{ViewRoles: []string{account.RoleAuthenticated}}, Fields: content.Fields{"body": "The heron nests."}})
	save(content.Input{Title: "Draft", Path: "/visit/draft/", State: content.Draft, Fields: content.Fields{"body": "Not yet, heron."}})
	es := content.Input{Title: "El estanque", Lang: "es", Path: "/visit/pond/", Fields: content.Fields{"body": "Dos metros."}}
	es.Ref = pond.Ref
	save(es)
	moved := content.InputOf(pond)
	moved.Path, moved.State = "/visit/the-pond/", content.Published
	save(moved)
	save(content.Input{Title: "News", Path: "/news/", SectionIndex: true})
	for i := range listSize + 3 {
		save(content.Input{Title: fmt.Sprintf("News %d", i), Path: fmt.Sprintf("/news/n%d/", i), Fields: content.Fields{"body": "x"}})
	}
}

func (s *testSite) open(path string, header ...string) (reply, *goquery.Document) {
	s.t.Helper()
	r := s.browser().get(path, header...)
	return r, r.page(s.t)
}

func texts(s *goquery.Selection) []string {
	return s.Map(func(_ int, s *goquery.Selection) string { return strings.TrimSpace(s.Text()) })
}

// bilingual makes a site of English and Spanish.
func bilingual(d *db.DB) func(*Deps) {
	return func(deps *Deps) {
		deps.Content = content.New(d, content.Options{Languages: func() []string { return []string{"en", "es"} }})
	}
}

func TestPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)

		res, doc := s.open("/visit/the-pond/")
		if res.StatusCode != 200 || len(res.Cookies()) != 0 || res.Header.Get("ETag") == "" || !strings.Contains(res.Header.Get("Cache-Control"), "public") {
			t.Fatalf("%d %v", res.StatusCode, res.Header)
		}
		if doc.Find("h1").Text() != "The pond <b>" || doc.Find("main script").Length() != 0 || doc.Find("main table").Length() != 1 {
			t.Errorf("page: %s", doc.Find("main").Text())
		}
		if got := doc.Find(".standfirst").Text(); got != "A & B" {
			t.Errorf("summary %q", got)
		}
		if id := doc.Find("main .prose h2").Last().AttrOr("id", ""); id != "depth" {
			t.Errorf("anchor %q", id)
		}
		if got := texts(doc.Find(".crumbs li")); strings.Join(got, "/") != "Home/Visit/The pond <b>" {
			t.Errorf("breadcrumb %q", got)
		}
		if got := texts(doc.Find(".side a")); len(got) != 2 {
			t.Errorf("siblings %q", got)
		}
		if href := doc.Find(".site__langs a[hreflang=es]").AttrOr("href", ""); href != "/language/es?to=%2Fes%2Fvisit%2Fpond%2F" {
			t.Errorf("Spanish is at %q", href)
		}
		if doc.Find("[data-docent-block=question] input[name=question]").Length() != 1 {
			t.Error("no question box")
		}
		if res, _ = s.open("/visit/the-pond/", "If-None-Match", res.Header.Get("ETag")); res.StatusCode != 304 {
			t.Errorf("same ETag: %d", res.StatusCode)
		}

		res, _ = s.open("/visit/pond/")
		if res.StatusCode != 301 || res.Header.Get("Location") != "/visit/the-pond/" {
			t.Errorf("old address: %d to %q", res.StatusCode, res.Header.Get("Location"))
		}
		res, doc = s.open("/es/visit/pond/")
		if res.StatusCode != 200 || doc.Find("html").AttrOr("lang", "") != "es" || !strings.Contains(doc.Find(".prose").Text(), "Dos metros") {
			t.Errorf("translation: %d %s", res.StatusCode, doc.Find("main").Text())
		}
		res, doc = s.open("/es/visit/bridge/")
		if res.StatusCode != 200 || doc.Find(".prose").AttrOr("lang", "") != "en" || doc.Find("h1").AttrOr("lang", "") != "en" || doc.Find(".notice").Length() == 0 {
			t.Errorf("untranslated: %d %s", res.StatusCode, doc.Find("main").Text())
		}
		if got := doc.Find("link[rel=canonical]").AttrOr("href", ""); got != s.BaseURL.String()+"/visit/bridge/" {
			t.Errorf("an untranslated page's own address is %q", got)
		}

		for path, want := range map[string]int{"/visit/draft/": 404, "/visit/secret/": 403, "/nowhere/": 404, "/visit/%2e%2e/": 404, "/es/nada/": 404, "/files/x.png": 404} {
			res, doc := s.open(path)
			if res.StatusCode != want || strings.Contains(doc.Text(), "heron") {
				t.Errorf("%s: %d, want %d", path, res.StatusCode, want)
			}
		}
		s.person("ada", account.RoleEditor)
		ada := s.browser().login("ada")
		for path, want := range map[string]int{"/visit/draft/": 200, "/visit/secret/": 200} {
			if res := ada.get(path); res.StatusCode != want || strings.Contains(res.Header.Get("Cache-Control"), "public") {
				t.Errorf("an editor at %s: %d %s", path, res.StatusCode, res.Header.Get("Cache-Control"))
			}
		}
	})
}

func TestListings(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)
		res, doc := s.open("/news/")
		if n := doc.Find(".teaser").Length(); res.StatusCode != 200 || n != listSize {
			t.Errorf("section: %d with %d entries", res.StatusCode, n)
		}
		_, doc = s.open(doc.Find("a[rel=next]").AttrOr("href", ""))
		if got := doc.Find("link[rel=canonical]").AttrOr("href", ""); !strings.HasSuffix(got, "/news/?page=2") {
			t.Errorf("canonical of a second page %q", got)
		}
		if doc.Find("a[rel=prev]").AttrOr("href", "") != "/news/" {
			t.Errorf("the first page is at %q", doc.Find("a[rel=prev]").AttrOr("href", ""))
		}
		_, doc = s.open("/news/?page=99")
		if doc.Find(".teaser").Length() != 0 || doc.Find(".notice").Length() != 1 {
			t.Errorf("a page behind the end: %s", doc.Find("main").Text())
		}
		_, doc = s.open("/visit/")
		if got := texts(doc.Find(".related .teaser__title")); strings.Join(got, "/") != "The bridge/The pond <b>" {
			t.Errorf("pages of a section %q", got)
		}

		term := s.topic(t, "Pond life")
		day := func(days int) map[string]any {
			return map[string]any{"from": time.Now().UTC().AddDate(0, 0, days).Format(time.RFC3339), "to": time.Now().UTC().AddDate(0, 0, days).Add(time.Hour).Format(time.RFC3339)}
		}
		for i, days := range []int{5, -9, 1, -2} {
			s.save(t, content.Input{Bundle: "event", Title: fmt.Sprintf("Event %+d", days), Path: fmt.Sprintf("/e/%d/", i), Fields: content.Fields{"when": day(days), "place": "The pond"}})
		}
		s.save(t, content.Input{Bundle: "article", Title: "Old news", Path: "/a/1/", Date: time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC), Fields: content.Fields{"topics": []any{term}}})
		s.save(t, content.Input{Bundle: "article", Title: "New news", Path: "/a/2/", Date: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Fields: content.Fields{"topics": []any{term}, "summary": "It is new."}})

		_, doc = s.open("/events/")
		if got := texts(doc.Find(".listing .teaser__title")); strings.Join(got, "/") != "Event +1/Event +5" {
			t.Errorf("upcoming %q", got)
		}
		if got := texts(doc.Find(".related .teaser__title")); strings.Join(got, "/") != "Event -2/Event -9" {
			t.Errorf("past %q", got)
		}
		_, doc = s.open("/articles/")
		if got := texts(doc.Find(".teaser__title")); strings.Join(got, "/") != "New news/Old news" {
			t.Errorf("articles %q", got)
		}
		_, doc = s.open("/topics/pond-life/")
		if got := texts(doc.Find(".teaser__title")); strings.Join(got, "/") != "New news/Old news" || doc.Find("h1").Text() != "Pond life" {
			t.Errorf("topic %q", got)
		}
		if doc.Find(`link[type="application/atom+xml"][href="/topics/pond-life/feed.xml"]`).Length() != 1 {
			t.Error("the topic's feed is not found")
		}
		_, doc = s.open("/topics/")
		if got := texts(doc.Find(".teaser__title")); strings.Join(got, "/") != "Pond life" {
			t.Errorf("topics %q", got)
		}
		_, doc = s.open("/a/2/")
		if got := texts(doc.Find(".related .teaser__title")); strings.Join(got, "/") != "Old news" {
			t.Errorf("related %q", got)
		}
		_, doc = s.open("/")
		if got := texts(doc.Find(".related .teaser__title")); strings.Join(got, "/") != "New news/Old news/Event +1/Event +5" {
			t.Errorf("front page %q", got)
		}
		res, doc = s.open("/faq/")
		if res.StatusCode != 200 || doc.Find(".notice").Length() != 1 {
			t.Errorf("a list without entries: %d", res.StatusCode)
		}
		if res, _ = s.open("/page/"); res.StatusCode != 404 {
			t.Errorf("pages are listed: %d", res.StatusCode)
		}
	})
}

func (s *testSite) topic(t *testing.T, name string) string {
	t.Helper()
	var id string
	err := s.DB.InTx(t.Context(), func(tx *db.DB) (err error) {
		id, err = s.Content.In(tx).EnsureTerm(t.Context(), tx, content.FieldTopics, name, "en")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// save stores content as an administrator, published unless it says otherwise,
// and indexes it.
func (s *testSite) save(t *testing.T, in content.Input) content.Item {
	t.Helper()
	editor := account.Account{ID: "editor", Roles: []string{account.RoleAdministrator}}
	if in.Lang == "" {
		in.Lang = "en"
	}
	if in.State == "" {
		in.State = content.Published
	}
	if in.Bundle == "" && in.ID == "" {
		in.Bundle = "page"
	}
	it, err := s.Content.Save(t.Context(), editor, in)
	if err != nil {
		t.Fatalf("%s: %v", in.Path, err)
	}
	if err := s.Search.Refresh(t.Context(), s.Content.Translations, it.ID); err != nil {
		t.Fatal(err)
	}
	return it
}

func TestSearchPage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)
		_, doc := s.open("/search?q=heron")
		if n := doc.Find(".found li").Length(); n != 0 || doc.Find(".notice").Length() != 1 {
			t.Errorf("a visitor found %d hidden pages", n)
		}
		_, doc = s.open("/search?q=depth+%3Cscript%3E+metre")
		first := doc.Find(".found li").First()
		if first.Find("a").Text() != "The pond <b>" || doc.Find("main script").Length() != 0 {
			t.Errorf("search: %s", doc.Find("main").Text())
		}
		if href := first.Find("a").AttrOr("href", ""); href != "/visit/the-pond/#depth" {
			t.Errorf("the passage is at %q", href)
		}
		if got := texts(first.Find("mark")); strings.Join(got, "/") != "Depth/metres" {
			t.Errorf("marked %q", got)
		}
		_, doc = s.open("/search?q=news")
		if n := doc.Find(".found li").Length(); n != listSize || doc.Find("a[rel=next]").Length() != 1 {
			t.Errorf("%d entries", n)
		}
		if n := doc.Find(`.found a[href="/news/n1/"]`).Length(); n > 1 {
			t.Errorf("one page is found %d times", n)
		}
		_, doc = s.open("/search?q=metros+pond&in=es")
		if got := texts(doc.Find(".found li a")); strings.Join(got, "/") != "El estanque" {
			t.Errorf("in Spanish %q", got)
		}
		if doc.Find("select[name=in] option[selected]").AttrOr("value", "") != "es" {
			t.Error("the language chosen is not shown")
		}
		res, _ := s.open("/search?q=" + strings.Repeat("x", 5000))
		if res.StatusCode != 200 {
			t.Errorf("a long search: %d", res.StatusCode)
		}
		// The index is a moment behind: what is no longer public is not shown.
		editor := account.Account{ID: "editor", Roles: []string{account.RoleAdministrator}}
		it, err := s.Content.ByPath(t.Context(), editor, "en", "/visit/the-pond/")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Content.SetState(t.Context(), editor, it.Ref, "en", content.Draft, ""); err != nil {
			t.Fatal(err)
		}
		_, doc = s.open("/search?q=depth+metre")
		if strings.Contains(doc.Find(".found").Text(), "The pond") {
			t.Error("search shows what was taken down")
		}
	})
}

// Addresses that show nothing lead on, and those of content that was taken down
// say so.
func TestMissingPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)
		_, doc := s.open("/old/bridge.html")
		if got := texts(doc.Find(".lone .near a")); strings.Join(got, "/") != "The bridge" {
			t.Errorf("nearest %q", got)
		}
		if doc.Find(".lone input[name=q]").AttrOr("value", "") != "old bridge" || doc.Find("[data-docent-block=question]").Length() != 1 {
			t.Error("no search or no question box")
		}
		_, doc = s.open("/x/heron/")
		if strings.Contains(doc.Find("main").Text(), "Secret") {
			t.Error("suggests what the visitor may not see")
		}
		editor := account.Account{ID: "editor", Roles: []string{account.RoleAdministrator}}
		archive := func(path string) {
			t.Helper()
			it, err := s.Content.ByPath(t.Context(), editor, "en", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Content.SetState(t.Context(), editor, it.Ref, "en", content.Archived, ""); err != nil {
				t.Fatal(err)
			}
		}
		archive("/visit/bridge/")
		archive("/visit/secret/")
		archive("/visit/draft/")
		res, doc := s.open("/visit/bridge/")
		if res.StatusCode != http.StatusGone || doc.Find(".lone input[name=q]").Length() != 1 {
			t.Errorf("archived: %d", res.StatusCode)
		}
		for _, hidden := range []string{"/visit/secret/", "/visit/draft/"} {
			if res, _ := s.open(hidden); res.StatusCode != http.StatusNotFound {
				t.Errorf("%s tells that it was there: %d", hidden, res.StatusCode)
			}
		}
	})
}

func TestLanguageNegotiation(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)
		res, _ := s.open("/", "Accept-Language", "es")
		if res.StatusCode != 200 {
			t.Errorf("a front page that is not translated: %d to %s", res.StatusCode, res.Header.Get("Location"))
		}
		home, err := s.Content.ByPath(t.Context(), account.Account{Roles: []string{account.RoleAdministrator}}, "en", "/")
		if err != nil {
			t.Fatal(err)
		}
		es := content.Input{Title: "El jardín", Lang: "es", Path: "/"}
		es.Ref = home.Ref
		s.save(t, es)
		for _, tt := range []struct{ path, header, cookie, want string }{
			{"/", "", "", ""}, {"/", "en", "", ""}, {"/", "es-MX,es;q=0.9,en;q=0.8", "", "/es/"}, {"/?a=b", "es", "", "/es/?a=b"},
			{"/", "fr,es;q=0.5", "", "/es/"}, {"/", "fr", "", ""}, {"/", "%%%", "", ""}, {"/", "es", "en", ""}, {"/", "en", "es", "/es/"},
			{"/", "en", "xx", ""}, {"/es/", "en", "", ""}, {"/visit/", "es", "", ""}, {"/visit/", "en", "es", ""},
		} {
			res, _ := s.open(tt.path, "Accept-Language", tt.header, "Cookie", languageCookie+"="+tt.cookie)
			if got := res.Header.Get("Location"); got != tt.want || (res.StatusCode == 302) != (tt.want != "") {
				t.Errorf("%s for %q, chosen %q: %d to %q, want %q", tt.path, tt.header, tt.cookie, res.StatusCode, got, tt.want)
			}
			vary := strings.Join(res.Header.Values("Vary"), ",")
			if strings.HasPrefix(tt.path, "/?") || tt.path == "/" {
				if !strings.Contains(vary, "Accept-Language") || !strings.Contains(vary, "Cookie") {
					t.Errorf("the front page varies by %q", vary)
				}
			} else if tt.path == "/visit/" && strings.Contains(vary, "Language") {
				t.Errorf("a page varies by %q", vary)
			}
			if len(res.Cookies()) > 0 {
				t.Errorf("%s sets a cookie", tt.path)
			}
		}

		_, doc := s.open("/")
		ada := s.browser()
		res = ada.get(doc.Find(".site__langs a[hreflang=es]").AttrOr("href", ""))
		if res.StatusCode != 303 || res.Header.Get("Location") != "/es/" || !strings.Contains(res.Header.Get("Cache-Control"), "no-store") {
			t.Errorf("choosing: %d to %q", res.StatusCode, res.Header.Get("Location"))
		}
		if res = ada.get("/"); res.Header.Get("Location") != "/es/" {
			t.Errorf("the choice is not kept: %d", res.StatusCode)
		}
		for path, want := range map[string]string{
			"/language/en?to=https://evil.example/": "/", "/language/es?to=//evil.example": "/es/", "/language/es?to=/es/visit/pond/": "/es/visit/pond/",
		} {
			if res := s.browser().get(path); res.Header.Get("Location") != want {
				t.Errorf("%s leads to %q", path, res.Header.Get("Location"))
			}
		}
		if res := s.browser().get("/language/es", "Sec-Fetch-Site", "cross-site"); len(res.Cookies()) != 0 {
			t.Error("another site chose the language")
		}
		if res := s.browser().get("/language/xx"); res.StatusCode != 404 {
			t.Errorf("an unknown language: %d", res.StatusCode)
		}

		_, doc = s.open("/es/visit/pond/")
		base := s.BaseURL.String()
		var got []string
		doc.Find("link[rel=alternate][hreflang]").Each(func(_ int, l *goquery.Selection) {
			got = append(got, l.AttrOr("hreflang", "")+" "+l.AttrOr("href", ""))
		})
		if want := []string{"en " + base + "/visit/the-pond/", "es " + base + "/es/visit/pond/", "x-default " + base + "/visit/the-pond/"}; !slices.Equal(got, want) {
			t.Errorf("alternates %q", got)
		}
		if canonical := doc.Find("link[rel=canonical]").AttrOr("href", ""); canonical != base+"/es/visit/pond/" {
			t.Errorf("canonical %q", canonical)
		}
	})
}
