package eval

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const file = `{"id":"a","question":"What does it cost?","gold":["prices.md","fees.md"],"answer_facts":["12 ?€","free"],"answerable":true,"lang":"en","follow_up":{"question":"and for children?","gold":["prices.md"],"answer_facts":["half"]}}

{"id":"b","question":"When is it open?","gold":["hours.md"],"answer_facts":["\\b9\\b"],"answerable":true,"lang":"en"}
{"id":"c","question":"banana bread","gold":[],"answer_facts":[],"answerable":false,"lang":"en"}
`

func load(t *testing.T, text string) ([]Question, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "questions.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(path)
}

func TestLoad(t *testing.T) {
	qs, err := load(t, file)
	if err != nil {
		t.Fatal(err)
	}
	if len(qs) != 3 || qs[0].FollowUp == nil || qs[1].FollowUp != nil || qs[2].Answerable {
		t.Errorf("read %+v", qs)
	}
	for text, want := range map[string]string{
		"": "no questions",
		`{"question":"x","gold":["a"],"answer_facts":["("],"answerable":true}`: "line 1: answer_facts",
		"\n" + `{"question":" "}`:            "line 2: question is empty",
		`{"question":"x","answerable":true}`: "gold is empty",
		`{"question":`:                       "line 1",
		`{"question":"x","follow_up":{"question":"y","answer_facts":["["]}}` + "\nnot read": "follow_up",
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%q) = %v, want an error with %q", text, err, want)
		}
	}
	if _, err := Load("does-not-exist"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestFacts(t *testing.T) {
	facts, err := compile([]string{"12 ?€", `let.?s encrypt`})
	if err != nil {
		t.Fatal(err)
	}
	for answer, want := range map[string]bool{
		"It costs **12**\n€ with Let&#8217;s _Encrypt_": false, // an underscore may be part of a name
		"It costs **12**\n€ with LET&#8217;S *Encrypt*": true,
		"It costs 12 €":    false,
		"":                 false,
		"12€ lets encrypt": true,
	} {
		if got := holdsAll(answer, facts); got != want {
			t.Errorf("holdsAll(%q) = %v", answer, got)
		}
	}
}

func TestRun(t *testing.T) {
	qs, err := load(t, file)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{
		"What does it cost?": {"import:news.md", "import:news.md", "import:fees.md"},
		"and for children?":  {"import:prices.md"},
		"When is it open?":   {"x", "y"},
		"banana bread":       {"x"},
	}
	answers := map[string]Answer{
		"What does it cost?": {Text: "12 €, children are free", CitedOrigins: []string{"import:fees.md"}, Conversation: "one"},
		"and for children?":  {Text: "They pay half."},
		"When is it open?":   {Refused: true},
		"banana bread":       {Refused: true},
	}
	find := func(_ context.Context, q, _ string, prev *Turn) (pages []RankedPage, err error) {
		if (q == "and for children?") != (prev != nil) {
			t.Errorf("%s: prev = %v", q, prev)
		}
		for _, o := range found[q] {
			pages = append(pages, RankedPage{o})
		}
		return pages, nil
	}
	answer := func(_ context.Context, q, _ string, prev *Turn) (Answer, error) {
		if prev != nil && prev.Answer.Conversation != "one" {
			t.Errorf("the follow-up does not go on in its conversation: %+v", prev)
		}
		return answers[q], nil
	}
	r, err := Run(t.Context(), qs, find, answer)
	if err != nil {
		t.Fatal(err)
	}
	want := Scores{Questions: 3, Answerable: 2, RecallAt1: 0, RecallAt5: 0.5, RecallAt10: 0.5, MRR: 0.25,
		GoldCited: 1, Facts: 0.5, RefusedRight: 1, RefusedWrong: 0.5}
	if r.Scores != want {
		t.Errorf("scores %+v, want %+v", r.Scores, want)
	}
	if r.FollowUps == nil || *r.FollowUps != (Scores{Questions: 1, Answerable: 1, RecallAt1: 1, RecallAt5: 1, RecallAt10: 1, MRR: 1, Facts: 1}) {
		t.Errorf("follow-ups %+v", r.FollowUps)
	}

	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"recall_at_1", "recall_at_5", "recall_at_10", "mrr", "gold_cited", "facts", "refused_right", "refused_wrong"} {
		if !strings.Contains(string(b), `"`+key+`":`) {
			t.Errorf("the JSON has no %s", key)
		}
	}
	var out strings.Builder
	if err := r.Print(&out, true); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"recall@5", "0.500", "follow-ups", "b  When is it open?", "not found; refused", "gold: hours.md"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("the table lacks %q:\n%s", text, out.String())
		}
	}
}

func TestRunStopsAtErrors(t *testing.T) {
	qs, err := load(t, file)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	_, err = Run(t.Context(), qs, func(context.Context, string, string, *Turn) ([]RankedPage, error) { return nil, broken }, nil)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "find a") {
		t.Errorf("error = %v", err)
	}
}
