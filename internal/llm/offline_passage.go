package llm

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

type unitKind int

const (
	sentenceUnit unitKind = iota
	itemUnit
	rowUnit
)

// cellBorder stands between the cells of a row, in texts and headers of units.
const cellBorder = " | "

// unit is the smallest thing the offline model quotes: a sentence, a list item
// or a table row.
type unit struct {
	kind    unitKind
	text    string   // plain text
	marker  string   // "1." or "-" of a list item
	path    []string // headings above, outermost first
	section int      // units under one heading, in pieces of moderate length
	block   int      // paragraph, list or table
	lead    int      // index of the sentence that leads in a list, -1 if none
	header  string   // header row of a table row
	isTitle bool     // a numbered heading, which may be a step or a play
}

// above is the text that stands over u: its headings and its table's header.
func (u unit) above() string {
	return strings.Join(append(u.path[:len(u.path):len(u.path)], u.header), " . ")
}

// passage is a source taken apart.
type passage struct {
	Source
	units []unit
}

const maxSection = 1500 // bytes

var (
	headingLine = regexp.MustCompile(`^(#{1,6})\s+(.+?)\s*#*$`)
	itemLine    = regexp.MustCompile(`^\s*([-*+•–]|[0-9]{1,3}[.)])\s+(.+)$`)
	boldLine    = regexp.MustCompile(`^(?:\*\*|__)([^*_]{3,150})(?:\*\*|__):?$`)
	ruleLine    = regexp.MustCompile(`^\s*([-*_=]\s*){3,}$|^[\s|:+-]*-[\s|:+-]*$`)
	numbered    = regexp.MustCompile(`(?i)^(?:(?:step|play|phase|stage|part|tip|principle|paso)\s+)?[0-9]{1,2}[.:)]\s*\S`)
)

// takeApart splits a source's text, Markdown or plain, into units.
func takeApart(s Source) passage {
	p := parser{passage: passage{Source: s}, lead: -1}
	for line := range strings.Lines(s.Text) {
		p.line(strings.TrimRight(line, " \t\r\n"))
	}
	p.paragraph()
	return p.passage
}

type parser struct {
	passage
	levels  []int
	path    []string
	pending []string // lines of the paragraph being read
	header  string
	inTable bool
	inList  bool
	inCode  bool
	lead    int
	block   int
	section int
	size    int
}

func (p *parser) line(line string) {
	trimmed := strings.TrimSpace(strings.TrimLeft(line, "> "))
	if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
		p.paragraph()
		p.inCode = !p.inCode
		return
	}
	if trimmed == "" {
		p.paragraph()
		p.endTable()
		return
	}
	if p.inCode {
		p.pending = append(p.pending, trimmed)
		return
	}
	if m := headingLine.FindStringSubmatch(trimmed); m != nil {
		p.heading(len(m[1]), plainText(m[2]))
		return
	}
	if m := boldLine.FindStringSubmatch(trimmed); m != nil && len(p.pending) == 0 && !p.inList {
		p.heading(7, plainText(m[1]))
		return
	}
	if ruleLine.MatchString(trimmed) {
		p.paragraph()
		return
	}
	if strings.HasPrefix(trimmed, "|") || strings.Count(trimmed, " | ") > 1 {
		p.row(trimmed)
		return
	}
	if m := itemLine.FindStringSubmatch(line); m != nil {
		p.item(m[1], plainText(m[2]))
		return
	}
	if last := len(p.units) - 1; p.inList && len(p.pending) == 0 && (line[0] == ' ' || line[0] == '\t') && len(p.units[last].text) < maxSection {
		last := &p.units[last]
		last.text += " " + plainText(trimmed)
		return
	}
	p.pending = append(p.pending, trimmed)
}

func (p *parser) heading(level int, text string) {
	p.paragraph()
	p.endTable()
	if n := len(p.path); n > 0 && p.path[n-1] == text {
		return // repeated where passages of a page were joined
	}
	p.inList, p.lead = false, -1
	for len(p.levels) > 0 && p.levels[len(p.levels)-1] >= level {
		p.levels = p.levels[:len(p.levels)-1]
		p.path = p.path[:len(p.path)-1]
	}
	if numbered.MatchString(text) {
		p.nextSection()
		p.block++
		p.add(unit{text: text, isTitle: true, lead: -1})
		p.block++
	}
	p.levels = append(p.levels, level)
	p.path = append(p.path[:len(p.path):len(p.path)], text)
	p.nextSection()
}

func (p *parser) nextSection() {
	p.section++
	p.size = 0
}

// paragraph ends the paragraph being read.
func (p *parser) paragraph() {
	if len(p.pending) == 0 {
		return
	}
	text := plainText(strings.Join(p.pending, " "))
	p.pending = nil
	if text == "" {
		return
	}
	p.inList = false
	p.block++
	sentences := splitSentences(text)
	if len(sentences) == 1 && strings.HasSuffix(text, "?") && len(text) < 160 {
		for len(p.levels) > 0 && p.levels[len(p.levels)-1] >= 7 {
			p.levels = p.levels[:len(p.levels)-1]
			p.path = p.path[:len(p.path)-1]
		}
		p.levels = append(p.levels, 7)
		p.path = append(p.path[:len(p.path):len(p.path)], text)
		p.nextSection()
		return
	}
	for _, s := range sentences {
		p.add(unit{kind: sentenceUnit, text: s, lead: -1})
	}
	p.lead = len(p.units) - 1
}

func (p *parser) item(marker, text string) {
	p.paragraph()
	p.endTable()
	if text == "" {
		return
	}
	if !p.inList {
		p.block++
		p.inList = true
		if p.lead >= 0 && (p.lead != len(p.units)-1 || !strings.HasSuffix(p.units[p.lead].text, ":")) && p.hasHeading() {
			p.lead = -1 // the heading leads in
		}
	}
	p.add(unit{kind: itemUnit, text: text, marker: marker, lead: p.lead})
}

// hasHeading tells whether the heading reached stands right above.
func (p *parser) hasHeading() bool {
	return len(p.path) > 0 && len(p.units) > 0 && p.units[len(p.units)-1].section != p.section
}

func (p *parser) row(line string) {
	p.paragraph()
	p.inList = false
	line = strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(line, `\|`, "\x00"), "|"), "|")
	cells := strings.Split(line, "|")
	for i, c := range cells {
		cells[i] = plainText(strings.ReplaceAll(c, "\x00", "¦"))
	}
	text := strings.Join(cells, cellBorder)
	if !p.inTable {
		p.inTable = true
		p.header = text
		p.block++
		return
	}
	p.add(unit{kind: rowUnit, text: text, header: p.header, lead: p.lead})
}

func (p *parser) endTable() {
	p.inTable, p.header = false, ""
}

func (p *parser) add(u unit) {
	if p.size > maxSection {
		p.nextSection()
	}
	p.size += len(u.text)
	u.path, u.section, u.block = p.path, p.section, p.block
	p.units = append(p.units, u)
}

var (
	shortcode  = regexp.MustCompile(`\{\{[<%].*?[>%]\}\}`)
	htmlTag    = regexp.MustCompile(`</?[a-zA-Z][^<>]*>|<!--.*?-->`)
	imageMark  = regexp.MustCompile(`!\[([^\]]*)\]\([^)]*\)`)
	linkMark   = regexp.MustCompile(`\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)`)
	autoLink   = regexp.MustCompile(`<((?:https?://|mailto:)[^<>\s]+)>`)
	noteMark   = regexp.MustCompile(`\s*\[\^?[0-9]+(?:\s*[,–-]\s*[0-9]+)*\]`)
	strongMark = regexp.MustCompile(`\*\*|__|~~|\{[:#.][^}]*\}`)
	emphasis   = regexp.MustCompile(`(^|[^\w*])[*_]([^\s*_](?:[^*_]*[^\s*_])?)[*_]($|[^\w*])`)
	shield     = regexp.MustCompile(`\\([!-/:-@\[-` + "`" + `{-~])`)
)

// plainText strips what Markdown and HTML put around words. Code spans stay.
func plainText(s string) string {
	var b strings.Builder
	at := 0
	for _, m := range codeSpan.FindAllStringIndex(s, -1) {
		b.WriteString(strip(s[at:m[0]]))
		b.WriteString(s[m[0]:m[1]])
		at = m[1]
	}
	b.WriteString(strip(s[at:]))
	return strings.Join(strings.Fields(b.String()), " ")
}

func strip(s string) string {
	s = shortcode.ReplaceAllString(s, " ")
	s = imageMark.ReplaceAllString(s, " ")
	s = linkMark.ReplaceAllString(s, "$1")
	s = autoLink.ReplaceAllString(s, "$1")
	s = htmlTag.ReplaceAllString(s, " ")
	s = noteMark.ReplaceAllString(s, "")
	s = strongMark.ReplaceAllString(s, "")
	s = emphasis.ReplaceAllString(s, "$1$2$3")
	s = shield.ReplaceAllString(s, "$1")
	return html.UnescapeString(s)
}

var abbreviations = wordSet(`mr mrs ms dr prof sr jr st no vs etc inc ltd co corp dept gov gen sen rep e.g i.e eg ie
	u.s u.k a.m p.m jan feb mar apr jun jul aug sep sept oct nov dec fig approx est al ed vol pp ph.d d.c art núm pág sra`)

// splitSentences cuts text after . ! ? (and their kin in other scripts) where a
// new sentence plausibly starts.
func splitSentences(text string) []string {
	var out []string
	start := 0
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
		case '.', '!', '?', '؟', '…':
			for end < len(text) && strings.ContainsRune(`"'”’)]»`, firstRune(text[end:])) {
				end += utf8.RuneLen(firstRune(text[end:]))
			}
			if end < len(text) && text[end] != ' ' || !startsSentence(text[end:]) || r == '.' && abbreviated(text[start:i]) {
				continue
			}
		default:
			continue
		}
		if end <= start {
			continue
		}
		if s := strings.TrimSpace(text[start:end]); s != "" {
			out = append(out, s)
		}
		start = end
	}
	if s := strings.TrimSpace(text[start:]); s != "" {
		out = append(out, s)
	}
	return out
}

func startsSentence(rest string) bool {
	r := firstRune(strings.TrimLeft(rest, " \"'“‘(«¿¡[*-–—"))
	return r == utf8.RuneError || !unicode.IsLower(r)
}

func abbreviated(before string) bool {
	word := before[strings.LastIndexAny(before, " (\"“")+1:]
	_, known := abbreviations[strings.ToLower(word)]
	initial := utf8.RuneCountInString(word) == 1 && unicode.IsUpper(firstRune(word))
	return known || initial
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
