package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
)

func TestContentList(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d)
		grace := s.person("grace", account.RoleEditor)
		s.person("ed", account.RoleEditor)
		ed := s.browser().login("ed")
		s.browser().login("grace").add("page", "Opening hours", "publish")
		ed.add("article", "Apple day", "publish")
		ed.add("article", "Wassail", "draft")
		titles := func(query string) string {
			var out []string
			ed.get("/admin/content?"+query).want(t, http.StatusOK).page(t).Find("tbody th a").Each(func(_ int, a *goquery.Selection) { out = append(out, a.Text()) })
			return strings.Join(out, ", ")
		}
		for _, tt := range []struct{ query, want string }{
			{"", "Wassail, Apple day, Opening hours"},
			{"sort=title", "Apple day, Opening hours, Wassail"},
			{"sort=-title", "Wassail, Opening hours, Apple day"},
			{"sort=-changed", "Opening hours, Apple day, Wassail"},
			{"type=article", "Wassail, Apple day"},
			{"state=draft", "Wassail"},
			{"state=nonsense", "Wassail, Apple day, Opening hours"},
			{"author=" + grace.ID, "Opening hours"},
			{"text=app", "Apple day"},
			{"text=%25", ""},
			{"language=xx", ""},
		} {
			if got := titles(tt.query); got != tt.want {
				t.Errorf("%q lists %q, want %q", tt.query, got, tt.want)
			}
		}
		page := ed.get("/admin/content").page(t)
		if row := page.Find("tbody tr").Last(); !strings.Contains(row.Text(), "grace") || row.Find(`a[href^="/admin/content/"]`).Length() != 1 {
			t.Errorf("a row: %q", row.Text())
		}
		if page.Find(".drop__panel a").Length() < 4 || page.Find(`a[href="/admin/content/review"] .tag`).Text() != "1" {
			t.Error("the list does not lead on")
		}
	})
}

func (b *browser) add(bundle, title, op string) reply {
	b.site.t.Helper()
	return b.follow(b.press(b.get("/admin/content/add/"+bundle).want(b.site.t, http.StatusOK), op, url.Values{"f.title.0": {title}}))
}

func TestBulkActions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d)
		s.person("ed", account.RoleEditor)
		ed := s.browser().login("ed")
		first := ed.add("page", "First", "publish")
		path := first.page(t).Find("#side-path").AttrOr("value", "")
		ed.follow(ed.press(ed.get("/admin/content/add/page"), "publish", url.Values{"f.title.0": {"Second"}, "f.body.0": {"See [the first](" + path + ")."}}))

		list := ed.get("/admin/content?sort=title").page(t)
		action, fields := formOf(t, list, "form[data-docent-bulk]")
		fields.Set("op", "archive")
		ed.submit(action, fields).wantLocation(t, "/admin/content?done=nothing&sort=title")
		list.Find("tbody .box").Each(func(_ int, box *goquery.Selection) { fields.Add("item", box.AttrOr("value", "")) })
		ask := ed.submit(action, fields).want(t, http.StatusOK).page(t)
		if ask.Find(".ask__items > li").Length() != 2 || !strings.Contains(ask.Find(".ask").Text(), "Second") || ask.Find(".ask__items ul a").Length() != 1 {
			t.Errorf("consequences: %q", ask.Find(".ask").Text())
		}
		s.browser().get(path).want(t, http.StatusOK)
		action, fields = formOf(t, ask, "form.ask")
		ed.submit(action, fields).wantLocation(t, "/admin/content?done=archived&sort=title")
		s.browser().get(path).want(t, http.StatusGone)

		fields.Set("op", "delete")
		fields.Set("back", "https://elsewhere.example/")
		ed.submit(action, fields).wantLocation(t, "/admin/content?done=deleted")
		if n := ed.get("/admin/content").page(t).Find("tbody tr").Length(); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		ed.submit(action, fields).wantLocation(t, "/admin/content?done=deleted") // twice does no harm
		fields.Set("op", "explode")
		ed.submit(action, fields).want(t, http.StatusBadRequest)
	})
}

// The statements behind a list, a form and a history do not grow with what they show.
func TestNoStatementPerRow(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	s.person("ed", account.RoleEditor)
	ed := s.browser().login("ed")
	ed.add("article", "Waiting", "draft")
	address := ed.add("article", "First", "publish").Request.URL.Path
	paths := []string{"/admin/content", "/admin/content/review", address, address + "/revisions"}
	var before []int64
	for _, path := range paths {
		before = append(before, s.statements(t, path, ed.cookies()...))
	}
	for i := range 12 {
		ed.add("article", fmt.Sprintf("Page %d", i), []string{"draft", "publish"}[i%2])
	}
	page := ed.get(address)
	for i := range 6 {
		page = ed.follow(ed.press(page, "draft", url.Values{"f.summary.0": {fmt.Sprint(i)}, fmt.Sprintf("f.topics.%d", i): {fmt.Sprintf("Topic %d", i)}, fmt.Sprintf("f.topics.%d.id", i): {newTerm}}))
		page = ed.press(page, "add:topics:", nil)
	}
	for i, path := range paths {
		if after := s.statements(t, path, ed.cookies()...); after > before[i]+2 { // the author's name, the references' titles
			t.Errorf("%s takes %d statements, %d with less to show", path, after, before[i])
		}
	}
}

// Without scripts a medium is chosen on a page of its own, which leads back.
func TestPickingWithoutScripts(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	s.person("ed", account.RoleEditor)
	ed := s.browser().login("ed")
	form := ed.get("/admin/content/add/article").want(t, http.StatusOK)
	away := ed.press(form, "pick:image:", url.Values{"f.title.0": {"With a picture"}}).want(t, http.StatusSeeOther)
	to, err := url.Parse(away.Header.Get("Location"))
	if err != nil || to.Path != "/admin/media/pick" {
		t.Fatalf("sent to %s", to)
	}
	back := to.Query().Get("return")
	again := ed.follow(ed.get(back + "&picked=some-medium")).page(t)
	if again.Find("#f-title-0").AttrOr("value", "") != "With a picture" || again.Find(`#field-image input[name^="f.image."][value="some-medium"]`).Length() != 1 {
		t.Error("the form is not as it was, with the picture")
	}
}
