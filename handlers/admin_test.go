package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
)

func TestPermissionsOfRoutes(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	s.person("member")
	s.person("editor", account.RoleEditor)
	s.person("root", account.RoleAdministrator)
	member, editor, root := s.browser().login("member"), s.browser().login("editor"), s.browser().login("root")
	for _, tt := range []struct {
		path                          string
		visitor, member, editor, root int
	}{
		{"/admin", 303, 403, 200, 200},
		{"/admin/content", 303, 403, 200, 200},
		{"/admin/people", 303, 403, 403, 200},
		{"/admin/people/new", 303, 403, 403, 200},
		{"/admin/config/site", 303, 403, 403, 200},
		{"/admin/nowhere", 404, 404, 404, 404},
		{"/user", 303, 200, 200, 200},
	} {
		got := []int{s.browser().get(tt.path).StatusCode, member.get(tt.path).StatusCode, editor.get(tt.path).StatusCode, root.get(tt.path).StatusCode}
		if want := []int{tt.visitor, tt.member, tt.editor, tt.root}; !slices.Equal(got, want) {
			t.Errorf("%s gives %v, want %v", tt.path, got, want)
		}
	}
	for _, path := range []string{"/admin/people/new", "/admin/config/site", "/admin/people/x/block"} {
		if r := editor.submitWithToken(path, nil); r.StatusCode != http.StatusForbidden {
			t.Errorf("an editor posting to %s gets %d", path, r.StatusCode)
		}
		if r := s.browser().submitWithToken(path, nil); r.StatusCode != http.StatusForbidden {
			t.Errorf("a visitor posting to %s gets %d", path, r.StatusCode)
		}
	}
	rail := editor.get("/admin").page(t).Find(".rail a")
	if rail.Filter(`[href="/admin/people"]`).Length() != 0 || rail.Filter(`[href="/admin"][aria-current="page"]`).Length() != 1 {
		t.Error("the editor's rail is not as it should")
	}
}

func TestPeople(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d)
		s.person("root", account.RoleAdministrator)
		root := s.browser().login("root")

		bad := root.submitWithToken("/admin/people/new", url.Values{"name": {"ro\not"}, "email": {"nowhere"}, "roles": {account.RoleEditor}})
		page := bad.want(t, http.StatusUnprocessableEntity).page(t)
		if page.Find("#new-name-error").Length() != 1 || page.Find("#new-mail-error").Length() != 1 ||
			page.Find(`input[name="roles"][value="editor"][checked]`).Length() != 1 || page.Find("#new-mail").AttrOr("value", "") != "nowhere" {
			t.Error("the form does not say what is wrong")
		}
		made := root.submitWithToken("/admin/people/new", url.Values{"name": {"Grace"}, "email": {"grace@example.org"}, "roles": {account.RoleEditor}}).want(t, http.StatusOK)
		link := made.page(t).Find("#new-link").AttrOr("value", "")
		path, ours := strings.CutPrefix(link, s.url)
		if !ours {
			t.Fatalf("the link is %q", link)
		}
		if strings.Contains(root.get("/admin/people").body, "/user/signin/") {
			t.Error("the link is shown again")
		}
		grace := s.browser()
		grace.submit(path, nil).wantLocation(t, "/user")
		grace.get("/admin").want(t, http.StatusOK)

		row := root.get("/admin/people").page(t).Find(`form[action$="/block"]`)
		if row.Length() != 1 { // not beside oneself
			t.Fatalf("%d accounts can be blocked", row.Length())
		}
		root.submitWithToken(row.AttrOr("action", ""), nil).wantLocation(t, "/admin/people?done=blocked")
		grace.get("/admin").want(t, http.StatusSeeOther)
		unblock := root.get("/admin/people?done=blocked").page(t).Find(`form[action$="/unblock"]`)
		root.submitWithToken(unblock.AttrOr("action", ""), nil).wantLocation(t, "/admin/people?done=unblocked")

		self, err := s.Accounts.ByName(t.Context(), "root")
		if err != nil {
			t.Fatal(err)
		}
		root.submitWithToken("/admin/people/"+self.ID+"/block", nil).want(t, http.StatusConflict)
		root.submitWithToken("/admin/people/nobody/link", nil).want(t, http.StatusNotFound)
	})
}

func TestNobodyGivesMoreThanTheirOwn(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	if err := config.Put(t.Context(), s.Config, "clerk", config.Role{Label: "Clerk", Permissions: []account.Permission{
		account.AccessAdministration, account.AdministerAccounts,
	}}, ""); err != nil {
		t.Fatal(err)
	}
	s.person("clerk", "clerk")
	root := s.person("root", account.RoleAdministrator)
	clerk := s.browser().login("clerk")
	page := clerk.get("/admin/people/new").want(t, http.StatusOK).page(t)
	if page.Find(`input[value="administrator"], input[value="editor"]`).Length() != 0 || page.Find(`input[value="clerk"]`).Length() != 1 {
		t.Error("the form offers roles that the clerk cannot give")
	}
	clerk.submitWithToken("/admin/people/new", url.Values{"name": {"mole"}, "roles": {account.RoleAdministrator}}).want(t, http.StatusForbidden)
	clerk.submitWithToken("/admin/people/"+root.ID+"/link", nil).want(t, http.StatusForbidden)
	clerk.submitWithToken("/admin/people/"+root.ID+"/block", nil).want(t, http.StatusForbidden)
	clerk.submitWithToken("/admin/people/new", url.Values{"name": {"helper"}, "roles": {"clerk"}}).want(t, http.StatusOK)
	if clerk.get("/admin/people").page(t).Find(`form[action*="`+root.ID+`"]`).Length() != 0 {
		t.Error("the list offers to manage the administrator")
	}
}

func TestSiteSettings(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := newTestSite(t, d)
		if err := config.Put(ctx, s.Config, "es", config.Language{Label: "Español"}, ""); err != nil {
			t.Fatal(err)
		}
		root := s.person("root", account.RoleAdministrator)
		b := s.browser().login("root")
		fields := url.Values{
			"site_name": {"Ferndale"}, "default_language": {"en"}, "time_zone": {"Europe/Dublin"}, "contact_path": {"/contact/"},
			"tagline.es": {" Abierto "}, "suggestions.en": {"When are you open?\r\n\r\n  Are dogs welcome? \r\n"}, "footer.xx": {"ignored"},
		}
		b.submitWithToken("/admin/config/site", fields).wantLocation(t, "/admin/config/site?done=settings")
		got, err := config.Get[config.Settings](ctx, s.Config, config.SiteName)
		if err != nil {
			t.Fatal(err)
		}
		if got.SiteName != "Ferndale" || got.TimeZone != "Europe/Dublin" || got.ContactPath != "/contact/" || got.Tagline["es"] != "Abierto" ||
			!slices.Equal(got.Suggestions["en"], []string{"When are you open?", "Are dogs welcome?"}) || len(got.Footer) != 0 {
			t.Errorf("settings are %+v", got)
		}
		page := b.get("/admin/config/site?done=settings").want(t, http.StatusOK).page(t)
		if page.Find(".notice--ok").Length() != 1 || page.Find("#site-name").AttrOr("value", "") != "Ferndale" ||
			page.Find("#suggestions-en").Text() != "When are you open?\nAre dogs welcome?" {
			t.Error("the form does not show what is stored")
		}
		fields.Set("site_name", `<script>alert(1)</script>`)
		fields.Set("time_zone", "Mars/Olympus")
		bad := b.submitWithToken("/admin/config/site", fields).want(t, http.StatusUnprocessableEntity)
		if page := bad.page(t); page.Find("#time-zone-error").Length() != 1 || page.Find("#site-name").AttrOr("value", "") != `<script>alert(1)</script>` ||
			strings.Contains(bad.body, "<script>alert") {
			t.Error("what was typed is not kept as it should")
		}
		var by string
		if err := d.Get(ctx, &by, "select account_id from config_changes where kind = 'settings' and before is not null"); err != nil || by != root.ID {
			t.Errorf("the change is recorded as by %q, %v", by, err)
		}
	})
}
