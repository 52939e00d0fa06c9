package search

import "strings"

// anchors are the ids of a body's headings on its page, by offset.
func anchors(body string) map[int]string {
	out := map[int]string{}
	for _, b := range blocks(body) {
		if b.kind == headingBlock {
			out[b.start] = strings.ReplaceAll(strings.ToLower(plain(b.text)), " ", "-")
		}
	}
	return out
}
