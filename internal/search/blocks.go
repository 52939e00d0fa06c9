package search

import (
	"regexp"
	"strings"
)

type blockKind int

const (
	paragraph blockKind = iota
	headingBlock
	listBlock
	tableBlock
	codeBlock
)

// A block is a piece of a Markdown body that belongs together, as byte offsets.
type block struct {
	kind       blockKind
	start, end int
	level      int    // of a heading
	text       string // of a heading, as it is written
	headerEnd  int    // of a table: where its header rows end
}

var (
	atxHeading  = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	setextLine  = regexp.MustCompile(`^ {0,3}(=+|-+)[ \t]*$`)
	listMarker  = regexp.MustCompile(`^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)`)
	tableDelim  = regexp.MustCompile(`^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)
	fenceMarker = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})")
)

// A line is one line of the body, as byte offsets without its line feed.
type line struct{ start, end int }

// blocks cuts a Markdown body at its block structure. It reads only what decides
// where a passage may be cut; what it takes for a paragraph may be anything.
func blocks(body string) []block {
	var lines []line
	for i := 0; i < len(body); {
		end := strings.IndexByte(body[i:], '\n')
		if end < 0 {
			end = len(body) - i
		}
		lines = append(lines, line{i, i + end})
		i += end + 1
	}
	text := func(l line) string { return strings.TrimRight(body[l.start:l.end], "\r") }
	blank := func(l line) bool { return strings.TrimSpace(text(l)) == "" }

	var out []block
	for i := 0; i < len(lines); {
		l := text(lines[i])
		switch {
		case blank(lines[i]):
			i++
		case fenceMarker.MatchString(l):
			j := fenceEnd(lines, i, text)
			out = append(out, block{kind: codeBlock, start: lines[i].start, end: lines[j].end})
			i = j + 1
		case atxHeading.MatchString(l):
			m := atxHeading.FindStringSubmatch(l)
			out = append(out, block{kind: headingBlock, start: lines[i].start, end: lines[i].end,
				level: len(m[1]), text: m[2]})
			i++
		case strings.Contains(l, "|") && i+1 < len(lines) && strings.Contains(text(lines[i+1]), "-") &&
			strings.Contains(text(lines[i+1]), "|") && tableDelim.MatchString(text(lines[i+1])):
			j := i + 1
			for j+1 < len(lines) && !blank(lines[j+1]) && strings.Contains(text(lines[j+1]), "|") {
				j++
			}
			out = append(out, block{kind: tableBlock, start: lines[i].start, end: lines[j].end,
				headerEnd: min(lines[i+1].end+1, len(body))})
			i = j + 1
		default:
			b, next := textBlock(lines, i, text, blank)
			out = append(out, b)
			i = next
		}
	}
	return out
}

// fenceEnd is the line that closes the fence opened at i, or the last one.
func fenceEnd(lines []line, i int, text func(line) string) int {
	mark := fenceMarker.FindStringSubmatch(text(lines[i]))[1]
	for j := i + 1; j < len(lines); j++ {
		l := strings.TrimSpace(text(lines[j]))
		if len(l) >= len(mark) && strings.Trim(l, mark[:1]) == "" {
			return j
		}
	}
	return len(lines) - 1
}

// textBlock reads the paragraph or list that starts at line i.
func textBlock(lines []line, i int, text func(line) string, blank func(line) bool) (block, int) {
	list := listMarker.MatchString(text(lines[i]))
	j := i
	for k := i + 1; k < len(lines); k++ {
		l := text(lines[k])
		if blank(lines[k]) {
			// A list goes on behind a blank line with an item or something indented.
			if !list || k+1 >= len(lines) {
				break
			}
			next := text(lines[k+1])
			if !listMarker.MatchString(next) && !strings.HasPrefix(next, "  ") && !strings.HasPrefix(next, "\t") {
				break
			}
			continue
		}
		if atxHeading.MatchString(l) || fenceMarker.MatchString(l) && !list {
			break
		}
		if !list && k == i+1 && setextLine.MatchString(l) {
			level := 1
			if strings.Contains(l, "-") {
				level = 2
			}
			return block{kind: headingBlock, start: lines[i].start, end: lines[k].end, level: level,
				text: strings.TrimSpace(text(lines[i]))}, k + 1
		}
		if !list && listMarker.MatchString(l) && !setextLine.MatchString(l) {
			break
		}
		j = k
	}
	kind := paragraph
	if list {
		kind = listBlock
	}
	return block{kind: kind, start: lines[i].start, end: lines[j].end}, j + 1
}
