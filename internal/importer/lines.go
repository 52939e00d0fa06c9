package importer

import (
	"regexp"
	"strings"
)

// eachLine hands the lines of a text to yield, and code blocks whole.
func eachLine(s string, yield func(line string, code bool)) {
	for at := 0; at < len(s); {
		end := lineEnd(s, at)
		i := at + len(s[at:end]) - len(strings.TrimLeft(s[at:end], " \t>-*+0123456789.)"))
		if i < end && (s[i] == '`' || s[i] == '~') && runLength(s, i) >= 3 {
			if _, ok := fencePrefix(s, i); ok {
				if after := codeEnd(s, i); after >= end {
					yield(s[at:after], true)
					at = after
					continue
				}
			}
		}
		yield(s[at:end], false)
		at = end
	}
}

var esm = regexp.MustCompile(`^(?:import\s+(?:['"{*]|[\w$]+[\s,]+(?:from\b|\{|\*))|export\s+(?:const|let|var|function|async|default|class|\{|\*))`)

// dropESM removes the import and export statements of an MDX file.
func dropESM(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	start, inside, depth := true, false, 0
	eachLine(s, func(line string, code bool) {
		blank := strings.TrimSpace(line) == ""
		if !code && !inside && start && esm.MatchString(line) {
			inside, depth = true, 0
		}
		if inside && !code {
			depth += strings.Count(line, "{") + strings.Count(line, "(") + strings.Count(line, "[") -
				strings.Count(line, "}") - strings.Count(line, ")") - strings.Count(line, "]")
			if !strings.HasPrefix(line, "#") && (!blank || depth > 0) { // a heading is no program
				return
			}
		}
		inside, start = false, blank || code
		b.WriteString(line)
	})
	return b.String()
}

var (
	admonition = regexp.MustCompile(`^[ \t]*:{3,}[ \t]*(?:[A-Za-z][\w-]*)?(?:\[(.*)\]|[ \t]+([^{\n]*))?(?:\{.*\})?[ \t]*\n?$`)
	headingID  = regexp.MustCompile(`^( {0,3}#{1,6} .*?)[ \t]*\{[#.:][^{}]*\}[ \t]*\n?$`)
	attributes = regexp.MustCompile(`^[ \t]*\{:.*\}[ \t]*\n?$`)
)

// tidy drops the marks that only certain renderers know and surplus blank lines.
func tidy(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	blanks := 0
	write := func(line string) {
		if strings.TrimSpace(line) == "" {
			blanks++
			return
		}
		if blanks > 0 && b.Len() > 0 {
			b.WriteByte('\n')
		}
		blanks = 0
		b.WriteString(line)
	}
	eachLine(s, func(line string, code bool) {
		switch {
		case code:
			write(line)
		case strings.HasPrefix(strings.TrimLeft(line, " \t"), ":::") && admonition.MatchString(line):
			blanks++
			found := admonition.FindStringSubmatch(line)
			if title := strings.TrimSpace(found[1] + found[2]); title != "" {
				write(strings.Trim(titleLine(title), "\n") + "\n")
			}
			blanks++
		case attributes.MatchString(line):
		default:
			if strings.Contains(line, "{") {
				if found := headingID.FindStringSubmatch(line); found != nil {
					line = found[1] + "\n"
				}
			}
			write(line)
		}
	})
	return strings.TrimRight(b.String(), "\n")
}

// fromMarkdown turns the body of a file, as static site generators read it, into
// Markdown that any renderer can show.
func fromMarkdown(body string, kind format, l pageLinks, report func(offset int, text string)) string {
	if kind.mdx {
		body = dropESM(body)
	}
	body = expandShortcodes(body, l, kind.liquid, report)
	body = convertHTML(body, kind.mdx)
	return tidy(rewriteLinks(body, l))
}

// A format says what else than Markdown a file may hold.
type format struct {
	mdx    bool
	liquid bool
}
