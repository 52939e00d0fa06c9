package markdown

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// sources knows the numbers 1 to n.
func sources(n int) func(int) (string, bool) {
	return func(i int) (string, bool) { return fmt.Sprintf("k%d", i), i >= 1 && i <= n }
}

func testOptions() Options {
	return Options{
		Source:    sources(9),
		BlockID:   func(i int) string { return fmt.Sprintf("b%d", i) },
		AllowLink: func(u *url.URL) bool { return u.Hostname() == "ok.example" },
	}
}

func joined(blocks []Block) string {
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(block.HTML)
		b.WriteByte('\n')
	}
	return b.String()
}

// replay feeds src in the given parts and renders after each, checking every
// frame; it returns the final blocks.
func replay(t testing.TB, o Options, parts []string, check func(frame string)) *Stream {
	t.Helper()
	s := NewStream(o)
	var before Blocks
	said := ""
	for _, part := range parts {
		s.Write(part)
		blocks := s.Render(false)
		settledStay(t, before, blocks)
		before = blocks
		// Clients of the API are sent what is new of the text, so none may go.
		if text := s.Text(); !strings.HasPrefix(text, said) {
			t.Fatalf("text %q does not begin with %q", text, said)
		} else {
			said = text
		}
		if check != nil {
			check(joined(joinedBlocks(blocks)))
		}
	}
	blocks := s.Render(true)
	settledStay(t, before, blocks)
	if text := s.Text(); !strings.HasPrefix(text, strings.TrimRight(said, "\n")) {
		t.Fatalf("final text %q does not begin with %q", text, said)
	}
	if n := len(blocks.Tail); n > 0 {
		t.Fatalf("%d blocks are not settled at the end", n)
	}
	return s
}

func settledStay(t testing.TB, before, after Blocks) {
	t.Helper()
	for i, b := range before.Settled {
		if i >= len(after.Settled) || after.Settled[i] != b {
			t.Fatalf("settled block %d changed from %q to %q", i, b.HTML, joined(slices.Collect(after.From(i))))
		}
	}
}

// splits calls f with src cut into two parts everywhere, into three parts
// everywhere (of longer texts: at some places), and into runes and bytes.
func splits(src string, f func(parts []string)) {
	step := 1 + len(src)/40
	for i := 0; i <= len(src); i++ {
		f([]string{src[:i], src[i:]})
		if i%step > 0 {
			continue
		}
		for j := i; j <= len(src); j += step {
			f([]string{src[:i], src[i:j], src[j:]})
		}
	}
	for _, parts := range small(src) {
		f(parts)
	}
}

// small returns src cut into runes and into bytes.
func small(src string) [][]string {
	single := make([]string, len(src))
	for i := range len(src) {
		single[i] = src[i : i+1]
	}
	return [][]string{strings.Split(src, ""), single}
}

const sup = `<sup class="d-cite"><a href="#source-%[1]d" aria-label="Source %[1]d">%[1]d</a></sup>`

// sups replaces "{n}" in the expectation by the marker of number n, which takes
// the place of a space in front of it.
func sups(s string) string {
	for i := 1; i <= 9; i++ {
		s = strings.ReplaceAll(s, fmt.Sprintf(" {%d}", i), fmt.Sprintf("{%d}", i))
		s = strings.ReplaceAll(s, fmt.Sprintf("{%d}", i), fmt.Sprintf(sup, i))
	}
	return s
}

// codeBox is a closed block of code.
func codeBox(language, html string) string {
	name, label, class := "Code", "Code", ""
	if language != "" {
		name = languages()[language].Config().Name
		label, class = "Code, "+name, ` class="language-`+language+`"`
	}
	return `<div class="code"><div class="code__bar"><span>` + name + `</span>` +
		`<button class="btn btn--plain btn--s needs-js" type="button" data-docent-copy-code>Copy</button></div>` +
		`<pre tabindex="0" role="group" aria-label="` + label + `"><code` + class + `>` + html + `</code></pre></div>`
}

// fixtures are inputs that went wrong in comparable products, and what is right.
var fixtures = []struct {
	name, src string
	want      string // the final blocks, ids left out
	text      string // stored text; "" means src
	dropped   int
}{
	{name: "half markers", src: "See [4][2].", want: `<p>See {1}{2}.</p>`},
	{name: "double brackets", src: "a [[4]], b [1],", want: `<p>a {1}, b {2},</p>`},
	{name: "cut off", src: "a [4] and [12, 3", want: `<p>a {1} and</p>`, text: "a [4] and "},
	{name: "cut off wide", src: "a【3†sour", want: `<p>a</p>`, text: "a"},
	{name: "list and range", src: "a [1, 2] b [3-5]", want: `<p>a {1}{2} b {3}{4}{5}</p>`},
	{name: "numbers of nothing", src: "a [15, 17] b [12].", want: `<p>a b.</p>`, dropped: 3},
	{name: "forms", src: "[1][2] [1, 2] [1-3] 【1】 [^1] [1](https://x) (1)",
		want: `<p>{1}{2} {1}{2} {1}{2}{3} {1} {1} {1} (1)</p>`},
	{name: "wide forms", src: "已开放【4†source_a.md】。另见【4:2†x】和［２］", want: `<p>已开放{1}。另见{1}和{2}</p>`},
	{name: "other digits", src: "نعم [٤]", want: `<p>نعم {1}</p>`},
	{name: "source word", src: "a [Source 3] b", want: `<p>a {1} b</p>`},
	{name: "exclamation", src: "Done![3] ok", want: `<p>Done!{1} ok</p>`},
	{name: "escaped", src: `no \[1\] marker`, want: `<p>no [1] marker</p>`},
	{name: "placeholders", src: "Costs rise [source]. [Source: page 2]\n\nTrue [citation needed].",
		want: `<p>Costs rise.</p><p>True.</p>`, text: "Costs rise.\n\nTrue."},
	{name: "placeholder as link", src: "[Source](/a) and [sources of heat]", want: `<p><a href="/a">Source</a> and [sources of heat]</p>`},
	{name: "private use anchors", src: "safe\ue202turn1search4 though \ue200cite\ue202turn0search1\ue202turn0news12\ue201.",
		want: `<p>safe though .</p>`, text: "safe though ."},
	{name: "spelled anchors", src: `safe\ue202turn1search4 though\ue200cite\ue202turn0search1\ue201 \ue900`,
		want: `<p>safe though \ue900</p>`, text: `safe though \ue900`},
	{name: "hijacked definition", src: "See [1].\n\n[1]: https://evil.example", want: `<p>See {1}.</p>`, text: "See [1]."},
	{name: "definition inside", src: "See [1].\n\n[1]: https://evil.example\n\nMore.",
		want: `<p>See {1}.</p><p>{1}: https://evil.example</p><p>More.</p>`},
	{name: "in code", src: "`a[1]` and\n\n```\nx = y[1] 【1】\n```\n", want: "<p><code>a[1]</code> and</p>" + codeBox("", "x = y[1] 【1】")},
	{name: "in emphasis and links", src: "**a [2]** [see [1] b](/x) c", want: `<p><strong>a {1}</strong> <a href="/x">see b</a>{2} c</p>`},
	{name: "list of sources", src: "It costs 3 [6].\n\nSources:\n1. files/a.md\n2. files/b.md\n", want: `<p>It costs 3 {1}.</p>`, text: "It costs 3 [6]."},
	{name: "bold list of sources", src: "Ja [6].\n\n---\n\n**Quellen:**\n\n- [Handbuch](http://x)\n  Seite 2", want: `<p>Ja {1}.</p>`, text: "Ja [6]."},
	{name: "arabic list of sources", src: "نعم [6].\n\n## المصادر\n\n* دليل", want: `<p>نعم {1}.</p>`, text: "نعم [6]."},
	{name: "code behind a list of sources", src: "A [1].\n\n[1]: https://x.example\n\n   ```\n   b\n   ```\n\n",
		want: "<p>A {1}.</p><p>{1}: https://x.example</p>" + codeBox("", "b")},
	{name: "title without a list", src: "A\n\nSources:\n- one\n\nBut then more.",
		want: `<p>A</p><p>Sources:</p><ul><li>one</li></ul><p>But then more.</p>`},
	{name: "sources in a fence", src: "A\n\n```\nSources:\n- one\n```", want: "<p>A</p>" + codeBox("", "Sources:\n- one")},
	{name: "fence", src: "Here:\n\n```go\nx := 1\n```\n\nDone.",
		want: "<p>Here:</p>" + codeBox("go", `x := <span class="m">1</span>`) + "<p>Done.</p>"},
	{name: "open fence", src: "```\na_b *c\n", want: codeBox("", "a_b *c")},
	{name: "asterisks", src: "*foo*bar, 234234*123, 2 * 3 * 4", want: `<p><em>foo</em>bar, 234234*123, 2 * 3 * 4</p>`},
	{name: "cjk emphasis", src: "**重要提示（Important）：**请注意。\n\n**この文は太字。**この文。\n\n**“공개 문서”**는 원칙",
		want: `<p><strong>重要提示（Important）：</strong>请注意。</p><p><strong>この文は太字。</strong>この文。</p><p><strong>“공개 문서”</strong>는 원칙</p>`},
	{name: "cut characters", src: "🌍 你 👨‍👩‍👧 e\u0301 \xf0\x9f", want: "<p>🌍 你 👨‍👩‍👧 e\u0301 \ufffd</p>", text: "🌍 你 👨‍👩‍👧 e\u0301 \ufffd"},
	{name: "controls", src: "a\x00b\x1b[0m\r\nc\rd\u2028e&#13;&#10;f\x85", want: "<p>ab[0m\nc\nd\ne  f\ufffd</p>", text: "ab[0m\nc\nd\ne&#13;&#10;f\ufffd"},
	{name: "table", src: "| a | b |\n|:--|--:|\n| 1 [3] | x<br>y |\n\nz",
		want: `<div class="scroll" role="group" tabindex="0" aria-label="Table"><table class="table"><thead><tr><th scope="col" data-align="start">a</th><th scope="col" data-align="end">b</th></tr></thead><tbody><tr><td data-align="start">1 {1}</td><td data-align="end">x<br>y</td></tr></tbody></table></div><p>z</p>`},
	{name: "headings", src: "# A\n\nB\n-\n\n##### C", want: `<h3>A</h3><h4>B</h4><h5>C</h5>`},
	{name: "loose list", src: "3. a\n\n4. b\n\n   c\n", want: `<ol start="3"><li>a</li><li>b<br>c</li></ol>`},
	{name: "raw html", src: "<script>alert(1)</script> <b>x</b>\n\n<div>\ny [1]\n</div>",
		want: "<p>&lt;script&gt;alert(1)&lt;/script&gt; &lt;b&gt;x&lt;/b&gt;</p><p>&lt;div&gt;\ny {1}\n&lt;/div&gt;</p>"},
	{name: "image", src: "![alt *x*](https://evil.example/p.png) y", want: `<p>alt <em>x</em> y</p>`},
	{name: "links", src: "[a](https://ok.example/x) [b](https://evil.example) [c](#f) https://ok.example/y[1] https://no.example <irc://x> a@b.example",
		want: `<p><a href="https://ok.example/x">a</a> b <a href="#f">c</a> <a href="https://ok.example/y">https://ok.example/y</a>{1} https://no.example irc://x <a href="mailto:a@b.example">a@b.example</a></p>`},
	{name: "others", src: "> q\n\n***\n\n~~d~~ ~5 to ~6 \\\nx", want: "<blockquote><p>q</p></blockquote><hr><p><del>d</del> ~5 to ~6 <br>x</p>"},
	{name: "two passages of one source", src: "x [1][1] y [1, 1]", want: `<p>x {1} y {1}</p>`},
}

// plainBlocks joins blocks and leaves out ids and directions.
func plainBlocks(blocks []Block) string {
	var b strings.Builder
	for i, block := range blocks {
		b.WriteString(strings.Replace(block.HTML, fmt.Sprintf(` id="b%d"`, i), "", 1))
	}
	return strings.ReplaceAll(b.String(), ` dir="auto"`, "")
}

func TestFixtures(t *testing.T) {
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			o := testOptions()
			blocks, cited := Render(f.src, o)
			if got := plainBlocks(blocks); got != sups(f.want) {
				t.Fatalf("got  %s\nwant %s", got, sups(f.want))
			}
			want := joined(blocks)
			splits(f.src, func(parts []string) {
				s := replay(t, o, parts, nil)
				if got := joined(joinedBlocks(s.Render(true))); got != want {
					t.Fatalf("parts %q\ngot  %s\nwant %s", parts, got, want)
				}
				text := f.text
				if text == "" {
					text = strings.TrimRight(f.src, "\n")
				}
				if got := s.Text(); got != text {
					t.Fatalf("parts %q: text %q, want %q", parts, got, text)
				}
				if got := s.Cited(); !reflect.DeepEqual(got, cited) && len(got)+len(cited) > 0 {
					t.Fatalf("parts %q: cited %q, want %q", parts, got, cited)
				}
				if got := s.Dropped(); got != f.dropped {
					t.Fatalf("parts %q: dropped %d, want %d", parts, got, f.dropped)
				}
			})
		})
	}
}

// joinedBlocks are the blocks of a text in one list.
func joinedBlocks(b Blocks) []Block { return slices.Concat(b.Settled, b.Tail) }
