package markdown

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// answer returns about size bytes of what models write.
func answer(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "## Section %d\n\nThe **library** opens at nine [%d][%d], see [hours](/hours). It closes at six on `weekdays` and *earlier* on Saturdays.\n\n", i, i%9+1, i%5+1)
		b.WriteString("- first point with text [3]\n- second **point**\n  - nested one\n\n1. step one\n2. step two\n\n")
		b.WriteString("| Item | Price |\n|---|--:|\n| Loan | 2 € |\n| Copy | 1 € [4] |\n\n```go\nfunc main() {\n\tfmt.Println(\"x\")\n}\n```\n\n")
		b.WriteString("**重要提示（Important）：**请注意。 图书馆九点开门【2】。\n\n")
	}
	return b.String()[:size-size%4]
}

const deltas = 16 * 4 // bytes between two renders: 16 tokens

// benchmarkStream renders size bytes after every 16 tokens; compare us/render
// of two sizes for flatness.
func benchmarkStream(b *testing.B, src string) {
	o := testOptions()
	renders := 0
	b.ReportAllocs()
	for b.Loop() {
		s := NewStream(o)
		for rest := src; rest != ""; {
			n := min(deltas, len(rest))
			s.Write(rest[:n])
			rest = rest[n:]
			s.Update(false)
			renders++
		}
		s.Update(true)
		renders++
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(renders), "us/render")
}

func BenchmarkStream12K(b *testing.B) { benchmarkStream(b, answer(12<<10)) }
func BenchmarkStream60K(b *testing.B) { benchmarkStream(b, answer(60<<10)) }

// benchmarkWhole is the peer: goldmark over the whole text each time.
func benchmarkWhole(b *testing.B, src string) {
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify))
	renders := 0
	b.ReportAllocs()
	for b.Loop() {
		for end := 0; end < len(src); {
			end = min(end+deltas, len(src))
			var out bytes.Buffer
			if err := md.Convert([]byte(src[:end]), &out); err != nil {
				b.Fatal(err)
			}
			renders++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(renders), "us/render")
}

func BenchmarkWhole12K(b *testing.B) { benchmarkWhole(b, answer(12<<10)) }
func BenchmarkWhole60K(b *testing.B) { benchmarkWhole(b, answer(60<<10)) }

// BenchmarkHostile60K streams single blocks of 60 KB, the worst case.
func BenchmarkHostile60K(b *testing.B) {
	for _, c := range []struct{ name, head, line string }{
		{"fence", "```\n", "x := f(y) // some code here\n"},
		{"list", "", "- an item of the list [1]\n"},
		{"table", "| a | b |\n|---|---|\n", "| a | b |\n"},
		{"paragraph", "", "words **of** one paragraph [2] "},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkStream(b, c.head+strings.Repeat(c.line, 60<<10/len(c.line))) })
	}
}
