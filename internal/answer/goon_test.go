package answer_test

import (
	"slices"
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/llm"
	"docent/internal/llm/llmtest"
)

// The rest of an answer comes from the sources that it began with: nothing is
// searched for the words that ask for it, neither before the model writes nor by it.
func TestTheRestOfAnAnswerIsNotSearchedFor(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		model := llmtest.NewScript(
			llmtest.Turn{llmtest.Text("Opens at ten [1], closes"), llmtest.End(llm.FinishLength)},
			llmtest.Turn{llmtest.Text("at three in winter [1]."), llmtest.End(llm.FinishLength)},
			llmtest.Turn{llmtest.Text("That is all [1].")},
			llmtest.Turn{llmtest.Text("Four pounds [2].")})
		s := newSite(t, d, model)
		s.change(func(a *config.Agent) { a.TopicDrift, a.MaxResults = true, 1 })
		first := s.wait(s.ask(answer.Question{Text: "opening hours museum winter"}), s.visitor)
		if !first.CutOff || !slices.Equal(titles(first.Sources), []string{"Opening hours"}) {
			t.Fatalf("first turn %+v", first.Turn)
		}
		last := first
		for range 2 {
			last = s.wait(s.ask(answer.Question{Text: " " + strings.ReplaceAll(goOn, " ", "\t"), ConversationID: first.ConversationID}), s.visitor)
			r, err := s.Record(t.Context(), last.LogID)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range r.Steps {
				if step.Kind != answer.StepModel {
					t.Errorf("a step is %s %s", step.Kind, step.Input)
				}
			}
			if last.Refused || !slices.Equal(titles(last.Sources), titles(first.Sources)) || last.Sources[0].Final != 1 || last.Sources[0].Running != 1 {
				t.Errorf("the rest rests on %+v", last.Sources)
			}
			requests := model.Requests()
			if req := requests[len(requests)-1]; len(req.Tools) != 0 || req.Messages[len(req.Messages)-1].Text != goOn {
				t.Errorf("the model may call %d tools and is asked %q", len(req.Tools), req.Messages[len(req.Messages)-1].Text)
			}
		}
		// What comes after it is a question like any other.
		next := s.wait(s.ask(answer.Question{Text: "What does a ticket cost for children?", ConversationID: first.ConversationID}), s.visitor)
		if !slices.Contains(titles(next.Sources), "Tickets") {
			t.Errorf("the next question has %v", titles(next.Sources))
		}
	})
}

// As the first question of a conversation the same words have nothing to go on with.
func TestTheRestOfNothingIsAQuestion(t *testing.T) {
	s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{llmtest.Text("I cannot.")}))
	st := s.wait(s.ask(answer.Question{Text: goOn}), s.visitor)
	r, err := s.Record(t.Context(), st.LogID)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Steps) == 0 || r.Steps[0].Kind != answer.StepSearch {
		t.Errorf("steps %+v", r.Steps)
	}
}
