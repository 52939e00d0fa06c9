package markdown

import (
	"bytes"
	"html"
	"strings"
)

// maxEntity is the length in bytes of the longest character reference looked at.
const maxEntity = 34

// appendText appends Markdown text to dst as HTML: backslash escapes and
// character references resolved, then escaped.
func appendText(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			if i+1 < len(text) && isASCIIPunct(text[i+1]) {
				i++
			}
			dst = appendEscapedByte(dst, text[i])
		case '&':
			s, n := entity(text[i:])
			if n == 0 {
				dst = append(dst, "&amp;"...)
				break
			}
			dst = appendEscaped(dst, s)
			i += n - 1
		default:
			dst = appendEscapedByte(dst, c)
		}
	}
	return dst
}

// resolve returns Markdown text as plain text.
func resolve(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 && bytes.IndexByte(text, '&') < 0 {
		return string(text)
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && isASCIIPunct(text[i+1]):
			i++
		case text[i] == '&':
			if s, n := entity(text[i:]); n > 0 {
				b.WriteString(s)
				i += n - 1
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// entity decodes the character reference at the start of text and returns its
// length, 0 if there is none. A reference can name any character, so what the
// cleaner removes from the text is removed here too.
func entity(text []byte) (string, int) {
	end := bytes.IndexByte(text[:min(len(text), maxEntity)], ';')
	if end < 2 {
		return "", 0
	}
	ref := string(text[:end+1])
	s := html.UnescapeString(ref)
	if s == ref || strings.HasSuffix(s, ";") && s != ";" {
		return "", 0
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case isControl(r) || r >= 0xe200 && r <= 0xe20f:
			return -1
		}
		return r
	}, s)
	return s, end + 1
}

func appendEscaped(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = appendEscapedByte(dst, s[i])
	}
	return dst
}

func appendEscapedByte(dst []byte, c byte) []byte {
	switch c {
	case '<':
		return append(dst, "&lt;"...)
	case '>':
		return append(dst, "&gt;"...)
	case '&':
		return append(dst, "&amp;"...)
	case '"':
		return append(dst, "&#34;"...)
	case '\'':
		return append(dst, "&#39;"...)
	}
	return append(dst, c)
}

func isASCIIPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}
