package markdown

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/net/html"
)

// PlainText returns the readable text of Markdown: no markup, references
// decoded, links and images as their text, table rows as "a | b". Blocks are
// separated by an empty line.
func PlainText(src string) string {
	text := cleaned(src)
	var p plainWriter
	p.src = text
	p.blocks(parsePage(text))
	return strings.TrimSpace(gaps.ReplaceAllString(p.String(), "\n\n"))
}

var gaps = regexp.MustCompile(`\n{3,}`)

type plainWriter struct {
	strings.Builder
	src []byte
}

func (p *plainWriter) blocks(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		p.block(c)
	}
}

func (p *plainWriter) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
		p.WriteString(strings.TrimSpace(plainInline(n, p.src)))
		p.WriteByte('\n')
		if n.Kind() != ast.KindTextBlock {
			p.WriteByte('\n')
		}
	case *ast.List:
		number := n.Start
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			mark := "- "
			if n.IsOrdered() {
				mark = strconv.Itoa(number) + ". "
				number++
			}
			p.WriteString(mark)
			if item.FirstChild() == nil {
				p.WriteByte('\n')
			}
			p.blocks(item)
		}
		p.WriteByte('\n')
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		p.lines(n)
		p.WriteByte('\n')
	case *ast.HTMLBlock:
		var raw bytes.Buffer
		lines := n.Lines()
		for i := range lines.Len() {
			line := lines.At(i)
			raw.Write(line.Value(p.src))
		}
		if n.HasClosure() {
			raw.Write(n.ClosureLine.Value(p.src))
		}
		p.WriteString(strings.TrimSpace(tagless(raw.String())))
		p.WriteString("\n\n")
	case *extast.Table:
		for row := n.FirstChild(); row != nil; row = row.NextSibling() {
			for c := row.FirstChild(); c != nil; c = c.NextSibling() {
				p.WriteString(strings.TrimSpace(plainInline(c, p.src)))
				if c.NextSibling() != nil {
					p.WriteString(" | ")
				}
			}
			p.WriteByte('\n')
		}
		p.WriteByte('\n')
	default:
		p.blocks(n)
	}
}

func (p *plainWriter) lines(n ast.Node) {
	lines := n.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		p.Write(line.Value(p.src))
	}
}

// plainInline returns the text of a block's inline content.
func plainInline(n ast.Node, src []byte) string {
	var b strings.Builder
	appendPlain(&b, n, src)
	return b.String()
}

func appendPlain(b *strings.Builder, n ast.Node, src []byte) {
	code := n.Kind() == ast.KindCodeSpan
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			value := c.Segment.Value(src)
			if c.IsRaw() || code {
				b.Write(value)
			} else {
				b.WriteString(resolve(value))
			}
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.AutoLink:
			b.Write(c.Label(src))
		case *ast.RawHTML:
			for i := range c.Segments.Len() {
				segment := c.Segments.At(i)
				b.WriteString(tagless(string(segment.Value(src))))
			}
		default:
			appendPlain(b, c, src)
		}
	}
}

// tagless returns the text of raw HTML, without scripts and comments.
func tagless(raw string) string {
	z := html.NewTokenizer(strings.NewReader(raw))
	var b strings.Builder
	skip := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			if !skip {
				b.WriteString(z.Token().Data)
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			token := z.Token()
			switch token.Data {
			case "script", "style":
				skip = token.Type == html.StartTagToken
			case "br", "p", "div", "tr", "li":
				b.WriteByte('\n')
			case "td", "th":
				b.WriteByte(' ')
			}
		}
	}
}
