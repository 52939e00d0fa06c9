package handlers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
)

// A page is made once for all who may share it, and anew after any change.
func TestShellsAreMadeOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d)
		made := 0
		s.echo.GET("/shell", func(c echo.Context) error {
			made++
			return s.renderCacheable(c, components.HTML(fmt.Sprintf("<p>%d</p>", made)+strings.Repeat(" ", smallestZipped)))
		}, s.keepShells)
		get := func(path string, header ...string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			for i := 0; i < len(header); i += 2 {
				r.Header.Set(header[i], header[i+1])
			}
			w := httptest.NewRecorder()
			s.echo.ServeHTTP(w, r)
			return w
		}
		first := get("/shell", "If-None-Match", `"another"`)
		etag := first.Header().Get("ETag")
		if first.Code != http.StatusOK || etag == "" || !strings.HasPrefix(first.Body.String(), "<p>1</p>") {
			t.Fatalf("%d %v %q", first.Code, first.Header(), first.Body.String())
		}
		again := get("/shell")
		for name, values := range first.Header() {
			if name != echo.HeaderXRequestID && fmt.Sprint(values) != fmt.Sprint(again.Header()[name]) {
				t.Errorf("%s was %v and is %v", name, values, again.Header()[name])
			}
		}
		if again.Body.String() != first.Body.String() {
			t.Errorf("the second is %q", again.Body.String())
		}
		if w := get("/shell", "If-None-Match", etag); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
			t.Errorf("unchanged: %d with %d bytes", w.Code, w.Body.Len())
		}
		if made != 1 {
			t.Errorf("made %d times", made)
		}
		if w := get("/shell", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "gzip" || w.Header().Get("ETag") == etag || made != 2 {
			t.Errorf("compressed: %v, made %d times", w.Header(), made)
		}
		for _, fresh := range [][]string{{"/shell?x=1"}, {"/shell", "Cache-Control", "no-cache"}, {"/shell", "HX-Request", "true"}} {
			before := made
			if get(fresh[0], fresh[1:]...); made != before+1 {
				t.Errorf("%v is taken from memory", fresh)
			}
		}
		get("/shell")
		before := made
		s.person("ada", account.RoleAdministrator)
		if w := get("/shell"); made != before+1 || !strings.HasPrefix(w.Body.String(), fmt.Sprintf("<p>%d</p>", made)) {
			t.Errorf("after a change the page is %q", w.Body.String()[:20])
		}
	})
}

// Nothing but a whole page for everybody is kept.
func TestShellsOfNothingElse(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	calls := 0
	page := func(f echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error { calls++; return f(c) }
	}
	for path, f := range map[string]echo.HandlerFunc{
		"/own":     func(c echo.Context) error { return s.render(c, http.StatusOK, components.HTML("<p>yours</p>")) },
		"/moved":   func(c echo.Context) error { return c.Redirect(http.StatusFound, "/") },
		"/missing": func(echo.Context) error { return db.ErrNotFound },
		"/panics":  func(echo.Context) error { panic("on purpose") },
		"/cookie": func(c echo.Context) error {
			c.SetCookie(&http.Cookie{Name: "a", Value: "b"})
			return s.renderCacheable(c, components.HTML("<p>x</p>"))
		},
	} {
		s.echo.GET(path, page(f), s.keepShells)
		calls = 0
		var codes []int
		for range 2 {
			w := httptest.NewRecorder()
			s.echo.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			codes = append(codes, w.Code)
			if w.Code == http.StatusOK && !strings.HasPrefix(w.Body.String(), "<p>") || w.Code >= http.StatusNotFound && w.Body.Len() == 0 {
				t.Errorf("%s: %q", path, w.Body.String())
			}
		}
		if path == "/panics" && codes[0] != http.StatusInternalServerError {
			t.Errorf("a panic is answered with %d", codes[0])
		}
		if calls != 2 || codes[0] != codes[1] {
			t.Errorf("%s: called %d times, %v", path, calls, codes)
		}
	}
}
