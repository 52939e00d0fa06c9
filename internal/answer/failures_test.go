package answer_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/answer"
	"docent/internal/llm"
	"docent/internal/llm/llmtest"
)

func TestModelFailures(t *testing.T) {
	for _, c := range []struct {
		name   string
		turn   llmtest.Turn
		status answer.Status
		fail   answer.Failure
		text   string
	}{
		{"at once", llmtest.Turn{llmtest.Fail(&llm.Error{Kind: llm.KindRateLimited, Status: 429})}, answer.Failed, answer.FailBusy, ""},
		{"half way", llmtest.Turn{llmtest.Text("Some [1]. "), llmtest.Fail(&llm.Error{Kind: llm.KindUnavailable})}, answer.Failed, answer.FailUnavailable, "Some [1]."},
		{"key", llmtest.Turn{llmtest.Fail(&llm.Error{Kind: llm.KindUnauthorized})}, answer.Failed, answer.FailKey, ""},
		{"unknown", llmtest.Turn{llmtest.Fail(errors.New("odd"))}, answer.Failed, answer.FailInternal, ""},
		{"length", llmtest.Turn{llmtest.Text("Cut [1]"), llmtest.End(llm.FinishLength)}, answer.Done, "", "Cut [1]"},
		{"only thoughts", llmtest.Turn{llmtest.End(llm.FinishEmpty)}, answer.Failed, answer.FailUnavailable, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(c.turn))
			st := s.wait(s.ask(answer.Question{Text: "opening hours"}), s.visitor)
			if st.Status != c.status || st.Failure != c.fail || strings.TrimSpace(st.Text) != c.text || st.CutOff != (c.name == "length") {
				t.Errorf("turn = %+v", st.Turn)
			}
		})
	}
}

func TestUnknownToolAndBadArgumentsGoBackToTheModel(t *testing.T) {
	model := llmtest.NewScript(
		llmtest.Turn{llmtest.Call("publish", `{}`), llmtest.Call("search", `{"query":7}`), llmtest.Call("search", `{}`)},
		llmtest.Turn{llmtest.Text("At ten [1].")},
	)
	s := newSite(t, dbtest.SQLite(t), model)
	st := s.wait(s.ask(answer.Question{Text: "opening hours"}), s.visitor)
	if st.Status != answer.Done {
		t.Fatalf("turn = %+v", st.Turn)
	}
	var results []string
	for _, m := range model.Requests()[1].Messages {
		if m.Role == llm.RoleTool {
			results = append(results, m.Text)
		}
	}
	if len(results) != 3 {
		t.Fatalf("%d results for 3 calls", len(results))
	}
	for i, part := range []string{"no tool named publish", "invalid arguments", "query is empty"} {
		if !strings.Contains(results[i], part) {
			t.Errorf("result %d is %q, want %q in it", i, results[i], part)
		}
	}
}

func TestShutdownInterruptsAndKeepsText(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		never, written := make(chan struct{}), make(chan struct{})
		s := newSite(t, d, llmtest.NewScript(llmtest.Turn{llmtest.Text("So far [1].\n\n"), llmtest.Reach(written), llmtest.Wait(never)}))
		st := s.ask(answer.Question{Text: "opening hours"})
		<-written
		ended, cancel := context.WithCancel(context.Background())
		cancel() // no time left to finish
		s.Close(ended)
		if _, err := s.Ask(t.Context(), answer.Question{Agent: "site", Text: "hours", Who: s.visitor}); err == nil {
			t.Error("a closed service took a question")
		}
		s.restart()
		st, err := s.Turn(t.Context(), st.ID, s.visitor)
		if err != nil {
			t.Fatal(err)
		}
		if st.Status != answer.Interrupted || !strings.Contains(html(st), "So far") {
			t.Errorf("after the restart: %+v", st)
		}
	})
}

// A panicking model is a failed turn, not the end of the process.
type panicking struct{ llm.Generator }

func (panicking) Name() string { return "panicking" }

func (panicking) Generate(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		yield(llm.Event{Text: "So far [1]. "}, nil)
		panic("a provider's fault")
	}
}

func TestPanicFailsOneTurn(t *testing.T) {
	s := newSite(t, dbtest.SQLite(t), panicking{})
	st := s.wait(s.ask(answer.Question{Text: "opening hours"}), s.visitor)
	if st.Status != answer.Failed || st.Failure != answer.FailInternal || !strings.Contains(st.Text, "So far") {
		t.Errorf("turn = %+v", st.Turn)
	}
}
