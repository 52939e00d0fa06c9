// Package markdown turns Markdown, above all text that a model is still
// writing, into safe HTML blocks that never change again once they are settled.
package markdown

import (
	"bytes"
	"iter"
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Options of one rendering of model text. The zero value renders text without
// citations and without external links.
type Options struct {
	// Source returns the identity of the source the model knows as n. A marker
	// without one is dropped and counted. nil drops all markers.
	Source func(n int) (key string, ok bool)
	// Numbered are the keys that earlier turns gave running numbers to;
	// Numbered[0] has number 1.
	Numbered []string
	// CiteHref is the address of a marker with the reader's running number,
	// "#source-N" if nil.
	CiteHref func(number int) string
	// CiteLabel is the accessible name of a marker, "Source N" if nil.
	CiteLabel func(number int) string
	// AllowLink decides about external http and https links; nil allows none.
	// Relative, fragment and mailto links are always allowed. A link that is
	// not allowed is rendered as its text.
	AllowLink func(u *url.URL) bool
	// BlockID is the id attribute of top-level block i, counted from 0; nil for none.
	BlockID func(i int) string
	Labels  Labels
}

// Block is a top-level block of the text.
type Block struct {
	HTML string // one element; it carries the id of Options.BlockID
}

// Blocks are the blocks of a text in order: first those that no later text can
// change, then the growing end.
type Blocks struct{ Settled, Tail []Block }

// Len is how many blocks there are.
func (b Blocks) Len() int { return len(b.Settled) + len(b.Tail) }

// At is block i, counted from 0.
func (b Blocks) At(i int) Block {
	if i < len(b.Settled) {
		return b.Settled[i]
	}
	return b.Tail[i-len(b.Settled)]
}

// From yields the blocks from block i on.
func (b Blocks) From(i int) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		for ; i < b.Len(); i++ {
			if !yield(b.At(i)) {
				return
			}
		}
	}
}

// Stream renders text that arrives in pieces. Whatever the pieces and however
// often it is rendered in between, the final blocks are those of Render.
// A Stream must not be used by two goroutines at once.
type Stream struct {
	o        Options
	clean    cleaner
	buf      []byte // the cleaned text
	hold     tracker
	shown    int // buf[:shown] is what the last Render showed
	cut      int // buf[cut:] is not settled
	settled  []Block
	tail     []Block
	cites    *citations
	mark     mark    // citations of the settled blocks
	headings outline // theirs too
	w        writer
	said     said
	final    bool
	boundary func(src []byte, doc ast.Node) (ast.Node, int)
}

// NewStream returns an empty stream.
func NewStream(o Options) *Stream {
	s := &Stream{o: o, hold: newTracker(), boundary: boundary}
	s.cites = newCitations(&s.o)
	s.w = writer{allow: o.AllowLink, labels: o.Labels.withDefaults(), cites: s.cites}
	return s
}

// Write adds raw bytes from the model. They may end anywhere, also inside a
// character, a line break or a marker. Text after the final Render is ignored.
func (s *Stream) Write(delta string) {
	if s.final {
		return
	}
	s.buf = s.clean.write(s.buf, delta)
	s.hold.advance(s.buf)
}

// Render returns all blocks of the text so far. The strings of settled blocks
// are those of earlier calls. Unless final is true, an end that would still
// change its look is held back: half a marker, a fence line, a table's first
// row, a list of sources that may be the model's own.
// With final everything is shown and settled.
//
// The result may be kept: settled blocks only ever get company behind them, the
// tail is new each time the text changed. So a rendering costs what is new,
// however long the text is.
func (s *Stream) Render(final bool) Blocks {
	shown := s.shown
	switch {
	case s.final:
	case final:
		s.buf = s.clean.flush(s.buf)
		s.hold.advance(s.buf)
		s.buf = s.buf[:max(s.hold.end(s.buf), s.shown)]
		s.final = true
		s.shown = len(s.buf)
		s.render()
	default:
		if s.shown = max(shown, s.hold.visible(s.buf)); s.shown > shown {
			s.render()
		}
	}
	return Blocks{slices.Clip(s.settled), slices.Clip(s.tail)}
}

func (s *Stream) render() {
	src := s.buf[s.cut:s.shown:s.shown] // goldmark appends a newline to the last line of code: not into buf
	doc := parseModel(src)
	first, cut := ast.Node(nil), len(src)
	if !s.final {
		first, cut = s.boundary(src, doc)
	}
	s.w.src, s.w.base = src, s.cut
	s.cites.rollback(s.mark)
	s.w.headings = s.headings
	n := doc.FirstChild()
	for ; n != nil && n != first; n = n.NextSibling() {
		s.settled = s.appendBlock(s.settled, n, len(s.settled), true)
	}
	s.mark, s.headings = s.cites.mark(), s.w.headings
	s.tail = nil
	for ; n != nil; n = n.NextSibling() {
		s.tail = s.appendBlock(s.tail, n, len(s.settled)+len(s.tail), false)
	}
	s.cut += cut
}

func (s *Stream) appendBlock(blocks []Block, n ast.Node, i int, settled bool) []Block {
	id := ""
	if s.o.BlockID != nil {
		id = s.o.BlockID(i)
	}
	s.w.closed = settled
	html := s.w.block(n, id)
	if html == "" {
		return blocks
	}
	return append(blocks, Block{HTML: html})
}

// Cited returns the keys of the sources cited in the text of the last Render,
// in order of first citation. Those that Options.Numbered does not hold have
// the running numbers that follow it, in this order.
func (s *Stream) Cited() []string { return slices.Clone(s.cites.cited) }

// Dropped returns how many numbers of the last Render named no source.
func (s *Stream) Dropped() int { return s.cites.dropped }

// Text returns the Markdown of the last Render as it may be stored: control
// characters, provider anchors, placeholder words and a list of sources at the
// end are removed. Markers keep the model's numbers. While the text grows, each
// result begins with the one before.
func (s *Stream) Text() string {
	keep := func(e edit) (string, bool) { return "", e.placeholder }
	if s.final {
		return strings.TrimRight(string(rewrite(s.buf, 0, s.cites.edits, keep)), "\n")
	}
	// What is settled was said before; copying it each time would cost as much as
	// the answer is long.
	settled := rewrite(s.buf[:s.cut], s.said.cut, s.cites.edits[s.said.edits:s.mark.edits], keep)
	tail := rewrite(s.buf[:s.shown], s.cut, s.cites.edits[s.mark.edits:], keep)
	s.said.grow(settled, bytes.TrimRight(tail, " ")) // a placeholder behind it would take it along
	s.said.cut, s.said.edits = s.cut, s.mark.edits
	return s.said.text.String()
}

// said is the text that Stream.Text returned last. Earlier results share its bytes.
type said struct {
	text    strings.Builder
	settled int // text[:settled] can never change
	cut     int // of the stream, where that ends
	edits   int // of the stream, that it holds
}

// grow makes the text behind text[:settled] that of settled and tail, of which the
// first is settled now.
func (t *said) grow(settled, tail []byte) {
	all := append(settled, tail...)
	text := t.text.String()
	if more, ok := bytes.CutPrefix(all, []byte(text[t.settled:])); ok {
		t.text.Write(more)
	} else {
		t.text = strings.Builder{}
		t.text.WriteString(text[:t.settled])
		t.text.Write(all)
	}
	t.settled += len(all) - len(tail)
}

// Render renders a whole text at once and returns its blocks and the keys of
// the sources it cites, as Stream.Cited does.
func Render(src string, o Options) (blocks []Block, cited []string) {
	s := finished(src, o)
	return s.settled, s.cites.cited
}

// Renumber returns the text with its markers rewritten to the canonical form
// and to the numbers of this turn: first citation order, ignoring
// Options.Numbered. Markers that name no source are removed; code is untouched.
func Renumber(src string, o Options) string {
	s := finished(src, o)
	numbers := map[string]int{}
	for i, key := range s.cites.cited {
		numbers[key] = i + 1
	}
	return string(rewrite(s.buf, 0, s.cites.edits, func(e edit) (string, bool) {
		var b strings.Builder
		for _, key := range e.keys {
			b.WriteString(Marker(numbers[key]))
		}
		return b.String(), true
	}))
}

// RenumberRunning is [Renumber] with the reader's running numbers, which go on from
// Options.Numbered.
func RenumberRunning(src string, o Options) string {
	s := finished(src, o)
	return string(rewrite(s.buf, 0, s.cites.edits, func(e edit) (string, bool) {
		var b strings.Builder
		for _, number := range e.shown {
			b.WriteString(Marker(number))
		}
		return b.String(), true
	}))
}

func finished(src string, o Options) *Stream {
	s := NewStream(o)
	s.Write(src)
	s.Render(true)
	s.buf = bytes.TrimRight(s.buf, "\n")
	return s
}
