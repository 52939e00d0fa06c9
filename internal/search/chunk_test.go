package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"docent/internal/markdown"
)

func TestSplit(t *testing.T) {
	long := strings.Repeat("A sentence of some length stands here. ", 12) // 468 bytes
	body := "Intro paragraph.\n\n## Prices\n\n" + long + "\n\n### Groups\n\n" + long + "\n\n" + long + "\n\n## Hours\n\nNine to five.\n"
	got := split(body)
	want := []struct {
		headings []string
		anchor   string
		holds    string
	}{
		{nil, "", "Intro paragraph."},
		{[]string{"Prices"}, "prices", "## Prices"},
		{[]string{"Prices", "Groups"}, "groups", "### Groups"},
		{[]string{"Hours"}, "hours", "Nine to five."},
	}
	if len(got) != len(want) {
		t.Fatalf("%d passages, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		c := got[i]
		if !slices.Equal(c.Headings, w.headings) || c.Anchor != w.anchor || !strings.Contains(c.Text, w.holds) {
			t.Errorf("passage %d: headings %q, anchor %q, text %.60q", i, c.Headings, c.Anchor, c.Text)
		}
	}
}

func TestSplitKeepsBlocksWhole(t *testing.T) {
	list := strings.Repeat("- an item of the list that says something\n", 20)
	for name, block := range map[string]string{
		"list":        list,
		"loose list":  strings.ReplaceAll(list, "\n", "\n\n"),
		"code":        "```sh\n# not a heading\n\n" + strings.Repeat("make all the things\n", 40) + "```\n",
		"table":       "| a | b |\n|---|---|\n" + strings.Repeat("| some value | another value |\n", 25),
		"setext":      "Heading\n=======\n\n" + strings.Repeat("word ", 150),
		"hashes only": "#hashtag\n\nis no heading",
	} {
		body := strings.Repeat("Filler text before it. ", 30) + "\n\n" + block
		n := 0
		for _, c := range split(body) {
			if strings.Contains(c.Text, strings.TrimSpace(block)) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: %d passages hold the whole block", name, n)
		}
	}
}

func TestSplitTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Fees\n\n| Kind | Fee |\n| --- | --- |\n")
	for i := range 200 {
		fmt.Fprintf(&b, "| visitor of kind %d | %d euro |\n", i, i)
	}
	chunks := split(b.String())
	if len(chunks) < 4 {
		t.Fatalf("%d passages", len(chunks))
	}
	for i, c := range chunks {
		if !strings.Contains(c.Text, "| Kind | Fee |\n| --- | --- |\n|") {
			t.Errorf("passage %d lacks the header: %.80q", i, c.Text)
		}
		if c.Heading() != "Fees" || c.Anchor != "fees" {
			t.Errorf("passage %d: heading %q, anchor %q", i, c.Heading(), c.Anchor)
		}
		if strings.Count(c.Text, "| visitor of kind") != strings.Count(b.String()[c.Start:c.End], "| visitor of kind") {
			t.Errorf("passage %d: text and offsets differ", i)
		}
	}
}

func TestAnchorsAreThePages(t *testing.T) {
	body := "# Title\n\n## Same\n\ntext\n\n## Same\n\n## With *marks* & `code` {#own}\n\n## [Link](/x) text\n\n" +
		"## زيارة\n\nUnder\n-----\n\n> ## In a quote\n\n##\n\n#### Deep ####\n"
	_, shown := markdown.Page(body, markdown.Labels{})
	var want, got []string
	for _, h := range shown {
		want = append(want, h.ID)
	}
	parts := blocks(body)
	ids := anchors(body, parts)
	for _, b := range parts {
		if id := ids[b.start]; b.kind == headingBlock && id != "" {
			got = append(got, id)
		}
	}
	want = slices.DeleteFunc(want, func(id string) bool { return id == "in-a-quote" }) // not a place to cut
	if !slices.Equal(got, want) {
		t.Errorf("anchors %q, the page has %q", got, want)
	}
}

// FuzzSplit holds the promises about offsets, and that no text is lost.
func FuzzSplit(f *testing.F) {
	f.Add("# A\n\ntext\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n")
	f.Add(strings.Repeat("word ", 2000))
	f.Add(strings.Repeat("東京", 1500) + "\r\n\r\n- x\n\n  y\n")
	f.Add("Heading\n---\n" + strings.Repeat("| a | b |\n|-|-|\n", 300))
	f.Fuzz(func(t *testing.T, body string) {
		end := 0
		for _, c := range split(body) {
			if c.Start < end || c.End < c.Start || c.End > len(body) {
				t.Fatalf("passage from %d to %d behind %d, body of %d", c.Start, c.End, end, len(body))
			}
			if skipped := body[end:c.Start]; strings.TrimSpace(skipped) != "" {
				t.Fatalf("lost %q", skipped)
			}
			if !strings.HasSuffix(c.Text, strings.TrimSpace(body[c.Start:c.End])) {
				t.Fatalf("text %q is not %q", c.Text, body[c.Start:c.End])
			}
			if utf8.ValidString(body) && !utf8.ValidString(c.Text) {
				t.Fatalf("cut within a character: %q", c.Text)
			}
			if len(c.Text) > 3*chunkMaximum {
				t.Fatalf("passage of %d bytes", len(c.Text))
			}
			end = c.End
		}
		if strings.TrimSpace(body[end:]) != "" {
			t.Fatalf("lost %q", body[end:])
		}
	})
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"## A **bold** [link](https://x.example/a_(b) \"t\") and ![alt](i.png)": "A bold link and alt",
		"- item `code` &amp; <b>html</b>":                                       "item code &  html",
		"> quoted\n> text":                                                      "quoted\ntext",
		"see [ref][1]\n\n[1]: http://x":                                         "see ref",
		"a <!-- hidden\nnote --> b":                                             "a   b",
		"5 < 6 and 7 > 3":                                                       "5 < 6 and 7 > 3",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}
