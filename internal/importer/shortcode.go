package importer

import (
	"bytes"
	"strings"
	"unicode"
)

// nowhere is the destination of links that lead to nothing: their text is kept.
const nowhere = "docent-nowhere:"

// A shortcode is one tag of Hugo's: its parameters by name or "0", "1", …
type shortcode struct {
	name    string
	closing bool
	params  map[string]string
}

// first returns the first of some parameters that says something.
func (sc shortcode) first(names ...string) string {
	for _, n := range names {
		if v := strings.TrimSpace(sc.params[n]); v != "" {
			return v
		}
	}
	return ""
}

// An expander replaces the tags of one text.
type expander struct {
	s       string
	out     bytes.Buffer
	links   pageLinks
	liquid  bool
	report  func(offset int, text string)
	missing map[string]bool // closers that do not come again, so that each is sought once
}

// expandShortcodes replaces Hugo's shortcodes and, for Jekyll, Liquid's tags by
// Markdown that says the same, or by their inner text. Code is left as it is.
func expandShortcodes(s string, l pageLinks, liquid bool, report func(offset int, text string)) string {
	if !strings.Contains(s, "{{") && !(liquid && strings.Contains(s, "{%")) {
		return s
	}
	x := &expander{s: s, links: l, liquid: liquid, report: report, missing: map[string]bool{}}
	x.out.Grow(len(s))
	for i := 0; i < len(s); {
		n := strings.IndexAny(s[i:], "`~\\<{")
		if n < 0 {
			x.out.WriteString(s[i:])
			break
		}
		x.out.WriteString(s[i : i+n])
		i += n
		text, end := x.step(i)
		x.out.WriteString(text)
		i = end
	}
	return x.out.String()
}

// step returns what the construct at i becomes and where it ends.
func (x *expander) step(i int) (text string, end int) {
	s, rest := x.s, x.s[i:]
	switch {
	case s[i] == '`' || s[i] == '~':
		end = max(codeEnd(s, i), i+1)
		return s[i:end], end
	case s[i] == '\\' && i+1 < len(s):
		return s[i : i+2], i + 2
	case strings.HasPrefix(rest, "<!--"):
		if end := x.find(i, "-->"); end > 0 {
			return s[i:end], end
		}
	case strings.HasPrefix(rest, "{{<"), strings.HasPrefix(rest, "{{%"), strings.HasPrefix(rest, "{{/*"):
		return x.hugo(i)
	case x.liquid && (strings.HasPrefix(rest, "{%") || strings.HasPrefix(rest, "{{")):
		return x.liquidTag(i)
	}
	return s[i : i+1], i + 1
}

// find returns the offset behind the next closer after i, 0 when there is none.
func (x *expander) find(i int, closer string) int {
	if x.missing[closer] {
		return 0
	}
	n := strings.Index(x.s[i:], closer)
	if n < 0 {
		x.missing[closer] = true
		return 0
	}
	return i + n + len(closer)
}

// hugo reads Hugo's tag at i.
func (x *expander) hugo(i int) (text string, end int) {
	s := x.s
	if strings.HasPrefix(s[i:], "{{/*") {
		if end := x.find(i, "*/}}"); end > 0 {
			return "", end
		}
		return s[i : i+4], i + 4
	}
	closer := ">}}"
	if s[i+2] == '%' {
		closer = "%}}"
	}
	if strings.HasPrefix(s[i+3:], "/*") { // a tag shown, not used
		if end := x.find(i, "*/"+closer); end > 0 {
			return s[i:i+3] + s[i+5:end-len(closer)-2] + closer, end
		}
	}
	sc, end, ok := parseShortcode(s, i+3, closer)
	if !ok {
		return s[i : i+3], i + 3
	}
	if !sc.closing && (sc.name == "comment" || sc.name == "highlight" && sc.first("0") != "") {
		if inner, after, ok := x.untilClosing(end, sc.name); ok {
			if sc.name == "comment" {
				return "", after
			}
			return "\n\n" + fenced(sc.first("0"), inner) + "\n\n", after // Hugo's own: a listing
		}
	}
	text, item := render(sc, x.links, func(text string) { x.report(i, text) })
	if item {
		x.trimIndent()
		for end < len(s) && (s[end] == ' ' || s[end] == '\t') {
			end++
		}
	}
	return text, end
}

// trimIndent takes back white space at the start of the line being written, so
// that a list item is not taken for code.
func (x *expander) trimIndent() {
	b := x.out.Bytes()
	n := len(b)
	for n > 0 && (b[n-1] == ' ' || b[n-1] == '\t') {
		n--
	}
	if n == 0 || b[n-1] == '\n' {
		x.out.Truncate(n)
	}
}

// untilClosing returns what stands between from and a shortcode's closing tag.
func (x *expander) untilClosing(from int, name string) (inner string, after int, ok bool) {
	if x.missing["/"+name] {
		return "", 0, false
	}
	for at := from; ; {
		n := strings.Index(x.s[at:], "{{")
		if n < 0 {
			x.missing["/"+name] = true
			return "", 0, false
		}
		at += n + 2
		if at >= len(x.s) || x.s[at] != '<' && x.s[at] != '%' {
			continue
		}
		closer := ">}}"
		if x.s[at] == '%' {
			closer = "%}}"
		}
		if sc, end, ok := parseShortcode(x.s, at+1, closer); ok && sc.closing && sc.name == name {
			return x.s[from : at-2], end, true
		}
	}
}

// parseShortcode reads a tag's name and parameters up to its closer.
func parseShortcode(s string, i int, closer string) (sc shortcode, end int, ok bool) {
	const longest = 1 << 12
	limit := min(len(s), i+longest)
	space := func() {
		for i < limit && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n') {
			i++
		}
	}
	space()
	if i < limit && s[i] == '/' {
		sc.closing = true
		i++
		space()
	}
	start := i
	for i < min(limit, start+64) && (isLetter(s[i]) || s[i] >= '0' && s[i] <= '9' || strings.IndexByte("-_./", s[i]) >= 0) {
		if strings.HasPrefix(s[i:], "/"+closer) {
			break
		}
		i++
	}
	if sc.name = strings.ToLower(s[start:i]); sc.name == "" {
		return sc, 0, false
	}
	sc.params = map[string]string{}
	for position := 0; ; {
		space()
		switch {
		case i >= limit:
			return sc, 0, false
		case strings.HasPrefix(s[i:], closer):
			return sc, i + len(closer), true
		case strings.HasPrefix(s[i:], "/"+closer):
			return sc, i + 1 + len(closer), true
		}
		name := ""
		for j := i; j < limit; j++ {
			if s[j] == '=' && j > i {
				name, i = strings.ToLower(s[i:j]), j+1
				break
			}
			if c := s[j]; c != '-' && c != '_' && c != '.' && !unicode.IsLetter(rune(c)) && !unicode.IsDigit(rune(c)) {
				break
			}
		}
		text, next, ok := parameter(s[:limit], i, closer)
		if !ok {
			return sc, 0, false
		}
		i = next
		if name == "" {
			name = string(rune('0' + min(position, 9)))
			position++
		}
		sc.params[name] = text
	}
}

// parameter reads one value: quoted, raw in backticks, or bare.
func parameter(s string, i int, closer string) (text string, end int, ok bool) {
	if i < len(s) && (s[i] == '"' || s[i] == '`' || s[i] == '\'') {
		quote := s[i]
		var b strings.Builder
		for j := i + 1; j < len(s); j++ {
			switch {
			case s[j] == '\\' && quote != '`' && j+1 < len(s):
				j++
				if s[j] == 'n' {
					b.WriteByte('\n')
				} else {
					b.WriteByte(s[j])
				}
			case s[j] == quote:
				return b.String(), j + 1, true
			case nested(s[j:]):
				return "", 0, false
			default:
				b.WriteByte(s[j])
			}
		}
		return "", 0, false
	}
	j := i
	for j < len(s) && !unicode.IsSpace(rune(s[j])) && !strings.HasPrefix(s[j:], closer) && !strings.HasPrefix(s[j:], "/"+closer) {
		if nested(s[j:]) {
			return "", 0, false
		}
		j++
	}
	return s[i:j], j, j > i
}

// nested reports whether a tag begins here: within another one that is an error.
func nested(s string) bool {
	return len(s) > 2 && s[0] == '{' && s[1] == '{' && (s[2] == '<' || s[2] == '%')
}

// fenced makes a code block whose fence no line of the code can close.
func fenced(lang, code string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	return fence + strings.Trim(strings.ReplaceAll(lang, "`", ""), " \n") + "\n" + strings.Trim(code, "\n") + "\n" + fence
}
