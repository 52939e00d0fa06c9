package content

import (
	"html"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/microcosm-cc/bluemonday"

	"docent/internal/config"
	"docent/internal/markdown"
)

// HTML makes safe HTML of a text in a format; what is in a format that is gone
// is shown as plain text. Headings are those of Markdown, and words what its HTML
// needs besides the text.
func (t *Types) HTML(format, text string, words markdown.Labels) (safe string, headings []markdown.Heading) {
	f, _ := t.Format(format)
	switch f.Filter {
	case config.FilterMarkdown:
		return markdown.Page(text, words)
	case config.FilterRestrictedHTML:
		return restrictedHTML().Sanitize(text), nil
	case config.FilterFullHTML:
		return fullHTML().Sanitize(text), nil
	}
	return plainHTML(text), nil
}

// Plain is a text in a format without its markup.
func (t *Types) Plain(format, text string) string {
	f, _ := t.Format(format)
	switch f.Filter {
	case config.FilterMarkdown:
		return markdown.PlainText(text)
	case config.FilterRestrictedHTML, config.FilterFullHTML:
		spaced := blockEnd.ReplaceAllString(text, "$0\n")
		return strings.TrimSpace(html.UnescapeString(noHTML().Sanitize(spaced)))
	}
	return text
}

// blockEnd finds where text of HTML ends a line.
var blockEnd = regexp.MustCompile(`(?i)</(?:p|div|h[1-6]|li|tr|table|blockquote|section|figure|dd|dt)>|<br[^>]*>`)

// plainHTML shows text as it is: blank lines part paragraphs, others stay lines.
func plainHTML(text string) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if paragraph = strings.Trim(paragraph, "\n"); strings.TrimSpace(paragraph) == "" {
			continue
		}
		b.WriteString(`<p dir="auto">`)
		b.WriteString(strings.ReplaceAll(html.EscapeString(paragraph), "\n", "<br>"))
		b.WriteString("</p>\n")
	}
	return b.String()
}

var (
	noHTML = sync.OnceValue(bluemonday.StrictPolicy)

	ownAddress = regexp.MustCompile(`^/(?:[^/\\]|$)`)
	classNames = regexp.MustCompile(`^[a-zA-Z0-9_ -]{1,200}$`)
	small      = regexp.MustCompile(`^[0-9]{1,4}$`)
	languages  = regexp.MustCompile(`^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$`)
)

// restrictedHTML lets through what Markdown can say, and a little more. The
// page's title is its only h1.
var restrictedHTML = sync.OnceValue(restricted)

func restricted() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "strong", "b", "em", "i", "del", "s", "sub", "sup", "code",
		"pre", "kbd", "mark", "blockquote", "ul", "li", "dl", "dt", "dd", "abbr", "table", "caption", "thead", "tbody", "tfoot", "tr")
	p.AllowAttrs("title").OnElements("abbr")
	p.AllowAttrs("start").Matching(small).OnElements("ol")
	p.AllowElements("ol", "th", "td")
	p.AllowAttrs("colspan", "rowspan").Matching(small).OnElements("th", "td")
	p.AllowAttrs("scope").Matching(regexp.MustCompile(`^(?:row|col)(?:group)?$`)).OnElements("th")
	p.AllowAttrs("dir").Matching(bluemonday.Direction).Globally()
	p.AllowAttrs("lang").Matching(languages).Globally()
	p.AllowURLSchemes("http", "https", "mailto", "tel")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.AllowAttrs("href").OnElements("a")
	return p
}

// fullHTML also lets through classes and the images of this site.
var fullHTML = sync.OnceValue(func() *bluemonday.Policy {
	p := restricted()
	p.AllowElements("div", "span", "section", "article", "aside", "figure", "figcaption", "details", "summary", "small", "q", "cite",
		"time", "ins", "u", "var", "samp", "colgroup", "col", "header", "footer")
	p.AllowAttrs("class").Matching(classNames).Globally()
	p.AllowAttrs("datetime").Matching(bluemonday.ISO8601).OnElements("time")
	p.AllowAttrs("open").Matching(regexp.MustCompile(`^(?:open)?$`)).OnElements("details")
	p.AllowAttrs("src").Matching(ownAddress).OnElements("img")
	p.AllowAttrs("alt").OnElements("img")
	p.AllowAttrs("width", "height").Matching(small).OnElements("img")
	p.AllowAttrs("loading").Matching(regexp.MustCompile(`^lazy$`)).OnElements("img")
	return p
})

// excerpt cuts plain text between words, at a number of characters.
func excerpt(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	cut := string([]rune(text)[:limit])
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:–-") + "…"
}
