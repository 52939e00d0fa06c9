package markdown

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"docent/internal/benchtest"
)

var (
	halfMarker = regexp.MustCompile(`[\[【［]+\^?[0-9٠-٩]|\[(?i:so)|†`)
	tagName    = regexp.MustCompile(`^<(\w+)(?: id="b(\d+)")?`)
)

// frameChecker returns a check of every frame of one stream: what a reader
// must never see for a moment.
func frameChecker(t *testing.T, src string, replacement bool) func(string) {
	kinds := map[string][]string{}
	return func(frame string) {
		t.Helper()
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(frame))
		if err != nil {
			t.Fatal(err)
		}
		if !replacement && strings.Contains(frame, "\ufffd") {
			t.Fatalf("replacement character in a frame of %q: %s", src, frame)
		}
		text := doc.Find("body").Text()
		if strings.Contains(text, "``") {
			t.Fatalf("backticks in a frame of %q: %s", src, frame)
		}
		doc.Find("code").Remove()
		if m := halfMarker.FindString(doc.Find("body").Text()); m != "" {
			t.Fatalf("half marker %q in a frame of %q: %s", m, src, frame)
		}
		for _, block := range strings.SplitAfter(frame, "\n<") {
			m := tagName.FindStringSubmatch("<" + strings.TrimPrefix(block, "<"))
			if m == nil || m[2] == "" {
				continue
			}
			if seen := kinds[m[2]]; len(seen) == 0 || seen[len(seen)-1] != m[1] {
				if kinds[m[2]] = append(seen, m[1]); len(kinds[m[2]]) > 2 {
					t.Fatalf("block %s of %q was %v", m[2], src, kinds[m[2]])
				}
			}
		}
	}
}

func TestFrames(t *testing.T) {
	for _, f := range fixtures {
		switch f.name {
		case "escaped", "placeholder as link", "controls": // their brackets are text
			continue
		}
		for _, parts := range small(f.src) {
			replay(t, testOptions(), parts, frameChecker(t, f.src, strings.Contains(f.want, "\ufffd")))
		}
	}
}

// composed are texts of the parts that change most while they arrive.
func composed(rng *rand.Rand) string {
	parts := []string{
		"Plain **bold** text [1][2] and `code`.\n\n", "A line\nand another.\n\n", "### Title [3]\n\n", "Title\n-----\n\n",
		"```go title=\"x\"\na := b[1] // `c`\n```\n\n", "~~~ c++ {1,3}\nint a;\n\n~~~\n", "```\n\n```\n\n",
		"| a | b |\n|---|:-:|\n| 1 [4] | `2` |\n| **3** | |\n\n", "Prices:\n| a | b | c |\n|:--|---|--:|\n| 1 | 2 | 3 |\n", "Item | Cost\n--- | ---\nLoan of one | 2 € [5]\n\n",
		"- one\n  - two **x**\n    - three [6]\n- four\n\n", "1. one\n\n   ```sh\n   ls -l\n   ```\n2. two\n   | a | b |\n   |---|---|\n   | 1 | 2 |\n\n", "* a\n* b\n\n",
		"> quoted\n> | a | b |\n> |---|---|\n> | 1 | 2 |\n\n", "***\n\n", "**重要（注）：**请看【7】。**「引用」**と\n\n", "See 👨‍👩‍👧 [opening hours](/hours) & [8].\n\n",
	}
	var b strings.Builder
	for range 2 + rng.IntN(5) {
		b.WriteString(parts[rng.IntN(len(parts))])
	}
	return b.String()
}

func TestFramesOfComposedTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for range 120 {
		src := composed(rng)
		blocks, _ := Render(src, testOptions())
		for _, parts := range small(src) {
			s := replay(t, testOptions(), parts, frameChecker(t, src, false))
			if got, want := joined(joinedBlocks(s.Render(true))), joined(blocks); got != want {
				t.Fatalf("%q\ngot  %swant %s", src, got, want)
			}
		}
	}
}

func TestFenceAppearsOnceWithItsLanguage(t *testing.T) {
	for _, frame := range frames("Here:\n\n```go\nx := 1\n```\n\nDone.") {
		if strings.Contains(frame, "`") {
			t.Errorf("backtick in %s", frame)
		}
		if strings.Contains(frame, "<pre") && !strings.Contains(frame, "language-go") {
			t.Errorf("fence without its language: %s", frame)
		}
	}
}

func TestTableGrowsRowByRow(t *testing.T) {
	rows := 0
	for _, frame := range frames("Prices:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nend") {
		if strings.Contains(strings.ReplaceAll(frame, "</table>", ""), "|") {
			t.Errorf("table source in %s", frame)
		}
		now := strings.Count(frame, "<tr>")
		if strings.Count(frame, "<td") != 2*max(0, now-1) || now < rows || now > rows+1 {
			t.Errorf("%d rows after %d: %s", now, rows, frame)
		}
		rows = now
	}
	if rows != 3 {
		t.Errorf("%d rows", rows)
	}
}

func TestModelSourceListIsNeverShown(t *testing.T) {
	hidden := regexp.MustCompile(`files/|<hr|>(S|R|Q)`)
	for _, src := range []string{"A [6].\n\nSources:\n1. files/a.md\n", "A.\n\n**References**\n\n- files/a.md", "A.\n\n---\n\n### Quellen\n* files/a.md", "A [1].\n\n[1]: files/a.md\n[2]: files/a.md"} {
		for _, frame := range frames(src) {
			if hidden.MatchString(frame) {
				t.Errorf("list of sources in a frame of %q: %s", src, frame)
			}
		}
	}
}

func frames(src string) []string {
	s := NewStream(testOptions())
	var all []string
	for _, r := range src {
		s.Write(string(r))
		all = append(all, joined(joinedBlocks(s.Render(false))))
	}
	return append(all, joined(joinedBlocks(s.Render(true))))
}

// A list of ten thousand numbers, one rune at a time: the time must be linear,
// and nothing may be shown before the bracket closes.
func TestLongNumberList(t *testing.T) {
	var list strings.Builder
	list.WriteString("x [1")
	for i := 2; i <= 10000; i++ {
		list.WriteString(", 2")
	}
	cost := func(n int) time.Duration {
		s := NewStream(testOptions())
		start := time.Now()
		for _, r := range list.String()[:n] {
			s.Write(string(r))
			if tail := s.Render(false).Tail; strings.ContainsAny(joined(tail), "[,") {
				t.Fatalf("unfinished list shown: %.100s", joined(tail))
			}
		}
		elapsed := time.Since(start)
		s.Write("] y")
		if got := plainBlocks(joinedBlocks(s.Render(true))); n == list.Len() && got != sups("<p>x {1}{2} y</p>") {
			t.Errorf("got %.200s", got)
		}
		return elapsed
	}
	for try := 1; ; try++ { // another process may take the machine for a while
		small, large := cost(list.Len()/8), cost(list.Len())
		if large < 8*4*small {
			return
		}
		if try == 3 {
			t.Fatalf("%d runes took %v, %d took %v", list.Len()/8, small, list.Len(), large)
		}
	}
}

func TestSpansDoNotFlash(t *testing.T) {
	for _, frame := range frames("Use **bold text** and `code` or [opening hours](/hours), ![a plan](/p.png) & more &amp; so<br>on.") {
		if text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(frame, ""); strings.ContainsAny(text, "*`[](") || strings.Contains(text, "&lt;") {
			t.Errorf("markup in %s", frame)
		}
	}
}

func TestTextWhileStreaming(t *testing.T) {
	s := NewStream(testOptions())
	for _, step := range []struct{ delta, text string }{
		{"Costs rise [source] ", "Costs rise"}, {"a lot. Sure [3]", "Costs rise a lot. Sure [3]"}, {".\n\nSources:\n", "Costs rise a lot. Sure [3].\n\n"},
		{"- files/a.md", "Costs rise a lot. Sure [3].\n\n"}, {"\n\nMore", "Costs rise a lot. Sure [3].\n\nSources:\n- files/a.md\n\nMore"},
	} {
		s.Write(step.delta)
		s.Render(false)
		if got := s.Text(); got != step.text && got != strings.TrimSuffix(step.text, "\n") {
			t.Errorf("after %q: %q, want %q", step.delta, got, step.text)
		}
	}
	s.Render(true)
	s.Write("ignored")
	if got := joined(joinedBlocks(s.Render(true))); strings.Contains(got, "ignored") {
		t.Error(got)
	}
}

func TestEmptyText(t *testing.T) {
	for _, src := range []string{"", "\n \n", "\x00", "[source]", "[12]"} {
		s := NewStream(testOptions())
		s.Write(src)
		if blocks := joinedBlocks(s.Render(true)); len(blocks) != 0 {
			t.Errorf("%q: %v", src, blocks)
		}
	}
}

func TestStreamsAreIndependent(t *testing.T) {
	src := benchtest.Answer(4 << 10)
	want, _ := Render(src, testOptions())
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			s := NewStream(testOptions())
			var kept [][]Block
			for i := 0; i < len(src); i += 64 {
				s.Write(src[i:min(i+64, len(src))])
				b := s.Render(false)
				settled, tail := b.Settled, b.Tail
				kept = append(kept, settled, tail)
			}
			if got := joinedBlocks(s.Render(true)); joined(got) != joined(want) {
				t.Errorf("got %d blocks, want %d", len(got), len(want))
			}
			for _, blocks := range kept[:len(kept)/2] {
				_ = joined(blocks)
			}
		})
	}
	group.Wait()
}

// An ordinary answer only ever grows: no block changes its element and no
// text is taken back, whatever the pace.
func TestOrdinaryAnswerOnlyGrows(t *testing.T) {
	src := benchtest.Answer(8 << 10)
	tags := regexp.MustCompile(`<[^>]*>`)
	s := NewStream(testOptions())
	at, before := 0, ""
	for i := 0; i < len(src); i += 4 {
		s.Write(src[i:min(i+4, len(src))])
		b := s.Render(false)
		settled, tail := b.Settled, b.Tail
		if len(tail) != 1 {
			before = ""
			continue
		}
		now := tagName.FindString(tail[0].HTML) + tags.ReplaceAllString(tail[0].HTML, "")
		if at == len(settled) && !strings.HasPrefix(now, before) {
			t.Fatalf("%q became %q", before, now)
		}
		at, before = len(settled), now
	}
}
