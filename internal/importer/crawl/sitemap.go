package crawl

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/temoto/robotstxt"
	"golang.org/x/net/html/charset"

	"docent/internal/importer"
)

// Bounds of what sitemaps may list.
const (
	maxSitemaps = 50
	maxDepth    = 3
	maxListed   = 50_000
)

// robots reads what the site asks of crawlers. A site that cannot say is not read.
func (r *run) robots(ctx context.Context) ([]string, error) {
	res, err := r.get(ctx, r.site.ResolveReference(&url.URL{Path: "/robots.txt"}).String(), "", "", maxRobots)
	if err != nil {
		return nil, fmt.Errorf("robots.txt: %w", err)
	}
	if res.status >= http.StatusInternalServerError {
		return nil, fmt.Errorf("robots.txt: answers %d", res.status)
	}
	if r.rules, err = robotstxt.FromStatusAndBytes(res.status, res.body); err != nil {
		return nil, fmt.Errorf("robots.txt: %w", err)
	}
	if asked := min(r.rules.FindGroup(agent).CrawlDelay, maxDelay); asked > r.Delay {
		r.Delay = asked
	}
	return r.rules.Sitemaps, nil
}

// allowed reports whether the site lets crawlers read an address.
func (r *run) allowed(u *url.URL) bool {
	at := u.EscapedPath()
	if at == "" {
		at = "/"
	}
	if u.RawQuery != "" {
		at += "?" + u.RawQuery
	}
	return r.rules.TestAgent(at, agent)
}

// A listed page is one that a sitemap names.
type listed struct {
	url     *url.URL
	changed time.Time // as the sitemap tells it; zero: it does not
}

// list reads the site's sitemaps, and whether that was all of them.
func (r *run) list(ctx context.Context, sitemaps []string) (pages []listed, whole bool, err error) {
	seen := map[string]bool{}
	whole = true
	known := map[string]bool{}
	depth := 0
	for queue := sitemaps; len(queue) > 0; depth++ {
		var below []string
		for _, address := range queue {
			u, err := r.site.Parse(address)
			if err != nil || !sameHost(r.site, u) || known[u.String()] {
				continue
			}
			if len(known) == maxSitemaps || depth == maxDepth {
				r.report(address, "is one sitemap too many: at most %d are read, %d deep", maxSitemaps, maxDepth)
				whole = false
				continue
			}
			known[u.String()] = true
			res, err := r.get(ctx, u.String(), "", "", maxSitemap)
			if err == nil && res.status != http.StatusOK {
				err = fmt.Errorf("answers %d", res.status)
			}
			var m sitemap
			if err == nil {
				m, err = parseSitemap(res.body)
			}
			if err != nil {
				if ctx.Err() != nil {
					return nil, false, ctx.Err()
				}
				if len(known) == 1 && len(queue) == 1 {
					return nil, false, fmt.Errorf("sitemap %s: %w", address, err)
				}
				r.report(address, "%s", err)
				whole = false
				continue
			}
			below = append(below, m.sitemaps...)
			for _, p := range m.pages {
				u, err := r.site.Parse(p.Loc)
				if err != nil || !sameHost(r.site, u) {
					r.foreign++
					continue
				}
				u.Scheme, u.Host, u.Fragment, u.User = r.site.Scheme, r.site.Host, "", nil
				if key := pageKey(u); !seen[key] {
					if len(pages) == maxListed {
						whole = false
						break
					}
					seen[key] = true
					pages = append(pages, listed{u, p.time()})
				}
			}
		}
		queue = below
	}
	return pages, whole, nil
}

// pageKey tells pages apart: a slash at the end does not.
func pageKey(u *url.URL) string {
	k := strings.TrimSuffix(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		k += "?" + u.RawQuery
	}
	return k
}

// A sitemap is what one file lists.
type sitemap struct {
	pages    []location
	sitemaps []string
}

type location struct {
	Loc     string `xml:"loc"`
	LastMod string `xml:"lastmod"`
}

func (l location) time() time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly} {
		if t, err := time.Parse(layout, strings.TrimSpace(l.LastMod)); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// parseSitemap reads XML, or a text file with an address a line.
func parseSitemap(b []byte) (sitemap, error) {
	var m sitemap
	b = bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF")))
	if !bytes.HasPrefix(b, []byte("<")) {
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "https://") || strings.HasPrefix(line, "http://") {
				m.pages = append(m.pages, location{Loc: line})
			}
		}
		if len(m.pages) == 0 {
			return m, errors.New("is not a sitemap")
		}
		return m, nil
	}
	d := xml.NewDecoder(bytes.NewReader(b))
	d.CharsetReader = charset.NewReaderLabel
	root := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && root {
			return m, nil
		}
		if err != nil {
			return m, fmt.Errorf("is not a sitemap: %w", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		var l location
		switch name := start.Name.Local; {
		case name == "urlset" || name == "sitemapindex":
			root = true
		case !root:
			return m, errors.New("is not a sitemap")
		case name == "url":
			if err := d.DecodeElement(&l, &start); err != nil {
				return m, fmt.Errorf("is not a sitemap: %w", err)
			}
			l.Loc = strings.TrimSpace(l.Loc)
			m.pages = append(m.pages, l)
		case name == "sitemap":
			if err := d.DecodeElement(&l, &start); err != nil {
				return m, fmt.Errorf("is not a sitemap: %w", err)
			}
			m.sitemaps = append(m.sitemaps, strings.TrimSpace(l.Loc))
		}
	}
}

func (r *run) report(address, format string, args ...any) {
	r.sum.Problems = append(r.sum.Problems, importer.Problem{File: address, Message: fmt.Sprintf(format, args...)})
}

// oldestFirst puts pages that were never read first, then those read longest ago.
func oldestFirst(pages []listed, known map[string]state) {
	slices.SortStableFunc(pages, func(a, b listed) int {
		return known[a.url.String()].CheckedAt.Compare(known[b.url.String()].CheckedAt)
	})
}
