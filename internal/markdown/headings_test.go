package markdown

import (
	"regexp"
	"strings"
	"testing"
)

// The headings of an answer begin right below what it stands under, whatever level
// the model begins with, and leave no level out.
func TestHeadingLevels(t *testing.T) {
	level := regexp.MustCompile(`<h(\d)`)
	for src, want := range map[string]string{
		"# A\n\n## B\n\n#### C\n\n## D\n":           "3 4 5 4",
		"## A\n\n## B\n\n### C\n":                   "3 3 4",
		"### A\n\n#### B\n\n## C\n\n###### D\n":     "3 4 3 4",
		"# A\n\n## B\n\n### C\n\n#### D\n\n##### E": "3 4 5 6 6",
		"text\n\n> ### A\n\n### B\n":                "3 3",
	} {
		stream := NewStream(Options{})
		for _, r := range src { // as it comes from a model, letter by letter
			stream.Write(string(r))
			stream.Render(false)
		}
		var html strings.Builder
		for _, b := range joinedBlocks(stream.Render(true)) {
			html.WriteString(b.HTML)
		}
		var levels []string
		for _, m := range level.FindAllStringSubmatch(html.String(), -1) {
			levels = append(levels, m[1])
		}
		if got := strings.Join(levels, " "); got != want {
			t.Errorf("%q has headings of the levels %s, want %s", src, got, want)
		}
	}
}
