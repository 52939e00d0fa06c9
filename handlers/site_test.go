package handlers

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/labstack/echo/v4"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/editing"
	"docent/internal/llm"
	"docent/internal/search"
)

const testPassword = "correct horse battery"

// testSite is the whole site behind a real server.
type testSite struct {
	t *testing.T
	*Handlers
	echo *echo.Echo
	url  string
	log  *syncBuffer
}

type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newTestSite(t *testing.T, d *db.DB, change ...func(*Deps)) *testSite {
	t.Helper()
	ctx := t.Context()
	conf, err := config.Open(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	log := &syncBuffer{}
	server := httptest.NewUnstartedServer(nil)
	deps := Deps{
		DB: d, Config: conf, Accounts: account.New(d, conf.Permissions), Content: content.New(d, content.Options{}), Editing: editing.New(d),
		Log:     slog.New(slog.NewTextHandler(log, nil)),
		BaseURL: &url.URL{Scheme: "http", Host: server.Listener.Addr().String()},
	}
	deps.Search = search.New(d)
	deps.Answers, err = answer.New(ctx, answer.Options{
		DB: d, Config: conf, Content: deps.Content, Search: deps.Search, Model: llm.NewOffline(nil), SiteURL: deps.BaseURL,
		Texts: madeUpTexts(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { deps.Answers.Close(context.Background()) })
	for _, f := range change {
		f(&deps)
	}
	h, err := New(ctx, deps)
	if err != nil {
		t.Fatal(err)
	}
	e := h.Echo()
	server.Config.Handler, server.Config.ConnContext = e, Connections
	server.Start()
	t.Cleanup(server.Close)
	return &testSite{t: t, Handlers: h, echo: e, url: server.URL, log: log}
}

// person creates an account with the test password.
func (s *testSite) person(name string, roles ...string) account.Record {
	s.t.Helper()
	r, err := s.Accounts.Create(context.Background(), account.NewAccount{Name: name, Password: testPassword, Roles: roles})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// browser is a client with cookies that does not follow redirects.
type browser struct {
	site   *testSite
	client *http.Client
}

func (s *testSite) browser() *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{s, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// reply is a response that has been read to its end.
type reply struct {
	*http.Response
	body string
}

func (r reply) page(t *testing.T) *goquery.Document {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func (r reply) want(t *testing.T, status int) reply {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d\n%.600s", r.Request.Method, r.Request.URL.Path, r.StatusCode, status, r.body)
	}
	return r
}

func (r reply) wantLocation(t *testing.T, location string) {
	t.Helper()
	r.want(t, http.StatusSeeOther)
	if got := r.Header.Get("Location"); got != location {
		t.Errorf("%s %s leads to %q, want %q", r.Request.Method, r.Request.URL.Path, got, location)
	}
}

// send sends a request with headers given as pairs.
func (b *browser) send(method, path, body string, headers ...string) reply {
	b.site.t.Helper()
	req, err := http.NewRequest(method, b.site.url+path, strings.NewReader(body))
	if err != nil {
		b.site.t.Fatal(err)
	}
	for pair := range slices.Chunk(headers, 2) {
		if pair[0] == "Host" {
			req.Host = pair[1]
			continue
		}
		req.Header.Add(pair[0], pair[1])
	}
	res, err := b.client.Do(req)
	if err != nil {
		b.site.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		b.site.t.Fatal(err)
	}
	return reply{res, string(data)}
}

func (b *browser) get(path string, headers ...string) reply {
	b.site.t.Helper()
	return b.send(http.MethodGet, path, "", headers...)
}

const formType = "application/x-www-form-urlencoded"

// submit posts a form as a browser does from a page of the site.
func (b *browser) submit(path string, fields url.Values) reply {
	b.site.t.Helper()
	return b.send(http.MethodPost, path, fields.Encode(), "Content-Type", formType, "Sec-Fetch-Site", "same-origin", "Origin", b.site.url)
}

// submitWithToken adds the session's token.
func (b *browser) submitWithToken(path string, fields url.Values) reply {
	b.site.t.Helper()
	token := b.get("/session/token").want(b.site.t, http.StatusOK).body
	if fields == nil {
		fields = url.Values{}
	}
	fields.Set("csrf_token", token)
	return b.submit(path, fields)
}

func (b *browser) login(name string) *browser {
	b.site.t.Helper()
	b.submit("/user/login", url.Values{"name": {name}, "password": {testPassword}}).want(b.site.t, http.StatusSeeOther)
	return b
}

func (b *browser) cookies() []*http.Cookie {
	u, _ := url.Parse(b.site.url)
	return b.client.Jar.Cookies(u)
}

func TestRequestedLang(t *testing.T) {
	d := dbtest.SQLite(t)
	s := newTestSite(t, d, func(deps *Deps) {
		deps.Content = content.New(d, content.Options{Languages: func() []string { return []string{"en", "es", "ar"} }})
	})
	for _, tt := range []struct{ address, header, want string }{
		{"/", "es", "en"},
		{"/es", "", "es"},
		{"/es/visitas/", "en", "es"},
		{"/especial/", "", "en"},
		{"/search?lang=ar", "", "ar"},
		{"/search?lang=xx", "", "en"},
		{"/user/login", "es-MX,en;q=0.5", "es"},
		{"/user/login", "fr", "en"},
		{"/admin/content", "ar", "ar"},
		{"/admin", "%%%", "en"},
		{"/admin", "", "en"},
	} {
		r := httptest.NewRequest(http.MethodGet, tt.address, nil)
		r.Header.Set("Accept-Language", tt.header)
		if got := s.requestedLang(r); got != tt.want {
			t.Errorf("%s with %q speaks %s, want %s", tt.address, tt.header, got, tt.want)
		}
	}
}

func TestMenuLink(t *testing.T) {
	for _, tt := range []struct {
		entry, path string
		want        bool
	}{
		{"/visit/", "/visit/", true}, {"/visit/", "/visit/prices/", true}, {"/visit/", "/visitors/", false},
		{"/", "/visit/", false}, {"/", "/", true}, {"/es/visitas/", "/es/visitas/horario/", true},
	} {
		got := menuLink(content.MenuItem{Title: "T", Path: tt.entry}, tt.path)
		if got.Label != "T" || got.URL != tt.entry || got.Current != tt.want {
			t.Errorf("%s on %s is %+v", tt.entry, tt.path, got)
		}
	}
}
