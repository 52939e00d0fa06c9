// Package wxr brings the export file of a WordPress site into the content, again
// and again: only what changed is written.
package wxr

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"docent/db"
	"docent/internal/content"
	"docent/internal/importer"
)

// Options say what to import and where to.
type Options struct {
	// Open opens the export, which is read twice.
	Open func() (io.ReadCloser, error)
	// Uploads is a copy of the site's folder wp-content/uploads, from which images
	// are taken; nil: images become their alternative text.
	Uploads fs.FS
	Store   *content.Store
	// Progress and IndexBatch are those of [importer.Options].
	Progress   func(importer.Progress)
	IndexBatch func(ctx context.Context, tx *db.DB, items []content.Item) error
}

// originPrefix starts the names of everything that came from such exports.
const originPrefix = "wordpress:"

// converted changes when the same item would be converted to something else.
const converted = "1"

const batchSize = 100

// Run imports posts, pages, and the categories and tags they are filed under.
// Comments, menus and what plugins keep are left out; private, protected and
// unpublished posts become drafts. Problems of single items never stop it.
func Run(ctx context.Context, opts Options) (importer.Summary, error) {
	start := time.Now()
	if opts.Progress == nil {
		opts.Progress = func(importer.Progress) {}
	}
	r := &run{
		Options: opts, byID: map[string]*entry{}, byPath: map[string]*entry{}, grouped: map[string]bool{},
		skipped: map[string]int{}, media: map[string]medium{}, images: map[string]string{},
	}
	err := r.do(ctx)
	slices.SortStableFunc(r.sum.Problems, func(a, b importer.Problem) int { return strings.Compare(a.File, b.File) })
	r.sum.Took = time.Since(start)
	return r.sum, err
}

// An entry is what other items need to know of a post or page.
type entry struct {
	id, parent, slug, lang, path, above string
	children                            bool
}

// A medium is an attachment that posts may have as their picture.
type medium struct{ url, title, alt string }

type run struct {
	Options
	channel channel
	site    *url.URL
	sum     importer.Summary
	done    int
	entries []*entry // in the order of the export
	byID    map[string]*entry
	byPath  map[string]*entry // by language and address
	grouped map[string]bool   // language and group of translations
	skipped map[string]int    // items of other types, by type
	media   map[string]medium // attachments by id
	images  map[string]string // name among the uploads -> public address; "" unusable
	known   map[string]content.Known
	types   *content.Types
	batch   []content.Imported
}

func (r *run) report(it *item, format string, args ...any) {
	r.sum.Problems = append(r.sum.Problems, importer.Problem{File: it.label(), Message: fmt.Sprintf(format, args...)})
}

func (it *item) label() string { return fmt.Sprintf("%s %s %q", it.Type, it.ID, plainText(it.Title)) }

// taken reports whether an item becomes a page of the site.
func (it *item) taken() bool {
	if it.Type != "post" && it.Type != "page" {
		return false
	}
	return it.Status != "trash" && it.Status != "auto-draft" && it.Status != "inherit"
}

func (r *run) each(yield func(*item) error) (channel, error) {
	f, err := r.Open()
	if err != nil {
		return channel{}, err
	}
	defer f.Close()
	return read(f, yield)
}

func (r *run) do(ctx context.Context) error {
	var addresses []string
	var err error
	r.channel, err = r.each(func(it *item) error {
		switch {
		case it.taken():
			r.entries = append(r.entries, &entry{id: it.ID, parent: it.Parent, slug: slugOf(it), lang: languageOf(it)})
			addresses = append(addresses, it.Link)
		case it.Type == "attachment":
			r.media[it.ID] = medium{it.URL, plainText(it.Title), plainText(it.meta("_wp_attachment_image_alt"))}
		case it.Type != "post" && it.Type != "page":
			r.skipped[it.Type]++
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if r.site, err = url.Parse(r.channel.link); err != nil || r.site.Host == "" {
		return fmt.Errorf("the export does not say which site it is of: its <link> is %q", r.channel.link)
	}
	r.sum.Files = len(r.entries)
	r.arrange(addresses)
	for _, kind := range slices.Sorted(maps.Keys(r.skipped)) {
		r.sum.Problems = append(r.sum.Problems, importer.Problem{File: kind, Message: fmt.Sprintf("%d items of this type are left out", r.skipped[kind])})
	}
	if r.known, err = r.Store.Imported(ctx); err != nil {
		return err
	}
	if r.types, err = r.Store.Types(ctx); err != nil {
		return err
	}
	if _, err = r.each(func(it *item) error { return r.take(ctx, it) }); err != nil {
		return err
	}
	return r.flush(ctx)
}

// slugOf is the last part of an item's address.
func slugOf(it *item) string {
	name, err := url.PathUnescape(it.Name)
	if err != nil {
		name = it.Name
	}
	return cmp.Or(content.Slug(name), content.Slug(plainText(it.Title)), it.Type+"-"+it.ID)
}

// languageOf is the language that the plugin Polylang files an item under.
func languageOf(it *item) string {
	for _, t := range it.Terms {
		if t.Domain == "language" {
			return strings.ToLower(t.Slug)
		}
	}
	return ""
}

// arrange gives every entry its language and address: the one it has in
// WordPress, or one made of its name for drafts, which have none yet.
func (r *run) arrange(addresses []string) {
	languages := r.Store.Languages()
	for i, e := range r.entries {
		if r.byID[e.id] == nil {
			r.byID[e.id] = e
		}
		u, err := url.Parse(addresses[i])
		if err == nil && u.RawQuery == "" && u.Path != "" {
			e.path = content.CleanPath(strings.TrimPrefix(u.Path, strings.TrimSuffix(r.site.Path, "/")))
		}
		first, rest, _ := strings.Cut(strings.TrimPrefix(e.path, "/"), "/")
		switch {
		case slices.Contains(languages, first):
			e.path = "/" + rest
			e.lang = cmp.Or(e.lang, first)
		case !slices.Contains(languages, e.lang):
			e.lang = languages[0]
		}
		if !slices.Contains(languages, e.lang) {
			e.lang = languages[0]
		}
	}
	for _, e := range r.entries {
		if e.path == "" {
			e.path = r.pathBelow(e, 0)
		}
		base := strings.TrimSuffix(e.path, "/")
		for n := 2; r.byPath[e.lang+e.path] != nil; n++ {
			e.path = fmt.Sprintf("%s-%d/", base, n)
		}
		r.byPath[e.lang+e.path] = e
	}
	for _, e := range r.entries {
		for _, above := range content.Parents(e.path) {
			if parent := r.byPath[e.lang+above]; parent != nil || above == "/" {
				e.above = above
				if parent != nil {
					parent.children = true
				}
				break
			}
		}
	}
}

// pathBelow is an address below the pages that an entry lies under.
func (r *run) pathBelow(e *entry, depth int) string {
	parent := r.byID[e.parent]
	switch {
	case parent == nil || parent == e || depth > 20:
		return "/" + e.slug + "/"
	case parent.path != "":
		return parent.path + e.slug + "/"
	default:
		return r.pathBelow(parent, depth+1) + e.slug + "/"
	}
}

// take converts an item unless it is as it was.
func (r *run) take(ctx context.Context, it *item) error {
	e := r.byID[it.ID]
	if !it.taken() || e == nil {
		return ctx.Err()
	}
	delete(r.byID, it.ID) // an id given twice counts once
	in := content.Imported{
		Key: r.key(it, e), Origin: r.origin(it), ParentPath: e.above, HasChildren: e.children,
		Updated: wordPressTime(it.Modified), Topics: r.topics(it),
		Input: content.Input{
			Bundle: "page", Lang: e.lang, Title: cmp.Or(cut(plainText(it.Title)), e.slug), Path: e.path, State: content.Published,
			Access: &content.Access{}, SectionIndex: e.children, Fields: content.Fields{},
		},
	}
	if it.Type == "post" {
		in.Bundle = "article"
		in.Date = cmp.Or(wordPressTime(it.DateGMT), wordPressTime(it.Date))
	}
	in.Weight, _ = strconv.Atoi(it.Order)
	if why := unpublished(it); why != "" {
		in.State = content.Draft
		r.sum.Drafts++
		if why != it.Status {
			r.report(it, "is kept as a draft: %s", why)
		}
	}
	in.Hash = r.hash(it, in)
	r.done++
	switch k, ok := r.known[in.Origin]; {
	case !ok:
		r.sum.Added++
	case k.Hash == in.Hash:
		r.sum.Unchanged++
		return ctx.Err()
	default:
		r.sum.Changed++
		if k.Edited {
			r.report(it, "was edited on the site since the last import: the export replaced that, which its history keeps")
		}
	}
	body, err := r.body(ctx, it)
	if err != nil {
		return err
	}
	if body != "" {
		in.Fields[content.FieldBody] = body
	}
	if m, ok := r.media[it.meta("_thumbnail_id")]; ok && in.Bundle == "article" {
		if err := r.picture(ctx, &in, m); err != nil {
			return err
		}
	}
	if ct, ok := r.types.Type(content.TypeNode, in.Bundle); ok {
		if _, has := ct.Field("byline"); has && r.author(it) != "" {
			in.Fields["byline"] = r.author(it)
		}
	}
	if summary := plainText(shortcodes(it.excerpt())); summary != "" {
		in.Fields[content.FieldSummary] = summary
	}
	r.batch = append(r.batch, in)
	if len(r.batch) >= batchSize {
		return r.flush(ctx)
	}
	return ctx.Err()
}

// author is the name under which a post was written.
func (r *run) author(it *item) string { return cmp.Or(r.channel.authors[it.Creator], it.Creator) }

// unpublished says why an item is not for everybody, "" if it is.
func unpublished(it *item) string {
	switch {
	case it.Password != "":
		return "it asks for a password"
	case it.Status == "private":
		return "it is private"
	case it.Status == "future":
		return "it is to be published later"
	case it.Status != "publish":
		return it.Status
	}
	return ""
}

func (r *run) origin(it *item) string {
	return originPrefix + r.site.Host + strings.TrimSuffix(r.site.Path, "/") + "#" + it.ID
}

// key names an item's entity. Polylang names what is one page in several languages.
func (r *run) key(it *item, e *entry) string {
	for _, t := range it.Terms {
		if t.Domain == "post_translations" && t.Slug != "" {
			if id := e.lang + " " + t.Slug; !r.grouped[id] {
				r.grouped[id] = true
				return originPrefix + r.site.Host + "#" + t.Slug
			}
		}
	}
	return r.origin(it)
}

// topics are the terms that an item is filed under.
func (r *run) topics(it *item) []content.Term {
	var out []content.Term
	for _, t := range it.Terms {
		if t.Domain != "category" && t.Domain != "post_tag" || t.Slug == "uncategorized" {
			continue
		}
		found := content.TermOf(content.FieldTopics, plainText(t.Name))
		if slug, err := url.PathUnescape(t.Slug); err == nil && content.Slug(slug) != "" {
			found.Slug = content.Slug(slug)
		}
		same := func(o content.Term) bool { return o.Slug == found.Slug }
		if found.Slug != "" && utf8.RuneCountInString(found.Label) <= 255 && !slices.ContainsFunc(out, same) {
			out = append(out, found)
		}
	}
	return out
}

// hash is of everything that an item's page is made from.
func (r *run) hash(it *item, in content.Imported) string {
	h := sha256.New()
	fmt.Fprintln(h, converted, r.Uploads != nil, in.Key, in.Lang, in.Path, in.SectionIndex, in.Title, in.State, in.Date, in.Weight, in.Topics, it.Modified,
		it.meta("_thumbnail_id"), r.author(it), it.content(), it.excerpt())
	return hex.EncodeToString(h.Sum(nil))
}

// flush writes what was converted.
func (r *run) flush(ctx context.Context) error {
	if len(r.batch) > 0 {
		conflicts, err := r.Store.PutImported(ctx, r.batch, r.IndexBatch)
		if err != nil {
			return fmt.Errorf("store posts: %w", err)
		}
		for _, c := range conflicts {
			r.sum.Problems = append(r.sum.Problems, importer.Problem{
				File: strings.TrimPrefix(c.Origin, originPrefix), Message: "its address belongs to a page of the site: it is at " + c.Path})
		}
		r.batch = r.batch[:0]
	}
	r.Progress(importer.Progress{Done: r.done, Total: r.sum.Files, Current: path.Base(r.site.Host)})
	return ctx.Err()
}

// wordPressTime reads its times, which are zeros where there is none.
func wordPressTime(s string) time.Time {
	t, err := time.Parse(time.DateTime, strings.TrimSpace(s))
	if err != nil || t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t.UTC()
}

// cut bounds a title.
func cut(s string) string {
	const most = 255
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most-1])) + "…"
	}
	return s
}
