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
	"docent/internal/config"
	"docent/internal/content"
)

// newStructureSite is a site whose types and languages are its configuration's and
// may be changed, with an administrator signed in.
func newStructureSite(t *testing.T, d *db.DB, change ...func(*Deps)) (*testSite, *browser) {
	t.Helper()
	s := newTestSite(t, d, append([]func(*Deps){func(deps *Deps) {
		conf := deps.Config
		deps.ConfigWritable = true
		deps.Content = content.New(d, content.Options{
			Reserved: []string{"admin"},
			Types:    func(ctx context.Context) (*content.Types, error) { return content.LoadTypes(ctx, conf) },
			Languages: func() []string {
				all, err := config.Languages(context.Background(), conf)
				if err != nil {
					t.Error(err)
				}
				var names []string
				for _, l := range all {
					names = append(names, l.Name)
				}
				return names
			},
		})
	}}, change...)...)
	s.person("root", account.RoleAdministrator)
	return s, s.browser().login("root")
}

// admin is an account that may do everything, for what tests prepare.
var admin = account.Account{ID: "test", Roles: []string{account.RoleAdministrator}}

// keep stores content that a test needs.
func (s *testSite) keep(in content.Input) content.Item {
	s.t.Helper()
	if in.Lang == "" {
		in.Lang = "en"
	}
	if in.State == "" {
		in.State = content.Published
	}
	it, err := s.Content.Save(context.Background(), admin, in)
	if err != nil {
		s.t.Fatal(err)
	}
	return it
}

func (s *testSite) language(code, label string) {
	s.t.Helper()
	if err := config.Put(context.Background(), s.Config, code, config.Language{Label: label, Weight: 1}, ""); err != nil {
		s.t.Fatal(err)
	}
}

// titles are the entries of a tree in order.
func titles(page *goquery.Document) []string {
	var out []string
	page.Find(".tree__name > a, .tree__name > b").Each(func(_ int, n *goquery.Selection) { out = append(out, n.Text()) })
	return out
}

func TestStructureRoutesNeedPermissions(t *testing.T) {
	s, root := newStructureSite(t, dbtest.SQLite(t))
	s.person("member")
	if err := config.Put(t.Context(), s.Config, "gardener", config.Role{Label: "Gardener", Permissions: []account.Permission{account.AccessAdministration, account.AdministerMenus}}, ""); err != nil {
		t.Fatal(err)
	}
	s.person("gardener", "gardener")
	member, gardener := s.browser().login("member"), s.browser().login("gardener")
	for _, path := range []string{
		"/admin/config", "/admin/config/languages", "/admin/config/languages/new", "/admin/people/roles", "/admin/people/roles/new",
		"/admin/structure/terms", "/admin/structure/terms/topics", "/admin/structure/redirects", "/admin/structure/redirects/new",
		"/admin/structure/types", "/admin/structure/types/new", "/admin/structure/types/article", "/admin/structure/types/article/fields",
		"/admin/structure/types/article/fields/new", "/admin/structure/types/article/fields/body", "/admin/structure/types/article/displays/form",
		"/admin/structure/types/article/displays/teaser", "/admin/structure/vocabularies/topics", "/admin/structure/formats", "/admin/structure/formats/markdown",
		"/admin/structure/formats/full_html/delete", "/admin/structure/types/article/delete", "/admin/structure/types/article/fields/body/delete",
	} {
		root.get(path).want(t, http.StatusOK)
		if got := member.get(path).StatusCode; got != http.StatusForbidden {
			t.Errorf("%s gives a member %d", path, got)
		}
		if got := gardener.get(path).StatusCode; got != http.StatusForbidden {
			t.Errorf("%s gives somebody who keeps menus %d", path, got)
		}
		if got := s.browser().get(path).StatusCode; got != http.StatusSeeOther {
			t.Errorf("%s gives a visitor %d", path, got)
		}
	}
	gardener.get("/admin/structure").wantLocation(t, "/admin/structure/menus")
	member.get("/admin/structure").want(t, http.StatusForbidden)
	page := gardener.get("/admin/structure/menus/main").want(t, http.StatusOK).page(t)
	if page.Find(`.rail a[href="/admin/structure/menus"][aria-current="page"]`).Length() != 1 || page.Find(`.rail a[href="/admin/people"], .tabs`).Length() != 0 {
		t.Error("the rail of somebody who keeps menus is not as it should")
	}
	tabs := root.get("/admin/structure/vocabularies/topics").page(t).Find(".tabs a[aria-current]")
	if tabs.Length() != 1 || tabs.AttrOr("href", "") != "/admin/structure/terms" {
		t.Error("a vocabulary is not below its tab")
	}
}

func TestLockedStructure(t *testing.T) {
	s, root := newStructureSite(t, dbtest.SQLite(t), func(d *Deps) { d.ConfigWritable = false })
	for _, path := range []string{"/admin/structure/types", "/admin/structure/types/article", "/admin/structure/types/article/fields", "/admin/structure/types/article/displays/full", "/admin/structure/formats"} {
		page := root.get(path).want(t, http.StatusOK).page(t)
		if !strings.Contains(page.Find(".notice").Text(), "DOCENT_CONFIG_WRITABLE=on") {
			t.Errorf("%s does not say how to allow changes", path)
		}
		if page.Find(`.admin__main button[type="submit"]:not([tabindex])`).Length() != 0 {
			t.Errorf("%s offers to change something", path)
		}
	}
	for _, path := range []string{"/admin/structure/types/article", "/admin/structure/types/article/fields/body/delete", "/admin/structure/types/article/displays/full", "/admin/structure/formats/plain", "/admin/structure/types/article/fields/move"} {
		root.submitWithToken(path, url.Values{"label": {"Other"}, "move": {"up:body"}}).want(t, http.StatusForbidden)
	}
	if article, err := config.Get[config.ContentType](t.Context(), s.Config, "article"); err != nil || article.Label != "Article" {
		t.Errorf("the type is %+v, %v", article, err)
	}
}

func TestRolesMatrix(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s, root := newStructureSite(t, d)
		root.submitWithToken("/admin/people/roles/new", url.Values{"label": {"News desk"}}).wantLocation(t, "/admin/people/roles?done=added")
		page := root.get("/admin/people/roles").want(t, http.StatusOK).page(t)
		cell := func(role, permission string) *goquery.Selection {
			return page.Find(`input[name="grant"][value="` + role + `|` + permission + `"]`)
		}
		if cell("news_desk", "create article content").Length() != 1 || cell("news_desk", "use text format full_html").Length() != 1 || cell("news_desk", "edit any topics terms").Length() != 1 {
			t.Fatal("the matrix lacks permissions of types, vocabularies or formats")
		}
		if _, fixed := cell("administrator", "administer site").Attr("disabled"); !fixed {
			t.Error("administrators can lose a permission")
		}
		was := func(role string) string { return page.Find(`input[name="was.`+role+`"]`).AttrOr("value", "?") }
		// Somebody else grants something after the page was made: both changes stand.
		if err := config.Put(ctx, s.Config, "news_desk", config.Role{Label: "News desk", Permissions: []account.Permission{account.AccessAdministration}}, ""); err != nil {
			t.Fatal(err)
		}
		root.submitWithToken("/admin/people/roles", url.Values{
			"was.news_desk": {was("news_desk")}, "was.anonymous": {was("anonymous")},
			"grant": {"news_desk|create article content", "anonymous|access content"},
		}).wantLocation(t, "/admin/people/roles?done=saved")
		desk, err := config.Get[config.Role](ctx, s.Config, "news_desk")
		if err != nil || !slices.Equal(desk.Permissions, []account.Permission{account.AccessAdministration, "create article content"}) {
			t.Errorf("the role is %+v, %v", desk, err)
		}
		anonymous, err := config.Get[config.Role](ctx, s.Config, "anonymous")
		if err != nil || slices.Contains(anonymous.Permissions, account.UseAnswers) || !slices.Contains(anonymous.Permissions, account.AccessContent) {
			t.Errorf("visitors may %v, %v", anonymous.Permissions, err)
		}
		editor, err := config.Get[config.Role](ctx, s.Config, "editor")
		if err != nil || len(editor.Permissions) == 0 {
			t.Errorf("a role that the form did not send has lost its permissions: %+v, %v", editor, err)
		}

		found := root.get("/admin/people/roles?text=drafts").page(t)
		if n := found.Find(`tbody input[name="grant"]`).Length(); n == 0 || n >= page.Find(`tbody input[name="grant"]`).Length() {
			t.Errorf("the filter leaves %d cells", n)
		}
		again := root.submitWithToken("/admin/people/roles/new", url.Values{"label": {"Other"}, "name": {"editor"}}).want(t, http.StatusUnprocessableEntity).page(t)
		if again.Find("#role-name-error").Length() != 1 || again.Find("#role-label").AttrOr("value", "") != "Other" {
			t.Error("a taken name is not refused as it should")
		}

		grace := s.person("Grace", "news_desk")
		ask := root.get("/admin/people/roles/news_desk/delete").want(t, http.StatusOK).page(t)
		if !strings.Contains(ask.Find(".consequences").Text(), "One account loses this role") {
			t.Errorf("the question says %q", ask.Find(".consequences").Text())
		}
		root.submitWithToken("/admin/people/roles/news_desk/delete", nil).wantLocation(t, "/admin/people/roles?done=deleted")
		if r, err := s.Accounts.ByID(ctx, grace.ID); err != nil || len(r.Roles) != 0 {
			t.Errorf("Grace still has %v, %v", r.Roles, err)
		}
		root.submitWithToken("/admin/people/roles/anonymous/delete", nil).want(t, http.StatusConflict)
	})
}

func TestNobodyGrantsMoreThanTheirOwn(t *testing.T) {
	s, _ := newStructureSite(t, dbtest.SQLite(t))
	if err := config.Put(t.Context(), s.Config, "clerk", config.Role{Label: "Clerk", Permissions: []account.Permission{
		account.AccessAdministration, account.AdministerRoles, account.UseAnswers,
	}}, ""); err != nil {
		t.Fatal(err)
	}
	s.person("clerk", "clerk")
	clerk := s.browser().login("clerk")
	page := clerk.get("/admin/people/roles").want(t, http.StatusOK).page(t)
	if _, fixed := page.Find(`input[value="editor|administer site"]`).Attr("disabled"); !fixed {
		t.Error("the clerk can grant what they lack")
	}
	clerk.submitWithToken("/admin/people/roles", url.Values{"was.clerk": {""}, "grant": {"clerk|administer site"}}).want(t, http.StatusForbidden)
	clerk.submitWithToken("/admin/people/roles", url.Values{"was.editor": {""}, "grant": {"editor|use ai answers"}}).wantLocation(t, "/admin/people/roles?done=saved")
	clerk.submitWithToken("/admin/people/roles/editor/delete", nil).want(t, http.StatusForbidden)
}

func TestEditPerson(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s, root := newStructureSite(t, d)
		grace := s.person("Grace", account.RoleEditor)
		path := "/admin/people/" + grace.ID
		own := s.browser().login("Grace")

		bad := root.submitWithToken(path, url.Values{"email": {"nowhere"}, "roles": {"editor"}}).want(t, http.StatusUnprocessableEntity).page(t)
		if bad.Find("#person-mail-error").Length() != 1 || bad.Find("#person-mail").AttrOr("value", "") != "nowhere" || bad.Find(`.notice--danger a[href="#person-mail"]`).Length() != 1 {
			t.Error("the form does not say what is wrong")
		}
		root.submitWithToken(path, url.Values{"email": {"grace@example.org"}}).wantLocation(t, path+"?done=saved")
		if r, err := s.Accounts.ByID(ctx, grace.ID); err != nil || r.Email != "grace@example.org" || len(r.Roles) != 0 {
			t.Errorf("Grace is %+v, %v", r, err)
		}
		if n := root.get("/admin/people?text=GRACE@").page(t).Find("tbody tr").Length(); n != 1 {
			t.Errorf("a search finds %d accounts", n)
		}
		if n := root.get("/admin/people?role=administrator").page(t).Find("tbody tr").Length(); n != 1 {
			t.Errorf("%d administrators are listed", n)
		}
		self, err := s.Accounts.ByName(ctx, "root")
		if err != nil {
			t.Fatal(err)
		}
		root.submitWithToken("/admin/people/"+self.ID, url.Values{"email": {""}}).want(t, http.StatusConflict) // the last administrator

		if n := root.get(path).page(t).Find(`form[action="` + path + `/block"], form[action="` + path + `/link"]`).Length(); n != 2 {
			t.Errorf("%d things can be done with an account from its page", n)
		}
		if n := root.get("/admin/people/" + self.ID).page(t).Find(`form[action$="/block"]`).Length(); n != 0 {
			t.Error("one's own account can be blocked")
		}
		root.get(path+"/reset").want(t, http.StatusOK)
		made := root.submitWithToken(path+"/reset", nil).want(t, http.StatusOK).page(t)
		link, ours := strings.CutPrefix(made.Find("#new-link").AttrOr("value", ""), s.url)
		if !ours {
			t.Fatal("no link is shown")
		}
		own.get("/user").want(t, http.StatusSeeOther)
		s.browser().submit("/user/login", url.Values{"name": {"Grace"}, "password": {testPassword}}).want(t, http.StatusUnprocessableEntity)
		back := s.browser()
		back.submit(link, nil).wantLocation(t, "/user")
		if back.get("/user").page(t).Find("#old-password").Length() != 0 {
			t.Error("the old password is asked for after a reset")
		}
	})
}

func TestLanguages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s, root := newStructureSite(t, d)
		const list = "/admin/config/languages"
		root.submitWithToken(list+"/new", url.Values{"known": {"es"}}).wantLocation(t, list+"?done=added")
		root.submitWithToken(list+"/new", url.Values{"known": {"ar"}}).wantLocation(t, list+"?done=added")
		root.submitWithToken(list+"/new", url.Values{"name": {"es"}}).want(t, http.StatusUnprocessableEntity)
		bad := root.submitWithToken(list+"/new", url.Values{"name": {"qqz"}}).want(t, http.StatusUnprocessableEntity).page(t)
		if bad.Find("#language-label-error").Length() != 1 || bad.Find("#language-code").AttrOr("value", "") != "qqz" {
			t.Error("a language without a name is not refused as it should")
		}
		if got := titles(root.get(list).page(t)); !slices.Equal(got, []string{"English", "Español", "العربية"}) {
			t.Errorf("languages are %v", got)
		}
		root.submitWithToken(list+"/move", url.Values{"move": {"up:ar"}}).wantLocation(t, list+"?done=moved#row-ar")
		if got := s.Content.Languages(); !slices.Equal(got, []string{"en", "ar", "es"}) {
			t.Errorf("languages are %v", got)
		}
		root.submitWithToken(list+"/move", url.Values{"drop": {"es:before:ar"}}).wantLocation(t, list+"?done=moved#row-es")
		root.submitWithToken(list+"/move", url.Values{"move": {"up:en"}}).want(t, http.StatusNotFound) // the default keeps its place

		s.keep(content.Input{Bundle: "page", Lang: "es", Title: "Horario"})
		root.submitWithToken(list+"/es/delete", nil).want(t, http.StatusConflict)
		ask := root.get(list + "/es/delete").page(t)
		if ask.Find(`.confirm button[type="submit"]`).Length() != 0 || !strings.Contains(ask.Find(".confirm").Text(), "One entry is still in this language") {
			t.Error("a language with content can be removed")
		}
		root.submitWithToken(list+"/ar/delete", nil).wantLocation(t, list+"?done=deleted")
		root.submitWithToken(list+"/en/delete", nil).want(t, http.StatusConflict)

		warning := root.get(list+"/es/default").want(t, http.StatusOK).page(t).Find(".consequences li")
		if warning.Length() != 4 {
			t.Errorf("%d consequences of another default language", warning.Length())
		}
		root.submitWithToken(list+"/es/default", nil).wantLocation(t, list+"?done=saved")
		settings, err := config.Get[config.Settings](ctx, s.Config, config.SiteName)
		if err != nil || settings.DefaultLanguage != "es" {
			t.Errorf("the default language is %q, %v", settings.DefaultLanguage, err)
		}
	})
}

func TestOverviewSaysWhatIsMissing(t *testing.T) {
	s, root := newStructureSite(t, dbtest.SQLite(t))
	page := root.get("/admin/config").want(t, http.StatusOK).page(t)
	missing := page.Find(".overview__missing").Text()
	for _, want := range []string{"contact page", "front page in English", "main menu is empty", "only one administrator", "suggested in English"} {
		if !strings.Contains(missing, want) {
			t.Errorf("the overview does not say %q: %s", want, missing)
		}
	}
	s.keep(content.Input{Bundle: "page", Title: "Welcome", Path: "/", Menu: "main"})
	missing = root.get("/admin/config").page(t).Find(".overview__missing").Text()
	if strings.Contains(missing, "front page") || strings.Contains(missing, "menu is empty") {
		t.Errorf("the overview misses what is there: %s", missing)
	}
}
