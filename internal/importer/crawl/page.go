package crawl

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"docent/internal/content"
	"docent/internal/fromhtml"
)

// A page is what is kept of one.
type page struct {
	title, lang, summary, body string
	canonical                  *url.URL
	changed                    time.Time
}

var (
	errNoPage  = errors.New("is not a page")
	errNoIndex = errors.New("asks not to be indexed")
	errNoText  = errors.New("holds no text")
)

// read extracts title and main text.
func readPage(res response) (page, error) {
	var p page
	kind, _, err := mime.ParseMediaType(res.header.Get("Content-Type"))
	if err != nil || kind != "text/html" && kind != "application/xhtml+xml" {
		return p, errNoPage
	}
	if strings.Contains(strings.ToLower(strings.Join(res.header.Values("X-Robots-Tag"), ",")), "noindex") {
		return p, errNoIndex
	}
	text, err := charset.NewReader(bytes.NewReader(res.body), res.header.Get("Content-Type"))
	if err != nil {
		return p, errNoPage
	}
	doc, err := html.Parse(text)
	if err != nil {
		return p, fmt.Errorf("cannot be read: %w", err)
	}
	noindex := false
	p.canonical = res.url
	var title string
	walk(doc, func(n *html.Node) {
		switch n.DataAtom {
		case atom.Html:
			p.lang = cmp.Or(p.lang, attr(n, "lang"))
		case atom.Meta:
			if name := strings.ToLower(attr(n, "name")); name == "robots" || name == strings.ToLower(agent) {
				content := strings.ToLower(attr(n, "content"))
				noindex = noindex || strings.Contains(content, "noindex") || strings.Contains(content, "none")
			}
		case atom.Link:
			if u, err := res.url.Parse(attr(n, "href")); err == nil && strings.EqualFold(attr(n, "rel"), "canonical") && sameHost(res.url, u) {
				u.Fragment = ""
				p.canonical = u
			}
		case atom.H1:
			title = cmp.Or(title, textOf(n))
		}
	})
	if noindex {
		return p, errNoIndex
	}
	article, err := readability.FromDocument(doc, res.url)
	if err != nil || article.Node == nil {
		return p, errNoText
	}
	p.title = cmp.Or(title, oneLine(article.Title()))
	p.summary = oneLine(article.Excerpt())
	if t, err := article.ModifiedTime(); err == nil {
		p.changed = t.UTC()
	}
	p.body, err = fromhtml.Node(article.Node, fromhtml.Links{
		Link: func(href string) string {
			u, err := res.url.Parse(href)
			if err != nil || u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "mailto" {
				return ""
			}
			return u.String()
		},
		Image: func(string) string { return "" }, // a copy of a page loads nothing from elsewhere
	})
	if err != nil {
		return p, err
	}
	if strings.TrimSpace(p.body) == "" {
		return p, errNoText
	}
	if p.title == "" {
		p.title = p.canonical.Host + p.canonical.Path
	}
	return p, nil
}

// walk visits every node; the parser bounds how deep it goes.
func walk(n *html.Node, visit func(*html.Node)) {
	visit(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walk(c, visit)
	}
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return strings.TrimSpace(a.Val)
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	walk(n, func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
			b.WriteByte(' ')
		}
	})
	return oneLine(b.String())
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// imported makes what is stored of a page.
func (r *run) imported(address *url.URL, p page) content.Imported {
	lang := strings.ToLower(p.lang)
	languages := r.Store.Languages()
	if base, _, _ := strings.Cut(lang, "-"); !slices.Contains(languages, lang) {
		lang = base
	}
	if !slices.Contains(languages, lang) {
		lang = cmp.Or(r.Language, languages[0])
	}
	name := origin(address)
	in := content.Imported{
		Key: name, Origin: name, ParentPath: "/", Updated: p.changed,
		Input: content.Input{
			Bundle: Bundle, Lang: lang, Title: cut(p.title, 255), Path: pathOf(address), State: content.Published,
			Access: &content.Access{}, Fields: content.Fields{content.FieldSource: p.canonical.String(), content.FieldBody: p.body},
		},
	}
	if p.summary != "" {
		in.Fields[content.FieldSummary] = cut(p.summary, 500)
	}
	in.Hash = hash(in.Title, in.Lang, in.Path, p.canonical.String(), p.summary, p.body)
	return in
}

func origin(address *url.URL) string { return content.OriginExternal + address.String() }

// pathOf is a page's address here. Addresses that this site would spell otherwise
// get a mark, so that no two become one.
func pathOf(u *url.URL) string {
	at := "/external/" + u.Host + strings.TrimSuffix(u.Path, "/") + "/"
	clean := content.CleanPath(strings.ReplaceAll(at, ":", "-"))
	if n, err := content.NormalizePath(at); err == nil && n == clean && n == at && u.RawQuery == "" {
		return clean
	}
	return strings.TrimSuffix(clean, "/") + "-" + hash(pageKey(u))[:8] + "/"
}

func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range append(parts, converted) {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func cut(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most-1])) + "…"
	}
	return s
}
