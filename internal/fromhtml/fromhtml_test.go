package fromhtml

import (
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	links := Links{
		Link: func(href string) string {
			if strings.HasPrefix(href, "javascript:") {
				return ""
			}
			return strings.Replace(href, "/old/", "/new/", 1)
		},
		Image: func(src string) string { return strings.TrimPrefix(src, "https://gone.example/") },
	}
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"paragraphs", "<p>One &amp; <em>two</em></p><p>Three<br>four</p>", "One & *two*\n\nThree  \nfour"},
		{"headings", "<h2>A</h2><p>b</p><h3>C</h3>", "## A\n\nb\n\n### C"},
		{"list", "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  \n  - b\n- c"},
		{"link", `<p><a href="/old/x">x</a> <a href="javascript:alert(1)">bad</a></p>`, "[x](/new/x) bad"},
		{"image", `<p><img src="a.png" alt="A cat"> <img src="https://gone.example/" alt="gone"></p>`, "![A cat](a.png) gone"},
		{"scripts", `<p>a</p><script>b</script><style>c</style><iframe src="d">e</iframe><form>f<input></form>`, "a"},
		{"markup as text", "<p>1 * 2 * 3 [x](y) &lt;b&gt; # no</p>", `1 * 2 * 3 \[x](y) &lt;b&gt; # no`},
		{"struck", "<p><del>a</del></p>", "~~a~~"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Markdown(tt.in, links)
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	table, err := Markdown("<table><tr><td>a</td><td>b|c</td></tr><tr><td>1</td><td>2</td></tr></table>", links)
	if err != nil || !strings.Contains(table, `b\|c`) || strings.Count(table, "\n") != 2 {
		t.Errorf("table %q, %v", table, err)
	}
	if _, err := Markdown(strings.Repeat("<div>", 10_000), links); err == nil {
		t.Error("nesting without end was taken")
	}
}
