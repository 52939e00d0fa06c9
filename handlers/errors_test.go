package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
)

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want verdict
	}{
		{fmt.Errorf("read: %w", db.ErrNotFound), verdict{status: 404}},
		{echo.ErrMethodNotAllowed, verdict{status: 405}},
		{echo.NewHTTPError(400, "offset=3 of secret"), verdict{status: 400}},
		{refuse(409, "Wait."), verdict{status: 409, message: "Wait."}},
		{fmt.Errorf("x: %w", account.ErrBeyondOwn), verdict{status: 403, message: "This needs permissions that your own account does not have."}},
		{&account.ThrottledError{RetryAfter: 90 * time.Second}, verdict{status: 429, message: "Too many attempts to sign in: try again in 2 minutes.", retryAfter: 90 * time.Second}},
		{&config.InvalidError{Fields: map[string]string{"": "is used", "label": "must not be empty"}}, verdict{status: 422, message: "Is used; label must not be empty."}},
		{fmt.Errorf("body: %w", &http.MaxBytesError{Limit: 1}), verdict{status: 413}},
		{context.DeadlineExceeded, verdict{status: 503}},
		{errors.New("pq: password authentication failed"), verdict{status: 500}},
	} {
		if got := judge(tt.err); got != tt.want {
			t.Errorf("%v: verdict %+v, want %+v", tt.err, got, tt.want)
		}
	}
}

func TestErrorResponses(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	s.echo.GET("/test/secret", func(echo.Context) error { return errors.New("pq: secret") })
	s.echo.GET("/test/panic", func(echo.Context) error { panic("secret") })
	s.echo.GET("/test/taken", func(echo.Context) error { return refuse(http.StatusConflict, "<b>Taken</b>") })
	b := s.browser()
	for _, tt := range []struct{ path, headers string }{{"/test/secret", ""}, {"/test/panic", ""}} {
		r := b.get(tt.path, "Accept", "text/html").want(t, http.StatusInternalServerError)
		page := r.page(t)
		if strings.Contains(r.body, "secret") || page.Find("h1").Length() != 1 || page.Find("html[lang=en]").Length() != 1 {
			t.Errorf("%s answers %s", tt.path, r.body)
		}
		id := r.Header.Get("X-Request-Id")
		if !strings.Contains(page.Find("main").Text(), id) || !strings.Contains(s.log.String(), "request="+id) {
			t.Errorf("%s: the reference %s is not on the page and in the log", tt.path, id)
		}
	}
	if n := strings.Count(s.log.String(), "level=ERROR"); n != 2 {
		t.Errorf("%d errors are logged, want 2:\n%s", n, s.log)
	}
	r := b.get("/test/taken", "HX-Request", "true", "Accept", "text/html").want(t, http.StatusConflict)
	if page := r.page(t); strings.Contains(r.body, "<html") || page.Find(".notice").Length() != 1 || page.Find(".notice b").Length() != 0 ||
		!strings.Contains(page.Text(), "<b>Taken</b>") || !strings.Contains(r.Header.Get("Vary"), "HX-Request") {
		t.Errorf("htmx gets %s", r.body)
	}
	for _, headers := range [][]string{
		{"HX-Request", "true", "HX-Boosted", "true"}, {"HX-Request", "true", "HX-History-Restore-Request", "true"}, {"HX-Request", "true", "HX-Request-Type", "full"},
	} {
		if r := b.get("/test/taken", append(headers, "Accept", "text/html")...); !strings.Contains(r.body, "<html") {
			t.Errorf("%v gets a fragment", headers)
		}
	}
	for _, accept := range []string{"application/json", "text/event-stream"} {
		var answer struct{ Message string }
		r := b.get("/test/secret", "Accept", accept).want(t, http.StatusInternalServerError)
		if err := json.Unmarshal([]byte(r.body), &answer); err != nil || answer.Message == "" || strings.Contains(r.body, "secret") {
			t.Errorf("%s gets %s, %v", accept, r.body, err)
		}
	}
	if page := b.get("/nowhere", "Accept", "text/html").want(t, http.StatusNotFound).page(t); page.Find(`form[action="/search"] input[name=q]`).Length() != 1 {
		t.Error("the 404 page leads nowhere")
	}
	if r := b.send(http.MethodDelete, "/session/token", "").want(t, http.StatusMethodNotAllowed); !strings.Contains(r.Header.Get("Allow"), "GET") {
		t.Errorf("405 allows %q", r.Header.Get("Allow"))
	}
}

func TestClientGone(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	arrived, left := make(chan struct{}), make(chan struct{})
	s.echo.GET("/test/slow", func(c echo.Context) error {
		close(arrived)
		<-c.Request().Context().Done()
		return fmt.Errorf("query: %w", c.Request().Context().Err())
	}, func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			defer close(left)
			return next(c)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/test/slow?q=private", nil)
	go func() {
		<-arrived
		cancel()
	}()
	if _, err := http.DefaultClient.Do(req); err == nil {
		t.Fatal("the request succeeded")
	}
	<-left
	s.browser().get("/session/token") // the line before is written by now, or soon
	for deadline := time.Now().Add(5 * time.Second); !strings.Contains(s.log.String(), "path=/test/slow"); {
		if time.Now().After(deadline) {
			t.Fatal("nothing is logged")
		}
		s.browser().get("/session/token")
	}
	if log := s.log.String(); !strings.Contains(log, "path=/test/slow status=499") || strings.Contains(log, "level=ERROR") || strings.Contains(log, "private") {
		t.Errorf("the log says %s", log)
	}
}

func TestCacheablePage(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	s.person("ada")
	text := "one"
	s.echo.GET("/test/page", func(c echo.Context) error {
		return s.renderCacheable(c, templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}))
	})
	s.echo.GET("/test/broken", func(c echo.Context) error {
		return s.renderCacheable(c, templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
			io.WriteString(w, "half a page")
			return errors.New("broken")
		}))
	})
	b := s.browser()
	r := b.get("/test/page").want(t, http.StatusOK)
	etag := r.Header.Get("ETag")
	if !strings.HasPrefix(etag, `"`) || r.Header.Get("Cache-Control") != anyoneMayKeep || len(r.Cookies()) != 0 || r.body != "one" {
		t.Errorf("headers are %v", r.Header)
	}
	for _, candidate := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
		if r := b.get("/test/page", "If-None-Match", candidate).want(t, http.StatusNotModified); r.body != "" || r.Header.Get("ETag") != etag {
			t.Errorf("%s gets %v %q", candidate, r.Header, r.body)
		}
	}
	if r := b.send(http.MethodHead, "/user/login", "").want(t, http.StatusOK); r.body != "" || r.Header.Get("Content-Type") == "" {
		t.Errorf("HEAD gets %v %q", r.Header, r.body)
	}
	text = "two"
	b.get("/test/page", "If-None-Match", etag).want(t, http.StatusOK)
	if r := s.browser().login("ada").get("/test/page"); r.Header.Get("Cache-Control") != "private, no-cache" {
		t.Errorf("a member's page is %s", r.Header.Get("Cache-Control"))
	}
	if r := b.get("/test/broken", "Accept", "text/html").want(t, http.StatusInternalServerError); strings.Contains(r.body, "half a page") || r.Header.Get("ETag") != "" {
		t.Errorf("a broken page gives %v %s", r.Header, r.body)
	}
}
