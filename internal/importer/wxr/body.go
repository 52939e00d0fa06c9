package wxr

import (
	"cmp"
	"context"
	"io"
	"net/url"
	"path"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"docent/internal/content"
	"docent/internal/fromhtml"
	"docent/internal/importer"
)

const maxImage = 20 << 20

// body makes Markdown of an item's content.
func (r *run) body(ctx context.Context, it *item) (string, error) {
	base, err := url.Parse(it.Link)
	if err != nil || base.Host == "" {
		base = r.site
	}
	missing := map[string]bool{}
	body, err := fromhtml.Markdown(paragraphs(shortcodes(it.content())), fromhtml.Links{
		Link: func(href string) string { return r.link(base, href) },
		Image: func(src string) string {
			to, ok := r.image(ctx, base, src)
			if !ok && !missing[src] {
				missing[src] = true
				r.report(it, "image %s is not among the uploads: its alternative text is kept", src)
			}
			return to
		},
	})
	if err != nil {
		r.report(it, "its text is left out: %v", err)
		return "", ctx.Err()
	}
	return body, ctx.Err()
}

// link leads to where a page of the old site is now; everything else is where it was.
func (r *run) link(base *url.URL, href string) string {
	u, err := base.Parse(href)
	if err != nil {
		return ""
	}
	switch u.Scheme {
	case "mailto":
		return u.String()
	case "http", "https":
	default:
		return ""
	}
	if !r.ownHost(u) {
		return u.String()
	}
	at := content.CleanPath(strings.TrimPrefix(u.Path, strings.TrimSuffix(r.site.Path, "/")))
	fragment := ""
	if u.Fragment != "" {
		fragment = "#" + u.EscapedFragment()
	}
	for _, lang := range r.Store.Languages() {
		bare, found := at, true
		if rest, ok := strings.CutPrefix(at, "/"+lang+"/"); ok {
			bare = "/" + rest
		} else {
			found = lang == r.Store.DefaultLanguage()
		}
		if e := r.byPath[lang+bare]; found && e != nil && u.RawQuery == "" {
			return r.Store.PublicPath(e.lang, e.path) + fragment
		}
	}
	return u.String()
}

// ownHost reports whether an address is on the exported site, with or without
// "www" before it.
func (r *run) ownHost(u *url.URL) bool {
	bare := func(host string) string { return strings.TrimPrefix(strings.ToLower(host), "www.") }
	return bare(u.Host) == bare(r.site.Host)
}

// sized is what WordPress appends to the names of images it has scaled.
var sized = regexp.MustCompile(`-(?:\d{1,5}x\d{1,5}|scaled)(\.[a-zA-Z]{3,4})$`)

// image stores an image from the uploads and returns its address here.
func (r *run) image(ctx context.Context, base *url.URL, src string) (string, bool) {
	u, err := base.Parse(src)
	if err != nil || r.Uploads == nil || !r.Store.HasFiles() {
		return "", false
	}
	_, name, ok := strings.Cut(u.Path, "/wp-content/uploads/")
	if !ok || !r.ownHost(u) {
		return "", false
	}
	for _, candidate := range []string{sized.ReplaceAllString(name, "$1"), name} {
		candidate = strings.TrimPrefix(path.Clean("/"+candidate), "/")
		if at, seen := r.images[candidate]; seen {
			if at != "" {
				return at, true
			}
			continue
		}
		r.images[candidate] = r.store(ctx, candidate)
		if at := r.images[candidate]; at != "" {
			return at, true
		}
	}
	return "", false
}

// store keeps an image and returns its address, "" if it is none that can be shown.
func (r *run) store(ctx context.Context, name string) string {
	f, err := r.Uploads.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxImage {
		return ""
	}
	b, err := io.ReadAll(io.LimitReader(f, maxImage))
	if err != nil {
		return ""
	}
	at := strings.Trim(content.CleanPath("/wp-content/uploads/"+name), "/")
	if _, err := r.Store.PutImage(ctx, at, originPrefix+name, b); err != nil {
		return ""
	}
	return content.FilePrefix + at
}

// picture makes an attachment the picture of a post, if it is among the uploads.
func (r *run) picture(ctx context.Context, in *content.Imported, m medium) error {
	at, ok := r.image(ctx, r.site, m.url)
	if !ok {
		return ctx.Err()
	}
	f, err := r.Store.FileByPath(ctx, strings.TrimPrefix(at, content.FilePrefix))
	if err != nil {
		return err
	}
	p := importer.Picture(originPrefix+f.Path, in.Lang, m.title, cmp.Or(m.alt, m.title), f)
	if r.known[p.Origin].Hash != p.Hash {
		if _, err := r.Store.PutImported(ctx, []content.Imported{p}, r.IndexBatch); err != nil {
			return err
		}
		r.known[p.Origin] = content.Known{Hash: p.Hash}
	}
	in.Fields["image"], err = r.Store.ImportedID(ctx, p.Key)
	return err
}

// plainText is text without markup, on one line.
func plainText(s string) string {
	if strings.ContainsAny(s, "<&") {
		z := html.NewTokenizer(strings.NewReader(s))
		var b strings.Builder
		for {
			kind := z.Next()
			if kind == html.ErrorToken {
				break
			}
			if kind == html.TextToken {
				b.WriteString(z.Token().Data)
			} else {
				b.WriteByte(' ')
			}
		}
		s = b.String()
	}
	return strings.Join(strings.Fields(s), " ")
}
