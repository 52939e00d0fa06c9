package llm

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Source is a passage shown to a model under the number it is cited by.
//
// Where is the passage's place inside its page, usually the headings above it.
// Lang is a language code and Date an ISO date; either may be empty.
type Source struct {
	Number int
	Title  string
	Where  string
	Lang   string
	Date   string
	Text   string
}

const sourceEnd = "</source>"

var (
	sourceStart = regexp.MustCompile(`(?m)^<source number="([0-9]{1,9})" title="([^"\n]*)" where="([^"\n]*)" lang="([^"\n]*)" date="([^"\n]*)">\n`)
	fence       = regexp.MustCompile(`(?i)<(\\*)(/?source)`)
	fenceShield = regexp.MustCompile(`(?i)<\\(\\*)(/?source)`)
)

// FormatSources writes sources for a prompt or a tool result, each between a
// numbered opening line and a closing line. Text that looks like such a line is
// shielded by a backslash, so content can neither end its fence nor open one.
func FormatSources(sources []Source) string {
	var b strings.Builder
	for i, s := range sources {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(`<source number="` + strconv.Itoa(s.Number))
		for _, a := range [...][2]string{{"title", s.Title}, {"where", s.Where}, {"lang", s.Lang}, {"date", s.Date}} {
			b.WriteString(`" ` + a[0] + `="` + html.EscapeString(oneLine(a[1])))
		}
		b.WriteString("\">\n")
		b.WriteString(fence.ReplaceAllString(manyLines(s.Text), `<\$1$2`))
		b.WriteString("\n" + sourceEnd + "\n")
	}
	return b.String()
}

// ParseSources reads back what [FormatSources] wrote, wherever it stands in a
// prompt. Anything else in the prompt is skipped.
func ParseSources(prompt string) []Source {
	var sources []Source
	for {
		m := sourceStart.FindStringSubmatchIndex(prompt)
		if m == nil {
			return sources
		}
		part := func(i int) string { return prompt[m[2*i]:m[2*i+1]] }
		body := prompt[m[1]:]
		text, rest, ok := strings.Cut(body, "\n"+sourceEnd)
		if !ok {
			return sources
		}
		number, err := strconv.Atoi(part(1))
		if err != nil {
			return sources
		}
		sources = append(sources, Source{
			Number: number,
			Title:  html.UnescapeString(part(2)),
			Where:  html.UnescapeString(part(3)),
			Lang:   html.UnescapeString(part(4)),
			Date:   html.UnescapeString(part(5)),
			Text:   fenceShield.ReplaceAllString(text, `<$1$2`),
		})
		prompt = rest
	}
}

// oneLine makes s fit an attribute: white space and controls become one space.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// manyLines makes s fit a body: valid UTF-8, plain newlines, no controls.
func manyLines(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return ' '
		}
		return r
	}, s)
}
