package markdown

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Marker returns the canonical marker of source n, the form asked of the model
// and the form Renumber writes.
func Marker(n int) string { return fmt.Sprintf("[%d]", n) }

// contractExample shows one use of markers. The numbers are not in sequence,
// because weak models read "[1], [2], [3]" as an order to follow.
type contractExample struct {
	text  string
	cites []int
}

var contractExamples = []contractExample{
	{"The library opens at nine " + Marker(4) + ".", []int{4}},
	{"Members borrow up to ten books for four weeks " + Marker(7) + Marker(2) + ".", []int{7, 2}},
}

// CiteContract returns the rule about citations for the system prompt. It is
// written with Marker and the examples that the tests feed to the parser.
func CiteContract() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Cite the numbered sources inside the text. Directly after each claim write the number of the source that supports it in square brackets, such as %s. ", Marker(4))
	fmt.Fprintf(&b, "If several sources support it, write each in its own brackets, such as %s. ", Marker(7)+Marker(2))
	b.WriteString("Use only numbers of sources you were given, never a number, a word or a link of your own, and never inside code. ")
	b.WriteString("Do not add a list of sources at the end; it is shown without you.\nExamples of form only:\n")
	for _, e := range contractExamples {
		b.WriteString("- " + e.text + "\n")
	}
	return b.String()
}

var kindCite = ast.NewNodeKind("Cite")

// cite is a marker, or a placeholder if it has no numbers, in the parsed text.
type cite struct {
	ast.BaseInline
	spans       []span
	start, stop int // its place in the source
}

func (c *cite) Kind() ast.NodeKind { return kindCite }

func (c *cite) Dump(source []byte, level int) { ast.DumpHelper(c, source, level, nil, nil) }

// citeParser comes before the link parser, so that a marker can never become a link.
type citeParser struct{}

func (citeParser) Trigger() []byte { return []byte{'[', '!'} }

func (citeParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if segment.Padding > 0 {
		return nil
	}
	bang := 0
	if line[0] == '!' { // "Done![1]" is no image
		bang = 1
	}
	m, n := scanMarker(line[bang:])
	if n == 0 {
		return nil
	}
	start := segment.Start + bang
	if bang > 0 {
		ast.MergeOrAppendTextSegment(parent, segment.WithStop(start))
	}
	block.Advance(bang + n)
	return newCite(m, start, start+n)
}

func newCite(m markerScan, start, stop int) *cite {
	c := &cite{spans: m.spans, start: start, stop: stop}
	c.SetPos(start)
	return c
}

// citeWide finds the markers in wide brackets. They cannot trigger an inline
// parser, which goldmark only starts at ASCII punctuation.
func citeWide(n ast.Node, source []byte) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			if n.Kind() != ast.KindCodeSpan && !t.IsRaw() {
				citeWideText(t, source)
			}
			continue
		}
		citeWide(c, source)
	}
}

func citeWideText(t *ast.Text, source []byte) {
	for { // an underscore that was no emphasis leaves the text in pieces
		next, ok := t.NextSibling().(*ast.Text)
		if !ok || next.IsRaw() || t.SoftLineBreak() || t.HardLineBreak() || next.Segment.Start != t.Segment.Stop {
			break
		}
		t.Segment.Stop = next.Segment.Stop
		t.SetSoftLineBreak(next.SoftLineBreak())
		t.SetHardLineBreak(next.HardLineBreak())
		t.Parent().RemoveChild(t.Parent(), next)
	}
	value := t.Segment.Value(source)
	if t.Segment.Padding > 0 {
		return
	}
	for i := 0; i < len(value); i++ {
		if value[i] != "【"[0] && value[i] != "［"[0] {
			continue
		}
		m, n := scanMarker(value[i:])
		if n == 0 {
			continue
		}
		at := t.Segment.Start + i
		rest := ast.NewTextSegment(text.NewSegment(at+n, t.Segment.Stop))
		rest.SetSoftLineBreak(t.SoftLineBreak())
		rest.SetHardLineBreak(t.HardLineBreak())
		t.SetSoftLineBreak(false)
		t.SetHardLineBreak(false)
		t.Segment.Stop = at
		c := newCite(m, at, at+n)
		t.Parent().InsertAfter(t.Parent(), t, c)
		t.Parent().InsertAfter(t.Parent(), c, rest)
		return // the rest is the next sibling, visited next
	}
}
