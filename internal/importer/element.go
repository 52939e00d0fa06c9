package importer

import (
	"bytes"
	"html"
	"strings"
)

var (
	// silent elements hold nothing to read.
	silent = set("script style noscript svg math head template iframe object canvas noframes")
	// structural elements hold only other elements: white space in them means nothing.
	structural = set("ul ol dl table thead tbody tfoot tr colgroup")
	blocks     = set(`p div section article header footer aside main nav figure figcaption center details summary dl dt dd form
		fieldset address hgroup legend body html dialog menu`)
	inline  = map[string]string{"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~", "strike": "~~", "a": "", "sup": "", "sub": ""}
	literal = set("code tt kbd samp")
)

// open handles an opening tag that ends at end, and returns where reading goes on.
func (c *converter) open(name string, t tag, end int) int {
	if blocks[name] || structural[name] || name == "pre" || name == "blockquote" || len(name) == 2 && name[0] == 'h' {
		if i := c.openFrame("p"); i >= 0 { // a block ends a paragraph
			for len(c.stack) > i {
				c.pop()
			}
		}
	}
	switch {
	case silent[name]:
		if title := t.attrs["title"]; name == "iframe" && title != "" {
			c.text(title)
		}
		if _, after, ok := c.raw(end, name); ok && !t.selfClose {
			return after
		}
	case name == "pre":
		if inner, after, ok := c.raw(end, name); ok {
			c.paragraph()
			c.code(fenced("", html.UnescapeString(dropTags(inner))), true)
			c.out = append(c.out, "\n\n"...)
			return after
		}
	case literal[name]:
		if inner, after, ok := c.raw(end, name); ok && blankLine(inner) < 0 && len(inner) < maxTag {
			c.text(codeSpan(html.UnescapeString(dropTags(inner))))
			return after
		}
	case name == "br":
		c.lineBreak()
	case name == "hr":
		c.paragraph()
		if c.folding == 0 {
			c.out = append(c.out, "---\n\n"...)
		}
	case name == "img":
		alt := strings.NewReplacer("[", "", "]", "", "\n", " ").Replace(t.attrs["alt"])
		if src := t.attrs["src"]; src != "" {
			c.out = append(c.out, "!["+alt+"]("+destination(src)+")"...)
		} else {
			c.out = append(c.out, alt...)
		}
	case name == "q":
		c.text("“")
	case name == "table":
		c.openTable(end)
	case name == "tr", name == "td", name == "th", name == "caption":
		c.openCell(name, t, end)
	case name == "ul" || name == "ol":
		c.paragraphOrLine()
		if c.push(frame{name: name}, end) {
			c.lists++
		}
	case name == "li":
		c.openItem(end)
	case name == "blockquote":
		c.paragraph()
		if c.folding == 0 {
			c.push(frame{name: name}, end)
		}
	case len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6':
		c.paragraph()
		if c.folding == 0 && c.push(frame{name: name, lines: true}, end) {
			c.out = append(c.out, strings.Repeat("#", int(name[1]-'0'))+" "...)
		}
	case blocks[name]:
		c.paragraph()
		switch name {
		case "p", "dt", "summary", "figcaption":
			c.push(frame{name: name, lines: true}, end)
		case "dd", "address":
			c.push(frame{name: name}, end)
		}
	default:
		if _, ok := inline[name]; ok && !t.selfClose {
			c.push(frame{name: name, attrs: t.attrs}, end)
		}
	}
	return end
}

// push opens a frame, unless nothing closes it later.
func (c *converter) push(f frame, at int) bool {
	if len(c.stack) >= maxDepth || c.lastClose(f.name) < at {
		return false
	}
	f.start = len(c.out)
	if f.lines {
		c.folding++
	}
	c.stack = append(c.stack, f)
	return true
}

// openFrame returns the innermost open frame of a name, -1 without one. Frames
// outside of a table cell are out of reach within it.
func (c *converter) openFrame(name string) int {
	for i := len(c.stack) - 1; i >= 0; i-- {
		f := c.stack[i].name
		if f == name {
			return i
		}
		if f == "table" || (f == "td" || f == "th") && !tableParts[name] && name != "table" {
			break
		}
	}
	return -1
}

func (c *converter) closeTag(name string) {
	if c.nested > 0 && (name == "table" || tableParts[name]) {
		if name == "table" {
			c.nested--
		}
		c.space()
		return
	}
	if i := c.openFrame(name); i >= 0 {
		for len(c.stack) > i {
			c.pop()
		}
		return
	}
	switch {
	case name == "q":
		c.text("”")
	case blocks[name]:
		c.paragraph()
	}
}

// pop closes the innermost frame and gives what was written in it its form.
func (c *converter) pop() {
	f := c.stack[len(c.stack)-1]
	c.stack = c.stack[:len(c.stack)-1]
	f.start = min(f.start, len(c.out)) // white space before it may be gone
	if f.lines {
		c.folding--
	}
	mark, isInline := inline[f.name]
	switch {
	case isInline:
		c.wrap(f, mark)
	case f.name == "table":
		c.closeTable(f)
	case tableParts[f.name]:
		c.closeCell(f)
	case f.name == "ul" || f.name == "ol":
		c.lists--
		c.paragraphOrLine()
	case f.name == "li":
		if c.cells == 0 {
			c.out = bytes.TrimRight(c.out, " \t")
			if marker := bytes.TrimLeft(c.line(), " "); len(marker) <= 1 || bytes.HasSuffix(marker, []byte(".")) && len(marker) < 4 && !f.block {
				c.out = c.out[:len(c.out)-len(c.line())] // an empty item
			}
			c.newline()
		}
	case f.name == "blockquote":
		inner := bytes.TrimSpace(c.out[f.start:])
		if !f.block && len(inner) > 0 {
			quoted := "> " + strings.ReplaceAll(string(inner), "\n", "\n> ")
			c.out = append(append(c.out[:f.start], strings.ReplaceAll(quoted, "> \n", ">\n")...), "\n\n"...)
		}
	case f.name == "dt" || f.name == "summary":
		c.wrap(f, "**")
		c.paragraph()
	default:
		if len(bytes.Trim(c.out[f.start:], "# \t\n")) == 0 { // a heading or paragraph of nothing
			c.out = c.out[:f.start]
		}
		c.paragraph()
	}
}

// wrap sets marks around what a frame holds, inside of its white space.
func (c *converter) wrap(f frame, mark string) {
	content := c.out[f.start:]
	text := bytes.TrimSpace(content)
	if len(text) == 0 || f.block || bytes.Contains(text, []byte("\n\n")) {
		return
	}
	at := bytes.Index(content, text)
	before, after := mark, mark
	switch f.name {
	case "a":
		href := f.attrs["href"]
		if href == "" || bytes.Contains(text, []byte("](")) && !bytes.HasPrefix(text, []byte("![")) {
			return
		}
		before, after = "[", "]("+destination(href)+")"
	case "sup", "sub":
		script, ok := raised(f.name, string(text))
		if !ok {
			return
		}
		c.out = append(c.out[:f.start], script...)
		return
	default:
		if bytes.HasPrefix(text, []byte(mark)) || bytes.IndexByte([]byte("*_"), text[0]) >= 0 && mark != "~~" {
			return
		}
	}
	wrapped := string(content[:at]) + before + string(text) + after + string(content[at+len(text):])
	c.out = append(c.out[:f.start], wrapped...)
}

// raised returns digits as the characters for exponents and indices.
func raised(name, text string) (string, bool) {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	if name == "sub" {
		digits = []rune("₀₁₂₃₄₅₆₇₈₉")
	}
	var b strings.Builder
	for _, r := range text {
		if r < '0' || r > '9' {
			return "", false
		}
		b.WriteRune(digits[r-'0'])
	}
	return b.String(), true
}

func (c *converter) lineBreak() {
	line := bytes.TrimLeft(c.line(), " \t")
	switch {
	case c.folding > 0, bytes.HasPrefix(line, []byte("|")), bytes.HasPrefix(line, []byte("#")):
		c.space()
	case len(line) == 0:
	default:
		c.out = append(bytes.TrimRight(c.out, " \t"), "  \n"...)
	}
}

// newline makes sure that what follows begins a line.
func (c *converter) newline() {
	if n := len(c.out); n > 0 && c.out[n-1] != '\n' {
		c.out = append(c.out, '\n')
	}
}

// paragraphOrLine separates a list from what is around it; a list within a list
// only begins a line.
func (c *converter) paragraphOrLine() {
	if c.lists > 0 && c.cells == 0 {
		c.out = bytes.TrimRight(c.out, " \t")
		c.newline()
		return
	}
	c.paragraph()
}

func (c *converter) openItem(end int) {
	if i := c.openFrame("li"); i >= 0 && i > c.innermostList() { // the last one was not closed
		for len(c.stack) > i {
			c.pop()
		}
	}
	if c.cells > 0 {
		if text := bytes.TrimSpace(c.out[c.innermostCell():]); len(text) > 0 {
			c.out = append(bytes.TrimRight(c.out, " "), "; "...)
		}
		return
	}
	marker := "- "
	if i := c.innermostList(); i >= 0 {
		marker = c.stack[i].marker()
	}
	c.newline()
	indent := strings.Repeat("   ", max(c.lists-1, 0))
	start := len(c.out)
	c.out = append(c.out, indent+marker...)
	if !c.push(frame{name: "li", lines: true}, end) && c.lists > 0 {
		c.stack = append(c.stack, frame{name: "li", lines: true, start: start})
		c.folding++
	}
}

func (c *converter) innermostList() int {
	for i := len(c.stack) - 1; i >= 0; i-- {
		if n := c.stack[i].name; n == "ul" || n == "ol" {
			return i
		}
	}
	return -1
}

// codeSpan makes a code span that its own backticks cannot end.
func codeSpan(code string) string {
	code = strings.Join(strings.Fields(code), " ")
	if code == "" {
		return ""
	}
	tick := "`"
	for strings.Contains(code, tick) {
		tick += "`"
	}
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") {
		code = " " + code + " "
	}
	return tick + code + tick
}

// destination writes an address so that it can stand in a Markdown link.
func destination(href string) string {
	href = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '<' || r == '>' {
			return -1
		}
		return r
	}, strings.TrimSpace(href))
	href = strings.ReplaceAll(href, " ", "%20")
	if strings.ContainsAny(href, "()\\") {
		return "<" + href + ">"
	}
	return href
}
