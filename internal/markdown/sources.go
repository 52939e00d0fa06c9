package markdown

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// sourceTitles head the lists of sources that models add although they are
// told not to. The reader gets the real list; a model's own may be invented.
var sourceTitles = []string{
	"sources", "source", "sources used", "sources cited", "references", "reference", "citations", "works cited", "bibliography",
	"fuentes", "fuente", "referencias", "bibliografía",
	"quellen", "quelle", "quellenangaben", "quellenverzeichnis", "referenzen",
	"références", "sources utilisées", "bibliographie",
	"المصادر", "مصادر", "المراجع", "مراجع", "المصدر",
	"来源", "參考資料", "参考资料", "参考文献", "出典", "출처",
}

const maxTitle = 80 // bytes of a line that heads a list of sources

type listState int

const (
	noList listState = iota
	afterRule
	afterHead
	inList
)

// sourceList finds a list of sources at the end of the text: a title such as
// "Sources:" with nothing but list lines behind it, or bare definitions such
// as "[1]: address". It becomes the end only if no other text follows.
type sourceList struct {
	state listState
	start int
}

// line takes the complete line that starts at offset at of buf.
func (l *sourceList) line(buf []byte, at int, line []byte) {
	blank := len(bytes.TrimSpace(line)) == 0
	switch l.state {
	case afterRule:
		if blank {
			return
		}
		if isSourceTitle(line) {
			l.state = afterHead
			return
		}
	case afterHead, inList:
		if blank {
			return
		}
		if isListLine(line) {
			l.state = inList
			return
		}
	}
	l.state = noList
	if len(bytes.TrimLeft(buf[:at], " \t\n")) == 0 {
		return // a text that is nothing but a list is the answer
	}
	switch {
	case isSourceTitle(line):
		l.state, l.start = afterHead, at
	case isDefinition(line, false):
		l.state, l.start = inList, at
	case isRule(line):
		l.state, l.start = afterRule, at
	}
}

// end returns where the text ends if it is complete; at is its last line.
func (l *sourceList) end(buf []byte, at int) int {
	last := *l
	if at < len(buf) {
		last.line(buf, at, buf[at:])
	}
	if last.state == afterHead || last.state == inList {
		return last.start
	}
	return len(buf)
}

// held returns from where the text must wait until it is known whether it is
// such a list, -1 if nothing has to.
func (l *sourceList) held(buf []byte, at int) int {
	line := buf[at:]
	blank := len(bytes.TrimSpace(line)) == 0
	switch l.state {
	case afterRule:
		if blank || only(line, " #*_") || startsSourceTitle(line) {
			return l.start
		}
	case afterHead, inList:
		if blank || mayStartListLine(line) {
			return l.start
		}
	}
	if !blank && (startsSourceTitle(line) || isDefinition(line, true)) && len(bytes.TrimLeft(buf[:at], " \t\n")) > 0 {
		return at
	}
	return -1
}

// titleText returns a line without the marks of a heading or of bold text.
func titleText(line []byte) string {
	if len(line) > maxTitle || bytes.HasPrefix(line, []byte("    ")) {
		return ""
	}
	return strings.ToLower(string(bytes.TrimLeft(line, " #*_")))
}

const titleMarks = " #*_:："

func isSourceTitle(line []byte) bool {
	text := titleText(line)
	word := strings.TrimRight(text, titleMarks)
	decorated := strings.ContainsAny(text[len(word):], ":：*_") || bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("#"))
	if word == "" || !decorated {
		return false
	}
	for _, title := range sourceTitles {
		if word == title {
			return true
		}
	}
	return false
}

// startsSourceTitle reports whether an unfinished line can become such a title.
func startsSourceTitle(line []byte) bool {
	text := titleText(line)
	if text == "" {
		return false
	}
	for _, title := range sourceTitles {
		if strings.HasPrefix(title, text) {
			return true
		}
		if rest, ok := strings.CutPrefix(text, title); ok && strings.Trim(rest, titleMarks) == "" {
			return true
		}
	}
	return false
}

// isDefinition recognises "[1]:" and "[^1]:"; with prefix also a start of them.
func isDefinition(line []byte, prefix bool) bool {
	rest := line
	for _, step := range []string{"[", "^", "0123456789", "]", ":"} {
		if len(rest) == 0 {
			return prefix
		}
		n := len(rest) - len(bytes.TrimLeft(rest, step))
		if n == 0 && step != "^" || n > maxDigits {
			return false
		}
		rest = rest[n:]
	}
	return !prefix || len(rest) == 0 || len(rest) < maxHeldLine
}

func isRule(line []byte) bool {
	s := string(bytes.TrimSpace(line))
	return len(s) >= 3 && len(s) <= flickerLine && strings.Trim(s, s[:1]) == "" && strings.Contains("-*_", s[:1])
}

// isListLine reports whether a line can belong to a list of sources.
func isListLine(line []byte) bool {
	rest := bytes.TrimLeft(line, " \t")
	if len(line)-len(rest) >= 2 {
		return true
	}
	if _, n := scanMarker(rest); n > 0 || isDefinition(rest, false) {
		return true
	}
	for _, start := range []string{"- ", "* ", "+ ", "• ", "http://", "https://", "<http", "www."} {
		if bytes.HasPrefix(rest, []byte(start)) {
			return true
		}
	}
	if rest[0] == '[' {
		return bytes.Contains(rest, []byte("]("))
	}
	digits := bytes.TrimLeft(rest, "0123456789")
	return len(digits) < len(rest) && len(digits) > 0 && (digits[0] == '.' || digits[0] == ')')
}

// mayStartListLine reports whether an unfinished line can become such a line.
func mayStartListLine(line []byte) bool {
	r, _ := utf8.DecodeRune(bytes.TrimLeft(line, " \t"))
	return strings.ContainsRune("-*+•[【［<hw0123456789", r) || bytes.HasPrefix(line, []byte("  ")) || line[0] == '\t'
}
