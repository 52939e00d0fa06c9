package handlers

import (
	"encoding/json"
	"html"
	"strconv"
	"strings"
)

// A frame is one event of a stream that brings a page up to date: partials for
// htmx, or words alone.
type frame struct {
	name string // "" or wordsEvent
	data string
}

// wordsEvent names the frames that only add words to blocks that are there. They
// are most of a stream, and as partials most of their bytes would say where to.
const wordsEvent = "words"

// words are text for the end of an element: of a block at depth 0, of its last
// child at depth 1, and so on.
type words struct {
	block, depth int
	text         string
}

// wordsFrame says them as static/js/docent/growing.js reads them: a line for each,
// with block and depth, and the text as JSON.
func wordsFrame(all []words) (frame, error) {
	var b strings.Builder
	text := json.NewEncoder(&b) // ends each with a newline
	text.SetEscapeHTML(false)
	for _, w := range all {
		b.WriteString(strconv.Itoa(w.block) + "." + strconv.Itoa(w.depth) + " ")
		if err := text.Encode(w.text); err != nil {
			return frame{}, err
		}
	}
	return frame{wordsEvent, strings.TrimSuffix(b.String(), "\n")}, nil
}

// asWords is an addition that is text alone.
func (a addition) asWords(block int) (words, bool) {
	return words{block, a.depth, html.UnescapeString(a.html)}, !strings.Contains(a.html, "<")
}

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
