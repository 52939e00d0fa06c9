package answer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
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
	"docent/internal/tool"
)

// Rounds merge: an entity keeps its number however many searches follow.
func TestRoundsKeepNumbers(t *testing.T) {
	model := llmtest.NewScript(
		llmtest.Turn{llmtest.Call("search", `{"query":"ticket cost"}`), llmtest.Call("search", `{"query":"flour shop"}`)},
		llmtest.Turn{llmtest.Call("search", `{"query":"opening hours"}`)},
		llmtest.Turn{llmtest.Text("Flour [3], tickets [2], hours [1].")})
	s := newSite(t, dbtest.SQLite(t), model)
	s.change(func(a *config.Agent) { a.MaxResults = 1 })
	st := s.wait(s.ask(answer.Question{Text: "opening hours museum"}), s.visitor)
	if got := titles(st.Sources); !slices.Equal(got, []string{"Opening hours", "Tickets", "Flour shop"}) {
		t.Fatalf("sources %v", got)
	}
	if got := titles(st.Cited()); !slices.Equal(got, []string{"Flour shop", "Tickets", "Opening hours"}) || st.FinalText != "Flour [1], tickets [2], hours [3]." {
		t.Errorf("cited %v in %q", got, st.FinalText)
	}
	last := model.Requests()[2].Messages
	if got := llm.ParseSources(last[len(last)-1].Text); len(got) != 1 || got[0].Number != 1 {
		t.Errorf("the second time it is found, the source has the number %+v", got)
	}
}

// "A listing is complete by design: no score gate, only its own cap; its summary
// stands above the numbered sources; one line for each entity."
func TestContentListIsComplete(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		model := llmtest.NewScript(
			llmtest.Turn{llmtest.Call("content_list", `{"type":"page"}`)},
			llmtest.Turn{llmtest.Text("Hours [1] and the shop [3].")})
		s := newSite(t, d, model)
		s.change(func(a *config.Agent) { a.MaxResults, a.MinScore = 1, 1 })
		st := s.wait(s.ask(answer.Question{Text: "qwertz zzyzx"}), s.visitor)
		if got := titles(st.Sources); !slices.Equal(got, []string{"Flour shop", "Opening hours", "Tickets"}) {
			t.Fatalf("sources %v", got)
		}
		messages := model.Requests()[1].Messages
		text := messages[len(messages)-1].Text
		if !strings.HasPrefix(text, "There are 3 pages of the type page; all are listed.\n\n<source number=\"1\"") {
			t.Errorf("tool message %s", text)
		}
		if strings.Contains(text, "heron") || strings.Contains(text, "Members") {
			t.Error("the list holds what the visitor may not see")
		}
		if line := st.Sources[0].Body(); line != "Flour shop (type: page)" {
			t.Errorf("line %q", line)
		}
		if st.Refused || len(st.Cited()) != 2 {
			t.Errorf("turn = %+v", st.Turn)
		}
	})
}

func TestContentListRefusesWhatItCannotRead(t *testing.T) {
	model := llmtest.NewScript(
		llmtest.Turn{llmtest.Call("content_list", `{"after":"May"}`), llmtest.Call("content_list", `{"term":"nothing like it"}`), llmtest.Call("content_list", `{"type":"novel"}`), llmtest.Call("content_list", `[]`)},
		llmtest.Turn{llmtest.Text("Hm [1].")})
	s := newSite(t, dbtest.SQLite(t), model)
	s.wait(s.ask(answer.Question{Text: "opening hours"}), s.visitor)
	var got []string
	for _, m := range model.Requests()[1].Messages {
		if m.Role == llm.RoleTool {
			got = append(got, m.Text)
		}
	}
	for i, part := range []string{"after must be a day like", `no topic named "nothing like it"`, "There are no pages of the type novel.", "invalid arguments"} {
		if !strings.Contains(got[i], part) {
			t.Errorf("result %d: %q, want %q in it", i, got[i], part)
		}
	}
}

// A source tool of another system: entities wrapped, told apart by their values.
func TestSourceToolKeepsNamesakesApart(t *testing.T) {
	model := llmtest.NewScript(
		llmtest.Turn{llmtest.Call("programs", `{}`)},
		llmtest.Turn{llmtest.Text("Two [1][2].")})
	s := newSite(t, dbtest.SQLite(t), model)
	var ids []string
	first := s.wait(s.ask(answer.Question{Text: "opening hours ticket shop"}), s.visitor)
	for _, src := range first.Sources {
		ids = append(ids, src.ID)
	}
	if len(ids) < 2 {
		t.Fatalf("sources %v", titles(first.Sources))
	}
	model = llmtest.NewScript(llmtest.Turn{llmtest.Call("programs", `{}`)}, llmtest.Turn{llmtest.Text("Two [1][2].")})
	s.reopen(func(o *answer.Options) {
		o.Model = model
		o.SourceTools = func(account.Account, string) []tool.Tool {
			return []tool.Tool{{Name: "programs", Class: tool.Read, Schema: json.RawMessage(`{"type":"object"}`), Run: func(context.Context, json.RawMessage) (tool.Result, error) {
				entity := func(id, degree string) map[string]any {
					return map[string]any{"_metadata": map[string]any{"type": "node", "id": id}, "degree": degree}
				}
				return tool.Result{Text: "2 programs", Output: map[string]any{"outputs": map[string]any{"results": []any{
					entity(ids[0], "Bachelor"), entity(ids[1], "Master"), entity("gone", "None")}}}}, nil
			}}}
		}
	})
	s.change(func(a *config.Agent) { a.SourceTools = []string{"programs"} })
	st := s.wait(s.ask(answer.Question{Text: "qwertz zzyzx"}), s.visitor)
	if len(st.Sources) != 2 || !strings.HasSuffix(st.Sources[0].Body(), "(degree: Bachelor)") || !strings.HasSuffix(st.Sources[1].Body(), "(degree: Master)") {
		t.Errorf("sources %+v", st.Sources)
	}
}

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// One huge result does not end the turn: the model reads its beginning and is told.
func TestGiantToolResultIsCut(t *testing.T) {
	model := llmtest.NewScript(llmtest.Turn{llmtest.Call("dump", `{}`)}, llmtest.Turn{llmtest.Text("Hm [1].")})
	s := newSite(t, dbtest.SQLite(t), model)
	s.reopen(func(o *answer.Options) {
		o.SourceTools = func(account.Account, string) []tool.Tool {
			return []tool.Tool{
				{Name: "dump", Class: tool.Read, Run: func(context.Context, json.RawMessage) (tool.Result, error) {
					return tool.Result{Text: strings.Repeat("é", 350_000)}, nil
				}},
				{Name: "publish", Class: tool.Live, Run: func(context.Context, json.RawMessage) (tool.Result, error) {
					t.Error("a tool that writes was run")
					return tool.Result{}, nil
				}},
			}
		}
	})
	s.change(func(a *config.Agent) { a.SourceTools = []string{"dump", "publish"} })
	st := s.wait(s.ask(answer.Question{Text: "opening hours"}), s.visitor)
	requests := model.Requests()
	last := requests[1].Messages[len(requests[1].Messages)-1].Text
	if st.Status != answer.Done || len(last) > 70_000 || !strings.Contains(last, "Ask for a part of it") {
		t.Errorf("%s, %d bytes", st.Status, len(last))
	}
	for _, spec := range requests[0].Tools {
		if spec.Name == "publish" {
			t.Error("a tool that writes was offered")
		}
	}
}

// However a turn with tools is stopped, watched and released, each call that a
// model is shown has one result behind it, and the question is one turn.
func TestEachCallHasOneResult(t *testing.T) {
	calls := []llmtest.Step{
		llmtest.Call("content_list", `{}`), llmtest.Call("content_list", `{"after":"May"}`), llmtest.Call("content_list", `[]`), llmtest.Call("no such tool", `{}`),
	}
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			var turns []llmtest.Turn
			for range 1 + r.IntN(2) {
				turn := llmtest.Turn{llmtest.Text("Let me look.")}
				for range 1 + r.IntN(3) {
					turn = append(turn, calls[r.IntN(len(calls))])
				}
				turns = append(turns, turn)
			}
			turns = append(turns, llmtest.Turn{llmtest.Text("At ten [1]. "), llmtest.Text("Bring boots.")})
			// The schedule halts at one step and goes on while others act.
			reached, release := make(chan struct{}), make(chan struct{})
			at := r.IntN(len(turns))
			step := r.IntN(len(turns[at]) + 1)
			turns[at] = slices.Insert(turns[at], step, llmtest.Reach(reached), llmtest.Wait(release))
			turns = append(turns, llmtest.Turn{llmtest.Text("At four [1].")}, llmtest.Turn{llmtest.Text("At four [1].")}, llmtest.Turn{llmtest.Text("At four [1].")})
			model := llmtest.NewScript(turns...)
			s := newSite(t, dbtest.SQLite(t), model)
			st := s.ask(answer.Question{Text: "opening hours"})
			<-reached
			var wg sync.WaitGroup
			for range r.IntN(3) {
				wg.Go(func() {
					if err := s.Stop(t.Context(), st.ID, s.visitor); err != nil {
						t.Errorf("stop: %v", err)
					}
				})
			}
			for range r.IntN(3) {
				wg.Go(func() {
					if _, err := s.Wait(t.Context(), st.ID, s.visitor); err != nil {
						t.Errorf("watch: %v", err)
					}
				})
			}
			close(release)
			wg.Wait()
			s.wait(st, s.visitor)
			s.wait(s.ask(answer.Question{Text: "winter hours", ConversationID: st.ConversationID}), s.visitor)
			_, asked, err := s.Conversation(t.Context(), st.ConversationID, s.visitor)
			if err != nil || len(asked) != 2 || asked[0].ID != st.ID {
				t.Errorf("%d turns, %v", len(asked), err)
			}
			for n, request := range model.Requests() {
				results := map[string]int{}
				for _, m := range request.Messages {
					for _, call := range m.ToolCalls {
						if _, twice := results[call.ID]; twice {
							t.Errorf("request %d: two calls with one id", n)
						}
						results[call.ID] = 0
					}
					if m.Role != llm.RoleTool {
						continue
					}
					if _, called := results[m.ToolCallID]; !called {
						t.Errorf("request %d: a result that nobody asked for", n)
					}
					results[m.ToolCallID]++
				}
				for id, got := range results {
					if got != 1 {
						t.Errorf("request %d: %d results of call %s", n, got, id)
					}
				}
			}
		})
	}
}
