package markdown

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Heading is a heading of a page, for a table of contents.
type Heading struct {
	Level int    // 2 to 6
	ID    string // id attribute, stable as long as the text is
	Text  string // without markup
}

// Page renders a page of the site's own content. Its authors are trusted with
// links and images of the site, not with scripts: raw HTML is reduced to a few
// elements without attributes. Headings start at h2; the page's title is the h1.
func Page(src string, words Labels) (html string, headings []Heading) {
	text := cleaned(src)
	p := &pageState{ids: map[string]int{}}
	w := &writer{src: text, page: p, labels: words.withDefaults(), closed: true, allow: func(*url.URL) bool { return true }}
	for n := parsePage(text).FirstChild(); n != nil; n = n.NextSibling() {
		w.container(n, "")
		w.raw("\n")
	}
	if p.tags {
		return balanced(w.out), p.headings
	}
	return string(w.out), p.headings
}

// cleaned returns src without control characters and invalid bytes.
func cleaned(src string) []byte {
	var c cleaner
	return c.flush(c.write(make([]byte, 0, len(src)), src))
}

// pageState is what rendering a page collects.
type pageState struct {
	headings []Heading
	ids      map[string]int // how often a base id was used
	tags     bool           // raw HTML was let through
}

func (p *pageState) heading(w *writer, n *ast.Heading) {
	h := Heading{Level: max(n.Level, 2), Text: strings.TrimSpace(plainInline(n, w.src))}
	if h.Text == "" {
		return
	}
	h.ID = p.id(h.Text)
	p.headings = append(p.headings, h)
	w.element("h"+strconv.Itoa(h.Level), h.ID, n)
}

// id returns an id for a heading's text that no other heading has.
func (p *pageState) id(text string) string {
	base := slug(text)
	for {
		p.ids[base]++
		if p.ids[base] == 1 {
			return base
		}
		base += "-" + strconv.Itoa(p.ids[base])
	}
}

// slug keeps letters and digits of every script and joins the rest with hyphens.
func slug(text string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(text) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	if b.Len() == 0 {
		return "section"
	}
	return b.String()
}

// image writes an image of the site itself, and only the alternative text of others.
func (p *pageState) image(w *writer, n *ast.Image) {
	alt := plainInline(n, w.src)
	src, ok := href(string(n.Destination), true, nil)
	if !ok || strings.HasPrefix(src, "mailto:") || strings.HasPrefix(src, "#") {
		w.out = appendEscaped(w.out, alt)
		return
	}
	w.open("img", "")
	w.attr("src", src)
	w.attr("alt", alt)
	w.raw(` loading="lazy">`)
}

// rawTags are the elements that raw HTML of a page may hold, none with
// attributes except a cell's spans.
var rawTags = map[atom.Atom]bool{
	atom.Br: true, atom.Sup: true, atom.Sub: true, atom.Kbd: true, atom.Mark: true, atom.Details: true, atom.Summary: true,
	atom.Table: true, atom.Caption: true, atom.Thead: true, atom.Tbody: true, atom.Tfoot: true, atom.Tr: true, atom.Th: true, atom.Td: true,
}

func (w *writer) htmlBlock(n *ast.HTMLBlock) {
	var b bytes.Buffer
	lines := n.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		b.Write(line.Value(w.src))
	}
	if n.HasClosure() {
		b.Write(n.ClosureLine.Value(w.src))
	}
	w.sanitize(b.Bytes())
}

func (w *writer) rawHTML(n *ast.RawHTML) {
	var b bytes.Buffer
	for i := range n.Segments.Len() {
		segment := n.Segments.At(i)
		b.Write(segment.Value(w.src))
	}
	w.sanitize(b.Bytes())
}

// sanitize writes raw HTML: the allowed elements, comments and scripts not at
// all, every other tag as text.
func (w *writer) sanitize(raw []byte) {
	z := html.NewTokenizer(bytes.NewReader(raw))
	skip := false // inside script or style
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		text := string(z.Raw())
		token := z.Token()
		switch kind {
		case html.CommentToken, html.DoctypeToken:
		case html.TextToken:
			if !skip {
				w.out = appendEscaped(w.out, token.Data)
			}
		default:
			if token.DataAtom == atom.Script || token.DataAtom == atom.Style {
				skip = kind == html.StartTagToken
				break
			}
			if !rawTags[token.DataAtom] {
				w.out = appendEscaped(w.out, text)
				break
			}
			w.page.tags = true
			if kind == html.EndTagToken {
				w.raw("</" + token.Data + ">")
				break
			}
			w.open(token.Data, "")
			for _, a := range token.Attr {
				if n, err := strconv.Atoi(a.Val); err == nil && n > 0 && n < 100 && (a.Key == "colspan" || a.Key == "rowspan") {
					w.attr(a.Key, strconv.Itoa(n))
				}
			}
			w.raw(">")
		}
	}
}

// balanced closes what raw HTML left open, so that it cannot reach beyond the page's text.
func balanced(fragment []byte) string {
	body := &html.Node{Type: html.ElementNode, DataAtom: atom.Body, Data: "body"}
	nodes, err := html.ParseFragment(bytes.NewReader(fragment), body)
	var b bytes.Buffer
	for _, n := range nodes {
		if err == nil {
			err = html.Render(&b, n)
		}
	}
	if err != nil { // neither reads nor writes of memory fail
		return html.EscapeString(string(fragment))
	}
	return b.String()
}
