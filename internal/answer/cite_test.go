package answer

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"docent/internal/markdown"
)

func citeOptions(sources []Source) markdown.Options {
	return markdown.Options{Source: func(n int) (string, bool) {
		if n < 1 || n > len(sources) {
			return "", false
		}
		return sources[n-1].Key, true
	}}
}

func TestCitationKeepsThePassageItRestsOn(t *testing.T) {
	long := strings.Repeat("The mill was built by many hands over many years. ", 12)
	sources := []Source{
		{Number: 1, Key: "a", Title: "Hours", Lang: "en", Path: "/hours/", FoundLang: "en", FoundPath: "/hours/", Passages: Passages{
			{Text: "The museum opens at ten in the morning. Dogs stay outside."},
			{Text: "In winter the mill closes at three. The tower is shut on Mondays, except in July and in August of course.", Heading: "Winter", Anchor: "winter", Start: 80}}},
		{Number: 2, Key: "b", Title: "Prices", Lang: "en", Path: "/prices/", Passages: Passages{
			{Text: "| Who | Price |\n|---|---|\n| Adults | four pounds |\n| Children | free |\n\n" + long + "Groups pay thirty-two pounds & more, 20% off. " + long, Anchor: "table"}}},
	}
	text := "It opens at ten in the morning [1]. In winter it closes at three [1], and on Mondays the tower is shut except in July and August [1].\n\n" +
		"Children are free [2]. Groups pay thirty-two pounds [2]. Something else entirely [2]."
	var g grounder
	g.lang = "en"
	g.ground(text, citeOptions(sources), sources, nil)
	type want struct{ quote, url string }
	for i, wants := range [][]want{
		{
			{"The museum opens at ten in the morning.", "/hours/#:~:text=The%20museum%20opens%20at%20ten%20in%20the%20morning."},
			{"In winter the mill closes at three.", "/hours/#winter:~:text=In%20winter%20the%20mill%20closes%20at%20three."},
			{"The tower is shut on Mondays, except in July and in August of course.", "/hours/#winter:~:text=The%20tower%20is%20shut,in%20August%20of%20course."},
		}, {
			{"Children | free", "/prices/#table:~:text=Children"},
			{"Groups pay thirty-two pounds & more, 20% off.", "/prices/#table:~:text=Groups%20pay%20thirty%2Dtwo%20pounds%20%26%20more%2C%2020%25%20off."},
			{"", "/prices/#table"},
		},
	} {
		if len(sources[i].Citations) != len(wants) {
			t.Fatalf("source %d has %d citations: %+v", i+1, len(sources[i].Citations), sources[i].Citations)
		}
		for j, w := range wants {
			c := sources[i].Citations[j]
			if c.Quote != w.quote || c.URL != w.url {
				t.Errorf("source %d, marker %d: %q at %s, want %q at %s", i+1, j+1, c.Quote, c.URL, w.quote, w.url)
			}
			if marked := c.Passage[c.Mark[0]:c.Mark[1]]; marked != c.Quote {
				t.Errorf("marked %q of %q", marked, c.Passage)
			}
			if n := utf8.RuneCountInString(c.Passage); n > passageLimit+2 {
				t.Errorf("a passage of %d characters", n)
			}
			if _, err := url.Parse(c.URL); err != nil {
				t.Error(err)
			}
		}
	}
}

// A marker at the end of a paragraph vouches for what the paragraph took over.
func TestCitationOfSeveralSentences(t *testing.T) {
	sources := []Source{{Number: 1, Key: "a", Lang: "en", Path: "/", Passages: Passages{{Text: "Dogs stay outside. Open Thursday to Sunday. Last entry is at three. We are closed in May."}}}}
	g := grounder{lang: "en"}
	g.ground("Open Thursday to Sunday. Last entry is at three. We are closed in May. [1]", citeOptions(sources), sources, nil)
	if got := sources[0].Citations[0].Quote; got != "Open Thursday to Sunday. Last entry is at three. We are closed in May." {
		t.Errorf("quote %q", got)
	}
}

// Whatever source and claim hold, a mark lies on whole characters inside its passage.
func FuzzCitation(f *testing.F) {
	f.Add("At ten. At three! 十時に開きます。| a | b |", "At three [1]", 3)
	f.Add(strings.Repeat("ö ü ", 300)+"end. x", "end x [1]", 1)
	f.Fuzz(func(t *testing.T, body, text string, n int) {
		sources := []Source{{Number: 1, Key: "a", Lang: "en", Path: "/a/", Passages: Passages{{Text: body}, {Text: body[:len(body)/2]}}}}
		g := grounder{lang: "en"}
		g.ground(text, citeOptions(sources), sources, nil)
		for _, c := range sources[0].Citations {
			if c.Mark[0] < 0 || c.Mark[1] > len(c.Passage) || c.Passage[c.Mark[0]:c.Mark[1]] != c.Quote {
				t.Fatalf("mark %v of %q, quote %q", c.Mark, c.Passage, c.Quote)
			}
			if utf8.ValidString(body) && !utf8.ValidString(c.Passage) {
				t.Fatalf("broken text %q", c.Passage)
			}
			if strings.ContainsAny(c.URL, " \n\"<>") {
				t.Fatalf("address %q", c.URL)
			}
		}
	})
}

func TestRerankOrder(t *testing.T) {
	for in, want := range map[string]string{
		`{"results":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":0.1},{"index":1,"relevance_score":0.5}]}`: "[2 1 0]",
		`[{"index":0,"score":0.1},{"index":2,"score":0.7}]`:                                                                   "[2 0 1]",
		`{"results":[{"index":7,"relevance_score":1},{"index":1,"relevance_score":0.5},{"index":1,"relevance_score":0.4}]}`:   "[1 0 2]",
		`{"results":[]}`:             "error",
		`<html>`:                     "error",
		`{"results":[{"index":-1}]}`: "error",
	} {
		order, err := rerankOrder([]byte(in), 3)
		got := fmt.Sprint(order)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestListedRowsInBothShapes(t *testing.T) {
	rows := []map[string]any{{"entity_type": "node", "entity_id": "1", "langcode": "en", "content": "One line"}, {"entity_type": "node"}}
	wrapped := map[string]any{"outputs": map[string]any{"results": []any{
		map[string]any{"_metadata": map[string]any{"type": "node", "id": 7}, "title": "Nursing", "degree": "Bachelor", "years": 3, "nested": map[string]any{"x": 1}},
		map[string]any{"title": "no reference"},
	}}}
	for _, tt := range []struct {
		output any
		want   string
	}{
		{rows, "[{node 1 en One line map[]}]"},
		{map[string]any{"results": rows}, "[{node 1 en One line map[]}]"},
		{wrapped, "[{node 7   map[degree:Bachelor title:Nursing years:3]}]"},
		{[]any{}, "[]"},
	} {
		got, err := listedRows(tt.output)
		if err != nil || fmt.Sprint(got) != tt.want {
			t.Errorf("%v: %v %v, want %s", tt.output, got, err, tt.want)
		}
	}
	if _, err := listedRows("text"); err == nil {
		t.Error("text is no list")
	}
}
