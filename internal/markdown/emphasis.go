package markdown

import (
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// emphasisParser reads *, _ and ~~ by CommonMark's rules, except that the
// punctuation rules do not apply next to Chinese, Japanese and Korean text:
// there no spaces stand around words, and "**重要（注）：**请" would not close.
type emphasisParser struct{}

func (emphasisParser) Trigger() []byte { return []byte{'*', '_', '~'} }

func (emphasisParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	char := line[0]
	n := 1
	for n < len(line) && line[n] == char {
		n++
	}
	if char == '~' && n != 2 { // a single tilde means "about"
		return nil
	}
	before := block.PrecendingCharacter()
	if char == '~' && before == '~' {
		return nil
	}
	after := ' '
	if n < len(line) {
		after, _ = utf8.DecodeRune(line[n:])
	}
	open, closing := flanking(char, before, after)
	d := parser.NewDelimiter(open, closing, n, char, delimiterProcessor{char})
	d.Segment = segment.WithStop(segment.Start + n)
	block.Advance(n)
	pc.PushDelimiter(d)
	return d
}

func flanking(char byte, before, after rune) (open, closing bool) {
	spaceBefore, spaceAfter := unicode.IsSpace(before), unicode.IsSpace(after)
	punctBefore, punctAfter := isPunct(before), isPunct(after)
	cjkBefore, cjkAfter := isCJK(before), isCJK(after)

	left := !spaceAfter && (!punctAfter || cjkAfter || spaceBefore || punctBefore || cjkBefore)
	right := !spaceBefore && (!punctBefore || cjkBefore || spaceAfter || punctAfter || cjkAfter)
	if char == '_' {
		return left && (!right || punctBefore), right && (!left || punctAfter)
	}
	return left, right
}

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func isCJK(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r >= 0x3000 && r <= 0x303f, // symbols and punctuation
		r >= 0x3200 && r <= 0x33ff, // enclosed letters, compatibility
		r >= 0xfe30 && r <= 0xfe4f, // vertical forms
		r >= 0xff01 && r <= 0xffee: // half and full width
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Yi)
}

type delimiterProcessor struct{ char byte }

func (p delimiterProcessor) IsDelimiter(b byte) bool { return b == p.char }

func (p delimiterProcessor) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (p delimiterProcessor) OnMatch(consumes int) ast.Node {
	if p.char == '~' {
		return extast.NewStrikethrough()
	}
	return ast.NewEmphasis(consumes)
}
