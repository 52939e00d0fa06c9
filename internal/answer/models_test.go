package answer_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/llm"
	"docent/internal/llm/llmtest"
)

func TestModelOfAnAgent(t *testing.T) {
	other := llmtest.NewScript(llmtest.Turn{llmtest.Text("other [1]")})
	s := newSite(t, dbtest.SQLite(t), llmtest.NewScript())
	s.change(func(a *config.Agent) { a.Model = "big" })
	_, err := s.Ask(t.Context(), answer.Question{Agent: "site", Text: "opening hours", Who: s.visitor, Lang: "en"})
	if e, ok := errors.AsType[*answer.UnusableError](err); !ok || !strings.Contains(e.Reason, "big") {
		t.Errorf("without a server: %v", err)
	}
	s.reopen(func(o *answer.Options) {
		o.ModelNamed = func(name string) (llm.Generator, error) {
			if name != "big" {
				return nil, errors.New("unknown")
			}
			return other, nil
		}
	})
	temperature := 0.5
	s.change(func(a *config.Agent) { a.Temperature, a.MaxTokens = &temperature, 77 })
	if st := s.wait(s.ask(answer.Question{Text: "opening hours"}), s.visitor); st.FinalText != "other [1]" {
		t.Errorf("turn = %+v", st.Turn)
	}
	if req := other.Requests()[0]; *req.Temperature != temperature || req.MaxTokens != 77 {
		t.Errorf("request %v %v", req.Temperature, req.MaxTokens)
	}
}

// parrot answers with what only its own prompt and question hold.
type parrot struct{}

func (parrot) Name() string { return "parrot" }

func (parrot) Generate(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		question := r.Messages[len(r.Messages)-1].Text
		sources := llm.ParseSources(r.Messages[0].Text)
		for _, piece := range []string{"Asked: ", question, ".", fmt.Sprintf(" Found %q", sources[0].Title), " [1].\n\n", "Done [1]."} {
			if !yield(llm.Event{Text: piece}, nil) {
				return
			}
		}
		yield(llm.Event{Finish: llm.FinishStop}, nil)
	}
}

// Two hundred visitors at once: no question, source or conversation of one is seen
// by another, and nobody is turned away.
func TestConcurrentRunsDoNotBleed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d, parrot{})
		s.change(func(a *config.Agent) { a.MaxResults = 1 })
		subjects := map[string]string{"opening hours morning": "Opening hours", "ticket cost pounds": "Tickets", "wholemeal flour bags": "Flour shop"}
		var names []string
		for q := range subjects {
			names = append(names, q)
		}
		slices.Sort(names)
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				who := account.Account{ID: fmt.Sprintf("visitor%d", i), Roles: s.member.Roles, Permissions: s.member.Permissions}
				subject := names[i%len(names)]
				question := fmt.Sprintf("%s number%d", subject, i)
				st, err := s.Ask(t.Context(), answer.Question{Agent: "site", Text: question, Lang: "en", Who: who, Delivery: answer.Stream})
				if err != nil {
					t.Errorf("ask: %v", err)
					return
				}
				if st, err = s.Wait(t.Context(), st.ID, who); err != nil {
					t.Error(err)
					return
				}
				want := fmt.Sprintf("Asked: %s. Found %q [1].\n\nDone [1].", question, subjects[subject])
				if st.Status != answer.Done || st.FinalText != want || len(st.Cited()) != 1 || st.Cited()[0].Title != subjects[subject] {
					t.Errorf("got %q, want %q", st.FinalText, want)
				}
				if _, states, err := s.Conversation(t.Context(), st.ConversationID, who); err != nil || len(states) != 1 {
					t.Errorf("conversation %d turns, %v", len(states), err)
				}
			})
		}
		wg.Wait()
	})
}
