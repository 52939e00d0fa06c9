package demo

import (
	"bytes"
	"encoding/json"
	_ "image/png"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

type turn struct {
	Question string   `json:"question"`
	Gold     []string `json:"gold"`
	Facts    []string `json:"answer_facts"`
}

// check wants every fact on every gold page; a comparison may spread its facts.
func (q turn) check(t *testing.T, pages map[string]page, spread bool) {
	t.Helper()
	if len(q.Gold) == 0 || len(q.Facts) == 0 {
		t.Errorf("%q: no gold page or no fact", q.Question)
	}
	var together strings.Builder
	for _, file := range q.Gold {
		p, ok := pages[file]
		if !ok || !p.public() || p.Answers != nil && !*p.Answers {
			t.Errorf("%q: gold page %s is missing or hidden", q.Question, file)
		}
		together.WriteString(p.text() + "\n")
	}
	for _, fact := range q.Facts {
		re, err := regexp.Compile("(?i)" + fact)
		if err != nil {
			t.Errorf("%q: %v", q.Question, err)
			continue
		}
		if re.MatchString(q.Question) {
			t.Errorf("%q gives away its fact %s", q.Question, fact)
		}
		if spread {
			if !re.MatchString(together.String()) {
				t.Errorf("%q: fact %s is on no gold page", q.Question, fact)
			}
			continue
		}
		for _, file := range q.Gold {
			if !re.MatchString(pages[file].text()) {
				t.Errorf("%q: fact %s is not on %s", q.Question, fact, file)
			}
		}
	}
}

func TestQuestions(t *testing.T) {
	pages := site(t)
	src, err := os.ReadFile("questions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	count := map[string]int{}
	for line := range bytes.Lines(src) {
		var q struct {
			turn
			ID         string `json:"id"`
			Kind       string `json:"kind"`
			Answerable bool   `json:"answerable"`
			Lang       string `json:"lang"`
			FollowUp   *turn  `json:"follow_up"`
		}
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&q); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if q.ID == "" || ids[q.ID] {
			t.Errorf("id %q is empty or used twice", q.ID)
		}
		ids[q.ID] = true
		if !slices.Contains([]string{"factoid", "how-to", "list", "definition", "comparison"}, q.Kind) {
			t.Errorf("%s: kind %q", q.ID, q.Kind)
		}
		if !q.Answerable {
			count["unanswerable"]++
			if len(q.Gold)+len(q.Facts) > 0 || q.FollowUp != nil {
				t.Errorf("%s: not answerable, yet it has an answer", q.ID)
			}
			continue
		}
		count["answerable"]++
		count[q.Lang]++
		q.check(t, pages, q.Kind == "comparison")
		if q.FollowUp != nil {
			q.FollowUp.check(t, pages, false)
		}
	}
	if count["answerable"] != 30 || count["unanswerable"] != 10 || count["es"] < 4 || count["ar"] < 3 {
		t.Errorf("questions: %v", count)
	}
}
