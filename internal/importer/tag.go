package importer

import (
	"html"
	"regexp"
	"strings"
)

// A tag is one HTML or JSX tag as it stands in a text.
type tag struct {
	name      string // as written; HTML names are compared in lower case
	closing   bool
	selfClose bool
	attrs     map[string]string
}

const maxTag = 1 << 12

var autolink = regexp.MustCompile(`^<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>`)

// officeTag matches the tags that word processors leave behind, which would
// otherwise pass for links.
var officeTag = regexp.MustCompile(`^</?(?:o|w|v|st1):[a-zA-Z]+[\s/>]`)

// tagAt reads the tag that begins at i with "<".
func tagAt(s string, i int, jsx bool) (t tag, end int, ok bool) {
	limit := min(len(s), i+maxTag)
	rest := s[i:limit]
	if autolink.MatchString(rest) && !officeTag.MatchString(rest) {
		return t, 0, false
	}
	j := i + 1
	if j < limit && s[j] == '/' {
		t.closing = true
		j++
	}
	start := j
	for j < limit && (isLetter(s[j]) || j > start && (s[j] >= '0' && s[j] <= '9' || strings.IndexByte("-:._", s[j]) >= 0)) {
		j++
	}
	t.name = s[start:j]
	if t.name == "" {
		if jsx && j < limit && s[j] == '>' { // a fragment
			return t, j + 1, true
		}
		return t, 0, false
	}
	if j >= limit || strings.IndexByte(" \t\n/>", s[j]) < 0 {
		return t, 0, false
	}
	for {
		for j < limit && strings.IndexByte(" \t\n", s[j]) >= 0 {
			j++
		}
		if j >= limit || s[j] == '<' {
			return t, 0, false
		}
		switch {
		case s[j] == '>':
			return t, j + 1, true
		case s[j] == '/' && j+1 < limit && s[j+1] == '>':
			t.selfClose = true
			return t, j + 2, true
		case s[j] == '{':
			if !jsx {
				return t, 0, false
			}
			if j = braceEnd(s[:limit], j); j == 0 {
				return t, 0, false
			}
			continue
		}
		if j, ok = t.attribute(s[:limit], j, jsx); !ok {
			return t, 0, false
		}
	}
}

// attribute reads one attribute at j and returns where it ends.
func (t *tag) attribute(s string, j int, jsx bool) (end int, ok bool) {
	start := j
	for j < len(s) && strings.IndexByte(" \t\n=/><{", s[j]) < 0 {
		j++
	}
	name := strings.ToLower(s[start:j])
	if name == "" { // a stray "/" or "=": browsers skip it
		return j + 1, true
	}
	if j >= len(s) || s[j] != '=' {
		return j, true
	}
	j++
	for j < len(s) && strings.IndexByte(" \t\n", s[j]) >= 0 {
		j++
	}
	if j >= len(s) {
		return 0, false
	}
	var val string
	switch c := s[j]; {
	case c == '"' || c == '\'':
		n := strings.IndexByte(s[j+1:], c)
		if n < 0 {
			return 0, false
		}
		val, j = s[j+1:j+1+n], j+n+2
	case c == '{' && jsx:
		e := braceEnd(s, j)
		if e == 0 {
			return 0, false
		}
		val, j = stringLiteral(s[j+1:e-1]), e
	default:
		start := j
		for j < len(s) && strings.IndexByte(" \t\n><", s[j]) < 0 {
			j++
		}
		val = s[start:j]
	}
	if t.attrs == nil {
		t.attrs = map[string]string{}
	}
	t.attrs[name] = strings.TrimSpace(clean(html.UnescapeString(val)))
	return j, true
}

// braceEnd returns the offset behind the brace that closes the one at i; 0 if none does.
func braceEnd(s string, i int) int {
	depth := 0
	var quote byte
	for j := i; j < len(s); j++ {
		c := s[j]
		switch {
		case quote != 0:
			if c == '\\' {
				j++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return j + 1
			}
		}
	}
	return 0
}

// stringLiteral returns the text of a JavaScript string, "" for any other expression.
func stringLiteral(expr string) string {
	expr = strings.TrimSpace(expr)
	if len(expr) < 2 || strings.IndexByte("\"'`", expr[0]) < 0 || expr[len(expr)-1] != expr[0] ||
		strings.Count(expr, expr[:1]) != 2 || strings.Contains(expr, "${") {
		return ""
	}
	return expr[1 : len(expr)-1]
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// dropTags removes tags from one line of text.
func dropTags(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '<' {
			if t, end, ok := tagAt(s, i, false); ok && elements[strings.ToLower(t.name)] {
				i = end
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// elements are the names that HTML knows: other names in angle brackets are
// often words that the author wants to be read.
var elements = set(`a abbr acronym address applet area article aside audio b base basefont bdi bdo big blockquote body br button
	canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption
	figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li
	link main map mark math menu meta meter nav noframes noscript object ol optgroup option output p param picture pre progress q
	rp rt ruby s samp script search section select slot small source span strike strong style sub summary sup svg table tbody td
	template textarea tfoot th thead time title tr track tt u ul var video wbr`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
