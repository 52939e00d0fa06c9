package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The citation grammar. It is one machine over runes, used by the inline parser
// and by the hold-back of unfinished markers, so the two cannot disagree:
//
//	marker  = "[" list "]" | "[[" list "]]" | "【" list "】" | "[^" number "]"
//	list    = [ "source" ] item { sep item } [ "†" anything ]
//	item    = number [ dash number ]
//	link    = marker "(" destination [ title ] ")"      the model's URL is discarded
//	blank   = "[" word [ ":" anything ] "]"              a placeholder, removed

const (
	maxDigits      = 6    // longest number; also keeps sums far from overflow
	maxRange       = 100  // most numbers one range stands for
	maxPlaceholder = 80   // runes of a placeholder, and of what follows a dagger
	maxParens      = 32   // depth of parentheses in a link destination
	maxDestination = 1024 // length of a link destination
)

// placeholders are the words models write in brackets where a number belongs.
var placeholders = []string{
	"source", "sources", "citation", "citation needed", "cite", "ref", "reference", "references",
	"fuente", "fuentes", "cita requerida", "quelle", "quellen", "zitat",
	"المصدر", "مصدر", "المصادر", "来源", "來源", "出典", "출처",
}

// span is a closed range of numbers as the model wrote it.
type span struct{ from, to int }

type verdict int

const (
	pending  verdict = iota // could still become a marker
	accepted                // a marker that ends with the rune just fed
	complete                // a marker that ended before the rune just fed
	rejected                // not a marker
)

type markerState int

const (
	atOpen markerState = iota
	atItem
	inNumber
	afterNumber
	afterDash
	afterDagger
	inWord
	afterWord
	atSecondClose
	afterClose
	atDestination
	inDestination
	inAngle
	afterDestination
	inTitle
	afterTitle
)

// markerScan is the machine. The zero value is ready for the opening bracket.
type markerScan struct {
	state       markerState
	family      rune // '[' or '【'
	nested      bool // opened by two brackets
	caret       bool
	placeholder bool
	ranged      bool // the number being read ends a range
	value       int
	digits      int
	runes       int // counted where a bound applies
	depth       int // parentheses inside the destination
	quote       rune
	word        []rune
	spans       []span
}

// linkStarted reports whether the marker itself is whole and only the link
// destination behind it is still open.
func (m *markerScan) linkStarted() bool { return m.state >= atDestination }

// whole reports whether the text fed so far is a marker if nothing follows.
func (m *markerScan) whole() bool { return m.state >= afterClose }

// cutOff reports whether the text fed so far is the start of a marker with a
// number, and no more than that.
func (m *markerScan) cutOff() bool {
	return !m.whole() && (m.state == inNumber || len(m.spans) > 0)
}

func (m *markerScan) feed(r rune) verdict {
	switch m.state {
	case atOpen:
		if r != '[' && r != '［' && r != '【' {
			return rejected
		}
		m.family = r
		if r == '［' {
			m.family = '['
		}
		return m.to(atItem)
	case atItem:
		switch {
		case r == '[' && m.family == '[' && !m.nested && !m.caret && len(m.spans) == 0:
			m.nested = true
			return pending
		case r == '^' && !m.caret && len(m.spans) == 0:
			m.caret = true
			return pending
		case r == ' ' && m.runes < 2:
			m.runes++
			return pending
		case len(m.spans) == 0 && !m.caret && unicode.IsLetter(r):
			m.word = append(m.word[:0], unicode.ToLower(r))
			m.runes = 1
			return m.to(inWord)
		}
		return m.number(r)
	case afterDash:
		if r == ' ' && m.runes < 2 {
			m.runes++
			return pending
		}
		return m.number(r)
	case inNumber:
		if d, ok := digit(r); ok {
			m.value = m.value*10 + d
			if m.digits++; m.digits > maxDigits {
				return rejected
			}
			return pending
		}
		if m.ranged {
			last := &m.spans[len(m.spans)-1]
			if last.to = m.value; last.to < last.from {
				return rejected
			}
		} else {
			m.spans = append(m.spans, span{m.value, m.value})
		}
		m.state = afterNumber
		return m.feed(r)
	case afterNumber:
		switch {
		case r == ' ':
			return pending
		case strings.ContainsRune(",;、，；", r):
			m.ranged, m.runes = false, 0
			return m.to(atItem)
		case strings.ContainsRune("-–—‑", r) && !m.ranged:
			m.ranged, m.runes = true, 0
			return m.to(afterDash)
		case r == '†' || r == ':' && m.family == '【':
			m.runes = 0
			return m.to(afterDagger)
		}
		return m.close(r)
	case afterDagger:
		if m.closes(r) {
			return m.close(r)
		}
		if m.runes++; m.runes > maxPlaceholder || r == '\n' || r == '[' || r == '【' {
			return rejected
		}
		return pending
	case inWord, afterWord:
		return m.placeholderRune(r)
	case atSecondClose:
		if !m.closes(r) {
			return rejected
		}
		return m.to(afterClose)
	}
	return m.linkRune(r)
}

func (m *markerScan) to(s markerState) verdict {
	m.state = s
	return pending
}

func (m *markerScan) number(r rune) verdict {
	d, ok := digit(r)
	if !ok {
		return rejected
	}
	m.value, m.digits = d, 1
	return m.to(inNumber)
}

func (m *markerScan) closes(r rune) bool {
	if m.family == '【' {
		return r == '】'
	}
	return r == ']' || r == '］'
}

func (m *markerScan) close(r rune) verdict {
	if !m.closes(r) {
		return rejected
	}
	if m.nested {
		return m.to(atSecondClose)
	}
	return m.to(afterClose)
}

// placeholderRune reads "[source]", "[Source: page 2]" and, because a number
// follows the word, "[Source 3]".
func (m *markerScan) placeholderRune(r rune) verdict {
	if m.runes++; m.runes > maxPlaceholder {
		return rejected
	}
	if m.closes(r) {
		if m.state == inWord && !isPlaceholder(string(m.word)) {
			return rejected
		}
		m.placeholder = true
		return m.close(r)
	}
	if strings.ContainsRune("\n[]`<>【】", r) {
		return rejected
	}
	if m.state == afterWord {
		return pending
	}
	if r == ':' || r == '：' {
		if !isPlaceholder(string(m.word)) {
			return rejected
		}
		return m.to(afterWord)
	}
	if _, ok := digit(r); ok && strings.TrimSuffix(strings.TrimSpace(string(m.word)), "s") == "source" {
		m.runes = 0
		return m.number(r)
	}
	m.word = append(m.word, unicode.ToLower(r))
	if !startsPlaceholder(string(m.word)) {
		return rejected
	}
	return pending
}

// linkRune reads the link destination that may stand behind a marker. For a
// placeholder it means an ordinary link, whose text the bracket is.
func (m *markerScan) linkRune(r rune) verdict {
	if m.state != afterClose {
		if m.runes++; m.runes > maxDestination || r == '\n' {
			return complete
		}
	}
	switch m.state {
	case afterClose:
		if r != '(' {
			return complete
		}
		if m.placeholder {
			return rejected
		}
		m.runes = 0
		return m.to(atDestination)
	case atDestination:
		if r == ' ' {
			return pending
		}
		if r == '<' {
			return m.to(inAngle)
		}
		m.state = inDestination
		return m.linkRune(r)
	case inDestination:
		switch r {
		case '(':
			if m.depth++; m.depth > maxParens {
				return complete
			}
		case ')':
			if m.depth == 0 {
				return accepted
			}
			m.depth--
		case ' ':
			return m.to(afterDestination)
		}
		return pending
	case inAngle:
		if r == '>' {
			return m.to(afterDestination)
		}
		return pending
	case afterDestination, afterTitle:
		switch {
		case r == ' ':
			return pending
		case r == ')':
			return accepted
		case m.state == afterDestination && (r == '"' || r == '\''):
			m.quote = r
			return m.to(inTitle)
		}
		return complete
	case inTitle:
		if r == m.quote {
			return m.to(afterTitle)
		}
		return pending
	}
	return rejected
}

// scanMarker recognises a marker at the start of text, which ends where the
// line does, and returns the machine and the marker's length; 0 if there is none.
func scanMarker(text []byte) (m markerScan, n int) {
	whole := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		v := m.feed(r)
		switch v {
		case accepted:
			return m, i + size
		case complete:
			return m, whole
		case rejected:
			return m, 0
		}
		i += size
		if m.state == afterClose {
			whole = i
		}
	}
	return m, whole
}

// digit returns the value of an ASCII, Arabic-Indic, Persian or full-width digit.
func digit(r rune) (int, bool) {
	for _, zero := range [...]rune{'0', '٠', '۰', '０'} {
		if r >= zero && r <= zero+9 {
			return int(r - zero), true
		}
	}
	return 0, false
}

func isPlaceholder(word string) bool {
	word = strings.TrimSpace(word)
	for _, p := range placeholders {
		if word == p {
			return true
		}
	}
	return false
}

func startsPlaceholder(prefix string) bool {
	trimmed := strings.TrimRight(prefix, " ")
	for _, p := range placeholders {
		if strings.HasPrefix(p, prefix) || p == trimmed {
			return true
		}
	}
	return false
}
