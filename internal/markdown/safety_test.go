package markdown

import (
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// hostile holds inputs made to get past a sanitizer.
var hostile = []string{
	"[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](javascript&colon;alert(1))", "[a](java&#10;script:alert(1))",
	"[a](java\tscript:alert(1))", "[a](\x01javascript:alert(1))", "[a](&#x1;javascript:alert(1))", "[a](javascript%3Aalert(1))",
	"[a](%6aavascript:alert(1))", "[a](&#106;avascript:alert(1))", `[a](java\script:alert(1))`, "[a](<java script:alert(1)>)",
	"[a](vbscript:x)", "[a](data:text/html;base64,PHNjcmlwdD4=)", "[a](file:///etc/passwd)", "[a](blob:x)", "[a](feed:javascript:x)",
	"<javascript:alert(1)>", "<irc://x>", "<localhost:5001>", "<made-up-scheme://foo,bar>",
	"[a](//evil.example)", `[a](/\evil.example)`, `[a](\\\\evil.example)`, "[a](https:evil.example)", "[a](https://ok.example@evil.example)",
	"[a](http://ok.example\\@evil.example)", "[a](https://evil.example\u2028)", "[a](/x\"onmouseover=alert(1))", "[a](/x 'y\" onclick=\"z')",
	"![a](javascript:alert(1))", "![x\" onerror=\"y](/a.png)", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "<a href=\"javascript:x\">y</a>",
	"<table><tr><td colspan=\"2\" onclick=x style=y>z</table>", "<details open ontoggle=alert(1)><summary>x", "</div></body><script>x</script>",
	"<sup><sup><sup>", "<!-- x --><style>*{}</style>", "```\"onclick=\"x\n<b>\n```", "```js\" onload=\n</code></pre><script>", "`<script>`",
	"```html\n<script>x</script><a onclick='y'>\n```", "```js\n\"</span></code></pre><script>\" // <img src=x onerror=y>\n```", "```php\n<?php echo '<b>' ?><i>\n```",
	"| a\" onclick=\"x | b |\n|:-|-:|\n| <script> | `|` |", "# <b id=x>\n", "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;script>", `\<script>`,
	"[<script>](/x)", "[a](/x)[b](/y \"<b>\")", "[[a](/b)](/c)", "[![a](/b)](/c)", "<https://ok.example/\"><script>", "https://ok.example/\"onx=1",
	"www.evil.example", "x@y.example", "<x@y.example>", "[m](mailto:x@y.example?subject=%0d%0aBcc:z)", "[1](javascript:alert(1))", "【1†<script>】",
	"[Source: <script>]", "[^1]: <script>", "a\u2028event: x\u2029\x85\x00\x1b]8;;evil\x07", "&NewLine;&Tab;&#13;&#x85;&#xe202;",
	strings.Repeat("> ", 60) + "deep", strings.Repeat("*a _b ", 60) + strings.Repeat("_ *", 60), strings.Repeat("[", 200) + strings.Repeat("](x)", 200),
}

// allowed maps the elements that may be emitted to their attributes.
var allowed = map[string]string{
	"h2": "id dir", "h3": "id dir", "h4": "id dir", "h5": "id dir", "h6": "id dir", "p": "id dir", "br": "", "strong": "", "em": "", "del": "",
	"code": "class", "pre": "tabindex role aria-label", "span": "class dir", "button": "class type data-docent-copy-code", "blockquote": "id dir", "ul": "id dir", "ol": "id dir start", "li": "dir", "a": "href aria-label",
	"table": "class", "thead": "", "tbody": "", "tfoot": "", "tr": "", "th": "scope data-align dir colspan rowspan", "td": "data-align dir colspan rowspan",
	"hr": "id", "sup": "class", "div": "id class role tabindex aria-label",
	"img": "src alt loading", "sub": "", "kbd": "", "mark": "", "details": "", "summary": "", "caption": "", // pages only
}

// checkHTML reads a fragment with a tokenizer and fails on anything that is
// not allowed, on elements that are not closed and on control characters.
func checkHTML(t testing.TB, src, fragment string) {
	t.Helper()
	fail := func(what string) { t.Fatalf("%s in %q\nfrom %q", what, fragment, src) }
	for _, r := range fragment {
		if isControl(r) || r == '\u2028' || r == '\u2029' {
			fail("control character")
		}
	}
	z := html.NewTokenizer(strings.NewReader(fragment))
	var open []string
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				fail("open element " + open[len(open)-1])
			}
			return
		case html.CommentToken, html.DoctypeToken:
			fail("comment")
		case html.StartTagToken:
			tok := z.Token()
			attrs, ok := allowed[tok.Data]
			if !ok {
				fail("element " + tok.Data)
			}
			if tok.Data != "br" && tok.Data != "hr" && tok.Data != "img" {
				open = append(open, tok.Data)
			}
			for _, a := range tok.Attr {
				if tok.Data == "span" && a.Key == "class" && !slices.Contains([]string{"k", "m", "s", "c", "gi", "gd"}, a.Val) {
					fail("class " + a.Val)
				}
				if !strings.Contains(" "+attrs+" ", " "+a.Key+" ") {
					fail("attribute " + a.Key)
				}
				if a.Key == "href" || a.Key == "src" {
					checkAddress(fail, a.Val)
				}
			}
		case html.SelfClosingTagToken:
			if tok := z.Token(); tok.Data != "br" && tok.Data != "hr" && tok.Data != "img" {
				fail("self-closing element")
			}
		case html.EndTagToken:
			tok := z.Token()
			if len(open) == 0 || open[len(open)-1] != tok.Data {
				fail("wrong end tag " + tok.Data)
			}
			open = open[:len(open)-1]
		}
	}
}

func checkAddress(fail func(string), address string) {
	lower := strings.ToLower(address)
	if decoded, err := url.PathUnescape(lower); err == nil {
		lower = decoded
	}
	lower = strings.Map(func(r rune) rune {
		if r <= ' ' {
			return -1
		}
		return r
	}, lower)
	scheme, _, found := strings.Cut(lower, ":")
	if found && !strings.ContainsAny(scheme, "/?#") && scheme != "http" && scheme != "https" && scheme != "mailto" {
		fail("scheme of " + address)
	}
	if strings.HasPrefix(lower, "//") || strings.HasPrefix(lower, `/\`) {
		fail("host of " + address)
	}
}

func TestHostileInput(t *testing.T) {
	o := testOptions()
	for _, src := range hostile {
		blocks, _ := Render(src, o)
		for _, b := range blocks {
			checkHTML(t, src, b.HTML)
			if strings.Contains(b.HTML, `href="http`) && !strings.Contains(b.HTML, `href="https://ok.example`) {
				t.Errorf("external link from %q: %s", src, b.HTML)
			}
		}
	}
}

func TestHref(t *testing.T) {
	allow := testOptions().AllowLink
	for dest, want := range map[string]string{
		"/a?b=c#d": "/a?b=c#d", "#x": "#x", "a/b": "a/b", "?q": "?q", "mailto:a@b.example": "mailto:a@b.example",
		"https://ok.example/ä b": "https://ok.example/%C3%A4b", "//ok.example/x": "https://ok.example/x", "HTTPS://ok.example": "https://ok.example",
		"https://evil.example": "", "mailto:": "", "": "", "http:": "", "x:y": "", "https://ok.example:99999999999/%zz": "",
	} {
		if got, _ := href(dest, true, allow); got != want {
			t.Errorf("href(%q) = %q, want %q", dest, got, want)
		}
	}
}

// Repetitions that make careless parsers quadratic or deep. Counted is the
// time of the process, not of a busy machine.
func TestRepetitionsAreRenderedInTime(t *testing.T) {
	for _, unit := range []string{
		"[", "![", "](", "[a](", "[a](()", "[a](b (", "[a](<", "[a](b \"", "[1](((", "![1](", "[1, ", "【1†", "*a ", "**a*", "_a", "~~a", "` `` ``` ", "\\", "<", "<a b=", "<!-- ", "&", "&#x",
		">", "> ", "- ", "1. ", "* + - ", "> - ", "|", "a|", "|-", "|a\n", "---\n", "# a\n", "[a]: b\n", "Sources:\n- ", "http://a.b ", "a@b.c ", "\ue202", "\\ue202turn1",
	} {
		src := strings.Repeat(unit, 8<<10/len(unit))
		start := cpuTime(t)
		blocks, _ := Render(src, testOptions())
		for _, b := range blocks {
			checkHTML(t, unit, b.HTML)
		}
		Page(src, Labels{})
		PlainText(src)
		if elapsed := cpuTime(t) - start; elapsed > 5*time.Second {
			t.Errorf("%q took %v", unit, elapsed)
		}
	}
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
