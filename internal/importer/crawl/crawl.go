// Package crawl reads the pages of a site hosted elsewhere, as its sitemap lists
// them, so that answers can be given from them and cite the originals.
package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/temoto/robotstxt"

	"docent/db"
	"docent/internal/content"
	"docent/internal/importer"
)

// Bundle is the content type of the copies.
const Bundle = "external"

// converted changes when the same page would be converted to something else.
const converted = "1"

// Bounds of a run unless the options say otherwise.
const (
	DefaultPages = 500
	DefaultTime  = 4 * time.Minute
	DefaultDelay = 500 * time.Millisecond

	maxBytes = 500 << 20
	maxDelay = 30 * time.Second
	// maxFailures in a row end a run: the site has other worries.
	maxFailures = 10
)

// Options say what to read and how gently.
type Options struct {
	// Sitemap is the address of a sitemap, or of a site whose robots.txt names
	// one or that has it at /sitemap.xml.
	Sitemap string
	Store   *content.Store
	DB      *db.DB
	// Pages is how many are read in one run, at most; 0: [DefaultPages]. Those
	// that were read longest ago come first, so that later runs get to the rest.
	Pages int
	Time  time.Duration // of one run, at most; 0: [DefaultTime]
	Delay time.Duration // between requests, at least; 0: [DefaultDelay]
	// Language of pages that do not tell, or tell one that this site has not.
	Language string
	// AllowPrivate lets the site be on a private network, which an operator has
	// to want: it opens that network to whoever may name addresses.
	AllowPrivate bool
	Progress     func(importer.Progress)
	IndexBatch   func(ctx context.Context, tx *db.DB, items []content.Item) error
}

type run struct {
	Options
	site    *url.URL
	client  *http.Client
	rules   *robotstxt.RobotsData
	sum     importer.Summary
	bytes   int64
	foreign int // pages of other hosts that sitemaps list
}

// Run reads a site, or reads it again: pages that did not change are not fetched
// in full, and those that are gone are removed.
func Run(ctx context.Context, opts Options) (importer.Summary, error) {
	start := time.Now()
	r := &run{Options: opts}
	if r.Pages <= 0 {
		r.Pages = DefaultPages
	}
	if r.Time <= 0 {
		r.Time = DefaultTime
	}
	if r.Delay <= 0 {
		r.Delay = DefaultDelay
	}
	if r.Progress == nil {
		r.Progress = func(importer.Progress) {}
	}
	var err error
	if r.site, err = ParseAddress(opts.Sitemap); err != nil {
		return r.sum, err
	}
	r.client = newClient(r.site, r.AllowPrivate)
	defer r.client.CloseIdleConnections()
	err = r.do(ctx)
	r.sum.Took = time.Since(start)
	return r.sum, err
}

// ParseAddress reads the address of a site or sitemap.
func ParseAddress(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return nil, fmt.Errorf("%q is not an address like https://example.org/sitemap.xml", s)
	}
	return u, nil
}

func (r *run) do(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, r.Time)
	defer cancel()
	named, err := r.robots(limited)
	if err != nil {
		return err
	}
	sitemaps := []string{r.site.String()}
	if strings.Trim(r.site.Path, "/") == "" {
		if sitemaps = named; len(named) == 0 {
			sitemaps = []string{"/sitemap.xml"}
		}
	}
	pages, whole, err := r.list(limited, sitemaps)
	if err != nil {
		return err
	}
	if r.foreign > 0 {
		r.report(r.site.Host, "%d pages that it lists are on other hosts: they are left out", r.foreign)
	}
	listedNothing := len(pages) == 0
	known, err := states(ctx, r.DB, r.site.Host)
	if err != nil {
		return err
	}
	current := make(map[string]bool, len(pages))
	pages = slices.DeleteFunc(pages, func(p listed) bool {
		ok := r.allowed(p.url)
		if ok {
			current[p.url.String()] = true
		}
		return !ok
	})
	oldestFirst(pages, known)
	if len(pages) > r.Pages {
		r.report(r.site.Host, "lists %d pages: %d are read in this run", len(pages), r.Pages)
		pages = pages[:r.Pages]
	}
	r.sum.Files = len(pages)
	if err := r.readAll(limited, pages, known); err != nil {
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		r.report(r.site.Host, "the time of this run was up: the next one goes on")
	}
	if !whole || listedNothing {
		return nil // what is missing may only be missing from the list
	}
	for _, s := range known {
		if !current[s.URL] {
			r.sum.Gone = append(r.sum.Gone, s.URL)
		}
	}
	slices.Sort(r.sum.Gone)
	for _, address := range r.sum.Gone {
		if err := r.remove(ctx, address); err != nil {
			return err
		}
	}
	return nil
}

// readAll reads pages one after the other, no faster than the site wants.
func (r *run) readAll(ctx context.Context, pages []listed, known map[string]state) error {
	failures := 0
	timer := time.NewTimer(r.Delay)
	defer timer.Stop()
	for i, p := range pages {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		timer.Reset(r.Delay)
		err := r.read(ctx, p, known[p.url.String()])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch e, refused := errors.AsType[*refusedError](err); {
		case err == nil:
			failures = 0
		case refused && e.lasting:
			failures = 0
			r.report(p.url.String(), "%s", err)
		case refused:
			r.report(p.url.String(), "%s", err)
			if failures++; failures == maxFailures {
				return fmt.Errorf("%s: %d pages in a row failed", r.site.Host, failures)
			}
		default:
			return err
		}
		r.Progress(importer.Progress{Done: i + 1, Total: len(pages), Current: p.url.Path})
		if r.bytes > maxBytes {
			return fmt.Errorf("%s: more than %d MB in one run", r.site.Host, maxBytes>>20)
		}
	}
	return nil
}

// A refusedError is why one page is not there; a lasting one is the page's own.
type refusedError struct {
	err     error
	lasting bool
}

func (e *refusedError) Error() string { return e.err.Error() }

// read brings one page up to date.
func (r *run) read(ctx context.Context, p listed, s state) error {
	address := p.url.String()
	res, err := r.get(ctx, address, s.ETag, s.LastModified, maxPage)
	if err != nil {
		r.sum.Skipped++
		return &refusedError{err, errors.Is(err, errTooLarge) || errors.Is(err, errOtherHost)}
	}
	next := state{URL: address, Host: r.site.Host, ETag: res.etag, LastModified: res.lastMo, Hash: s.Hash, CheckedAt: db.Now()}
	switch {
	case res.status == http.StatusNotModified && s.Hash != "":
		r.sum.Unchanged++
		next.ETag, next.LastModified = s.ETag, s.LastModified
		return putState(ctx, r.DB, next)
	case res.status == http.StatusNotFound || res.status == http.StatusGone:
		r.sum.Skipped++
		if s.URL != "" {
			if err := r.remove(ctx, address); err != nil {
				return err
			}
		}
		return &refusedError{fmt.Errorf("answers %d", res.status), true}
	case res.status != http.StatusOK:
		r.sum.Skipped++
		return &refusedError{fmt.Errorf("answers %d", res.status), false}
	}
	found, err := readPage(res)
	if err != nil {
		r.sum.Skipped++
		if s.URL != "" {
			if err := r.remove(ctx, address); err != nil {
				return err
			}
		}
		return &refusedError{err, true}
	}
	in := r.imported(p.url, found)
	if in.Updated.IsZero() {
		in.Updated = p.changed
	}
	next.Hash = in.Hash
	switch s.Hash {
	case in.Hash:
		r.sum.Unchanged++
		return putState(ctx, r.DB, next)
	case "":
		r.sum.Added++
	default:
		r.sum.Changed++
	}
	if _, err := r.Store.PutImported(ctx, []content.Imported{in}, r.IndexBatch); err != nil {
		return fmt.Errorf("store %s: %w", address, err)
	}
	return putState(ctx, r.DB, next)
}

// remove forgets a page.
func (r *run) remove(ctx context.Context, address string) error {
	if err := r.Store.RemoveImported(ctx, []string{content.OriginExternal + address}); err != nil {
		return fmt.Errorf("remove %s: %w", address, err)
	}
	r.sum.Removed++
	return deleteState(ctx, r.DB, address)
}
