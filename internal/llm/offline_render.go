package llm

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// render writes quotes as Markdown, each with its marker.
func render(r ranking, quotes []quote) string {
	var b strings.Builder
	shown := ""
	for _, q := range quotes {
		p := r.passages[q.passage]
		if h := neededHeading(r, q); h != "" && h != shown {
			shown = h
			b.WriteString("**" + quoted(h) + "**\n\n")
		}
		marker := " [" + strconv.Itoa(p.Number) + "]"
		long := listWords(p.units, q.units)
		for k, i := range q.units {
			u := p.units[i]
			switch {
			case u.kind == itemUnit || u.isTitle && len(q.units) > 1 && allTitles(p, q):
				b.WriteString(itemMark(u) + quoted(shorten(u.text, long)))
			case u.kind == rowUnit:
				if k == 0 || p.units[q.units[k-1]].block != u.block {
					b.WriteString(tableHead(u))
				}
				last := k == len(q.units)-1 || p.units[q.units[k+1]].block != u.block
				b.WriteString(tableRow(u, last, marker) + "\n")
				if last {
					b.WriteString("\n")
				}
				continue
			case u.isTitle:
				b.WriteString("**" + quoted(u.text) + "**")
			default:
				b.WriteString(lineStart(quoted(cut(u.text, maxUnitWords))))
			}
			if k == len(q.units)-1 {
				b.WriteString(marker + "\n\n")
				break
			}
			next := p.units[q.units[k+1]]
			switch {
			case itemLike(u, p, q) && itemLike(next, p, q) && u.block == next.block || u.isTitle && next.isTitle:
				b.WriteString("\n")
			case u.kind == sentenceUnit && next.kind == sentenceUnit && u.block == next.block:
				if r, _ := utf8.DecodeLastRuneInString(u.text); !strings.ContainsRune("。！？", r) {
					b.WriteString(" ")
				}
			case strings.HasSuffix(u.text, ":"):
				b.WriteString("\n\n")
			default:
				b.WriteString(marker + "\n\n")
			}
		}
	}
	return strings.TrimSpace(b.String())
}

func allTitles(p passage, q quote) bool {
	return !slices.ContainsFunc(q.units, func(i int) bool { return !p.units[i].isTitle })
}

func itemLike(u unit, p passage, q quote) bool {
	return u.kind == itemUnit || u.kind == rowUnit || u.isTitle && allTitles(p, q)
}

// neededHeading is the heading above a quote when it holds words of the question
// that the quote lacks, or when a list has no other lead-in.
func neededHeading(r ranking, q quote) string {
	p := r.passages[q.passage]
	u := p.units[q.units[0]]
	if len(u.path) == 0 || u.isTitle {
		return ""
	}
	h := u.path[len(u.path)-1]
	if u.kind != sentenceUnit || r.question.cue == cueAmount && hasDigit.MatchString(h) {
		return h
	}
	for t, term := range r.question.terms {
		own := 0.0
		for _, i := range q.units {
			own = max(own, r.units[r.first[q.passage]+i].own[t])
		}
		if own < 0.5 && !term.frame && r.units[r.first[q.passage]+q.units[0]].context[t] >= 0.5 {
			return h
		}
	}
	return ""
}

func itemMark(u unit) string {
	if u.kind == itemUnit && len(u.marker) > 1 {
		return u.marker + " "
	}
	return "- "
}

// tableHead writes the header of a row's table.
func tableHead(u unit) string {
	heads := cells(u.header)
	return "| " + strings.Join(heads, " | ") + " |\n|" + strings.Repeat(" --- |", len(heads)) + "\n"
}

// tableRow writes a row under its header, the marker in the last cell of the last
// row.
func tableRow(u unit, last bool, marker string) string {
	row := cells(u.text)
	for len(row) < len(cells(u.header)) {
		row = append(row, "")
	}
	row = row[:len(cells(u.header))]
	if last {
		row[len(row)-1] = strings.TrimSpace(row[len(row)-1] + marker)
	}
	return "| " + strings.Join(row, " | ") + " |"
}

// cells are the cells of a row as Markdown.
func cells(row string) []string {
	out := strings.Split(row, cellBorder)
	for i, c := range out {
		out[i] = strings.ReplaceAll(quoted(c), "|", `\|`)
	}
	return out
}

// shorten cuts an item of a list of total words that is too long to read.
func shorten(text string, total int) string {
	if total <= listBudget {
		return cut(text, maxUnitWords)
	}
	first := splitSentences(text)[0]
	return cut(first, maxItemWords)
}

// cut keeps the first n words.
func cut(text string, n int) string {
	words := strings.Fields(text)
	if len(words) <= n {
		return text
	}
	return strings.Join(words[:n], " ") + " …"
}

var (
	markdownSign = regexp.MustCompile("[\\\\*<\\[\\]`]|(?:^|[^\\pL\\pN])_|_(?:$|[^\\pL\\pN])")
	lineOpener   = regexp.MustCompile(`^(?:[#>+|~=-]|[0-9]+[.)] )`)
	codeSpan     = regexp.MustCompile("`[^`]+`")
)

// quoted makes plain text stand for itself in Markdown. Code spans stay.
func quoted(text string) string {
	var b strings.Builder
	at := 0
	for _, m := range append(codeSpan.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		b.WriteString(markdownSign.ReplaceAllStringFunc(text[at:m[0]], func(s string) string {
			if i := strings.IndexByte(s, '_'); i >= 0 {
				return s[:i] + `\` + s[i:]
			}
			return `\` + s
		}))
		b.WriteString(text[m[0]:m[1]])
		at = m[1]
	}
	return b.String()
}

// lineStart keeps a sentence at the start of a line from turning into a heading,
// a list or a quotation.
func lineStart(text string) string {
	m := lineOpener.FindString(text)
	if m == "" {
		return text
	}
	if i := strings.IndexAny(m, ".)"); i > 0 {
		return m[:i] + `\` + m[i:] + text[len(m):]
	}
	return `\` + text
}
