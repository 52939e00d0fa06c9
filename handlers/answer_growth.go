package handlers

import "strings"

// An addition is HTML that goes to the end of an element: of the block itself at
// depth 0, of its last child at depth 1, and so on.
type addition struct {
	depth int
	html  string
}

// additions reports whether the element now is the element before that has only
// grown at its end, and what brings it there, in order. Both are well-formed
// elements as internal/markdown writes them: no attribute and no text holds an
// unescaped angle bracket.
func additions(before, now string) (steps []addition, ok bool) {
	var open []string // names of the elements that before ends with, the outermost first
	end := len(before)
	for {
		name, at := lastClosing(before[:end])
		if at < 0 {
			break
		}
		open = append(open, name)
		end = at
	}
	if len(open) == 0 || !strings.HasPrefix(now, before[:end]) {
		return nil, false
	}
	rest := now[end:]
	inner, from := 0, 0 // elements opened in rest; where what is added to the innermost of open begins
	for at := 0; at < len(rest); {
		i := strings.IndexByte(rest[at:], '<')
		if i < 0 {
			return nil, false
		}
		start := at + i
		stop := start + strings.IndexByte(rest[start:], '>')
		if stop < start || len(open) == 0 {
			return nil, false
		}
		at = stop + 1
		name, closing := tag(rest[start : stop+1])
		switch {
		case !closing && name != "br" && name != "hr":
			inner++
		case !closing:
		case inner > 0:
			inner--
		default:
			last := len(open) - 1
			if name != open[last] {
				return nil, false
			}
			if start > from {
				steps = append(steps, addition{last, rest[from:start]})
			}
			open, from = open[:last], at
		}
	}
	return steps, len(open) == 0
}

// lastClosing returns the name of the closing tag that html ends with and where
// the tag starts, -1 if it ends otherwise.
func lastClosing(html string) (name string, at int) {
	at = strings.LastIndexByte(html, '<')
	if at < 0 || !strings.HasSuffix(html, ">") {
		return "", -1
	}
	name, closing := tag(html[at:])
	if !closing {
		return "", -1
	}
	return name, at
}

// tag reads a whole tag.
func tag(s string) (name string, closing bool) {
	s = strings.TrimSuffix(s[1:], ">")
	s, closing = strings.CutPrefix(s, "/")
	name, _, _ = strings.Cut(s, " ")
	return name, closing
}
