package handlers

import (
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"docent/db/dbtest"
)

func TestForgedRequests(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	s.person("ada")
	done := func(c echo.Context) error { return c.NoContent(http.StatusNoContent) }
	s.echo.POST("/test/public", done, limitBody(formLimit), s.guardPublic)
	s.echo.POST("/test/form", done, limitBody(formLimit), s.guardForm)
	host := strings.TrimPrefix(s.url, "http://")

	visitor, member, stranger := s.browser(), s.browser().login("ada"), s.browser()
	visitorToken, memberToken := visitor.get("/session/token").body, member.get("/session/token").body
	if visitorToken == memberToken || visitor.get("/session/token").body != visitorToken || member.get("/session/token").body != memberToken {
		t.Fatal("tokens do not belong to sessions")
	}
	const multipart = "multipart/form-data; boundary=x"
	for _, tt := range []struct {
		name    string
		who     *browser
		path    string
		body    string
		headers []string
		want    int
	}{
		{"public form, same origin", visitor, "/test/public", "a=b", []string{"Content-Type", formType, "Sec-Fetch-Site", "same-origin"}, 204},
		{"public form, own Origin", visitor, "/test/public", "a=b", []string{"Content-Type", formType, "Origin", s.url}, 204},
		{"public form, Origin by another own name", visitor, "/test/public", "a=b", []string{"Content-Type", formType, "Origin", "http://localhost:1", "Host", "localhost:1"}, 204},
		{"public form without cookie", stranger, "/test/public", "a=b", []string{"Content-Type", formType, "Sec-Fetch-Site", "same-origin"}, 204},
		{"public form with charset", visitor, "/test/public", "a=b", []string{"Content-Type", formType + "; charset=UTF-8", "Sec-Fetch-Site", "same-origin"}, 204},
		{"public, no body", visitor, "/test/public", "", []string{"Sec-Fetch-Site", "same-origin"}, 204},
		{"public form, no proof", visitor, "/test/public", "a=b", []string{"Content-Type", formType}, 403},
		{"public, no body, no proof", visitor, "/test/public", "", nil, 403},
		{"public form, cross site", visitor, "/test/public", "a=b", []string{"Content-Type", formType, "Sec-Fetch-Site", "cross-site"}, 403},
		{"public form, same site", visitor, "/test/public", "a=b", []string{"Content-Type", formType, "Sec-Fetch-Site", "same-site"}, 403},
		{"public form, none", visitor, "/test/public", "a=b", []string{"Content-Type", formType, "Sec-Fetch-Site", "none"}, 403},
		{"public form, cross site with own Origin", visitor, "/test/public", "a=b", []string{"Content-Type", formType, "Sec-Fetch-Site", "cross-site", "Origin", s.url}, 403},
		{"public form, foreign Origin", visitor, "/test/public", "a=b", []string{"Content-Type", formType, "Origin", "https://evil.example"}, 403},
		{"public form, null Origin", visitor, "/test/public", "a=b", []string{"Content-Type", formType, "Origin", "null"}, 403},
		{"public form, own host, other port", visitor, "/test/public", "a=b", []string{"Content-Type", formType, "Origin", "http://127.0.0.1:1"}, 403},
		{"public form, lookalike Origin", visitor, "/test/public", "a=b", []string{"Content-Type", formType, "Origin", s.url + ".evil.example"}, 403},
		{"public form, Origin with user", visitor, "/test/public", "a=b", []string{"Content-Type", formType, "Origin", "http://" + host + "@evil.example"}, 403},
		{"public form, only a Referer", visitor, "/test/public", "a=b", []string{"Content-Type", formType, "Referer", s.url + "/"}, 403},
		{"public JSON with token", visitor, "/test/public", "{}", []string{"Content-Type", "application/json", "X-CSRF-Token", visitorToken}, 204},
		{"public JSON of a member", member, "/test/public", "{}", []string{"Content-Type", "application/json", "X-CSRF-Token", memberToken}, 204},
		{"public multipart with token", visitor, "/test/public", "--x--", []string{"Content-Type", multipart, "X-CSRF-Token", visitorToken}, 204},
		{"public JSON, same origin, no token", visitor, "/test/public", "{}", []string{"Content-Type", "application/json", "Sec-Fetch-Site", "same-origin"}, 403},
		{"public JSON, empty token", visitor, "/test/public", "{}", []string{"Content-Type", "application/json", "X-CSRF-Token", ""}, 403},
		{"public JSON, no cookie, no token", stranger, "/test/public", "{}", []string{"Content-Type", "application/json", "X-CSRF-Token", ""}, 403},
		{"public JSON, somebody else's token", visitor, "/test/public", "{}", []string{"Content-Type", "application/json", "X-CSRF-Token", memberToken}, 403},
		{"public JSON, visitor's token from before", member, "/test/public", "{}", []string{"Content-Type", "application/json", "X-CSRF-Token", visitorToken}, 403},
		{"public JSON, token without cookie", stranger, "/test/public", "{}", []string{"Content-Type", "application/json", "X-CSRF-Token", visitorToken}, 403},
		{"public multipart, no token", visitor, "/test/public", "--x--", []string{"Content-Type", multipart, "Sec-Fetch-Site", "same-origin"}, 403},
		{"public plain text", visitor, "/test/public", "{}", []string{"Content-Type", "text/plain", "Sec-Fetch-Site", "same-origin", "X-CSRF-Token", visitorToken}, 415},
		{"public untyped", visitor, "/test/public", "{}", []string{"Sec-Fetch-Site", "same-origin", "X-CSRF-Token", visitorToken}, 415},
		{"public two types", visitor, "/test/public", "{}", []string{"Content-Type", formType, "Content-Type", "application/json", "Sec-Fetch-Site", "same-origin"}, 415},
		{"public broken type", visitor, "/test/public", "{}", []string{"Content-Type", "application/json;;=", "X-CSRF-Token", visitorToken}, 415},

		{"form with field", member, "/test/form", "csrf_token=" + memberToken, []string{"Content-Type", formType}, 204},
		{"form with header", member, "/test/form", "a=b", []string{"Content-Type", formType, "X-CSRF-Token", memberToken}, 204},
		{"form of a visitor", visitor, "/test/form", "csrf_token=" + visitorToken, []string{"Content-Type", formType}, 204},
		{"no body, header", member, "/test/form", "", []string{"X-CSRF-Token", memberToken}, 204},
		{"JSON with header", member, "/test/form", "{}", []string{"Content-Type", "application/json", "X-CSRF-Token", memberToken}, 204},
		{"multipart with header", member, "/test/form", "--x--", []string{"Content-Type", multipart, "X-CSRF-Token", memberToken}, 204},
		{"form, same origin, no token", member, "/test/form", "a=b", []string{"Content-Type", formType, "Sec-Fetch-Site", "same-origin", "Origin", s.url}, 403},
		{"form, empty token", member, "/test/form", "csrf_token=", []string{"Content-Type", formType}, 403},
		{"form, no cookie, empty token", stranger, "/test/form", "csrf_token=", []string{"Content-Type", formType}, 403},
		{"form, wrong token", member, "/test/form", "csrf_token=" + visitorToken, []string{"Content-Type", formType}, 403},
		{"form, token in the address", member, "/test/form?csrf_token=" + memberToken, "a=b", []string{"Content-Type", formType}, 403},
		{"JSON, no header", member, "/test/form", "{}", []string{"Content-Type", "application/json", "Sec-Fetch-Site", "same-origin"}, 403},
		{"multipart, no header", member, "/test/form", "--x--", []string{"Content-Type", multipart}, 403},
		{"plain text", member, "/test/form", "csrf_token=" + memberToken, []string{"Content-Type", "text/plain", "X-CSRF-Token", memberToken}, 415},
		{"form too large", member, "/test/form", "a=" + strings.Repeat("x", formLimit), []string{"Content-Type", formType}, 413},
		{"form that is none", member, "/test/form", "a=%zz&csrf_token=" + memberToken, []string{"Content-Type", formType}, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := tt.who.send(http.MethodPost, tt.path, tt.body, tt.headers...); r.StatusCode != tt.want {
				t.Errorf("status %d, want %d", r.StatusCode, tt.want)
			}
		})
	}
	if _, set := stranger.get("/user/login").Header["Set-Cookie"]; set {
		t.Error("refused requests set a cookie")
	}
}

func TestBodyOfUnknownLength(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	for n, want := range map[int]int{formLimit / 2: http.StatusUnprocessableEntity, formLimit + 1: http.StatusRequestEntityTooLarge} {
		req, err := http.NewRequest(http.MethodPost, s.url+"/user/login", io.MultiReader(strings.NewReader("name="), strings.NewReader(strings.Repeat("x", n-5))))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", formType)
		req.Header.Set("Origin", s.url)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%d bytes: status %d, want %d", n, res.StatusCode, want)
		}
	}
}

func TestSecurityHeaders(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	for _, path := range []string{"/user/login", "/nowhere", "/session/token"} {
		r := s.browser().get(path)
		for header, want := range map[string]string{
			"X-Content-Type-Options":     "nosniff",
			"Referrer-Policy":            "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin",
			"Content-Security-Policy":    contentPolicy,
			"Strict-Transport-Security":  "",
		} {
			if got := r.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q, want %q", path, header, got, want)
			}
		}
		if len(r.Header.Get("X-Request-Id")) != 16 || r.Header.Get("Permissions-Policy") == "" || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers are %v", path, r.Header)
		}
	}
	if strings.Contains(contentPolicy, "unsafe") || strings.Contains(contentPolicy, "*") {
		t.Error("the policy has holes")
	}
}

func TestClientAddress(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
	for _, tt := range []struct {
		name      string
		trusted   []netip.Prefix
		peer      string
		forwarded []string
		want      string
	}{
		{"nobody trusted", nil, "192.0.2.1:9", []string{"198.51.100.7"}, "192.0.2.1"},
		{"stranger", proxies, "192.0.2.1:9", []string{"198.51.100.7"}, "192.0.2.1"},
		{"loopback is no proxy unless named", proxies, "127.0.0.1:9", []string{"198.51.100.7"}, "127.0.0.1"},
		{"proxy", proxies, "10.0.0.1:9", []string{"198.51.100.7"}, "198.51.100.7"},
		{"forged behind proxy", proxies, "10.0.0.1:9", []string{"203.0.113.5, 198.51.100.7"}, "198.51.100.7"},
		{"forged in two headers", proxies, "10.0.0.1:9", []string{"203.0.113.5", "198.51.100.7"}, "198.51.100.7"},
		{"two proxies", proxies, "10.0.0.1:9", []string{"198.51.100.7, 10.2.2.2"}, "198.51.100.7"},
		{"six", proxies, "[2001:db8::1]:9", []string{"2a00::7"}, "2a00::7"},
		{"nonsense", proxies, "10.0.0.1:9", []string{"<script>"}, "10.0.0.1"},
		{"none", proxies, "10.0.0.1:9", nil, "10.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.forwarded}}
			if got := clientAddress(tt.trusted)(r); got != tt.want {
				t.Errorf("address is %s, want %s", got, tt.want)
			}
		})
	}
}
