package markdown

import (
	"regexp"
	"strings"
	"testing"

	"docent/internal/benchtest"
)

var endTags = regexp.MustCompile(`(?:</\w+>)+$`)

// growths renders a text rune by rune and returns how often a block grew at its
// end, and how often it changed in another way: then all of it is sent again.
func growths(src string) (grew, replaced int) {
	s := NewStream(testOptions())
	var before []Block
	compare := func(now []Block) {
		for i := range min(len(before), len(now)) {
			switch {
			case before[i].HTML == now[i].HTML:
			case strings.HasPrefix(now[i].HTML, endTags.ReplaceAllString(before[i].HTML, "")):
				grew++
			default:
				replaced++
			}
		}
		before = now
	}
	for _, r := range src {
		s.Write(string(r))
		compare(joinedBlocks(s.Render(false)))
	}
	compare(joinedBlocks(s.Render(true)))
	return grew, replaced
}

func TestBlocksGrowAtTheirEnd(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		replaced  int
	}{
		{"paragraph", "One **two** three [1], [four](/x) and `five`.\nSix.", 0},
		{"list", "- one\n- two **three**\n- four [1]\n\n- five", 0},
		{"nested list", "1. one\n   - two\n   - three\n     1. four\n2. five\n   more", 0},
		{"table", "| a | b |\n|---|--:|\n| 1 | 2 |\n| 3 [1] | 4 |\n| `5` | **6** |\n", 0},
		{"table without outer pipes, once a paragraph", "a | b\n---|---\nLoan | 2 [1]\nCopy | 4 € each\n", 1},
		{"table in a quote", "> | a | b |\n> |---|---|\n> | 1 | 2 |\n> | 3 | 4 |\n> | 5 | 6 |\n", 0},
		{"table in a list", "1.  one\n\n    | a | b |\n    |---|---|\n    | 1 | 2 |\n    | 3 | 4 |\n", 0},
		{"table below a line of text", "Prices:\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n", 0},
		{"quote", "> one\n> two\n>\n> - three\n> - four\n", 0},
		{"code, once for its colours", "```go\nx := 1\n\ny := 2\n```\n", 1},
		{"code in a list", "- one\n\n  ```go\n  x := 1\n  ```\n- two\n\nthree", 1},
		{"code without colours", "    one\n    two\n", 1},
	} {
		if grew, replaced := growths(tt.src); replaced != tt.replaced || grew < 3 {
			t.Errorf("%s: grew %d times, replaced %d times, want %d", tt.name, grew, replaced, tt.replaced)
		}
	}
	if grew, replaced := growths(benchtest.Answer(6 << 10)); replaced*20 > grew {
		t.Errorf("an ordinary answer grew %d times and was replaced %d times", grew, replaced)
	}
}
