package handlers

import (
	"fmt"
	"strings"
	"testing"

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
	editor := account.Account{ID: "editor", Roles: []string{account.RoleAdministrator}}
	save := func(in content.Input) content.Item {
		t.Helper()
		if in.Lang == "" {
			in.Lang = "en"
		}
		if in.State == "" {
			in.State = content.Published
		}
		if in.Bundle == "" && in.ID == "" {
			in.Bundle = "page"
		}
		it, err := s.Content.Save(ctx, editor, in)
		if err != nil {
			t.Fatalf("%s: %v", in.Path, err)
		}
		if err := s.Search.Refresh(ctx, s.Content.Translations, it.ID); err != nil {
			t.Fatal(err)
		}
		return it
	}
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
	for i := range pageSize + 3 {
		save(content.Input{Title: fmt.Sprintf("News %d", i), Path: fmt.Sprintf("/news/n%d/", i), Fields: content.Fields{"body": "x"}})
	}
}

func (s *testSite) open(path string, header ...string) (reply, *goquery.Document) {
	s.t.Helper()
	r := s.browser().get(path, header...)
	return r, r.page(s.t)
}

func TestPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, func(deps *Deps) {
			deps.Content = content.New(d, content.Options{Languages: func() []string { return []string{"en", "es"} }})
		})
		garden(t, s)

		res, doc := s.open("/visit/the-pond/")
		if res.StatusCode != 200 || len(res.Cookies()) != 0 || res.Header.Get("ETag") == "" || !strings.Contains(res.Header.Get("Cache-Control"), "public") {
			t.Fatalf("%d %v", res.StatusCode, res.Header)
		}
		if doc.Find("h1").Text() != "The pond <b>" || doc.Find("main script").Length() != 0 || doc.Find("main table").Length() != 1 {
			t.Errorf("page: %s", doc.Find("main").Text())
		}
		if id := doc.Find("main .prose h2").Last().AttrOr("id", ""); id != "depth" {
			t.Errorf("anchor %q", id)
		}
		if got := doc.Find(".crumbs li").Map(func(_ int, s *goquery.Selection) string { return s.Text() }); strings.Join(got, "/") != "Home/Visit/The pond <b>" {
			t.Errorf("breadcrumb %q", got)
		}
		if got := doc.Find(".side a").Map(func(_ int, s *goquery.Selection) string { return s.Text() }); len(got) != 2 {
			t.Errorf("siblings %q", got)
		}
		if href := doc.Find(".site__langs a[hreflang=es]").AttrOr("href", ""); href != "/es/visit/pond/" {
			t.Errorf("Spanish is at %q", href)
		}
		if doc.Find("#site-question input[name=question]").Length() != 1 {
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
		if res.StatusCode != 200 || doc.Find(".prose").AttrOr("lang", "") != "en" || doc.Find(".notice").Length() == 0 {
			t.Errorf("untranslated: %d %s", res.StatusCode, doc.Find("main").Text())
		}

		for path, want := range map[string]int{"/visit/draft/": 404, "/visit/secret/": 403, "/nowhere/": 404, "/visit/%2e%2e/": 404, "/es/nada/": 404, "/files/x.png": 404} {
			res, doc := s.open(path)
			if res.StatusCode != want || strings.Contains(doc.Text(), "heron") {
				t.Errorf("%s: %d, want %d", path, res.StatusCode, want)
			}
		}

		res, doc = s.open("/news/")
		if n := doc.Find(".near li").Length(); res.StatusCode != 200 || n != pageSize {
			t.Errorf("listing: %d with %d entries", res.StatusCode, n)
		}
		_, doc = s.open(doc.Find("a[rel=next]").AttrOr("href", ""))
		if n := doc.Find(".near li").Length(); n != 3 {
			t.Errorf("second page: %d entries", n)
		}

		_, doc = s.open("/search?q=heron")
		if n := doc.Find(".near li").Length(); n != 0 {
			t.Errorf("a visitor found %d hidden pages", n)
		}
		_, doc = s.open("/search?q=frogs+%3Cscript%3E")
		if doc.Find(".near a").First().Text() != "The pond <b>" || doc.Find("main script").Length() != 0 {
			t.Errorf("search: %s", doc.Find("main").Text())
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
