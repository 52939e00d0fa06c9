package handlers

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// largestKept bounds the buffers that wait for their next use, in bytes.
const largestKept = 1 << 20

func putBuffer(b *bytes.Buffer) {
	if b.Cap() <= largestKept {
		buffers.Put(b)
	}
}

// render writes a page. It is rendered whole first, so an error in it is a clean
// error page.
//
// Caches keep nothing of it: what may be kept is written by renderCacheable.
func (h *Handlers) render(c echo.Context, status int, page templ.Component) error {
	if header := c.Response().Header(); header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "no-store")
	}
	return rendered(c, page, func(body []byte) error { return c.HTMLBlob(status, body) })
}

// fragment writes a part of a page, for htmx.
func (h *Handlers) fragment(c echo.Context, status int, part templ.Component) error {
	c.Response().Header().Add("Vary", "HX-Request")
	return h.render(c, status, part)
}

// anyoneMayKeep lets caches keep a page and show it at once while they ask whether
// it is still current, for a minute after they asked last: what an editor has
// changed or taken down meanwhile is shown once more at most by each of them. Older
// ones are asked for first. Accounts see their own changes at once: their cookie
// makes another page of it, which nobody keeps unasked.
const anyoneMayKeep = "public, max-age=0, stale-while-revalidate=60"

// renderCacheable writes a page that says nothing about its visitor, as far as that
// has not signed in. Whoever asks whether it is still current hears 304 for as long
// as it has the same bytes. Shared caches keep only what anonymous visitors get.
//
// With a question in the address it says something about its visitor, and nobody
// keeps it.
func (h *Handlers) renderCacheable(c echo.Context, page templ.Component) error {
	if prefilled(c) != "" {
		c.Response().Header().Set("Cache-Control", "private, no-store")
		return h.render(c, http.StatusOK, page)
	}
	return rendered(c, page, func(body []byte) error {
		header := c.Response().Header()
		header.Add("Vary", "HX-Request")
		header.Add("Vary", "Cookie")
		header.Set("Cache-Control", anyoneMayKeep)
		return h.cacheable(c, echo.MIMETextHTMLCharsetUTF8, body)
	})
}

// cacheable writes a body that is the same for everybody who may see it, gzipped
// for clients that take that. Nothing else is: what is compressed holds no secret
// that its length could tell.
func (h *Handlers) cacheable(c echo.Context, kind string, body []byte) error {
	sum := sha256.Sum256(body)
	etag := hex.EncodeToString(sum[:16])
	header := c.Response().Header()
	header.Add("Vary", "Accept-Encoding")
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "public, no-cache")
	}
	if !h.account(c).IsAnonymous() {
		header.Set("Cache-Control", "private, no-cache")
	}
	zip := len(body) >= smallestZipped && acceptsGzip(c.Request().Header.Values("Accept-Encoding"))
	if zip {
		etag += "-gz" // other bytes, and so another strong tag
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("ETag", `"`+etag+`"`)
	if matchesETag(c.Request().Header.Values("If-None-Match"), header.Get("ETag")) {
		header.Del("Content-Encoding")
		return c.NoContent(http.StatusNotModified)
	}
	if !zip {
		return c.Blob(http.StatusOK, kind, body)
	}
	header.Set(echo.HeaderContentType, kind)
	c.Response().WriteHeader(http.StatusOK)
	z := zippers.Get().(*gzip.Writer)
	defer zippers.Put(z)
	z.Reset(c.Response())
	if _, err := z.Write(body); err != nil {
		return err
	}
	return z.Close()
}

// smallestZipped is from how many bytes on compression pays.
const smallestZipped = 1 << 10

var zippers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, 5) // the level is valid
	return z
}}

// acceptsGzip reads Accept-Encoding as far as needed: gzip named, or everything,
// and not refused with a weight of zero.
func acceptsGzip(headers []string) bool {
	anything := false
	for _, header := range headers {
		for part := range strings.SplitSeq(header, ",") {
			coding, weight, _ := strings.Cut(part, ";")
			weight = strings.TrimPrefix(strings.ReplaceAll(strings.ToLower(weight), " ", ""), "q=")
			accepted := weight == "" || strings.Trim(weight, "0.") != ""
			switch coding = strings.TrimSpace(coding); {
			case strings.EqualFold(coding, "gzip"):
				return accepted
			case coding == "*":
				anything = accepted
			}
		}
	}
	return anything
}

func rendered(c echo.Context, page templ.Component, write func(body []byte) error) error {
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	defer putBuffer(b)
	if err := page.Render(c.Request().Context(), b); err != nil {
		return fmt.Errorf("render %s: %w", c.Path(), err)
	}
	return write(b.Bytes())
}

// matchesETag compares as If-None-Match does: weakly, with any of a list.
func matchesETag(headers []string, etag string) bool {
	for _, header := range headers {
		for candidate := range strings.SplitSeq(header, ",") {
			candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
			if candidate == etag || candidate == "*" {
				return true
			}
		}
	}
	return false
}
