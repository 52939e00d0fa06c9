package importer

import (
	"path"
	"strings"
)

// rewriteLinks resolves the destinations of Markdown links and images. Links to
// nowhere become their text, images that the import does not have their
// alternative text.
func rewriteLinks(s string, l pageLinks) string {
	if !strings.Contains(s, "](") && !strings.Contains(s, "]:") {
		return strings.ReplaceAll(s, nowhere, "")
	}
	var out []byte
	var open []int // where "[" stands in out
	for i := 0; i < len(s); {
		n := strings.IndexAny(s[i:], "`~\\[]")
		if n < 0 {
			out = append(out, s[i:]...)
			break
		}
		out = append(out, s[i:i+n]...)
		i += n
		end := i + 1
		switch s[i] {
		case '`', '~':
			end = max(codeEnd(s, i), end)
			out = append(out, s[i:end]...)
		case '\\':
			end = min(i+2, len(s))
			out = append(out, s[i:end]...)
		case '[':
			open = append(open, len(out))
			out = append(out, '[')
		case ']':
			start := -1
			if len(open) > 0 {
				start, open = open[len(open)-1], open[:len(open)-1]
			}
			out, end = closeLink(out, start, s, i, l)
		}
		i = end
	}
	return strings.ReplaceAll(string(out), nowhere, "")
}

// closeLink writes what follows the text of a link that "]" at i ends, and
// returns where reading goes on. start is where its "[" stands in out.
func closeLink(out []byte, start int, s string, i int, l pageLinks) ([]byte, int) {
	plain := append(out, ']')
	if start < 0 || i+1 >= len(s) || len(out)-start > maxSpan {
		return plain, i + 1
	}
	if s[i+1] == ':' && (start == 0 || out[start-1] == '\n') { // a definition
		rest := strings.TrimLeft(s[i+2:], " \t")
		dest, _, _ := strings.Cut(rest, "\n")
		dest, _, _ = strings.Cut(dest, " ")
		if address, ok := fileRef(dest, l); ok {
			return append(plain, ": "+destination(address)...), len(s) - len(rest) + len(dest)
		}
		return plain, i + 1
	}
	if s[i+1] != '(' {
		return plain, i + 1
	}
	dest, title, end, ok := parseDestination(s, i+2)
	if !ok {
		return plain, i + 1
	}
	text := out[start+1:]
	image := start > 0 && out[start-1] == '!' && !escaped(string(out[max(0, start-9):start-1]), min(8, start-1))
	switch {
	case dest == "" && !image: // a link to nothing is its text
		return append(out[:start], text...), end
	case image:
		address, ok := l.image(dest, string(text))
		if !ok {
			return append(out[:start-1], text...), end
		}
		return append(plain, "("+destination(address)+title+")"...), end
	case strings.HasPrefix(dest, nowhere):
		return append(out[:start], text...), end
	}
	if address, ok := fileRef(dest, l); ok {
		return append(plain, "("+destination(address)+title+")"...), end
	}
	return append(plain, s[i+1:end]...), end
}

// fileRef resolves a destination that names a Markdown file, or a page by an
// address that begins with its language.
func fileRef(dest string, l pageLinks) (string, bool) {
	name, _, _ := strings.Cut(dest, "#")
	if markdownExt[strings.ToLower(path.Ext(name))] {
		return l.ref(dest)
	}
	if strings.HasPrefix(dest, "/") {
		return l.localized(dest)
	}
	return "", false
}

const maxDestination = 2000

// parseDestination reads what follows "](": the destination, and the title with
// the space before it.
func parseDestination(s string, i int) (dest, title string, end int, ok bool) {
	limit := min(len(s), i+maxDestination)
	for i < limit && (s[i] == ' ' || s[i] == '\n') {
		i++
	}
	start := i
	if i < limit && s[i] == '<' {
		n := strings.IndexAny(s[i:limit], ">\n")
		if n < 0 || s[i+n] == '\n' {
			return "", "", 0, false
		}
		dest, i = s[i+1:i+n], i+n+1
	} else {
		depth := 0
	scan:
		for ; i < limit; i++ {
			switch s[i] {
			case '\\':
				i++
			case '(':
				depth++
			case ')':
				if depth == 0 {
					break scan
				}
				depth--
			case ' ', '\n', '\t':
				break scan
			}
		}
		dest = s[start:min(i, limit)]
	}
	gap := i
	for i < limit && (s[i] == ' ' || s[i] == '\n') {
		i++
	}
	if i < limit && i > gap && strings.IndexByte("\"'(", s[i]) >= 0 {
		closer := s[i]
		if closer == '(' {
			closer = ')'
		}
		from := i
		for i++; i < limit && s[i] != closer; i++ {
			if s[i] == '\\' {
				i++
			}
		}
		i++
		if i > limit {
			return "", "", 0, false
		}
		title = " " + s[from:i]
		for i < limit && (s[i] == ' ' || s[i] == '\n') {
			i++
		}
	}
	if i >= limit || s[i] != ')' {
		return "", "", 0, false
	}
	return dest, title, i + 1, true
}
