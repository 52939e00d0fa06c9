package markdown

import (
	"reflect"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

const pageSource = `# Opening hours

Intro with [a link](https://other.example/x "t"), ![plan](/files/plan.png) and ![spy](https://evil.example/p.png).

## Fees & *terms*

| Item | Price |
|---|--:|
| Loan | 2 €<sup>1</sup> |

## Fees & *terms*

~~~json
{"open": true}
~~~

<details><summary>More</summary>

Hidden **text** <b onclick="x()">bold</b>

<script>alert(1)</script>

- one

- two

[ref]: /about
See [About][ref], [bad](javascript:alert(1)).
`

func TestPage(t *testing.T) {
	html, headings := Page(pageSource, Labels{})
	want := []Heading{{2, "opening-hours", "Opening hours"}, {2, "fees-terms", "Fees & terms"}, {2, "fees-terms-2", "Fees & terms"}}
	if !reflect.DeepEqual(headings, want) {
		t.Errorf("headings %v", headings)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader("<main>" + html + "</main><footer></footer>"))
	if err != nil {
		t.Fatal(err)
	}
	for selector, n := range map[string]int{
		"h1": 0, "h2#opening-hours": 1, "h2#fees-terms em": 1, "h2#fees-terms-2": 1,
		`div.scroll[role="group"][tabindex="0"] > table.table td[data-align="end"] sup`: 1,
		`img[src="/files/plan.png"][alt="plan"]`:                                        1, "img": 1,
		`div.code > pre[tabindex="0"] span.k`: 2, "div.code button[data-docent-copy-code]": 1,
		"main > details > summary": 1, "script": 0, "b": 0, "[onclick]": 0,
		`a[href="/about"]`: 1, `a[href="https://other.example/x"]`: 1, `a[href^="javascript"]`: 0,
		"body > footer": 1, "li > p": 2,
	} {
		if got := doc.Find(selector).Length(); got != n {
			t.Errorf("%s: %d, want %d in\n%s", selector, got, n, html)
		}
	}
	for _, text := range []string{"alert(1)", "evil.example"} {
		if strings.Contains(doc.Text(), text) {
			t.Errorf("%q is shown", text)
		}
	}
}

func TestPageAllowsOnlyKnownHTML(t *testing.T) {
	for _, src := range append(hostile, specExamples(t)...) {
		html, _ := Page(src, Labels{})
		checkHTML(t, src, html)
	}
}

func TestPlainText(t *testing.T) {
	got := PlainText(pageSource)
	want := `Opening hours

Intro with a link, plan and spy.

Fees & terms

Item | Price
Loan | 2 €1

Fees & terms

{"open": true}

More

Hidden text bold

- one

- two

See About, bad.`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	for src, want := range map[string]string{
		"":                                "",
		"a &amp; b \\* `c*d`":             "a & b * c*d",
		"1. x\n2. y\n   - z":              "1. x\n2. y\n- z",
		"a<br>b\x00":                      "a\nb",
		"> q\n\n```sh\nls *\n```":         "q\n\nls *",
		"~~old~~ https://x.example **n**": "old https://x.example n",
	} {
		if got := PlainText(src); got != want {
			t.Errorf("PlainText(%q) = %q, want %q", src, got, want)
		}
	}
}
