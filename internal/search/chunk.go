package search

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Sizes of a passage in bytes of Markdown: what one aims at, what may not be
// passed, and from where on a heading starts a new one.
const (
	chunkSize    = 1200
	chunkMaximum = 1800
	chunkMinimum = 350
)

// headingID is an id that some writers put behind a heading: "{#prices}".
var headingID = regexp.MustCompile(`[ \t]*\{[#.][^}]*\}$`)

// A chunk is a passage of a body.
type chunk struct {
	Text       string   // Markdown; a part of a table begins with the table's header rows
	Start, End int      // where it lies in the body, as byte offsets
	Headings   []string // the headings above it, outermost first, in plain text
	Anchor     string   // id of the nearest heading on the page; "" before the first
}

// Heading is the nearest heading.
func (c chunk) Heading() string {
	if len(c.Headings) == 0 {
		return ""
	}
	return c.Headings[len(c.Headings)-1]
}

// split cuts a Markdown body into passages along its structure: a passage does
// not reach over a heading unless both sides are small, and lists, tables and
// code are kept whole where they fit.
func split(body string) []chunk {
	parts := blocks(body)
	s := splitter{body: body, anchors: anchors(body, parts), start: -1}
	for _, b := range parts {
		s.add(b)
	}
	s.flush()
	return s.out
}

type splitter struct {
	body    string
	anchors map[int]string // by offset of the heading
	out     []chunk

	path   []outlineEntry // headings above the place reached
	anchor string

	start, end int // of the open passage; start is -1 when there is none
	onlyHeads  bool
	at         chunk // headings and anchor of the open passage
}

type outlineEntry struct {
	level int
	text  string
}

func (s *splitter) add(b block) {
	if b.kind == headingBlock {
		if s.start >= 0 && !s.onlyHeads && (s.end-s.start >= chunkMinimum || b.level <= 2) {
			s.flush()
		}
		for len(s.path) > 0 && s.path[len(s.path)-1].level >= b.level {
			s.path = s.path[:len(s.path)-1]
		}
		s.path = append(s.path[:len(s.path):len(s.path)], outlineEntry{b.level, plain(headingID.ReplaceAllString(b.text, ""))})
		if a := s.anchors[b.start]; a != "" {
			s.anchor = a
		}
		fresh := s.start < 0 || s.onlyHeads
		s.extend(b.start, b.end)
		if fresh {
			s.onlyHeads = true
			s.at = s.here()
		}
		return
	}
	if b.end-b.start > chunkMaximum {
		if !s.onlyHeads {
			s.flush()
		}
		s.addLong(b)
		return
	}
	if s.start >= 0 && !s.onlyHeads && b.end-s.start > chunkSize {
		s.flush()
	}
	s.extend(b.start, b.end)
	s.onlyHeads = false
}

// here is where the place reached lies in the outline.
func (s *splitter) here() chunk {
	c := chunk{Anchor: s.anchor}
	for _, h := range s.path {
		c.Headings = append(c.Headings, h.text)
	}
	return c
}

func (s *splitter) extend(start, end int) {
	if s.start < 0 {
		s.start = start
		s.at = s.here()
	}
	s.end = end
}

// flush closes the open passage.
func (s *splitter) flush() {
	if s.start >= 0 {
		c := s.at
		c.Start, c.End = s.start, s.end
		c.Text = strings.TrimSpace(s.body[s.start:s.end])
		if c.Text != "" {
			s.out = append(s.out, c)
		}
	}
	s.start, s.onlyHeads = -1, false
}

// addLong cuts a block that is too long for one passage.
func (s *splitter) addLong(b block) {
	header, pos := "", b.start
	if b.kind == tableBlock {
		header = s.body[b.start:b.headerEnd]
		if len(header) > chunkSize/2 {
			header = ""
		}
	}
	for pos < b.end {
		end := b.end
		if end-pos > chunkSize {
			end = cut(s.body, pos, pos+chunkSize, b.kind)
		}
		s.extend(pos, end)
		s.onlyHeads = false
		s.flush()
		if header != "" && pos > b.start && len(s.out) > 0 {
			last := &s.out[len(s.out)-1]
			last.Text = header + last.Text
		}
		pos = end
	}
}

// cut is where to end a passage that starts at pos and should end before limit:
// behind a line in tables, lists and code, behind a sentence elsewhere, else
// behind a word, else between two characters.
func cut(body string, pos, limit int, kind blockKind) int {
	window := body[pos:limit]
	floor := len(window) / 3
	if i := strings.LastIndexByte(window, '\n'); i > floor {
		return pos + i + 1
	}
	if kind == paragraph || kind == listBlock {
		best := -1
		for _, stop := range []string{". ", "! ", "? ", ".) ", "。", "！", "？", "؟ ", "</p>", "</li>", "</tr>", "<br>"} {
			if i := strings.LastIndex(window, stop); i > floor && i+len(stop) > best {
				best = i + len(stop)
			}
		}
		if best > 0 {
			return pos + best
		}
	}
	if i := strings.LastIndexAny(window, " \t"); i > floor {
		return pos + i + 1
	}
	for limit > pos+1 && !utf8.RuneStart(body[limit]) {
		limit--
	}
	return limit
}
