package markdown

import (
	"bytes"
	"regexp"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// modelParser parses model text. It has no raw HTML and no link reference
// definitions: both are text, and nothing said later can change a block that
// is settled. A parser is safe for concurrent use.
var modelParser = sync.OnceValue(func() parser.Parser {
	return newParser(
		[]util.PrioritizedValue{
			util.Prioritized(citeParser{}, 50),
			util.Prioritized(breakParser{}, 350),
		},
		nil, nil)
})

// pageParser parses the site's own content.
var pageParser = sync.OnceValue(func() parser.Parser {
	return newParser(
		[]util.PrioritizedValue{util.Prioritized(parser.NewRawHTMLParser(), 400)},
		[]util.PrioritizedValue{util.Prioritized(parser.NewHTMLBlockParser(), 900)},
		[]util.PrioritizedValue{util.Prioritized(parser.LinkReferenceParagraphTransformer, 100)})
})

// Addresses in running text. Brackets end them, so that a marker directly
// behind an address is not taken for a part of it.
var (
	bareURL = regexp.MustCompile(`^https?://[-a-zA-Z0-9@:%._+~#=]{1,256}\.[a-zA-Z]+(?::\d+)?(?:[/#?][-a-zA-Z0-9@:%_+.~#$!?&/=();,']*)?`)
	bareWWW = regexp.MustCompile(`^www\.[-a-zA-Z0-9@:%._+~#=]{1,256}\.[a-zA-Z]+(?:[/#?][-a-zA-Z0-9@:%_+.~#!?&/=();,']*)?`)
)

func newParser(inline, block, paragraph []util.PrioritizedValue) parser.Parser {
	blocks := []util.PrioritizedValue{
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(nested{parser.NewListParser()}, 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(nested{parser.NewBlockquoteParser()}, 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	}
	inlines := []util.PrioritizedValue{
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(newLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(emphasisParser{}, 500),
		util.Prioritized(extension.NewLinkifyParser(
			extension.WithLinkifyURLRegexp(bareURL),
			extension.WithLinkifyWWWRegexp(bareWWW),
			extension.WithLinkifyAllowedProtocols([]string{"http:", "https:"}),
		), 999),
	}
	return parser.NewParser(
		parser.WithBlockParsers(append(blocks, block...)...),
		parser.WithInlineParsers(append(inlines, inline...)...),
		parser.WithParagraphTransformers(append(paragraph, util.Prioritized(extension.NewTableParagraphTransformer(), 200))...),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
}

// maxNested is how deep lists and quotes nest; deeper ones are text. The cost
// of parsing grows with the square of the depth.
const maxNested = 24

// nested bounds the depth of the container that a block parser opens.
type nested struct{ parser.BlockParser }

func (p nested) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if depth++; depth > 2*maxNested { // a list counts twice: itself and its item
			return nil, parser.NoChildren
		}
	}
	return p.BlockParser.Open(parent, reader, pc)
}

func parseModel(src []byte) ast.Node {
	doc := modelParser().Parse(text.NewReader(src))
	if bytes.Contains(src, []byte("【")) || bytes.Contains(src, []byte("［")) {
		citeWide(doc, src)
	}
	return doc
}

func parsePage(src []byte) ast.Node { return pageParser().Parse(text.NewReader(src)) }

var breakTag = regexp.MustCompile(`^<[bB][rR] {0,2}/?>`)

// breakParser reads <br>, the one tag models need: a table cell has no other
// way to hold two lines.
type breakParser struct{}

func (breakParser) Trigger() []byte { return []byte{'<'} }

func (breakParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	n := len(breakTag.Find(line))
	if n == 0 {
		return nil
	}
	block.Advance(n)
	t := ast.NewTextSegment(text.NewSegment(segment.Start, segment.Start))
	t.SetHardLineBreak(true)
	return t
}
