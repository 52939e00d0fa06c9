package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/db/dbtest"
)

// A testSite is the program, serving on a port of its own.
type testSite struct {
	t      *testing.T
	url    string
	data   string
	stop   func()
	output *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var readyLine = regexp.MustCompile(`Docent is ready: (\S+)`)

// serveSite starts the program as a person would, with these settings, and stops
// it when the test ends.
func serveSite(t *testing.T, env map[string]string) *testSite {
	t.Helper()
	s := &testSite{t: t, data: env["DOCENT_DATA"], output: &lockedBuffer{}}
	if s.data == "" {
		s.data = t.TempDir()
	}
	getenv := func(name string) string {
		switch name {
		case "DOCENT_LISTEN":
			return "127.0.0.1:0"
		case "DOCENT_DATA":
			return s.data
		}
		return env[name]
	}
	ctx, cancel := context.WithCancel(context.Background())
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, []string{"serve"}, getenv, strings.NewReader(""), io.MultiWriter(write, s.output), s.output)
		write.CloseWithError(io.EOF)
		ended <- err
	}()
	var once sync.Once
	s.stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("serve: %v", err)
				}
			case <-time.After(15 * time.Second):
				t.Error("the site did not stop in time")
			}
		})
	}
	t.Cleanup(s.stop)
	found := make(chan string, 1)
	go func() {
		var seen bytes.Buffer
		buf := make([]byte, 4096)
		for {
			n, err := read.Read(buf)
			seen.Write(buf[:n])
			if m := readyLine.FindStringSubmatch(seen.String()); m != nil {
				found <- m[1]
				io.Copy(io.Discard, read)
				return
			}
			if err != nil {
				close(found)
				return
			}
		}
	}()
	s.url = <-found
	if s.url == "" {
		t.Fatalf("the site did not start:\n%s", s.output)
	}
	return s
}

// eachDatabase serves a site on every database.
func eachDatabase(t *testing.T, env map[string]string, f func(t *testing.T, s *testSite)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { f(t, serveSite(t, env)) })
	t.Run("postgres", func(t *testing.T) {
		with := map[string]string{"DATABASE_URL": dbtest.PostgresURL(t)}
		for k, v := range env {
			with[k] = v
		}
		f(t, serveSite(t, with))
	})
}

// client keeps cookies, as a browser does, and does not follow redirects.
func client(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func (s *testSite) get(c *http.Client, path string, header ...string) (*http.Response, string) {
	s.t.Helper()
	return s.do(c, http.MethodGet, path, "", header...)
}

// do sends a request with headers given as name, value, name, value.
func (s *testSite) do(c *http.Client, method, path, body string, header ...string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := c.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(b)
}

// token is what scripts need to post JSON.
func (s *testSite) token(c *http.Client) string {
	s.t.Helper()
	_, body := s.get(c, "/session/token")
	return body
}
