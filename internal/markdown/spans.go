package markdown

import "bytes"

const (
	maxHeldSpan = 80  // bytes of emphasis, code or a link's text that wait for their end
	maxHeldLink = 512 // bytes of a link with its address
)

// spanState follows the code and the emphasis that are open on the unfinished
// line, so that their marks do not flash. It only guesses: what is shown too
// early or too late is put right by the next bytes.
type spanState struct {
	code, emphasis spanMark
	run            int // length of the run of one mark at the end
	char           byte
}

// spanMark is an opening mark.
type spanMark struct{ at, length int }

// feed takes the byte at offset at, which no marker of a citation holds.
func (s *spanState) feed(c byte, at int) {
	if s.run > 0 && c == s.char {
		s.run++
		return
	}
	if s.run > 0 {
		open := s.open()
		switch {
		case open.length == s.run:
			*open = spanMark{}
		case open.length == 0 && c != ' ':
			*open = spanMark{at - s.run, s.run}
		}
	}
	s.run, s.char = 0, c
	if c == '`' || c == '*' && s.code.length == 0 {
		s.run = 1
	}
}

// open is the open mark that the run at the end belongs to.
func (s *spanState) open() *spanMark {
	if s.char == '`' {
		return &s.code
	}
	return &s.emphasis
}

// visible returns where the span or the mark at the end of buf starts,
// len(buf) if there is none.
func (s *spanState) visible(buf []byte) int {
	code, emphasis := s.code, s.emphasis
	v := len(buf)
	if s.run > 0 {
		switch open := s.open(); {
		case open.length != s.run:
			if s.run <= maxHeldRun {
				v -= s.run
			}
		case s.char == '`':
			code = spanMark{}
		default:
			emphasis = spanMark{}
		}
	}
	for _, m := range []spanMark{code, emphasis} {
		if m.length > 0 && len(buf)-m.at <= maxHeldSpan {
			v = min(v, m.at)
		}
	}
	return v
}

// openLink returns where the link that buf ends in starts, len(buf) if it ends
// in none; line is the start of its last line.
func openLink(buf []byte, line int) int {
	from := max(line, len(buf)-maxHeldLink)
	last := from + bytes.LastIndexByte(buf[from:], '[')
	if last < from || !isOpenLink(buf[last:]) || escaped(buf, last) {
		return len(buf)
	}
	if last > line && buf[last-1] == '!' {
		last--
	}
	return last
}

// isOpenLink reports whether text, which starts with a bracket, can become a
// link. A marker of a citation is shown at once.
func isOpenLink(text []byte) bool {
	end := bytes.IndexByte(text, ']')
	switch {
	case end < 0:
		return len(text) <= maxHeldSpan
	case end > maxHeldSpan:
		return false
	case end == len(text)-1:
		_, n := scanMarker(text)
		return n == 0
	}
	return text[end+1] == '(' && len(text) <= maxHeldLink && bytes.IndexByte(text, ')') < 0
}
