package importer

import (
	"bytes"
	"fmt"
	"html"
	"strings"
)

// A frame is an element that is open while text is written.
type frame struct {
	name  string
	attrs map[string]string
	start int  // of its content in the output
	lines bool // its text is one line: white space is folded
	block bool // it holds a code block, and so cannot be folded
	items int  // of an ordered list
	table *table
}

// A converter writes Markdown for Markdown with HTML or JSX among it.
type converter struct {
	s       string
	lower   string // s in lower case, byte for byte
	jsx     bool
	out     []byte
	stack   []frame
	folding int // open frames with lines
	lists   int // open ul and ol
	cells   int // open td and th
	nested  int // open tables within cells
	closers map[string]int
	missing map[string]bool
}

const maxDepth = 100

// convertHTML replaces HTML, and JSX in MDX files, by Markdown or text. Code is
// left as it is.
func convertHTML(s string, jsx bool) string {
	special := "<&"
	if jsx {
		special = "<&{"
	}
	if !strings.ContainsAny(s, special) {
		return s
	}
	c := &converter{s: s, lower: asciiLower(s), jsx: jsx, closers: map[string]int{}, missing: map[string]bool{}}
	c.out = make([]byte, 0, len(s))
	stops := special + "`~\\"
	for i := 0; i < len(s); {
		n := strings.IndexAny(s[i:], stops)
		if n < 0 {
			c.text(s[i:])
			break
		}
		c.text(s[i : i+n])
		i = c.step(i + n)
	}
	for len(c.stack) > 0 {
		c.pop()
	}
	return string(c.out)
}

// step handles the construct at i and returns where it ends.
func (c *converter) step(i int) int {
	s := c.s
	switch s[i] {
	case '`', '~':
		end := codeEnd(s, i)
		if end <= i {
			end = i + 1
		}
		c.code(s[i:end], strings.HasSuffix(s[i:end], "\n") || runLength(s, i) >= 3 && end == len(s))
		return end
	case '\\':
		end := min(i+2, len(s))
		c.text(s[i:end])
		return end
	case '&':
		return c.entity(i)
	case '{':
		return c.expression(i)
	}
	if strings.HasPrefix(s[i:], "<!--") {
		if end := c.find(i, "-->"); end > 0 {
			return end
		}
	}
	if i+1 < len(s) && (s[i+1] == '!' || s[i+1] == '?') && i+2 < len(s) && (isLetter(s[i+2]) || s[i+2] == '[') {
		if n := strings.IndexByte(s[i:min(len(s), i+maxTag)], '>'); n > 0 {
			return i + n + 1
		}
	}
	t, end, ok := tagAt(s, i, c.jsx)
	if !ok || bytes.HasSuffix(bytes.TrimRight(c.out[max(0, len(c.out)-8):], " "), []byte("](")) { // a destination
		c.text("<")
		return i + 1
	}
	name := strings.ToLower(t.name)
	switch {
	case t.name == "":
		return end
	case c.jsx && (t.name[0] >= 'A' && t.name[0] <= 'Z' || strings.Contains(t.name, ".")):
		c.component(t, i)
		return end
	case !elements[name]:
		if !t.closing && len(t.attrs) == 0 && !strings.ContainsAny(name, "-:") && c.lastClose(name) < end {
			c.text(`\<`) // a word in angle brackets
			return i + 1
		}
		return end
	case t.closing:
		c.closeTag(name)
		return end
	}
	return c.open(name, t, end)
}

// text writes text between tags.
func (c *converter) text(t string) {
	if t == "" {
		return
	}
	if c.folding == 0 {
		if len(c.stack) > 0 && structural[c.stack[len(c.stack)-1].name] && strings.TrimSpace(t) == "" {
			return
		}
		c.out = append(c.out, t...)
		return
	}
	if n := blankLine(t); n >= 0 && c.cells == 0 {
		if i := c.openFrame("p"); i >= 0 { // a blank line ends a paragraph, closed or not
			c.text(t[:n])
			for len(c.stack) > i {
				c.pop()
			}
			c.out = append(c.out, "\n\n"...)
			c.text(strings.TrimLeft(t[n:], "\n"))
			return
		}
	}
	for i, word := range strings.FieldsFunc(t, isSpace) {
		if i > 0 || isSpace(rune(t[0])) {
			c.space()
		}
		c.out = append(c.out, word...)
	}
	if isSpace(rune(t[len(t)-1])) {
		c.space()
	}
}

func isSpace(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }

// blankLine returns the offset of the first blank line's beginning, -1 without one.
func blankLine(t string) int {
	for i := strings.IndexByte(t, '\n'); i >= 0; {
		rest := strings.TrimLeft(t[i+1:], " \t")
		if strings.HasPrefix(rest, "\n") {
			return i
		}
		n := strings.IndexByte(t[i+1:], '\n')
		if n < 0 {
			break
		}
		i += 1 + n
	}
	return -1
}

// space writes one space unless white space is there already.
func (c *converter) space() {
	if n := len(c.out); n > 0 && !isSpace(rune(c.out[n-1])) {
		c.out = append(c.out, ' ')
	}
}

// code copies code. A block that stands in something folded breaks out of it.
func (c *converter) code(t string, block bool) {
	if block {
		for i := range c.stack {
			c.stack[i].block = true
		}
		if line := c.line(); c.folding > 0 && len(bytes.TrimSpace(line)) > 0 {
			c.out = append(c.out, "\n\n"...)
		}
	}
	c.out = append(c.out, t...)
}

// entity decodes the character reference at i, except where the character would
// mean something in Markdown.
func (c *converter) entity(i int) int {
	s := c.s
	n := strings.IndexByte(s[i:min(len(s), i+32)], ';')
	if n < 2 {
		c.text("&")
		return i + 1
	}
	ref := s[i : i+n+1]
	decoded := html.UnescapeString(ref)
	if decoded == ref || len([]rune(decoded)) != 1 && strings.ContainsAny(ref[1:len(ref)-1], "& <") {
		c.text("&")
		return i + 1
	}
	switch {
	case strings.ContainsAny(decoded, "<>&*_`[]\\#|~{}\n"):
		decoded = ref
	case decoded == "\u00a0":
		decoded = " "
	case decoded == "\u00ad" || decoded == "\u200b":
		decoded = ""
	}
	c.text(clean(decoded))
	return i + n + 1
}

// expression handles what stands in braces in MDX: a string is text, everything
// else is program.
func (c *converter) expression(i int) int {
	if strings.HasPrefix(c.s[i:], "{/*") {
		if end := c.find(i, "*/}"); end > 0 {
			return end
		}
	}
	end := 0
	if c.find(i, "}") > 0 {
		end = braceEnd(c.s[:min(len(c.s), i+maxTag)], i)
	}
	if end > 0 && blankLine(c.s[i:end]) < 0 {
		if strings.HasPrefix(c.s[i:end], "{#") { // a heading's id
			c.text(c.s[i:end])
		} else {
			c.text(stringLiteral(c.s[i+1 : end-1]))
		}
		return end
	}
	c.text("{")
	return i + 1
}

// component handles a JSX component: its inner text stays, its title is text.
func (c *converter) component(t tag, i int) {
	if t.closing {
		return
	}
	sc := shortcode{name: strings.ToLower(t.name), params: t.attrs}
	if sc.first("title", "label", "alt", "text") == "" {
		return
	}
	alone := c.s[strings.LastIndexByte(c.s[:i], '\n')+1 : i]
	if !t.selfClose && strings.TrimSpace(alone) != "" {
		return // it marks words within a sentence
	}
	if !t.selfClose && sc.first("href") != "" {
		return // its inner text is the link's
	}
	text := sc.first("title", "label")
	switch {
	case !t.selfClose && text != "":
		c.out = append(c.out, titleLine(text)...)
	case t.selfClose:
		c.out = append(c.out, strings.TrimSpace(generic(sc))...)
	}
}

// find returns the offset behind the next closer after i, 0 when there is none.
func (c *converter) find(i int, closer string) int {
	if c.missing[closer] {
		return 0
	}
	n := strings.Index(c.lower[i:], closer)
	if n < 0 {
		c.missing[closer] = true
		return 0
	}
	return i + n + len(closer)
}

// lastClose returns where the last closing tag of a name stands, -1 without one.
func (c *converter) lastClose(name string) int {
	at, ok := c.closers[name]
	if !ok {
		at = strings.LastIndex(c.lower, "</"+name)
		c.closers[name] = at
	}
	return at
}

// raw returns the content of an element that is not read as Markdown, and where
// its closing tag ends. A code block in between means that the tags are no pair.
func (c *converter) raw(from int, name string) (inner string, end int, ok bool) {
	if c.lastClose(name) < from {
		return "", 0, false
	}
	stop := c.find(from, "</"+name)
	if stop == 0 {
		return "", 0, false
	}
	inner = c.s[from : stop-len(name)-2]
	if strings.Contains(inner, "```") || strings.Contains(inner, "~~~") {
		return "", 0, false
	}
	n := strings.IndexByte(c.s[stop:min(len(c.s), stop+64)], '>')
	if n < 0 {
		return "", 0, false
	}
	return inner, stop + n + 1, true
}

// line returns what is written of the current line.
func (c *converter) line() []byte { return c.out[bytes.LastIndexByte(c.out, '\n')+1:] }

// paragraph makes sure that what follows begins a paragraph.
func (c *converter) paragraph() {
	if c.folding > 0 {
		c.space()
		return
	}
	line := c.line()
	var indent []byte
	switch trimmed := bytes.TrimLeft(line, " \t"); {
	case len(trimmed) == 0:
		if len(line) < 4 && !bytes.Contains(line, []byte("\t")) { // of a list item it may belong to
			indent = bytes.Clone(line)
		}
	case bytes.HasPrefix(trimmed, []byte("|")):
		c.space()
		return
	case bytes.HasPrefix(trimmed, []byte(">")):
		mark := line[:len(line)-len(bytes.TrimLeft(line, " \t>"))]
		if len(mark) < len(line) {
			prefix := string(mark)
			c.out = append(bytes.TrimRight(c.out, " \t"), "\n"+strings.TrimRight(prefix, " ")+"\n"+prefix...)
		}
		return
	}
	if _, marker := fencePrefix(string(line), len(line)); marker && len(line) > 0 && len(bytes.TrimSpace(line)) > 0 {
		return // the first thing of a list item
	}
	c.out = bytes.TrimRight(c.out, " \t")
	for len(c.out) > 0 && !bytes.HasSuffix(c.out, []byte("\n\n")) {
		c.out = append(c.out, '\n')
	}
	c.out = append(c.out, indent...)
}

func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// marker is what the next item of a list begins with.
func (f *frame) marker() string {
	if f.name != "ol" {
		return "- "
	}
	f.items++
	return fmt.Sprintf("%d. ", f.items)
}
