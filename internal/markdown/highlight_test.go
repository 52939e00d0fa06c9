package markdown

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/alecthomas/chroma/v2"
)

func codeOf(t testing.TB, html string) *goquery.Selection {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Find(".code")
}

// Code has its language from its first frame on, and gets its colours and its
// button in one frame, the one that settles it.
func TestCodeGetsColoursWhenItIsComplete(t *testing.T) {
	for _, src := range []string{"```go\nx := 1 // <b>\n```\n\nDone.", "~~~~ golang main.go\nx := 1 // <b>\n~~~~\n", "```go:main.go\nx := 1 // <b>", "- one\n  ```go\n  x := 1 // <b>\n  ```\n- two"} {
		was := map[bool]int{}
		s := NewStream(testOptions())
		for _, delta := range append(strings.Split(src, ""), "") {
			s.Write(delta)
			blocks := s.Render(delta == "")
			for i := range blocks.Len() {
				b, settled := blocks.At(i), i < len(blocks.Settled)
				code := codeOf(t, b.HTML)
				if code.Length() == 0 {
					continue
				}
				if got := code.Find(".code__bar span").Text(); got != "Go" {
					t.Errorf("%q: the bar says %q", src, got)
				}
				if got, _ := code.Find("pre[tabindex='0'][role=group]").Attr("aria-label"); got != "Code, Go" {
					t.Errorf("%q: the box is called %q", src, got)
				}
				if n := code.Find("button[data-docent-copy-code]").Length(); (n == 1) != settled || (code.Find("code span").Length() > 0) != settled {
					t.Errorf("%q: settled %v, %d buttons: %s", src, settled, n, b.HTML)
				}
				was[settled]++
				if settled {
					if got := code.Find("code").Text(); got != "x := 1 // <b>" {
						t.Errorf("%q: code is %q", src, got)
					}
				}
			}
		}
		if was[false] == 0 || was[true] == 0 {
			t.Errorf("%q: %v", src, was)
		}
	}
}

// A fence that ends is settled at once, not only when a block follows.
func TestClosedFenceIsSettled(t *testing.T) {
	s := NewStream(testOptions())
	s.Write("```\na\n```")
	if b := s.Render(false); len(b.Settled) != 0 || len(b.Tail) != 1 {
		t.Errorf("%d settled, %d growing before the end of the line", len(b.Settled), len(b.Tail))
	}
	s.Write("\n")
	if b := s.Render(false); len(b.Settled) != 1 || len(b.Tail) != 0 {
		t.Errorf("%d settled, %d growing", len(b.Settled), len(b.Tail))
	}
}

// Whatever the language makes of it, the code that is shown is the code.
func TestColouredCodeIsTheCode(t *testing.T) {
	known := languages()
	if len(known) < 60 {
		t.Errorf("only %d names of languages", len(known))
	}
	samples := []string{
		"", "\n", " \n", "x", "a = \"b\" + 'c' // d\n/* e */ if (f < 1 && g > 2) { return }\n", "# <script>alert(\"1\")</script>\n", "<a href=\"x\" onclick='y'>&amp;</a><!-- z",
		"key: [1, 2.5e3, true]\n- \"unclosed\n", "\"'`${{%#\\", "\t\u00a0漢字 👨‍👩‍👧 e\u0301\ufffd\n\n\n", "-a\n+b\n@@ -1 +1 @@\n", "</code></pre></div><img src=x>", "GET / HTTP/1.1\nA: b\n\n{}", "$ ls\nout\n",
	}
	for name, lexer := range known {
		for _, code := range samples {
			if c := checkColours(t, lexer, code); strings.TrimSpace(code) != "" && c.html == "" {
				t.Errorf("%s: no colours for %q", name, code)
			}
		}
	}
}

func checkColours(t testing.TB, lexer chroma.Lexer, code string) coloured {
	t.Helper()
	c := colour(lexer, code, time.Now().Add(time.Minute))
	if c.html == "" {
		return c
	}
	checkHTML(t, code, c.html)
	doc, err := goquery.NewDocumentFromReader(strings.NewReader("<pre><code>" + c.html + "</code></pre>"))
	if err != nil {
		t.Fatal(err)
	}
	if got := doc.Find("code").Text(); got != code {
		t.Errorf("%s: %q became %q", lexer.Config().Name, code, got)
	}
	return c
}

func FuzzCode(f *testing.F) {
	for _, name := range []string{"go", "sh", "html", "php", "python", "yaml", "c#"} {
		f.Add(name, "a = \"b\" + 'c' // <d>\n/* e */ # {{ f }}\n")
	}
	f.Fuzz(func(t *testing.T, name, code string) {
		if lexer := languages()[name]; lexer != nil && len(code) < 200 {
			checkColours(t, lexer, string(cleaned(code)))
		}
	})
}

// odd is a lexer that does not do what it should.
type odd struct {
	chroma.Lexer
	tokens func() (chroma.Iterator, error)
}

func (o odd) Tokenise(*chroma.TokeniseOptions, string) (chroma.Iterator, error) { return o.tokens() }

func TestFailingLexersLeaveCodePlain(t *testing.T) {
	for name, tokens := range map[string]func() (chroma.Iterator, error){
		"error":      func() (chroma.Iterator, error) { return nil, errors.New("no") },
		"panic":      func() (chroma.Iterator, error) { panic("no") },
		"late panic": func() (chroma.Iterator, error) { return func() chroma.Token { panic("no") }, nil },
		"other text": func() (chroma.Iterator, error) { return chroma.Literator(chroma.Token{Value: "y"}), nil },
	} {
		if c := colour(odd{languages()["go"], tokens}, "x\n", time.Now().Add(time.Minute)); c != (coloured{}) {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c := colour(languages()["go"], "x := 1\n", time.Now().Add(-time.Second)); c != (coloured{}) {
		t.Errorf("after the deadline: %+v", c)
	}
}

func TestBoundsOfColours(t *testing.T) {
	spans := func(src string) (n []int) {
		blocks, _ := Render(src, testOptions())
		for _, b := range blocks {
			n = append(n, codeOf(t, b.HTML).Find("code span").Length())
		}
		return n
	}
	fence := func(code string) string { return "```go\n" + code + "\n```\n" }
	line := "x := 1\n"
	if n := spans(fence(strings.Repeat(line, maxCode/len(line)+1))); n[0] != 0 {
		t.Errorf("%d spans in code that is too long", n[0])
	}
	if n := spans(fence("x := 1 // " + strings.Repeat("y", maxCodeLine))); n[0] != 0 {
		t.Errorf("%d spans in code with a line that is too long", n[0])
	}
	long := strings.Repeat(line, maxCode/len(line)-1) + "x"
	h := sharedHighlighter()
	h.mu.Lock()
	h.kept[codeKey(languages()["go"], long)] = coloured{html: `<span class="k">x</span>`}
	h.kept[codeKey(languages()["go"], "slow := 1")] = coloured{took: maxLexing}
	h.mu.Unlock()
	if n := spans(strings.Repeat(fence(long), 6)); fmt.Sprint(n) != "[1 1 1 1 0 0]" {
		t.Errorf("spans by block: %v", n)
	}
	if n := spans(fence("a := 1") + fence("slow := 1") + fence("b := 1")); fmt.Sprint(n) != "[1 0 0]" {
		t.Errorf("spans around slow code: %v", n)
	}
}

// A machine that stood still for a moment leaves no code plain for ever.
func TestSlowCodeIsTriedAgain(t *testing.T) {
	h := &highlighter{kept: map[[32]byte]coloured{}}
	lexer := languages()["go"]
	for until, want := range map[time.Time]bool{time.Now().Add(time.Minute): false, time.Now().Add(-time.Minute): true} {
		h.kept[codeKey(lexer, "x := 1")] = coloured{took: maxLexing, until: until}
		if c := h.colour(lexer, "x := 1"); (c.html != "") != want {
			t.Errorf("try again at %v: %+v", until, c)
		}
	}
	if c := h.colour(lexer, "x := 1"); c.html == "" || !c.until.IsZero() {
		t.Errorf("after that: %+v", c)
	}
	if c := colourWithin(0, lexer, "x := 1"); c.html != "" || time.Until(c.until) < tooSlowFor/2 {
		t.Errorf("without time: %+v", c)
	}
}

func TestHighlighterForgets(t *testing.T) {
	h := &highlighter{kept: map[[32]byte]coloured{}}
	const each = 64 << 10
	for i := range 3 * maxKept / each {
		h.colour(languages()["go"], fmt.Sprint("x := ", i))
		h.size += each // as if it was long
	}
	if h.size > maxKept+2*each || len(h.kept) > maxKept/each+1 {
		t.Errorf("%d bytes of %d blocks are kept", h.size, len(h.kept))
	}
}

// Strings without an end and full of backslashes make a lexer try all ways to
// read them. One answer stalls once at most, however many of them it holds.
func TestHostileCodeStallsOnce(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "```go\na%d = \"%s\n```\n\n", i, strings.Repeat(`\\`, 40+i))
	}
	start := cpuTime(t)
	blocks, _ := Render(b.String(), testOptions())
	if elapsed := cpuTime(t) - start; elapsed > 2*time.Second || len(blocks) != 30 {
		t.Errorf("%d blocks took %v", len(blocks), elapsed)
	}
}
