package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
)

// formOf reads a form as a browser would send it, without a button.
func formOf(t *testing.T, doc *goquery.Document, selector string) (action string, fields url.Values) {
	t.Helper()
	form := doc.Find(selector)
	if form.Length() != 1 {
		t.Fatalf("%d forms %q", form.Length(), selector)
	}
	fields = url.Values{}
	form.Find("input[name], textarea[name], select[name]").Each(func(_ int, s *goquery.Selection) {
		name, kind := s.AttrOr("name", ""), s.AttrOr("type", "")
		_, checked := s.Attr("checked")
		switch {
		case goquery.NodeName(s) == "textarea":
			fields.Add(name, strings.TrimPrefix(s.Text(), "\n"))
		case goquery.NodeName(s) == "select":
			chosen := s.Find("option[selected]")
			if chosen.Length() == 0 {
				chosen = s.Find("option").First()
			}
			fields.Add(name, chosen.AttrOr("value", ""))
		case kind == "checkbox" || kind == "radio":
			if checked {
				fields.Add(name, s.AttrOr("value", "on"))
			}
		default:
			fields.Add(name, s.AttrOr("value", ""))
		}
	})
	return form.AttrOr("action", ""), fields
}

const editForm = "form[data-docent-edit]"

// press sends the edit form of a page with one of its buttons.
func (b *browser) press(page reply, op string, change url.Values) reply {
	b.site.t.Helper()
	action, fields := formOf(b.site.t, page.page(b.site.t), editForm)
	for name, values := range change {
		fields[name] = values
	}
	fields.Set("op", op)
	return b.submit(action, fields)
}

// follow opens where a reply leads.
func (b *browser) follow(r reply) reply {
	b.site.t.Helper()
	r.want(b.site.t, http.StatusSeeOther)
	return b.get(r.Header.Get("Location")).want(b.site.t, http.StatusOK)
}

func languages(langs ...string) func(*Deps) {
	return func(d *Deps) {
		d.Content = content.New(d.DB, content.Options{Languages: func() []string { return langs }})
	}
}

func TestEditing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d)
		s.person("ed", account.RoleEditor)
		ed := s.browser().login("ed")

		form := ed.get("/admin/content/add/article").want(t, http.StatusOK)
		bad := ed.press(form, "draft", url.Values{"f.title.0": {""}, "f.body.0": {"Kept <b>text</b>"}, "weight": {"heavy"}}).want(t, http.StatusUnprocessableEntity)
		page := bad.page(t)
		if page.Find("#form-errors a").Length() != 2 || page.Find("#f-title-0[aria-invalid=true]").Length()+page.Find("#f-title-0-error").Length() == 0 {
			t.Errorf("complaints: %q", page.Find("#form-errors").Text())
		}
		if page.Find("#f-body-0").Text() != "Kept <b>text</b>" || strings.Contains(bad.body, "<b>text</b>") {
			t.Error("what was typed is not kept as it should")
		}

		saved := ed.follow(ed.press(bad, "draft", url.Values{"f.title.0": {"Apple day"}, "weight": {""}, "f.summary.0": {"Apples"}}))
		page = saved.page(t)
		if page.Find(".notice--ok").Length() != 1 || page.Find(`.admin__state .tag--wait`).Length() != 1 || page.Find("#f-title-0").AttrOr("value", "") != "Apple day" {
			t.Fatalf("the draft is not shown: %s", page.Find("main").Text())
		}
		address := saved.Request.URL.Path
		path := page.Find("#side-path").AttrOr("value", "")
		s.browser().get(path).want(t, http.StatusNotFound)

		published := ed.follow(ed.press(saved, "publish", nil))
		s.browser().get(path).want(t, http.StatusOK)

		// A forward draft leaves the public page as it is.
		draft := ed.follow(ed.press(published, "draft", url.Values{"f.title.0": {"Apple night"}, "message": {"It is late"}}))
		if body := s.browser().get(path).want(t, http.StatusOK).body; !strings.Contains(body, "Apple day") || strings.Contains(body, "Apple night") {
			t.Error("a draft is public")
		}
		if draft.page(t).Find(".admin__state .tag--wait").Length() != 1 || draft.page(t).Find(".admin__state .tag--ok").Length() != 1 {
			t.Error("the form does not say that there is a newer draft")
		}
		preview := ed.get(draft.page(t).Find(`.tabs a[href^="/preview/"]`).AttrOr("href", "")).want(t, http.StatusOK)
		if !strings.Contains(preview.body, "Apple night") || preview.Header.Get("Cache-Control") != "no-store" ||
			preview.Header.Get("X-Robots-Tag") != "noindex" || preview.page(t).Find(".rail").Length() != 0 {
			t.Error("the preview is not as it should")
		}
		review := ed.get("/admin/content/review").want(t, http.StatusOK).page(t)
		if review.Find("tbody tr").Length() != 1 || review.Find("tbody .tag--wait").Length() != 1 {
			t.Errorf("to review: %q", review.Find("tbody").Text())
		}

		history := ed.get(address+"/revisions").want(t, http.StatusOK).page(t)
		if history.Find("tbody tr").Length() != 3 || !strings.Contains(history.Find("tbody tr").First().Text(), "It is late") ||
			history.Find(`form[action$="/revert"]`).Length() != 2 {
			t.Errorf("history: %q", history.Find("tbody").Text())
		}
		compare := ed.get(address+"/compare").want(t, http.StatusOK).page(t)
		if compare.Find(".diff del").First().Text() != "day" || compare.Find(".diff ins").First().Text() != "night" {
			t.Errorf("compared: %q", compare.Find(".diffs").Text())
		}
		action, fields := formOf(t, history, `tbody tr:last-child form[action$="/revert"]`)
		reverted := ed.follow(ed.submit(action, fields))
		if reverted.page(t).Find("#f-title-0").AttrOr("value", "") != "Apple day" {
			t.Error("the old title is not back")
		}
	})
}

func TestEditingWithoutPermission(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	if err := config.Put(t.Context(), s.Config, "writer", config.Role{Label: "Writer", Permissions: []account.Permission{
		account.AccessAdministration, account.AccessContent, "create article content", "edit own article content", "use text format markdown",
	}}, ""); err != nil {
		t.Fatal(err)
	}
	s.person("ed", account.RoleEditor)
	s.person("writer", "writer")
	s.person("member")
	ed, writer := s.browser().login("ed"), s.browser().login("writer")
	theirs := ed.follow(ed.press(ed.get("/admin/content/add/article"), "publish", url.Values{"f.title.0": {"Theirs"}})).Request.URL.Path

	writer.get("/admin/content/add/page").want(t, http.StatusForbidden)
	writer.get(theirs).want(t, http.StatusForbidden)
	writer.submitWithToken(theirs, url.Values{"op": {"draft"}, "f.title.0": {"Mine"}}).want(t, http.StatusForbidden)
	writer.submitWithToken(theirs+"/delete", nil).want(t, http.StatusForbidden)
	writer.get("/admin/content/review").want(t, http.StatusForbidden)
	form := writer.get("/admin/content/add/article").want(t, http.StatusOK)
	if form.page(t).Find(`.actions button[value="publish"]`).Length() != 0 {
		t.Error("a writer is offered to publish")
	}
	own := writer.follow(writer.press(form, "draft", url.Values{"f.title.0": {"Own"}}))
	writer.press(own, "publish", nil).want(t, http.StatusForbidden)
	preview := own.page(t).Find(`.tabs a[href^="/preview/"]`).AttrOr("href", "")
	writer.get(preview).want(t, http.StatusOK)
	s.browser().get(preview).want(t, http.StatusSeeOther)
	s.browser().login("member").get(preview).want(t, http.StatusForbidden)
	for _, path := range []string{"/admin/content/nothing/en", strings.TrimSuffix(theirs, "/en") + "/xx", theirs + "/compare?a=x&b=y", "/preview/x/en/form", "/preview/x/en/y"} {
		ed.get(path).want(t, http.StatusNotFound)
	}
}

func TestKeptForm(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d)
		s.person("ed", account.RoleEditor)
		s.person("other", account.RoleEditor)
		ed, other := s.browser().login("ed"), s.browser().login("other")
		saved := ed.follow(ed.press(ed.get("/admin/content/add/page"), "publish", url.Values{"f.title.0": {"Visit"}}))
		address := saved.Request.URL.Path

		_, fields := formOf(t, saved.page(t), editForm)
		fields.Set("f.title.0", "Visit us")
		keep := saved.page(t).Find(editForm).AttrOr("data-docent-keep", "")
		if r := ed.submit(keep, fields).want(t, http.StatusOK); !strings.Contains(r.body, `"text"`) {
			t.Errorf("kept: %s", r.body)
		}
		again := ed.get(address).want(t, http.StatusOK)
		if again.page(t).Find("#f-title-0").AttrOr("value", "") != "Visit us" || again.page(t).Find(`form[action^="/admin/content/discard"]`).Length() != 1 {
			t.Error("the form does not hold what was typed")
		}
		if title := other.get(address).page(t).Find("#f-title-0").AttrOr("value", ""); title != "Visit" {
			t.Errorf("somebody else sees %q", title)
		}
		if n := ed.get(address + "/revisions").page(t).Find("tbody tr").Length(); n != 1 {
			t.Errorf("%d revisions", n)
		}
		preview := ed.follow(ed.press(again, "preview", url.Values{"f.title.0": {"Visit us soon"}}))
		if !strings.Contains(preview.body, "Visit us soon") {
			t.Error("the preview does not show what is typed")
		}
		action, discard := formOf(t, ed.get(address).page(t), `form[action^="/admin/content/discard"]`)
		if title := ed.follow(ed.submit(action, discard)).page(t).Find("#f-title-0").AttrOr("value", ""); title != "Visit" {
			t.Errorf("after discarding the form holds %q", title)
		}

		// New content waits under what was begun.
		form := ed.get("/admin/content/add/page").want(t, http.StatusOK)
		ed.follow(ed.press(form, "preview", url.Values{"f.title.0": {"Begun"}}))
		begun := ed.get("/admin/content/add").want(t, http.StatusOK).page(t).Find(".begun a")
		if begun.Length() != 1 || ed.get(begun.AttrOr("href", "")).page(t).Find("#f-title-0").AttrOr("value", "") != "Begun" {
			t.Error("what was begun is not offered")
		}
	})
}

func TestConflict(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d)
		s.person("ed", account.RoleEditor)
		s.person("grace", account.RoleEditor)
		ed, grace := s.browser().login("ed"), s.browser().login("grace")
		address := ed.follow(ed.press(ed.get("/admin/content/add/article"), "publish", url.Values{"f.title.0": {"Apples"}, "f.summary.0": {"One"}, "f.body.0": {"Text"}})).Request.URL.Path
		mine, theirs := ed.get(address), grace.get(address)
		grace.follow(grace.press(theirs, "publish", url.Values{"f.summary.0": {"Two, theirs"}}))

		// Other fields: brought together without a question.
		merged := ed.follow(ed.press(mine, "draft", url.Values{"f.body.0": {"Text, mine"}}))
		page := merged.page(t)
		if page.Find("#f-summary-0").Text()+page.Find("#f-summary-0").AttrOr("value", "") != "Two, theirs" || page.Find("#f-body-0").Text() != "Text, mine" || page.Find(".notice--ok").Length() != 1 {
			t.Errorf("merged: %q", page.Find("main").Text())
		}

		// The same field: both are shown, and nothing is lost.
		mine, theirs = ed.get(address), grace.get(address)
		grace.follow(grace.press(theirs, "draft", url.Values{"f.summary.0": {"Three, theirs"}, "f.title.0": {"Pears"}}))
		conflict := ed.press(mine, "draft", url.Values{"f.summary.0": {"Three, mine"}, "f.body.0": {"Longer"}}).want(t, http.StatusConflict)
		page = conflict.page(t)
		page.Find("#edit-conflict del").Remove()
		if texts := page.Find("#edit-conflict .diff__text").Text(); texts != "Three, theirsThree, mine" || page.Find("#edit-conflict .diff").Length() != 1 {
			t.Errorf("in conflict: %q", texts)
		}
		if page.Find("#f-title-0").AttrOr("value", "") != "Pears" || page.Find("#f-body-0").Text() != "Longer" || page.Find("#f-summary-0").Text()+page.Find("#f-summary-0").AttrOr("value", "") != "Three, mine" {
			t.Error("the form does not hold both people's changes")
		}
		taken := ed.press(conflict, "theirs:summary", nil).want(t, http.StatusOK).page(t)
		if taken.Find("#f-summary-0").Text()+taken.Find("#f-summary-0").AttrOr("value", "") != "Three, theirs" {
			t.Error("their text cannot be taken")
		}
		settled := ed.follow(ed.press(conflict, "draft", nil)).page(t)
		if settled.Find("#f-title-0").AttrOr("value", "") != "Pears" || settled.Find("#f-summary-0").Text()+settled.Find("#f-summary-0").AttrOr("value", "") != "Three, mine" {
			t.Error("the conflict is not settled")
		}
	})
}

func TestTranslating(t *testing.T) {
	d := dbtest.SQLite(t)
	s := newTestSite(t, d, languages("en", "ar"))
	for name, label := range map[string]string{"en": "English", "ar": "العربية"} {
		if err := config.Put(t.Context(), s.Config, name, config.Language{Label: label}, ""); err != nil {
			t.Fatal(err)
		}
	}
	s.person("ed", account.RoleEditor)
	ed := s.browser().login("ed")
	saved := ed.follow(ed.press(ed.get("/admin/content/add/page"), "publish", url.Values{"f.title.0": {"Visit"}, "f.body.0": {"Come in"}}))
	address := strings.TrimSuffix(saved.Request.URL.Path, "/en")
	list := ed.get(address+"/en/translations").want(t, http.StatusOK).page(t)
	add := list.Find(`tbody a[href*="/ar"]`)
	if add.Length() != 1 {
		t.Fatalf("translations: %q", list.Find("tbody").Text())
	}
	form := ed.get(add.AttrOr("href", "")).want(t, http.StatusOK)
	if source := form.page(t).Find("#field-body ~ .source"); source.Length() != 1 || !strings.Contains(source.Text(), "Come in") || source.AttrOr("dir", "") != "ltr" {
		t.Error("the source does not stand beside the field")
	}
	done := ed.follow(ed.press(form, "publish", url.Values{"f.title.0": {"زيارة"}, "f.body.0": {"ادخل"}, "path": {""}}))
	path := done.page(t).Find(`.drop__panel a`).First().AttrOr("href", "")
	public := s.browser().get(path).want(t, http.StatusOK).page(t)
	if public.Find("html").AttrOr("dir", "") != "rtl" || !strings.Contains(public.Find("h1").Text(), "زيارة") {
		t.Errorf("the Arabic page at %s", path)
	}
	ask := ed.get(address+"/ar/delete?translation=1").want(t, http.StatusOK).page(t)
	action, fields := formOf(t, ask, "form.ask")
	ed.submit(action, fields).want(t, http.StatusSeeOther)
	s.browser().get("/visit/").want(t, http.StatusOK)
	if ed.get(address+"/ar").want(t, http.StatusOK).page(t).Find(`.admin__state .tag--ok`).Length() != 0 {
		t.Error("the translation is still there")
	}
}
