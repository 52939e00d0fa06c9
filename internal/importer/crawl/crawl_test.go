package crawl

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/content"
	"docent/internal/importer"
)

var visitor = account.Account{Roles: []string{account.RoleAnonymous}, Permissions: map[account.Permission]bool{account.AccessContent: true}}

// A host is a small site elsewhere. Pages may be changed between runs.
type host struct {
	*httptest.Server
	mu       sync.Mutex
	pages    map[string]string // by path: HTML, or whatever the path serves
	requests []string
	full     int // answers that were not 304
}

func article(title, text string) string {
	return fmt.Sprintf(`<!doctype html><html lang="en"><head><title>%[1]s | Mill</title></head><body>
<nav><a href="/a">A</a> <a href="/b">B</a> Menu menu menu</nav>
<main><article><h1>%[1]s</h1><p>%[2]s</p><p>%[3]s <a href="/hours">opening hours</a>. <img src="/x.png" alt="The wheel"></p>
<h2>Tides</h2><p>%[3]s</p><script>alert(1)</script></article></main><footer>Copyright and cookies</footer></body></html>`,
		title, text, strings.Repeat("The mill pond fills as the tide rises, and the wheel turns when it falls, twice a day. ", 4))
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{pages: map[string]string{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.requests = append(h.requests, r.URL.RequestURI())
		body, ok := h.pages[r.URL.RequestURI()]
		switch {
		case !ok:
			http.NotFound(w, r)
			return
		case strings.HasPrefix(body, "->"):
			http.Redirect(w, r, body[2:], http.StatusFound)
			return
		case strings.HasPrefix(body, "!"):
			w.WriteHeader(http.StatusInternalServerError)
			return
		case strings.HasPrefix(body, "%PDF"):
			w.Header().Set("Content-Type", "application/pdf")
		case strings.HasPrefix(body, "<!doctype"):
			etag := fmt.Sprintf(`"%x"`, len(body))
			w.Header().Set("ETag", etag)
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			if r.Header.Get("If-None-Match") == etag {
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		h.full++
		w.Write([]byte(body))
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *host) set(pairs ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			delete(h.pages, pairs[i])
		} else {
			h.pages[pairs[i]] = pairs[i+1]
		}
	}
}

func (h *host) sitemap(paths ...string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, p := range paths {
		if !strings.HasPrefix(p, "http") {
			p = h.URL + p
		}
		fmt.Fprintf(&b, "<url><loc>%s</loc><lastmod>2026-01-02</lastmod></url>", strings.ReplaceAll(p, "&", "&amp;"))
	}
	return b.String() + "</urlset>"
}

func said(sum importer.Summary) string {
	var out []string
	for _, p := range sum.Problems {
		out = append(out, p.String())
	}
	return strings.Join(out, "\n")
}

func TestCrawl(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newHost(t)
		h.set("/robots.txt", "User-agent: *\nDisallow: /private\nSitemap: "+h.URL+"/map.xml\n",
			"/map.xml", `<sitemapindex><sitemap><loc>`+h.URL+`/one.xml.gz</loc></sitemap><sitemap><loc>/two.xml</loc></sitemap></sitemapindex>`,
			"/two.xml", h.sitemap("/b", "/private/x", "https://elsewhere.example/x", "/moved", "/paper.pdf", "/hidden", "/out", "/a/", "/c?id=1&x=2"),
			"/a", article("How it works", "First."), "/b", article("The pond", "Second."), "/c?id=1&x=2", article("Query", "Third."),
			"/moved", "->/b2", "/b2", article("Moved", "Fourth."), "/out", "->https://elsewhere.example/", "/paper.pdf", "%PDF-1.7",
			"/hidden", strings.Replace(article("Hidden", "x"), "<head>", `<head><meta name="robots" content="noindex, follow">`, 1))
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		z.Write([]byte(h.sitemap("/a")))
		z.Close()
		h.set("/one.xml.gz", zipped.String())
		store := content.New(d, content.Options{})
		opts := Options{Sitemap: h.URL, Store: store, DB: d, Delay: time.Millisecond, AllowPrivate: true}
		run := func() importer.Summary {
			t.Helper()
			sum, err := Run(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			return sum
		}
		sum := run()
		if sum.Added != 4 || sum.Skipped != 3 {
			t.Errorf("%+v\n%s", sum, said(sum))
		}
		for _, want := range []string{"/out: leads to another host", "/paper.pdf: is not a page", "/hidden: asks not to be indexed", "1 pages that it lists are on other hosts"} {
			if !strings.Contains(said(sum), want) {
				t.Errorf("not said: %s in\n%s", want, said(sum))
			}
		}
		if slices.Contains(h.requests, "/private/x") {
			t.Error("read what robots.txt forbids")
		}
		name, _ := url.Parse(h.URL)
		path := "/external/" + strings.ReplaceAll(name.Host, ":", "-") + "/"
		it, err := store.Load(t.Context(), visitor, find(t, store, "How it works"), "en")
		if err != nil {
			t.Fatal(err)
		}
		body := it.Fields.Text(content.FieldBody)
		if it.Bundle != Bundle || !strings.HasPrefix(it.Path, path+"a") || it.Menu != "" || it.Fields.Text(content.FieldSource) != h.URL+"/a" ||
			!strings.Contains(body, "[opening hours]("+h.URL+"/hours)") || !strings.Contains(body, "## Tides") || !strings.Contains(body, "First.") {
			t.Errorf("%s %s %s\n%s", it.Bundle, it.Path, it.Fields.Text(content.FieldSource), body)
		}
		for _, unwanted := range []string{"Menu menu", "alert", "cookies", "x.png", "<"} {
			if strings.Contains(body, unwanted) {
				t.Errorf("the text holds %q", unwanted)
			}
		}

		full := h.full
		if sum = run(); sum.Unchanged != 4 || sum.Added+sum.Changed+sum.Removed != 0 {
			t.Errorf("again: %+v", sum)
		}
		if read := h.full - full; read > 6 { // robots.txt, three sitemaps, the PDF, the hidden page
			t.Errorf("%d answers in full for pages that did not change", read)
		}

		h.set("/a", article("How it works", "Changed text."), "/b", "", "/two.xml", h.sitemap("/b", "/moved"))
		sum = run()
		if sum.Changed != 1 || sum.Removed != 2 {
			t.Errorf("changed and gone: %+v\n%s", sum, said(sum))
		}
		if it, err = store.Load(t.Context(), visitor, it.Ref, "en"); err != nil || !strings.Contains(it.Fields.Text(content.FieldBody), "Changed text.") {
			t.Errorf("not read again: %v", err)
		}
		items, total, err := store.List(t.Context(), visitor, content.Filter{Bundle: Bundle})
		if err != nil || total != 2 {
			t.Errorf("%d copies left, %v: %v", total, err, items)
		}
	})
}

func find(t *testing.T, store *content.Store, title string) content.Ref {
	t.Helper()
	items, _, err := store.List(t.Context(), visitor, content.Filter{Text: title})
	if err != nil || len(items) != 1 {
		t.Fatalf("%q: %d pages, %v", title, len(items), err)
	}
	return items[0].Ref
}

// Later runs go on where the bound of the one before ended.
func TestBounds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newHost(t)
		var paths []string
		for i := range 5 {
			p := fmt.Sprintf("/p%d", i)
			paths = append(paths, p)
			h.set(p, article(fmt.Sprintf("Page %d", i), "Text."))
		}
		h.set("/sitemap.xml", h.sitemap(paths...))
		opts := Options{Sitemap: h.URL + "/sitemap.xml", Store: content.New(d, content.Options{}), DB: d, Delay: time.Millisecond, AllowPrivate: true, Pages: 2}
		added := 0
		for range 3 {
			sum, err := Run(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			added += sum.Added
		}
		if added != 5 {
			t.Errorf("%d pages after three runs", added)
		}
		h.set("/robots.txt", "!")
		if sum, err := Run(t.Context(), opts); err == nil || sum.Removed != 0 {
			t.Errorf("a site in trouble: %+v, %v", sum, err)
		}
		h.set("/robots.txt", "", "/sitemap.xml", h.sitemap())
		if sum, err := Run(t.Context(), opts); err != nil || sum.Removed != 0 {
			t.Errorf("a site that lists nothing: %+v, %v", sum, err)
		}
		h.set("/robots.txt", "User-agent: Docent\nDisallow: /\n", "/sitemap.xml", h.sitemap(paths...))
		sum, err := Run(t.Context(), opts)
		if err != nil || sum.Removed != 5 {
			t.Errorf("a site that forbids: %+v, %v", sum, err)
		}
	})
}

// Private addresses are refused when they are dialled, whatever their name.
func TestPrivateAddresses(t *testing.T) {
	h := newHost(t)
	h.set("/sitemap.xml", h.sitemap("/a"))
	for _, address := range []string{h.URL, strings.Replace(h.URL, "127.0.0.1", "localhost", 1), strings.Replace(h.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1)} {
		if _, err := Run(t.Context(), Options{Sitemap: address}); !errors.Is(err, ErrPrivate) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if len(h.requests) != 0 {
		t.Errorf("asked for %v", h.requests)
	}
	for _, bad := range []string{"", "mill.example", "file:///etc/passwd", "ftp://a.example", "https://user:pass@a.example/"} {
		if _, err := Run(t.Context(), Options{Sitemap: bad}); err == nil {
			t.Errorf("took %q", bad)
		}
	}
	for address, want := range map[string]bool{
		"93.184.215.14": true, "2606:2800:21f::1": true,
		"10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false,
		"127.0.0.53": false, "224.0.0.1": false, "255.255.255.255": false, "::": false, "::1": false, "::ffff:10.0.0.1": false,
		"fc00::1": false, "fe80::1": false, "64:ff9b::a00:1": false, "2002:a00:1::": false, "::7f00:1": false, "198.18.0.1": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s public: %v", address, got)
		}
	}
}

func TestSitemaps(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		pages int
		err   bool
	}{
		"text":      {"https://a.example/\nhttps://a.example/b\n", 2, false},
		"empty":     {"", 0, true},
		"no pages":  {"<urlset></urlset>", 0, false},
		"HTML":      {"<!doctype html><html><body>Not found</body></html>", 0, true},
		"cut off":   {"<urlset><url><loc>https://a.example/</loc>", 0, true},
		"laughs":    {`<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>&a;</loc></url></urlset>`, 0, true},
		"spaces":    {"<urlset><url><loc>\n https://a.example/ \n</loc></url></urlset>", 1, false},
		"extension": {`<urlset xmlns:i="x"><url><loc>https://a.example/</loc><i:image><i:loc>https://a.example/x.png</i:loc></i:image></url></urlset>`, 1, false},
	} {
		m, err := parseSitemap([]byte(tt.text))
		if err != nil != tt.err || err == nil && len(m.pages) != tt.pages {
			t.Errorf("%s: %d pages, %v", name, len(m.pages), err)
		}
		for _, p := range m.pages {
			if err == nil && !strings.HasPrefix(p.Loc, "https://a.example/") {
				t.Errorf("%s: %q", name, p.Loc)
			}
		}
	}
}
