package llmtest_test

import (
	"context"
	"errors"
	"testing"

	"docent/internal/llm"
	"docent/internal/llm/llmtest"
)

func play(ctx context.Context, s *llmtest.Script, r llm.Request) (text string, calls []string, finish llm.Finish, err error) {
	for e, err := range s.Generate(ctx, r) {
		if err != nil {
			return text, calls, finish, err
		}
		text += e.Text
		if e.ToolCall != nil {
			calls = append(calls, e.ToolCall.ID)
		}
		if e.Finish != "" {
			finish = e.Finish
		}
	}
	return text, calls, finish, nil
}

func TestScript(t *testing.T) {
	boom := errors.New("boom")
	s := llmtest.NewScript(
		llmtest.Turn{llmtest.Call("f", `{}`), llmtest.Call("f", `{}`), llmtest.Used(1, 2)},
		llmtest.Turn{llmtest.Text("a"), llmtest.Text("b")},
		llmtest.Turn{llmtest.Text("c"), llmtest.Fail(boom)},
		llmtest.Turn{llmtest.End(llm.FinishLength), llmtest.Text("unreached")},
	)
	for i, want := range []struct {
		text   string
		calls  int
		finish llm.Finish
		err    error
	}{
		{"", 2, llm.FinishToolCalls, nil},
		{"ab", 0, llm.FinishStop, nil},
		{"c", 0, "", boom},
		{"", 0, llm.FinishLength, nil},
	} {
		text, calls, finish, err := play(t.Context(), s, llm.Request{MaxTokens: i})
		if text != want.text || len(calls) != want.calls || finish != want.finish || !errors.Is(err, want.err) {
			t.Errorf("turn %d: %q %v %q %v", i, text, calls, finish, err)
		}
		if len(calls) == 2 && calls[0] == calls[1] {
			t.Errorf("turn %d: one id for two calls", i)
		}
	}
	var e *llm.Error
	if _, _, _, err := play(t.Context(), s, llm.Request{}); !errors.As(err, &e) {
		t.Errorf("after the last turn: %v", err)
	}
	if r := s.Requests(); len(r) != 5 || r[2].MaxTokens != 2 {
		t.Errorf("requests %+v", r)
	}
}

func TestScriptGates(t *testing.T) {
	gate, reached := make(chan struct{}), make(chan struct{})
	s := llmtest.NewScript(
		llmtest.Turn{llmtest.Text("a"), llmtest.Reach(reached), llmtest.Wait(gate), llmtest.Text("b")},
		llmtest.Turn{llmtest.Wait(make(chan struct{}))},
	)
	go func() {
		<-reached
		close(gate)
	}()
	if text, _, _, err := play(t.Context(), s, llm.Request{}); text != "ab" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := play(ctx, s, llm.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
