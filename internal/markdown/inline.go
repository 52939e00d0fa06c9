package markdown

import (
	"bytes"
	"strconv"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

func (w *writer) inlines(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.inline(c)
	}
}

func (w *writer) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		w.text(n)
	case *ast.Emphasis:
		tag := "em"
		if n.Level == 2 {
			tag = "strong"
		}
		w.span(tag, n)
	case *extast.Strikethrough:
		w.span("del", n)
	case *ast.CodeSpan:
		w.raw("<code>")
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				value := t.Segment.Value(w.src)
				w.out = appendEscaped(w.out, string(bytes.ReplaceAll(value, []byte("\n"), []byte(" "))))
			}
		}
		w.raw("</code>")
	case *ast.Link:
		w.link(n)
	case *ast.AutoLink:
		w.autoLink(n)
	case *ast.Image:
		if w.page != nil {
			w.page.image(w, n)
			return
		}
		w.inlines(n)
	case *ast.RawHTML:
		w.rawHTML(n)
	case *cite:
		if w.inLink > 0 {
			w.pending = append(w.pending, n)
			if endsClause(w.src[n.stop:]) {
				w.out = trimSpaces(w.out)
			}
			return
		}
		w.cite(n)
	}
}

func (w *writer) text(n *ast.Text) {
	value := n.Segment.Value(w.src)
	if n.IsRaw() {
		w.out = appendEscaped(w.out, string(value))
	} else {
		w.out = appendText(w.out, value)
	}
	switch {
	case n.HardLineBreak():
		w.raw("<br>")
	case n.SoftLineBreak():
		w.raw("\n")
	}
}

// span writes an inline element; one that would be empty is left out.
func (w *writer) span(tag string, n ast.Node) {
	if w.spans >= maxSpans {
		w.inlines(n)
		return
	}
	w.spans++
	defer func() { w.spans-- }()
	start := len(w.out)
	w.raw("<" + tag + ">")
	content := len(w.out)
	w.inlines(n)
	if len(w.out) == content {
		w.out = w.out[:start]
		return
	}
	w.raw("</" + tag + ">")
}

func (w *writer) link(n *ast.Link) {
	target, ok := href(string(n.Destination), true, w.allow)
	if !ok || w.inLink > 0 {
		w.inlines(n)
		return
	}
	w.anchor(target, func() { w.inlines(n) })
}

func (w *writer) autoLink(n *ast.AutoLink) {
	label := string(n.Label(w.src))
	target := string(n.URL(w.src))
	if n.AutoLinkType == ast.AutoLinkEmail {
		target = "mailto:" + label
	}
	target, ok := href(target, false, w.allow)
	if !ok || w.inLink > 0 {
		w.out = appendEscaped(w.out, label)
		return
	}
	w.anchor(target, func() { w.out = appendEscaped(w.out, label) })
}

// anchor writes a link and behind it the markers its text held.
func (w *writer) anchor(target string, content func()) {
	start := len(w.out)
	w.open("a", "")
	w.attr("href", target)
	w.raw(">")
	inner := len(w.out)
	w.inLink++
	content()
	w.inLink--
	if len(bytes.TrimSpace(w.out[inner:])) == 0 { // a link with nothing to click
		w.out = w.out[:start]
	} else {
		w.raw("</a>")
	}
	for _, c := range w.pending {
		w.cite(c)
	}
	w.pending = w.pending[:0]
}

// cite writes a marker's numbers, or nothing for a placeholder and for numbers
// that name no source.
func (w *writer) cite(n *cite) {
	if w.cites == nil {
		return
	}
	e := w.cites.resolve(n, w.base)
	if len(e.shown) > 0 {
		// A superscript stands at the word it belongs to. A line's end never shows
		// its trailing space, so this takes nothing back that was seen.
		w.out = bytes.TrimRight(w.out, " \n")
	}
	for _, number := range e.shown {
		w.raw(`<sup class="d-cite"><a`)
		w.attr("href", w.cites.href(number))
		w.attr("aria-label", w.cites.label(number))
		w.raw(">")
		w.raw(strconv.Itoa(number))
		w.raw("</a></sup>")
	}
	if len(e.keys) == 0 && endsClause(w.src[n.stop:]) {
		w.out = trimSpaces(w.out)
	}
}

func trimSpaces(b []byte) []byte { return bytes.TrimRight(b, " ") }

// endsClause reports whether a space in front of rest would be one too many.
func endsClause(rest []byte) bool {
	return len(rest) == 0 || bytes.IndexByte([]byte(" \n.,;:!?)"), rest[0]) >= 0
}
