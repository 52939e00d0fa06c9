package markdown

import (
	"bytes"
	"unicode/utf8"
)

const (
	maxHeldLine = 4096 // bytes of a table row that is held back
	maxHeldRun  = 64   // bytes of a run of one character that may be markup
	flickerLine = 8    // bytes of a line that may still become anything
)

// tracker follows the text line by line and knows how much of it may be shown
// before more arrives. It looks at every byte once, however it is split.
type tracker struct {
	pos    int // scanned up to here
	line   int // start of the unfinished line
	fence  byte
	length int  // of the open fence
	indent int  // of the line that opened it
	row    bool // the line before looks like a table row
	header int  // start of the line before if it may be a table's header, else -1
	cells  bool // the line before has a pipe
	table  bool // the unfinished line may be a table's row, pipe or not

	marker markerScan
	at     int // start of the open marker, -1 if none
	link   int // end of the open marker if it is whole and a link may follow

	spans spanState

	sources sourceList
}

func newTracker() tracker { return tracker{header: -1, at: -1} }

// advance scans what was added to buf.
func (t *tracker) advance(buf []byte) {
	for t.pos < len(buf) {
		if t.fence != 0 {
			i := bytes.IndexByte(buf[t.pos:], '\n')
			if i < 0 {
				t.pos = len(buf)
				return
			}
			t.pos += i + 1
			t.endLine(buf)
			continue
		}
		if t.at >= 0 {
			t.feed(buf)
			continue
		}
		switch c := buf[t.pos]; {
		case c == '\n':
			t.pos++
			t.endLine(buf)
		case (c == '[' || c == "【"[0] || c == "［"[0]) && !escaped(buf, t.pos):
			t.at, t.marker = t.pos, markerScan{}
		default:
			t.spans.feed(c, t.pos)
			t.pos++
		}
	}
}

func (t *tracker) feed(buf []byte) {
	r, size := utf8.DecodeRune(buf[t.pos:])
	switch t.marker.feed(r) {
	case pending:
		t.pos += size
		if t.marker.state == afterClose {
			t.link = t.pos
		}
	case accepted:
		t.pos += size
		t.at = -1
	case complete:
		t.pos = t.link
		t.at = -1
	case rejected:
		t.pos = t.at + 1
		t.at = -1
	}
}

// escaped reports whether an odd number of backslashes stands before p.
func escaped(buf []byte, p int) bool {
	n := 0
	for n < maxHeldRun && p-n > 0 && buf[p-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

func (t *tracker) endLine(buf []byte) {
	line := buf[t.line : t.pos-1]
	char, n, indent, info := fenceRun(line)
	row, cells, table := false, false, false
	switch {
	case t.fence != 0:
		if char == t.fence && n >= t.length && indent <= t.indent+3 && len(info) == 0 {
			t.fence = 0
		}
	case n >= 3 && indent <= 3 && (char == '~' || bytes.IndexByte(info, '`') < 0):
		t.fence, t.length, t.indent = char, n, indent
		t.sources = sourceList{}
	default:
		t.sources.line(buf, t.line, line)
		row = isRow(line)
		cells = bytes.IndexByte(line, '|') >= 0
		delimiter := t.cells && cells && only(line, delimiterRow) && bytes.IndexByte(line, '-') >= 0
		table = delimiter || t.table && len(bytes.TrimLeft(line, margin)) > 0
	}
	t.header = -1
	if row && !t.row {
		t.header = t.line
	}
	t.row, t.cells, t.table = row, cells, table
	t.line = t.pos
	t.spans = spanState{}
}

// fenceRun returns the run of fence characters a line starts with, its
// indentation and what follows it. A fence inside a list item counts as well:
// its content cannot be less indented.
func fenceRun(line []byte) (char byte, n, indent int, info []byte) {
	rest := bytes.TrimLeft(line, " ")
	if len(rest) == 0 || rest[0] != '`' && rest[0] != '~' {
		return 0, 0, 0, nil
	}
	for n < len(rest) && rest[n] == rest[0] {
		n++
	}
	return rest[0], n, len(line) - len(rest), bytes.TrimSpace(rest[n:])
}

const (
	margin       = " \t>" // what stands before a line in quotes and lists
	delimiterRow = margin + "|:-"
)

func isRow(line []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(line, margin), []byte("|")) }

// end returns where the text ends if nothing follows: before the model's own
// list of sources, and before a marker that was cut off by a stop.
func (t *tracker) end(buf []byte) int {
	if t.fence != 0 {
		return len(buf)
	}
	end := t.sources.end(buf, t.line)
	if t.at >= 0 && t.marker.cutOff() {
		end = min(end, t.at)
	}
	return end
}

// visible returns how much of buf can be shown without taking it back later.
func (t *tracker) visible(buf []byte) int {
	v := len(buf)
	line := buf[t.line:]
	if t.fence != 0 {
		return v - fenceTail(line, t.fence)
	}
	if t.at >= 0 {
		switch {
		case t.marker.placeholder || !t.marker.whole():
			v = t.at
		case t.marker.linkStarted():
			v = t.link
		}
	}
	switch {
	case t.header >= 0 && len(line) < maxHeldLine && only(line, delimiterRow):
		v = min(v, t.header)
	case t.table && len(line) < maxHeldLine, holdsLine(line):
		v = min(v, t.line)
	default:
		v = min(v, t.spans.visible(buf), len(buf)-heldTail(line), openLink(buf, t.line))
		if v > t.line && holdsLine(buf[t.line:v]) { // what is left of the line is no text yet
			v = t.line
		}
	}
	if at := t.sources.held(buf, t.line); at >= 0 {
		v = min(v, at)
	}
	return v
}

// fenceTail returns how much of an open fence's last line may be its closing line.
func fenceTail(line []byte, char byte) int {
	if rest := bytes.TrimLeft(line, " "); len(rest) > 0 && len(rest) <= maxHeldRun && only(rest, string(char)+" ") {
		return len(line)
	}
	return run(line, char)
}

// run returns the length of the run of char at the end of line, 0 if it is too
// long to be markup.
func run(line []byte, char byte) int {
	n := 0
	for n < len(line) && line[len(line)-1-n] == char {
		if n++; n > maxHeldRun {
			return 0
		}
	}
	return n
}

func only(line []byte, chars string) bool {
	for _, c := range line {
		if bytes.IndexByte([]byte(chars), c) < 0 {
			return false
		}
	}
	return true
}

// holdsLine reports whether an unfinished line can still become another kind of block.
func holdsLine(line []byte) bool {
	if content := bytes.TrimSpace(line); len(content) > 0 && len(content) <= flickerLine && only(content, "-=*+#`~|:>_ 0123456789.)") {
		return true
	}
	if isRow(line) && len(line) < maxHeldLine {
		return true
	}
	content := bytes.TrimLeft(line, " \t>-*+0123456789.)")
	return len(content) < maxHeldLine &&
		(bytes.HasPrefix(content, []byte("```")) && bytes.IndexByte(bytes.TrimLeft(content, "`"), '`') < 0 ||
			bytes.HasPrefix(content, []byte("~~~")))
}

// heldTail returns how many bytes at the end of a line are probably the start
// of something: a delimiter, an escape, a character reference, a <br>, an
// emoji that the next characters may join.
func heldTail(line []byte) int {
	if len(line) == 0 {
		return 0
	}
	switch last := line[len(line)-1]; last {
	case '_', '~':
		if n := run(line, last); n <= 3 {
			return n
		}
		return 0
	case '\\':
		return run(line, last) % 2
	}
	if i := bytes.LastIndexByte(line[max(0, len(line)-maxEntity):], '&'); i >= 0 {
		from := max(0, len(line)-maxEntity) + i
		if bytes.IndexFunc(line[from+1:], func(r rune) bool { return !isReferenceRune(r) }) < 0 {
			return len(line) - from
		}
	}
	if i := bytes.LastIndexByte(line[max(0, len(line)-5):], '<'); i >= 0 {
		tag := bytes.ToLower(line[max(0, len(line)-5)+i:])
		if bytes.HasPrefix([]byte("<br />"), tag) || bytes.HasPrefix([]byte("<br/>"), tag) {
			return len(tag)
		}
	}
	return emojiTail(line)
}

func isReferenceRune(r rune) bool {
	return r == '#' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// emojiTail returns the length of an emoji sequence at the end of line.
func emojiTail(line []byte) int {
	const joiner, variation = '\u200d', '\ufe0f'
	n := 0
	for count := 0; n < len(line) && count < 12; count++ {
		r, size := utf8.DecodeLastRune(line[:len(line)-n])
		if r != joiner && r != variation && (r < 0x1f000 || r > 0x1ffff) {
			break
		}
		n += size
	}
	return n
}
