package importer

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"docent/internal/content"
)

// known resolves what a page in guides/sub refers to, on a site with a few pages
// and one image.
var known = sync.OnceValue(func() pageLinks {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	root := fstest.MapFS{"a.png": {Data: picture.Bytes()}}
	var pages []*page
	for name, title := range map[string]string{"guides/page.md": "A page", "x.md": "X", "guides/sub/from.md": "From"} {
		pages = append(pages, describe(place(name, []string{"en"}), "---\ntitle: "+title+"\n---\n", "", nil))
	}
	r := newResolver(root, pages, content.New(nil, content.Options{FilesDir: "unused"}))
	return pageLinks{resolver: r, from: r.files["guides/sub/from"][0], report: func(string) {}}
})

func convertString(s string, kind format) string {
	return fromMarkdown(s, kind, known(), func(int, string) {})
}

func TestConvert(t *testing.T) {
	hugo, mdx, jekyll := format{}, format{mdx: true}, format{liquid: true}
	for _, tt := range []struct {
		name string
		kind format
		in   string
		want string
	}{
		{"plain", hugo, "# A\n\ntext *b* <https://x.org> <a@b.org> a < b & c", "# A\n\ntext *b* <https://x.org> <a@b.org> a < b & c"},
		{"note", hugo, "{{< note variant=\"alert\" >}}\nMind **this**.\n{{< /note >}}", "Mind **this**."},
		{"percent", hugo, "{{% box %}}Text{{% /box %}}", "Text"},
		{"title", hugo, `{{< accordion kicker="K" title="What is it?" icon="x" >}}It is.{{< /accordion >}}`, "**What is it?**\n\nIt is."},
		{"unknown", hugo, "a {{< wobble >}}b{{< /wobble >}} c {{< toc />}}d", "a b c d"},
		{"button", hugo, `{{< button href="https://x.org" text="Go" >}}`, "[Go](https://x.org)"},
		{"quote", hugo, `{{< quote-block text="To be." cite="W. S." >}}`, "> To be.\n>\n> — W. S."},
		{"video", hugo, `{{< youtube id="x1" title="A talk" >}}`, "A talk"},
		{"tweet", hugo, "a\n\n{{< tweet user=\"x\" id=\"1\" >}}\n\nb", "a\n\nb"},
		{"picture", hugo, `{{< legacy-img src="x.jpg" alt="A cat" caption="by Jo" >}}`, "A cat (by Jo)"},
		{"picture without words", hugo, `a {{< img src="x" >}}b`, "a b"},
		{"file", hugo, `_{{< asset-static file="x.pdf" label="The slides (PDF)" >}}_`, "_The slides (PDF)_"},
		{"checklist", hugo, "{{< checklist >}}\n    {{< checkbox >}} One{{< /checkbox >}}\n    {{< checkbox >}}Two{{< /checkbox >}}\n{{< /checklist >}}", "- One\n- Two"},
		{"do and don't", hugo, "{{< row >}}\n    {{< do-row >}} Ask. {{< /do-row >}}\n    {{< dont-row >}} Guess. {{< /dont-row >}}\n{{< /row >}}", "- Do: Ask. \n- Don’t: Guess."},
		{"featured page", hugo, `{{< featured-resource link="guides/page" kicker="K" >}}`, "[A page](/guides/page/)"},
		{"ref", hugo, `See [it]({{< ref "page.md" >}} "A title"), [part]({{< relref path="page.md#b" >}}).`, `See [it](/guides/page/ "A title"), [part](/guides/page/#b).`},
		{"ref to nothing", hugo, `See [*it*]({{< ref "gone.md" >}}) and <a href="{{< ref "gone.md" >}}">that</a>.`, "See *it* and that."},
		{"ref in HTML", hugo, `<a href="{{< ref "page.md" >}}">it</a>`, "[it](/guides/page/)"},
		{"link", hugo, `[a]({{< link "/x/y" >}})`, "[a](/x/y)"},
		{"comment", hugo, "a{{/* b */}}c<!-- d\n\n```\ne -->f", "acf"},
		{"shown tag", hugo, "Write {{</* note */>}}.", "Write {{< note >}}."},
		{"unfinished tag", hugo, "a {{< note b", "a {{< note b"},
		{"Hugo's listing", hugo, "{{< highlight go \"linenos=1\" >}}\na := 1\n{{< /highlight >}}", "```go\na := 1\n```"},
		{"marked words", hugo, "need {{< highlight >}}a domain{{< /highlight >}}.", "need a domain."},
		{"shortcode in code", hugo, "`{{< note >}}`\n\n```\n{{< note >}} <b>x</b> &amp;\n\n\n\n{#a}\n```", "`{{< note >}}`\n\n```\n{{< note >}} <b>x</b> &amp;\n\n\n\n{#a}\n```"},
		{"code in a quote", hugo, "> ```\n> <b>\n> ```\n\n<b>x</b>", "> ```\n> <b>\n> ```\n\n**x**"},
		{"code in a list", hugo, "1. a\n\n   ~~~ html\n   <b>\n   ~~~\n", "1. a\n\n   ~~~ html\n   <b>\n   ~~~"},
		{"fence of another length", hugo, "````\n```\n<b>\n````\n<i>x</i>", "````\n```\n<b>\n````\n*x*"},
		{"two backticks", hugo, "`` ` <b> `` <b>x</b> ` <i>y</i>", "`` ` <b> `` **x** ` *y*"},
		{"escaped backtick", hugo, "\\`<b>x</b>\\`", "\\`**x**\\`"},

		{"entities", hugo, "&#8220;a&#8221;&nbsp;&amp; &lt;b&gt; &#42;c&#42; &copy; &bogus; x&", "“a” &amp; &lt;b&gt; &#42;c&#42; © &bogus; x&"},
		{"inline", hugo, "<strong> a </strong>b<em></em> <b>c<i>d</i></b> <span style='x'>e</span><sup>2</sup> x<sup>th</sup> H<sub>2</sub>O", " **a** b **c*d*** e² xth H₂O"},
		{"links", hugo, `<a href="https://x.org/a(b) c" target=_blank>see <b>x</b></a> <a name="y"></a><a>z</a>`, "[see **x**](<https://x.org/a(b)%20c>) z"},
		{"paragraphs", hugo, "<p>One\n  line &mdash; <em>still</em>.</p><p>Two<br>three.</p>\nfour", "One line — *still*.\n\nTwo three.\n\nfour"},
		{"break", hugo, "a<br/>b", "a  \nb"},
		{"unclosed paragraph", hugo, "<p>One\ntwo\n\n## Head\n\n* a\n* b\n", "One\ntwo\n\n## Head\n\n* a\n* b"},
		{"list", hugo, "a\n<ul>\n  <li>One</li>\n  <li>Two\n    <ol><li>Deep <b>x</b><li>Deeper</ol></li>\n</ul>\nb", "a\n\n- One\n- Two\n   1. Deep **x**\n   2. Deeper\n\nb"},
		{"headings", hugo, "<h2 id=x>A <span>B</span></h2>text<h3></h3>", "## A B\n\ntext"},
		{"quote in HTML", hugo, "<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n>\n> b\n\nc"},
		{"Markdown within HTML", hugo, "<div class=\"x\">\n\n## A\n\n- b\n- c\n\n</div>\n<section>d</section>", "## A\n\n- b\n- c\n\nd"},
		{"item with a paragraph", hugo, "- <p>a</p>\n- b", "- a\n\n- b"},
		{"script", hugo, "a<script>alert('<b>')</script>b<style>p{}</style><svg><text>x</text></svg>c", "abc"},
		{"script in words", hugo, "The <script> tag.\n\n```html\n<script></script>\n```\n", "The  tag.\n\n```html\n<script></script>\n```"},
		{"frame", hugo, `<iframe src="https://x" title="A film"></iframe>`, "A film"},
		{"code elements", hugo, "Use <code>a &lt; b</code> and <tt>x`y</tt>.\n<pre><code>if a {\n  b\n}</code></pre>", "Use `a < b` and ``x`y``.\n\n```\nif a {\n  b\n}\n```"},
		{"words in brackets", hugo, "run <name> or <file> x", `run \<name> or \<file> x`},
		{"own elements", hugo, "<my-box>a</my-box><foo>b</foo>", "ab"},
		{"office", hugo, "<o:p>a</o:p>", "a"},
		{"not tags", hugo, "a <3 b <= c <, < d>", "a <3 b <= c <, < d>"},
		{"image", hugo, `![Cat](a.png "t") ![gone *cat*](b.png) <img src="a.png" alt="Dog"> <img src="https://x.org/y.png"> <img src="no.png" alt="Words">`, `![Cat](/files/a.png "t") gone *cat* ![Dog](/files/a.png) ![](https://x.org/y.png) Words`},
		{"image as link", hugo, `[![Cat](a.png)](page.md) [![Cat](b.png)](page.md)`, "[![Cat](/files/a.png)](/guides/page/) [Cat](/guides/page/)"},
		{"links to files", hugo, "[a](../page.md#x) [b](other.md) [c](/other.md) [d]( <page.md> 'T' ) [e][1]\n\n[1]: page.md\n", "[a](/guides/page/#x) [b](other.md) [c](/other.md) [d](/guides/page/ 'T') [e][1]\n\n[1]: /guides/page/"},
		{"link with language", hugo, "[a](/en/x/#y) [b](/x/) [c]()", "[a](/x/#y) [b](/x/) c"},
		{"attributes", hugo, "## A {#my-id}\n\n{: .note}\ntext {a}", "## A\n\ntext {a}"},
		{"admonition", hugo, ":::tip[Good to know]\nText\n:::\n\n::: warning Careful\nMore\n:::", "**Good to know**\n\nText\n\n**Careful**\n\nMore"},

		{"table", hugo, "<table class=x><caption>Prices</caption><thead><tr><th>A</th><th>B|C</th></tr></thead><tbody>\n<tr><td><b>1</b></td><td>2<br>3</td></tr><tr><td>4</table>after",
			"Prices\n\n| A | B\\|C |\n| --- | --- |\n| **1** | 2 3 |\n| 4 |  |\n\nafter"},
		{"spans", hugo, `<table><tr><td>A<td>B<td>C<tr><td rowspan=2>1<td colspan=2>2<tr><td>3<td>4</table>`,
			"| A | B | C |\n| --- | --- | --- |\n| 1 | 2 |  |\n| 1 | 3 | 4 |"},
		{"list in a cell", hugo, "<table><tr><th>A</th><th>B</th></tr><tr><td><ul><li>x</li><li>y</li></ul></td><td><p>p</p><p>q</p></td></tr></table>",
			"| A | B |\n| --- | --- |\n| x; y | p q |"},
		{"table for layout", hugo, "<table><tr><td>One</td></tr><tr><td>Two</td></tr></table>", "One\n\nTwo"},
		{"table in a table", hugo, "<table><tr><td>a</td><td>b</td></tr><tr><td><table><tr><td>x</td><td>y</td></tr></table></td><td>z</td></tr></table>!",
			"| a | b |\n| --- | --- |\n| x y | z |\n\n!"},
		{"the word table", hugo, "The <table> element and <td> too.\n\nMore", "The  element and  too.\n\nMore"},

		{"import", mdx, "import A from 'a'\nimport {\n  B\n} from \"b\"\n\nexport const x = {\n\n  y: 1,\n}\n\nText\n\nimport duties are paid", "Text\n\nimport duties are paid"},
		{"components", mdx, "<Steps>\n\n1. One\n\n</Steps>\n<Tabs.Item label=\"npm\">\na\n</Tabs.Item>\n<LinkCard title=\"T\" href=\"/x/\" />\n<Badge text='New' /> <></>b", "1. One\n\n**npm**\n\na\n\n[T](/x/)\nNew b"},
		{"expressions", mdx, "a {/* no */}b{' '}c{x.map(y => <i>{y}</i>)} d { unfinished\n\n# H {#id}", "a b c d { unfinished\n\n# H"},
		{"attributes with braces", mdx, `<A b={{c: ">"}} {...d}>e</A><Since v="1.0" />`, "e"},
		{"no JSX in Markdown", hugo, "a {b} <Foo> c", `a {b} \<Foo> c`},

		{"liquid", jekyll, "{% comment %}x{% endcomment %}{% include figure.html alt=\"Cat\" %} [a]({% link page.md %}) [b]({{ site.baseurl }}/c) {{ \"/d\" | relative_url }}", "Cat [a](/guides/page/) [b](/c) /d"},
		{"liquid listing", jekyll, "{% highlight ruby %}\nx {{ y }}\n{% endhighlight %}", "```ruby\nx {{ y }}\n```"},
		{"no liquid in Hugo", hugo, "{% if %} {{ x }}", "{% if %} {{ x }}"},
	} {
		got := convertString(tt.in, tt.kind)
		if got != strings.TrimRight(tt.want, "\n") && strings.TrimSpace(got) != strings.TrimSpace(tt.want) {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

// FuzzConvert looks for text that makes the converter panic or change code.
func FuzzConvert(f *testing.F) {
	for _, seed := range []string{
		"{{< note >}}x{{< /note >}}", "<table><tr><td>a</td></tr></table>", "[a]({{< ref \"b\" >}})", "<a href='x'>`</a>`", "- <ul><li>a",
		"![a](b)", "import x from 'y'\n", "{{% a \"b", "<!-- -->", ":::a\n", "&lt;", "<b>*</b>", "{a{b}c}", "> <p>a\n> b", "| a | <br> |", "~~~\n", "`` ` ",
	} {
		f.Add(seed, "x <b> {{< note >}} &amp;\n\n\n{{/* y */}}", seed, byte(0))
	}
	f.Fuzz(func(t *testing.T, before, code, after string, kind byte) {
		k := format{mdx: kind&1 > 0, liquid: kind&2 > 0}
		convertString(before+after, k)
		// What may swallow a block for good is left out of the text before it.
		for _, opener := range []string{"`", "~", "<!--", "{{/*", "{%", "comment", "highlight", "import", "export", "\r", "\x00"} {
			if strings.Contains(before, opener) {
				return
			}
		}
		block := "\n\n```\n" + strings.NewReplacer("`", "", "\r", "").Replace(code) + "\n```\n"
		out := convertString(before+block+"\n"+after, k)
		if !strings.Contains(out+"\n", strings.TrimLeft(block, "\n")) {
			t.Errorf("code was changed\n in %q\nout %q", before+block+"\n"+after, out)
		}
	})
}

// TestHostile makes sure that text made to be slow is not: what grows with the
// square of the text would take hours for a quarter of a megabyte.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector")
	}
	const size = 1 << 18
	for _, unit := range []string{
		"`", "``a`", "{{<", "{{< a \"", "{{/*", "<!--", "<a ", "<b>", "<table><tr><td>", "<ul><li>", "[", "![", "](", "[a](", "<", "&", "{", "{a", ">", "> ",
		"- ", "<code>", "<script>", "<p>", "</p>", "{% comment %}", "\\", "***", ":::", "~~~\n", "<x{", "import {\n", "\n\n", "# ", "<td rowspan=50 colspan=50>",
	} {
		for _, kind := range []format{{}, {mdx: true, liquid: true}} {
			start := cpuTime(t)
			convertString(strings.Repeat(unit, size/len(unit)), kind)
			if took := cpuTime(t) - start; took > 10*time.Second {
				t.Errorf("%q: %v for 256 KB", unit, took)
			}
		}
	}
}

// cpuTime is the time of the process, which a busy machine does not make longer.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestConvertedIsMarkdown checks that a renderer sees tables and lists in what
// was HTML.
func TestConvertedIsMarkdown(t *testing.T) {
	in := "Text\n<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td><code>x|y</code></td></tr></table>\n<ul><li>a<ul><li>b</li></ul></li></ul>"
	var html bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert([]byte(convertString(in, format{})), &html); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<th>A</th>", "<td><code>x|y</code></td>", "<li>a\n<ul>\n<li>b</li>"} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("no %s in %s", want, html.String())
		}
	}
}
