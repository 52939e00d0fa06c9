package markdown

import (
	"bytes"
	"unicode/utf8"
)

// cleaner turns raw model bytes into text that is safe to store and to send:
// valid UTF-8 whose only control characters are newline and tab, without the
// private-use anchors some providers leave in their text. It keeps what a
// delta may have cut in two, so its output does not depend on the split.
type cleaner struct {
	partial []byte // the first bytes of a rune whose rest has not arrived
	cr      bool   // a carriage return was written as a newline; a newline after it is its second half
	held    []byte // text that may still turn out to be an anchor
	anchor  bool   // the text before held was an anchor that was removed
}

// maxAnchor bounds, in bytes, how long a possible anchor is held back.
const maxAnchor = 64

// write appends the cleaned form of delta to dst.
func (c *cleaner) write(dst []byte, delta string) []byte {
	for len(c.partial) > 0 && delta != "" {
		c.partial = append(c.partial, delta[0])
		delta = delta[1:]
		if utf8.FullRune(c.partial) {
			whole := c.partial
			c.partial = nil
			for len(whole) > 0 {
				r, n := utf8.DecodeRune(whole)
				if r == utf8.RuneError && !utf8.FullRune(whole) {
					c.partial = append(c.partial, whole...)
					break
				}
				dst = c.rune(dst, r)
				whole = whole[n:]
			}
		}
	}
	for i := 0; i < len(delta); {
		if b := delta[i]; b >= ' ' && b < 0x7f && b != '\\' && len(c.held) == 0 {
			c.cr, c.anchor = false, false
			dst = append(dst, b)
			i++
			continue
		}
		if !utf8.FullRuneInString(delta[i:]) {
			c.partial = append(c.partial, delta[i:]...)
			break
		}
		r, n := utf8.DecodeRuneInString(delta[i:])
		dst = c.rune(dst, r)
		i += n
	}
	return dst
}

// flush appends what is still held; the text has ended.
func (c *cleaner) flush(dst []byte) []byte {
	if len(c.partial) > 0 {
		c.partial = nil
		dst = c.rune(dst, utf8.RuneError)
	}
	return c.release(dst, true)
}

func (c *cleaner) rune(dst []byte, r rune) []byte {
	second := c.cr && r == '\n'
	c.cr = r == '\r'
	if second {
		return dst
	}
	switch r {
	case '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		r = '\n'
	}
	if isControl(r) {
		return dst
	}
	c.held = utf8.AppendRune(c.held, r)
	return c.release(dst, false)
}

// release moves from held to dst whatever can no longer be part of an anchor.
func (c *cleaner) release(dst []byte, final bool) []byte {
	for len(c.held) > 0 {
		n, more := matchAnchor(c.held, c.anchor)
		switch {
		case more && !final && len(c.held) < maxAnchor:
			return dst
		case n > 0:
			c.anchor = true
		default:
			_, n = utf8.DecodeRune(c.held)
			dst = append(dst, c.held[:n]...)
			c.anchor = false
		}
		c.held = append(c.held[:0], c.held[n:]...)
	}
	return dst
}

// isControl reports whether r is a control character other than newline and tab.
func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
}

// matchAnchor returns how many bytes at the start of b are a provider's anchor,
// such as U+E202 "turn1search4" or the same with the escape spelled out, and
// whether more text could change the answer. A marker spelled out counts only
// with its reference, or directly after another anchor: text about icon fonts
// has such escapes too.
func matchAnchor(b []byte, after bool) (n int, more bool) {
	code, n, more := anchorMarker(b)
	if n == 0 {
		return 0, more
	}
	rest := b[n:]
	word := 0
	for word < len(rest) && (rest[word] >= 'a' && rest[word] <= 'z' || rest[word] == '_') {
		word++
	}
	switch {
	case code == '0': // opens a group: a word such as "cite", then the next marker
		if word > 16 {
			break
		}
		_, next, pending := anchorMarker(rest[word:])
		if next > 0 {
			return n + word, false
		}
		if pending || word == len(rest) {
			more = true
		}
	case code == '2':
		ref, pending := turnReference(rest)
		if ref > 0 {
			return n + ref, pending
		}
		more = pending
	}
	if b[0] == '\\' && !after {
		return 0, more
	}
	return n, more
}

// anchorMarker recognises one marker, U+E200 to U+E20F, as a character or
// spelled out, and returns the last digit of its code.
func anchorMarker(b []byte) (code byte, n int, more bool) {
	if len(b) == 0 {
		return 0, 0, true
	}
	const hex = "0123456789abcdef"
	if r, size := utf8.DecodeRune(b); r >= 0xe200 && r <= 0xe20f {
		return hex[r&0xf], size, false
	}
	const spelled = `\ue20`
	if len(b) <= len(spelled) {
		return 0, 0, bytes.HasPrefix([]byte(spelled), bytes.ToLower(b))
	}
	if !bytes.EqualFold(b[:len(spelled)], []byte(spelled)) {
		return 0, 0, false
	}
	last := b[len(spelled)] | 0x20
	if last >= '0' && last <= '9' || last >= 'a' && last <= 'f' {
		return last, len(spelled) + 1, false
	}
	return 0, 0, false
}

// turnReference recognises "turn", digits, letters, digits.
func turnReference(b []byte) (n int, more bool) {
	const turn = "turn"
	if len(b) < len(turn) {
		return 0, string(b) == turn[:len(b)]
	}
	if string(b[:len(turn)]) != turn {
		return 0, false
	}
	n = len(turn)
	for _, part := range []func(byte) bool{isDigit, isLower} {
		from := n
		for n < len(b) && part(b[n]) {
			n++
		}
		if n == len(b) || n == from {
			return 0, n == len(b)
		}
	}
	from := n
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	if n == from {
		return 0, false
	}
	return n, n == len(b)
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
func isLower(b byte) bool { return b >= 'a' && b <= 'z' }
