package markdown

import (
	"bytes"
	"net/url"
	"strconv"
	"time"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// maxSpans is how deep inline elements nest in the output.
const maxSpans = 24

// writer turns parsed blocks into HTML. It only ever writes elements,
// attributes and schemes it knows; everything else comes out as escaped text.
type writer struct {
	out   []byte
	src   []byte
	spans int // depth of inline elements

	allow   func(*url.URL) bool
	labels  Labels
	cites   *citations // nil for pages
	inLink  int
	pending []*cite // markers inside link text, written behind the link
	base    int     // offset of src in the whole text, for recorded edits

	closed   bool          // the block being written cannot grow
	coloured int           // bytes of code that got colours
	lexing   time.Duration // that they took

	page     *pageState // nil for model text
	headings outline    // of model text, as far as it is written
}

// outline is what the level of the next heading follows from.
type outline struct {
	top  int // level of the first heading in the source
	last int // level that the last heading was written with
}

// Answers stand below a heading of the second level.
const (
	highestHeading = 3
	lowestHeading  = 6
)

// next is the level to write a heading with. Whatever level a model begins with,
// the first heading comes right below what the answer stands under, and none
// leaves a level out.
func (o *outline) next(level int) int {
	if o.top == 0 {
		o.top, o.last = level, highestHeading
		return o.last
	}
	o.last = max(min(level-o.top+highestHeading, o.last+1, lowestHeading), highestHeading)
	return o.last
}

// block returns the HTML of a top-level block, "" if nothing of it is visible.
func (w *writer) block(n ast.Node, id string) string {
	w.out = w.out[:0]
	w.container(n, id)
	return string(w.out)
}

func (w *writer) open(tag, id string) {
	w.out = append(w.out, '<')
	w.out = append(w.out, tag...)
	if id != "" {
		w.attr("id", id)
	}
}

func (w *writer) attr(name, value string) {
	w.out = append(w.out, ' ')
	w.out = append(w.out, name...)
	w.out = append(w.out, `="`...)
	w.out = appendEscaped(w.out, value)
	w.out = append(w.out, '"')
}

func (w *writer) raw(s string) { w.out = append(w.out, s...) }

// container writes one block. Blocks without visible content leave no element.
func (w *writer) container(n ast.Node, id string) {
	switch n := n.(type) {
	case *ast.Paragraph:
		w.element("p", id, n)
	case *ast.TextBlock:
		w.inlines(n)
	case *ast.Heading:
		w.heading(n, id)
	case *ast.Blockquote:
		w.open("blockquote", id)
		w.raw(` dir="auto">`)
		w.blocks(n)
		w.raw("</blockquote>")
	case *ast.List:
		w.list(n, id)
	case *ast.FencedCodeBlock:
		w.code(n, id, language(n.Language(w.src)))
	case *ast.CodeBlock:
		w.code(n, id, "")
	case *ast.ThematicBreak:
		w.open("hr", id)
		w.raw(">")
	case *extast.Table:
		w.table(n, id)
	case *ast.HTMLBlock:
		w.htmlBlock(n)
	}
}

// element writes an element with inline content, or nothing if the content is blank.
func (w *writer) element(tag, id string, n ast.Node) {
	start := len(w.out)
	w.open(tag, id)
	w.raw(` dir="auto">`)
	content := len(w.out)
	w.inlines(n)
	if len(bytes.TrimSpace(w.out[content:])) == 0 {
		w.out = w.out[:start]
		return
	}
	w.raw("</" + tag + ">")
}

func (w *writer) blocks(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.container(c, "")
	}
}

func (w *writer) heading(n *ast.Heading, id string) {
	if w.page != nil {
		w.page.heading(w, n)
		return
	}
	w.element("h"+strconv.Itoa(w.headings.next(n.Level)), id, n)
}

func (w *writer) list(n *ast.List, id string) {
	tag := "ul"
	if n.IsOrdered() {
		tag = "ol"
	}
	w.open(tag, id)
	if n.IsOrdered() && n.Start != 1 {
		w.attr("start", strconv.Itoa(n.Start))
	}
	w.raw(` dir="auto">`)
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		w.raw(`<li dir="auto">`)
		w.item(item)
		w.raw("</li>")
	}
	w.raw("</" + tag + ">")
}

// item writes a list item without paragraphs, whatever blank lines the model
// left between items: a list must not change its look while it grows.
func (w *writer) item(item ast.Node) {
	for c := item.FirstChild(); c != nil; c = c.NextSibling() {
		switch c.Kind() {
		case ast.KindParagraph, ast.KindTextBlock:
			if w.page != nil && c.Kind() == ast.KindParagraph {
				break
			}
			if p := c.PreviousSibling(); p != nil && (p.Kind() == ast.KindParagraph || p.Kind() == ast.KindTextBlock) {
				w.raw("<br>")
			}
			w.inlines(c)
			continue
		}
		w.container(c, "")
	}
}

func (w *writer) table(n *extast.Table, id string) {
	w.open("div", id)
	w.raw(` class="scroll" role="group" tabindex="0"`)
	w.attr("aria-label", w.labels.Table)
	w.raw(`><table class="table">`)
	body := false
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		cell := "td"
		if row.Kind() == extast.KindTableHeader {
			w.raw("<thead>")
			cell = "th"
		} else if !body {
			w.raw("<tbody>")
			body = true
		}
		w.raw("<tr>")
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			w.cell(c, cell)
		}
		w.raw("</tr>")
		if cell == "th" {
			w.raw("</thead>")
		}
	}
	if body {
		w.raw("</tbody>")
	}
	w.raw("</table></div>")
}

func (w *writer) cell(n ast.Node, tag string) {
	w.open(tag, "")
	if tag == "th" {
		w.raw(` scope="col"`)
	}
	if c, ok := n.(*extast.TableCell); ok {
		switch c.Alignment {
		case extast.AlignLeft:
			w.attr("data-align", "start")
		case extast.AlignCenter:
			w.attr("data-align", "center")
		case extast.AlignRight:
			w.attr("data-align", "end")
		}
	}
	w.raw(` dir="auto">`)
	w.inlines(n)
	w.raw("</" + tag + ">")
}
