package handlers

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"docent/internal/answer"
	"docent/internal/benchtest"
	"docent/internal/markdown"
)

func TestAdditions(t *testing.T) {
	for _, c := range []struct {
		before, now string
		want        []addition // nil: the element is another one
	}{
		{"<p>a</p>", "<p>ab</p>", []addition{{0, "b"}}},
		{`<p id="x" dir="auto"></p>`, `<p id="x" dir="auto">a</p>`, []addition{{0, "a"}}},
		{"<p>a<b>c</b></p>", "<p>a<b>cd</b> e<br>f</p>", []addition{{1, "d"}, {0, " e<br>f"}}},
		{"<ul><li>a</li></ul>", "<ul><li>ab</li><li>c</li></ul>", []addition{{1, "b"}, {0, "<li>c</li>"}}},
		{"<ul><li>a</li></ul>", "<ul><li>a<ul><li>b</li></ul></li></ul>", []addition{{1, "<ul><li>b</li></ul>"}}},
		{"<p>a</p>", "<p>b</p>", nil},
		{"<p>a</p>", "<h2>a</h2>", nil},
		{"<ul><li>a</li></ul>", "<ul><li>a</li></ul><p>b</p>", nil},
		{"<p>a</p>", "<p>a<b>c</p>", nil},
		{"<p>a</p>", "<p>ab", nil},
		{"<hr>", "<hr>", nil},
		{"", "<p>a</p>", nil},
	} {
		if got, ok := additions(c.before, c.now); ok != (c.want != nil) || ok && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q to %q: %v %v", c.before, c.now, got, ok)
		}
	}
}

// Applied to the page, what was added gives the element as it is now.
func TestAdditionsMakeTheElement(t *testing.T) {
	parse := func(html string) *goquery.Selection {
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
		if err != nil {
			t.Fatal(err)
		}
		return doc.Find("body").Children()
	}
	outer := func(s *goquery.Selection) string {
		html, err := goquery.OuterHtml(s)
		if err != nil {
			t.Fatal(err)
		}
		return html
	}
	var before markdown.Blocks
	grown, others := 0, 0
	paced(benchtest.Answer(12<<10), 10*time.Millisecond, 0, func(st answer.State) {
		for i := range min(before.Len(), st.Blocks.Len()) {
			was, now := before.At(i).HTML, st.Blocks.At(i).HTML
			if was == now {
				continue
			}
			steps, ok := additions(was, now)
			if !ok {
				others++
				continue
			}
			grown++
			page := parse(was)
			for _, step := range steps {
				at := page
				for range step.depth {
					at = at.ChildrenFiltered(":last-child")
				}
				at.AppendHtml(step.html)
			}
			if got, want := outer(page), outer(parse(now)); got != want {
				t.Fatalf("%q with %v is\n%q, not\n%q", was, steps, got, want)
			}
		}
		before = st.Blocks
	})
	if grown < 2000 || others > grown/100 {
		t.Errorf("%d changes of a block are additions, %d are not", grown, others)
	}
}
