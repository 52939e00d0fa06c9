package search

import (
	"html"
	"regexp"
	"strings"
)

var (
	imagePattern   = regexp.MustCompile(`!\[([^\]]*)\]\([^)]*\)`)
	linkPattern    = regexp.MustCompile(`\[([^\]]*)\]\((?:[^()]|\([^()]*\))*\)`)
	refLinkPattern = regexp.MustCompile(`\[([^\]]+)\]\[[^\]]*\]`)
	refDefPattern  = regexp.MustCompile(`(?m)^ {0,3}\[[^\]]+\]:[ \t]+\S.*$`)
	commentPattern = regexp.MustCompile(`(?s)<!--.*?-->`)
	tagPattern     = regexp.MustCompile(`(?s)</?[a-zA-Z][^<>]*>`)
	linePrefix     = regexp.MustCompile(`(?m)^[ \t]*(?:>[ \t]?|#{1,6}[ \t]+|[-*+][ \t]+)+`)
)

// marks are the signs of emphasis and code, and the bars of tables.
var marks = strings.NewReplacer("**", "", "__", "", "`", "", "~~", "", "*", "", "|", " ", "\\", "")

// plain is the words of a piece of Markdown: no link targets, tags, marks or
// entities. Its lines stay lines.
func plain(text string) string {
	if strings.Contains(text, "](") {
		text = imagePattern.ReplaceAllString(text, "$1")
		text = linkPattern.ReplaceAllString(text, "$1")
	}
	if strings.Contains(text, "][") {
		text = refLinkPattern.ReplaceAllString(text, "$1")
	}
	if strings.Contains(text, "]:") {
		text = refDefPattern.ReplaceAllString(text, "")
	}
	if strings.Contains(text, "<") {
		text = commentPattern.ReplaceAllString(text, " ")
		text = tagPattern.ReplaceAllString(text, " ")
	}
	text = linePrefix.ReplaceAllString(text, "")
	text = marks.Replace(text)
	if strings.Contains(text, "&") {
		text = html.UnescapeString(text)
	}
	return strings.TrimSpace(text)
}
