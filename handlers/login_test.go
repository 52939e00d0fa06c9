package handlers

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
)

func TestLogin(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d)
		s.person("Ada", account.RoleEditor)
		b := s.browser()
		b.get("/admin/content?state=draft").wantLocation(t, "/user/login?destination=%2Fadmin%2Fcontent%3Fstate%3Ddraft")
		page := b.get("/user/login?destination=/admin/content").want(t, http.StatusOK).page(t)
		form := page.Find(`form[method="post"][action="/user/login"]`)
		if form.Find(`input[name="name"]`).Length() != 1 || form.Find(`input[type="password"][name="password"]`).Length() != 1 ||
			form.Find(`input[name="destination"]`).AttrOr("value", "") != "/admin/content" {
			t.Error("the login form is not complete")
		}
		wrong := b.submit("/user/login", url.Values{"name": {"<b>Ada</b>"}, "password": {"wrong horse battery"}, "destination": {"/admin/content"}})
		page = wrong.want(t, http.StatusUnprocessableEntity).page(t)
		if page.Find(`input[name="name"]`).AttrOr("value", "") != "<b>Ada</b>" || page.Find(`[role="alert"]`).Length() != 1 ||
			page.Find(`input[name="destination"]`).AttrOr("value", "") != "/admin/content" || strings.Contains(wrong.body, "wrong horse") {
			t.Error("what was typed is not kept as it should")
		}
		if len(wrong.Cookies()) != 0 {
			t.Error("a failed login set a cookie")
		}
		ok := b.submit("/user/login", url.Values{"name": {"ada"}, "password": {testPassword}, "destination": {"/admin/content"}})
		ok.wantLocation(t, "/admin/content")
		if c := ok.Cookies(); len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteLaxMode || c[0].Path != "/" || c[0].Secure {
			t.Errorf("cookies are %v", c)
		}
		b.get("/user/login").wantLocation(t, "/admin")
		if page := b.get("/user").want(t, http.StatusOK).page(t); page.Find(".sessions li").Length() != 1 {
			t.Error("the account page does not list the session")
		}
		b.get("/admin/content").want(t, http.StatusOK)
		b.get("/admin/people").want(t, http.StatusForbidden)
		b.get("/admin/config/site").want(t, http.StatusForbidden)
	})
}

func TestSecureCookie(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t), func(d *Deps) { d.BaseURL = &url.URL{Scheme: "https", Host: "docs.example.org"} })
	s.person("ada")
	b := s.browser()
	ok := b.send(http.MethodPost, "/user/login", url.Values{"name": {"ada"}, "password": {testPassword}}.Encode(),
		"Content-Type", formType, "Origin", "https://docs.example.org")
	ok.wantLocation(t, "/user")
	if c := ok.Cookies(); len(c) != 1 || c[0].Name != "__Host-docent" || !c[0].Secure || c[0].Path != "/" || c[0].Domain != "" {
		t.Errorf("cookies are %v", c)
	}
	if ok.Header.Get("Strict-Transport-Security") == "" {
		t.Error("no Strict-Transport-Security")
	}
}

func TestSessionRotatesAndEnds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d)
		s.person("ada")
		s.person("bob")
		b := s.browser()
		before := b.get("/session/token").want(t, http.StatusOK).body
		anonymous := b.cookies()[0].Value
		b.login("ada")
		first := b.cookies()[0].Value
		if after := b.get("/session/token").body; after == before || first == anonymous {
			t.Error("token or cookie survived the login")
		}
		b.login("bob")
		second := b.cookies()[0].Value
		if second == first {
			t.Error("the cookie survived the second login")
		}
		raw := func(value string) reply {
			return s.browser().get("/user", "Cookie", "docent="+value)
		}
		if raw(first).StatusCode != http.StatusSeeOther {
			t.Error("the session from before still works")
		}
		raw(second).want(t, http.StatusOK)
		b.submit("/user/logout", nil).want(t, http.StatusForbidden) // no token
		b.submitWithToken("/user/logout", nil).wantLocation(t, "/")
		if raw(second).StatusCode != http.StatusSeeOther {
			t.Error("a copy of the cookie works after the logout")
		}
		if len(b.cookies()) != 0 {
			t.Errorf("the browser keeps %v", b.cookies())
		}
	})
}

func TestUnreadableCookieIsNoCookie(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	for _, value := range []string{"garbage", strings.Repeat("A", 3000), "%00", "MTc0=="} {
		b := s.browser()
		b.get("/user/login", "Cookie", "docent="+value).want(t, http.StatusOK)
		r := b.get("/session/token", "Cookie", "docent="+value).want(t, http.StatusOK)
		if len(r.Cookies()) != 1 {
			t.Errorf("no fresh cookie for %.20q", value)
		}
	}
}

func TestPublicPagesSetNoCookie(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	for _, path := range []string{"/", "/nowhere", "/user/login", "/search"} {
		if c := s.browser().get(path).Cookies(); len(c) != 0 {
			t.Errorf("%s sets %v", path, c)
		}
	}
}

func TestLoginThrottling(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	s.person("ada")
	b := s.browser()
	for range 10 {
		b.submit("/user/login", url.Values{"name": {"ada"}, "password": {"wrong horse battery"}}).want(t, http.StatusUnprocessableEntity)
	}
	r := b.submit("/user/login", url.Values{"name": {"ada"}, "password": {testPassword}}).want(t, http.StatusTooManyRequests)
	if r.Header.Get("Retry-After") == "" || r.page(t).Find(`input[name="name"]`).AttrOr("value", "") != "ada" || len(r.Cookies()) != 0 {
		t.Errorf("headers are %v", r.Header)
	}
}

func TestDestinations(t *testing.T) {
	for in, want := range map[string]string{
		"/admin":                       "/admin",
		"/visit/?a=b#c":                "/visit/?a=b#c",
		"/es/visitas/horario/":         "/es/visitas/horario/",
		"":                             "",
		"admin":                        "",
		"//evil.example":               "",
		`/\evil.example`:               "",
		`\\evil.example`:               "",
		"/\t/evil.example":             "",
		"/\n/evil.example":             "",
		"https://evil.example/":        "",
		"javascript:alert(1)":          "",
		" /admin":                      "",
		"///evil.example":              "",
		"/%zz":                         "",
		"/" + strings.Repeat("a", 3e3): "",
	} {
		if got := ownPath(in); got != want {
			t.Errorf("%.40q becomes %q, want %q", in, got, want)
		}
	}
	s := newTestSite(t, dbtest.SQLite(t))
	s.person("ada")
	for _, destination := range []string{"//evil.example/", "https://evil.example/", `/\evil.example`, "/\t/evil.example"} {
		b := s.browser()
		b.submit("/user/login", url.Values{"name": {"ada"}, "password": {testPassword}, "destination": {destination}}).wantLocation(t, "/user")
	}
}

func TestSignInLink(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d)
		r := s.person("ada")
		token, err := s.Accounts.CreateLink(t.Context(), r.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		path := "/user/signin/" + token
		for range 2 { // looking at it does not use it up
			page := s.browser().get(path).want(t, http.StatusOK).page(t)
			if page.Find(`form[method="post"][action="`+path+`"] button`).Length() != 1 || !strings.Contains(page.Find("form").Text(), "ada") {
				t.Fatal("the page has no button")
			}
		}
		s.browser().send(http.MethodPost, path, "", "Content-Type", formType, "Sec-Fetch-Site", "cross-site").want(t, http.StatusForbidden)
		var in, refused atomic.Int64
		var wg sync.WaitGroup
		for range 6 {
			b := s.browser()
			wg.Go(func() {
				switch b.submit(path, url.Values{"token": {token}}).StatusCode {
				case http.StatusSeeOther:
					in.Add(1)
				case http.StatusNotFound:
					refused.Add(1)
				}
			})
		}
		wg.Wait()
		if in.Load() != 1 || refused.Load() != 5 {
			t.Errorf("%d signed in, %d were refused", in.Load(), refused.Load())
		}
		if page := s.browser().get(path).want(t, http.StatusNotFound).page(t); page.Find("form").Length() != 0 {
			t.Error("a used link still has a form")
		}
		s.browser().get("/user/signin/nonsense").want(t, http.StatusNotFound)
		if strings.Contains(s.log.String(), token) {
			t.Error("the token is in the log")
		}
	})
}

func TestBlockedAccount(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	r := s.person("ada", account.RoleEditor)
	b := s.browser().login("ada")
	b.get("/admin").want(t, http.StatusOK)
	if err := s.Accounts.SetBlocked(t.Context(), r.ID, true); err != nil {
		t.Fatal(err)
	}
	b.get("/admin").wantLocation(t, "/user/login?destination=%2Fadmin")
	page := b.submit("/user/login", url.Values{"name": {"ada"}, "password": {testPassword}}).want(t, http.StatusUnprocessableEntity).page(t)
	if !strings.Contains(page.Find(`[role="alert"]`).Text(), "blocked") {
		t.Errorf("the notice says %q", page.Find(`[role="alert"]`).Text())
	}
}

func TestOwnAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d)
		s.person("ada")
		here, there, third := s.browser().login("ada"), s.browser().login("ada"), s.browser().login("ada")
		s.browser().get("/user").wantLocation(t, "/user/login?destination=%2Fuser")
		page := here.get("/user").want(t, http.StatusOK).page(t)
		if page.Find(".sessions li").Length() != 3 || page.Find(`form[action="/user/sessions/revoke"]`).Length() != 2 {
			t.Fatal("the sessions are not listed")
		}
		for _, tt := range []struct{ old, new, repeat, field string }{
			{testPassword, "another good one", "another god one", "repeat-password"},
			{testPassword, "short", "short", "new-password"},
			{"not the old one", "another good one", "another good one", "old-password"},
		} {
			r := here.submitWithToken("/user/password", url.Values{"old_password": {tt.old}, "new_password": {tt.new}, "repeat_password": {tt.repeat}})
			page := r.want(t, http.StatusUnprocessableEntity).page(t)
			if page.Find(`[aria-invalid="true"]`).Length() != 1 || page.Find("#"+tt.field+"-error").Length() != 1 {
				t.Errorf("no error at %s", tt.field)
			}
		}
		session := here.get("/user").page(t).Find(`input[name="session"]`).First().AttrOr("value", "")
		here.submitWithToken("/user/sessions/revoke", url.Values{"session": {session}}).wantLocation(t, "/user?done=session")
		here.submitWithToken("/user/sessions/revoke", url.Values{"session": {session}}).want(t, http.StatusNotFound)
		if n := here.get("/user?done=session").page(t).Find(".sessions li").Length(); n != 2 {
			t.Errorf("%d sessions are left", n)
		}
		here.submitWithToken("/user/password", url.Values{"old_password": {testPassword}, "new_password": {"another good one"}, "repeat_password": {"another good one"}}).
			wantLocation(t, "/user?done=password")
		if page := here.get("/user?done=password").want(t, http.StatusOK).page(t); page.Find(".notice--ok").Length() != 1 {
			t.Error("no notice")
		}
		there.get("/user").want(t, http.StatusSeeOther)
		third.get("/user").want(t, http.StatusSeeOther)
		other := s.browser()
		other.submit("/user/login", url.Values{"name": {"ada"}, "password": {"another good one"}}).want(t, http.StatusSeeOther)
		here.submitWithToken("/user/sessions/revoke-others", nil).wantLocation(t, "/user?done=sessions")
		other.get("/user").want(t, http.StatusSeeOther)
		here.get("/user").want(t, http.StatusOK)
	})
}

func TestBrowserName(t *testing.T) {
	for in, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                        "Firefox, Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0": "Edge, Windows",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36":               "Chrome, Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/604.1":     "Safari, iPhone",
		"curl/8.5.0": "curl/8.5.0",
		"":           "",
	} {
		if got := browserName(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}
