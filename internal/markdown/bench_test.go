package markdown

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"docent/internal/benchtest"
)

const tokens = 16 // between two renders

// streamed renders a text piece by piece, and what may be stored of it each time.
func streamed(pieces []string) (renders int) {
	s := NewStream(testOptions())
	for _, p := range pieces {
		s.Write(p)
		s.Render(false)
		s.Text()
	}
	s.Render(true)
	return len(pieces) + 1
}

// whole is the peer in Go: goldmark over the whole text each time.
func whole(b testing.TB, pieces []string) (renders int) {
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify))
	var text, out bytes.Buffer
	for _, p := range pieces {
		text.WriteString(p)
		out.Reset()
		if err := md.Convert(text.Bytes(), &out); err != nil {
			b.Fatal(err)
		}
	}
	return len(pieces)
}

func benchmark(b *testing.B, text string, stream func([]string) int) {
	pieces := benchtest.Pieces(text, tokens)
	renders := 0
	b.ReportAllocs()
	for b.Loop() {
		renders += stream(pieces)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(renders), "us/render")
}

func BenchmarkStream12K(b *testing.B) { benchmark(b, benchtest.Answer(12<<10), streamed) }
func BenchmarkStream60K(b *testing.B) { benchmark(b, benchtest.Answer(60<<10), streamed) }
func BenchmarkWhole60K(b *testing.B) {
	benchmark(b, benchtest.Answer(60<<10), func(p []string) int { return whole(b, p) })
}

// BenchmarkHostile60K streams single blocks of 60 KB, the worst case.
func BenchmarkHostile60K(b *testing.B) {
	for name, text := range benchtest.Hostile(60 << 10) {
		b.Run(name, func(b *testing.B) { benchmark(b, text, streamed) })
	}
}

// TestBenchRendering compares with renderers in JavaScript and with goldmark
// alone, by processor time.
func TestBenchRendering(t *testing.T) {
	benchtest.Only(t)
	short, long := benchtest.Pieces(benchtest.Answer(12<<10), tokens), benchtest.Pieces(benchtest.Answer(60<<10), tokens)
	node := benchtest.StartPeer(t, "parse.mjs")
	peer := func(name string) benchtest.Side {
		return func() float64 {
			return benchtest.Ask[struct{ US float64 }](node, map[string]any{"peer": name, "pieces": short}).US
		}
	}
	ours := func(pieces []string) benchtest.Side {
		return func() float64 { return benchtest.CPUOf(func() { streamed(pieces) }) }
	}
	m := benchtest.Alternate(ours(short), peer("markdown-it"), peer("dompurify"), peer("streamdown"), ours(long),
		func() float64 { return benchtest.CPUOf(func() { whole(t, long) }) })
	note := func(other float64) string {
		return "ours %.0f us a stream, the other " + fmt.Sprintf("%.0f", other)
	}
	benchtest.Gate{ID: "B1", What: "12 KB, every 16 tokens: markdown-it without sanitizer / ours", AtLeast: 6, Stretch: 15}.Check(t, m[1]/m[0], note(m[1]), m[0])
	benchtest.Gate{ID: "B2", What: "12 KB, every 16 tokens: markdown-it + DOMPurify / ours", AtLeast: 25, Stretch: 60}.Check(t, m[2]/m[0], note(m[2]), m[0])
	benchtest.Gate{ID: "B3", What: "12 KB, every 16 tokens: streamdown's split + remark / ours", AtLeast: 20, Stretch: 50}.Check(t, m[3]/m[0], note(m[3]), m[0])
	perRender := func(us float64, pieces []string) float64 { return us / float64(len(pieces)+1) }
	at12, at60 := perRender(m[0], short), perRender(m[4], long)
	benchtest.Gate{ID: "B4", What: "ours: a render at 60 KB / at 12 KB", AtMost: 1.3, Stretch: 1.1}.Check(t, at60/at12, "%.0f and %.0f us", at60, at12)
	benchtest.Gate{ID: "B5", What: "60 KB, every 16 tokens: goldmark over the whole text / ours", AtLeast: 50, Stretch: 100}.Check(t, m[5]/m[4], note(m[5]), m[4])
}
