package handlers

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	// shellTime is how long a page is kept at most: what other processes write and
	// what the clock changes is seen that late.
	shellTime    = time.Second
	mostShells   = 512
	largestShell = 256 << 10 // bytes of one page
)

// shells are pages that everybody gets, as they went out last. They hold as long as
// this process has written nothing to the database.
type shells struct {
	mu    sync.Mutex
	pages map[string]*shell
}

type shell struct {
	header http.Header // what the page itself set
	body   []byte
	writes int64
	until  time.Time
}

func (s *shells) get(key string, writes int64, now time.Time) *shell {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pages[key]
	if p == nil || p.writes != writes || !now.Before(p.until) {
		return nil
	}
	return p
}

func (s *shells) put(key string, p *shell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages == nil {
		s.pages = map[string]*shell{}
	}
	if len(s.pages) >= mostShells {
		now := time.Now()
		maps.DeleteFunc(s.pages, func(_ string, old *shell) bool { return !now.Before(old.until) })
	}
	if len(s.pages) < mostShells {
		s.pages[key] = p
	}
}

// keepShells serves the pages of a route from memory to visitors whom nothing tells
// from one another. Only what renderCacheable marked as everybody's is kept. A
// reader who asks for a fresh page, as browsers do on a hard reload, gets one.
func (h *Handlers) keepShells(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Method != http.MethodGet || r.URL.RawQuery != "" || strings.Contains(r.Header.Get("Cache-Control"), "no-cache") || !h.account(c).IsAnonymous() {
			return next(c)
		}
		key := shellKey(c)
		writes, now := h.DB.Writes(), time.Now()
		if p := h.shells.get(key, writes, now); p != nil {
			return p.serve(c)
		}
		p, err := h.recordShell(c, next)
		if p == nil {
			return err
		}
		if p.isEverybodys() {
			p.writes, p.until = writes, now.Add(shellTime)
			h.shells.put(key, p)
		}
		return p.serve(c)
	}
}

// shellKey is the address with all that its pages depend on: renderCacheable says
// so in Vary.
func shellKey(c echo.Context) string {
	r := c.Request()
	return fmt.Sprint(r.URL.EscapedPath(), " ", acceptsGzip(r.Header.Values("Accept-Encoding")), isHTMX(c), isFragment(c))
}

// recordShell lets the route write into memory. What is not a whole page goes on to
// the client, and no shell is returned.
func (h *Handlers) recordShell(c echo.Context, next echo.HandlerFunc) (*shell, error) {
	r, res := c.Request(), c.Response()
	client, asked := res.Writer, r.Header["If-None-Match"]
	before := client.Header().Clone()
	record := &shellRecorder{ResponseWriter: client}
	err := func() error {
		defer func() { // also when the page panics: then an error goes to the client
			res.Writer = client
			if asked != nil {
				r.Header["If-None-Match"] = asked
			}
		}()
		delete(r.Header, "If-None-Match") // the page itself is wanted, whatever the client has
		res.Writer = record
		return next(c)
	}()
	if !res.Committed {
		return nil, err
	}
	header := client.Header()
	if err != nil || record.status != http.StatusOK || header.Get("ETag") == "" {
		client.WriteHeader(record.status)
		if _, wrote := client.Write(record.body.Bytes()); err == nil {
			err = wrote
		}
		return nil, err
	}
	own := http.Header{}
	for name, values := range header {
		if !slices.Equal(values, before[name]) {
			own[name] = slices.Clone(values)
		}
	}
	res.Committed, res.Size = false, 0 // serve writes it
	return &shell{header: own, body: record.body.Bytes()}, nil
}

// isEverybodys reports whether the next anonymous visitor would get the same page:
// where the browser's languages choose among several, nobody can tell.
func (p *shell) isEverybodys() bool {
	return p.header.Get("Cache-Control") == anyoneMayKeep && p.header.Get(echo.HeaderSetCookie) == "" &&
		!slices.Contains(p.header.Values("Vary"), "Accept-Language") && len(p.body) <= largestShell
}

func (p *shell) serve(c echo.Context) error {
	header := c.Response().Header()
	maps.Copy(header, p.header)
	if matchesETag(c.Request().Header.Values("If-None-Match"), p.header.Get("ETag")) {
		header.Del(echo.HeaderContentEncoding)
		header.Del(echo.HeaderContentType)
		return c.NoContent(http.StatusNotModified)
	}
	return c.Blob(http.StatusOK, p.header.Get(echo.HeaderContentType), p.body)
}

// A shellRecorder keeps what is written and passes on nothing but headers.
type shellRecorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (w *shellRecorder) WriteHeader(status int) { w.status = status }

func (w *shellRecorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.body.Write(b)
}
