package markdown

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
)

type specExample struct{ Markdown, HTML, Section string }

// readSpec returns the CommonMark examples that goldmark ships with its source.
func readSpec(t testing.TB) []specExample {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	if err != nil {
		t.Skipf("SKIPPED: cannot find goldmark's source: %v", err)
	}
	raw, err := os.ReadFile(filepath.Join(string(bytes.TrimSpace(dir)), "_test", "spec.json"))
	if err != nil {
		t.Skipf("SKIPPED: no CommonMark examples: %v", err)
	}
	var examples []specExample
	if err := json.Unmarshal(raw, &examples); err != nil {
		t.Fatal(err)
	}
	if len(examples) < 600 {
		t.Fatalf("only %d CommonMark examples", len(examples))
	}
	return examples
}

func specExamples(t testing.TB) []string {
	t.Helper()
	var src []string
	for _, e := range readSpec(t) {
		src = append(src, e.Markdown)
	}
	return src
}

// The rules for Chinese, Japanese and Korean text change nothing elsewhere.
func TestEmphasisFollowsTheSpecification(t *testing.T) {
	plain := strings.NewReplacer(` dir="auto"`, "", "\n", "", "&quot;", "&#34;", " />", ">", ` title="a"`, "")
	count := 0
	for _, e := range readSpec(t) {
		if e.Section != "Emphasis and strong emphasis" || strings.Contains(e.Markdown, "<") || strings.Contains(e.Markdown, "](") {
			continue
		}
		count++
		if got, _ := Page(e.Markdown, Labels{}); plain.Replace(got) != plain.Replace(e.HTML) {
			t.Errorf("%q\ngot  %swant %s", e.Markdown, got, e.HTML)
		}
	}
	if count < 100 {
		t.Errorf("only %d examples", count)
	}
}

// difference renders src in random parts with a boundary rule and returns the
// final HTML if it is not that of the whole text.
func difference(t testing.TB, rng *rand.Rand, src string, rule func([]byte, ast.Node) (ast.Node, int)) string {
	o := testOptions()
	blocks, _ := Render(src, o)
	want := joined(blocks)
	s := NewStream(o)
	if rule != nil {
		s.boundary = rule
	}
	for rest := src; rest != ""; {
		n := min(1+rng.IntN(1+rng.IntN(12)), len(rest))
		s.Write(rest[:n])
		rest = rest[n:]
		tail := s.Render(false).Tail
		for _, b := range tail {
			if rule == nil {
				checkHTML(t, src, b.HTML)
			}
		}
	}
	if got := joined(joinedBlocks(s.Render(true))); got != want {
		return "got  " + got + "want " + want
	}
	if rule == nil {
		checkHTML(t, src, want)
	}
	return ""
}

// documents makes n documents of joined and mutated examples.
func documents(rng *rand.Rand, examples []string, n int) []string {
	examples = append(append([]string{}, examples...), hostile...)
	for _, f := range fixtures {
		examples = append(examples, f.src)
	}
	docs := make([]string, n)
	for i := range docs {
		var b []byte
		for range 1 + rng.IntN(6) {
			b = append(b, examples[rng.IntN(len(examples))]...)
			b = append(b, []string{"", "\n", "\n\n", " "}[rng.IntN(4)]...)
		}
		if i%2 == 0 {
			for range 1 + rng.IntN(6) {
				p := rng.IntN(len(b) + 1)
				switch chars := "\n\n `*_#-=|:>[]()<&\\~1.\t\x00\xe3"; rng.IntN(3) {
				case 0:
					b = append(b[:p], append([]byte{chars[rng.IntN(len(chars))]}, b[p:]...)...)
				case 1:
					b = append(b[:p], b[min(p+1+rng.IntN(4), len(b)):]...)
				case 2:
					b = append(b[:p], append([]byte(chars[:rng.IntN(4)]), b[p:]...)...)
				}
			}
		}
		docs[i] = string(b)
	}
	return docs
}

func TestSpecExamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, src := range specExamples(t) {
		for range 4 {
			if diff := difference(t, rng, src, nil); diff != "" {
				t.Fatalf("%q\n%s", src, diff)
			}
		}
	}
}

func TestJoinedDocuments(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, src := range documents(rng, specExamples(t), 2000) {
		if diff := difference(t, rng, src, nil); diff != "" {
			t.Fatalf("%q\n%s", src, diff)
		}
	}
}

// TestBrokenBoundaries checks the differential test itself: it must notice
// each of four plausible but wrong rules.
func TestBrokenBoundaries(t *testing.T) {
	rules := map[string]func([]byte, ast.Node) (ast.Node, int){
		"incomplete first line": func(src []byte, doc ast.Node) (ast.Node, int) {
			for n := doc.LastChild(); n != nil; n = n.PreviousSibling() {
				p, prev := lineStart(src, n.Pos()), n.PreviousSibling()
				if prev == nil || lineStart(src, prev.Pos()) != p {
					return n, p
				}
			}
			return doc.FirstChild(), 0
		},
		"blank line settles": func(src []byte, doc ast.Node) (ast.Node, int) {
			if i := bytes.LastIndex(src, []byte("\n\n")); i >= 0 && bytes.Count(src[:i], []byte("```"))%2 == 0 {
				return nil, i + 2
			}
			return doc.FirstChild(), 0
		},
		"unfinished end of a fence": func(src []byte, doc ast.Node) (ast.Node, int) {
			if n := doc.LastChild(); n != nil && n.Kind() == ast.KindFencedCodeBlock && bytes.HasSuffix(src, []byte("```")) && n.Lines().Len() > 0 {
				return nil, len(src)
			}
			return boundary(src, doc)
		},
		"no look back over tables": func(src []byte, doc ast.Node) (ast.Node, int) {
			for n := doc.LastChild(); n != nil; n = n.PreviousSibling() {
				if p := lineStart(src, n.Pos()); bytes.IndexByte(src[p:], '\n') >= 0 {
					return n, p
				}
			}
			return doc.FirstChild(), 0
		},
	}
	examples := specExamples(t)
	pitfalls := []string{"text\n| a | b |\n|---|---|\n| 1 | 2 |\nrest\n", "x\na | b\n-|-\n", "```go\nx\n```y\n```\n", "- a\n" + strings.Repeat("-", 40) + " x\n"}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			for _, src := range append(pitfalls, documents(rng, examples, 1500)...) {
				if difference(t, rng, src, rule) != "" {
					return
				}
			}
			t.Error("the wrong rule was not noticed")
		})
	}
}

func FuzzStream(f *testing.F) {
	for _, fixture := range fixtures {
		f.Add(fixture.src, uint64(1))
	}
	for _, src := range hostile {
		f.Add(src, uint64(2))
	}
	f.Fuzz(func(t *testing.T, src string, seed uint64) {
		if len(src) > 4096 {
			t.Skip("too long")
		}
		if diff := difference(t, rand.New(rand.NewPCG(seed, 0)), src, nil); diff != "" {
			t.Fatalf("%q\n%s", src, diff)
		}
		html, _ := Page(src, Labels{})
		checkHTML(t, src, html)
		if strings.ContainsRune(PlainText(src), 0) {
			t.Fatal("NUL in plain text")
		}
		Renumber(src, testOptions())
	})
}
