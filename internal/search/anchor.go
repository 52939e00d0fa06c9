package search

import (
	"strings"
	"unicode"

	"docent/internal/markdown"
)

// anchors are the ids that a body's headings have on its page, by where the
// heading starts in the body. The page decides what is a heading: one that it does
// not show has no id.
func anchors(body string, parts []block) map[int]string {
	out := map[int]string{}
	var shown []markdown.Heading
	for _, b := range parts {
		if b.kind != headingBlock {
			continue
		}
		if shown == nil {
			if _, shown = markdown.Page(body, markdown.Labels{}); len(shown) == 0 {
				break
			}
		}
		text := letters(plain(b.text))
		for i, h := range shown {
			if letters(h.Text) == text {
				out[b.start] = h.ID
				shown = shown[i+1:]
				break
			}
		}
		if len(shown) == 0 {
			break
		}
	}
	return out
}

// letters is what two renderings of one heading have in common.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
