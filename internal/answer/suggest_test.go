package answer_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/llm"
	"docent/internal/llm/llmtest"
)

// add publishes pages and indexes them.
func (s *site) add(pages ...content.Input) []content.Item {
	s.t.Helper()
	editor := account.Account{ID: "editor", Roles: []string{account.RoleAdministrator}}
	var out []content.Item
	for _, p := range pages {
		p.Bundle, p.State = "page", content.Published
		if p.Lang == "" {
			p.Lang = "en"
		}
		it, err := s.opts.Content.Save(s.t.Context(), editor, p)
		if err != nil {
			s.t.Fatal(err)
		}
		if err := s.opts.Search.Refresh(s.t.Context(), s.opts.Content.Translations, it.Ref.ID); err != nil {
			s.t.Fatal(err)
		}
		out = append(out, it)
	}
	return out
}

// ferry has headings of every kind, each with enough below it to say something.
var ferry = content.Input{Title: "The ferry", Path: "/ferry/", Fields: content.Fields{"body": "The ferry crosses from the quay to the island.\n\n" +
	"## Contents\n\nTimetable, bicycles, dogs, storms and much more on this page.\n\n" +
	"## Timetable\n\nThe ferry leaves every half hour from seven in the morning.\n\n" +
	"## Can I take a bicycle?\n\nBicycles travel free on the lower deck of the boat.\n\n" +
	"## Empty\n\n" +
	"## Storms\n\nIn a storm with wind above force eight nothing sails at all.\n\n" +
	"## " + strings.Repeat("A very long heading ", 6) + "\n\nSomething stands here that is long enough.\n\n" +
	"## Wheelchairs\n\nA ramp leads aboard at every tide, and the crew helps.\n"}}

func TestSuggestionsFromHeadings(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d, llmtest.NewScript(
			llmtest.Turn{llmtest.Text("The ferry leaves every half hour from seven in the morning [1].")},
			llmtest.Turn{llmtest.Text("Nothing sails in a storm with wind above force eight [1].")},
		))
		s.add(ferry)
		s.change(func(a *config.Agent) { a.MaxResults, a.TopicDrift = 1, false })
		st := s.wait(s.ask(answer.Question{Text: "When does the ferry leave in the morning?"}), s.visitor)
		want := answer.Suggestions{"Can I take a bicycle?", "What about Storms?", "What about Wheelchairs?"}
		if !slices.Equal(st.Suggestions, want) {
			t.Errorf("suggested %q, want %q", st.Suggestions, want)
		}
		if again, err := s.Turn(t.Context(), st.ID, s.visitor); err != nil || !slices.Equal(again.Suggestions, want) {
			t.Errorf("stored %q, %v", again.Suggestions, err)
		}
		// One that was offered is searched for, and not offered again.
		st = s.wait(s.ask(answer.Question{Text: want[1], ConversationID: st.ConversationID}), s.visitor)
		record, err := s.Record(t.Context(), st.LogID)
		if err != nil {
			t.Fatal(err)
		}
		if record.Steps[0].Kind != answer.StepSearch || !strings.Contains(st.Sources[0].Body(), "force eight") {
			t.Errorf("an offered question was not searched for: %+v", record.Steps[0])
		}
		if slices.ContainsFunc(st.Suggestions, func(q string) bool { return strings.Contains(q, "Storms") }) || len(st.Suggestions) == 0 {
			t.Errorf("suggested %q after Storms", st.Suggestions)
		}
	})
}

// Nothing is suggested when the agent does not, nor with a refusal, nor of pages
// that the visitor may no longer see or that are in another language.
func TestNoSuggestions(t *testing.T) {
	text := llmtest.Text("The ferry leaves every half hour from seven in the morning [1].")
	t.Run("off", func(t *testing.T) {
		s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{text}))
		s.add(ferry)
		s.change(func(a *config.Agent) { a.Suggest = config.SuggestNone })
		if st := s.wait(s.ask(answer.Question{Text: "When does the ferry leave?"}), s.visitor); len(st.Suggestions) != 0 {
			t.Errorf("suggested %q", st.Suggestions)
		}
	})
	for _, source := range []string{config.SuggestHeadings, config.SuggestModel} {
		t.Run("refused/"+source, func(t *testing.T) {
			model := llmtest.NewScript(llmtest.Turn{llmtest.Text("Paris.")}, llmtest.Turn{llmtest.Text("What about Paris?")})
			s := newSite(t, dbtest.SQLite(t), model)
			s.change(func(a *config.Agent) { a.Suggest = source })
			st := s.wait(s.ask(answer.Question{Text: "zzyzx qwertz?"}), s.visitor)
			if !st.Refused || len(st.Suggestions) != 0 || len(model.Requests()) != 1 {
				t.Errorf("%d calls for a refusal that suggests %q", len(model.Requests()), st.Suggestions)
			}
		})
	}
	t.Run("access", func(t *testing.T) {
		page := ferry
		page.Access = &content.Access{ViewRoles: []string{account.RoleAuthenticated}}
		s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{llmtest.Text("At ten [1].")}))
		s.add(page)
		st := s.wait(s.ask(answer.Question{Text: "When does the museum ferry open?"}), s.visitor)
		if text := strings.Join(st.Suggestions, " "); strings.Contains(text, "ferry") || strings.Contains(text, "bicycle") {
			t.Errorf("suggested %q of a page for members", st.Suggestions)
		}
	})
	t.Run("language", func(t *testing.T) {
		s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{text}))
		s.add(ferry)
		if st := s.wait(s.ask(answer.Question{Text: "When does the ferry leave?", Lang: "es"}), s.visitor); len(st.Suggestions) != 0 {
			t.Errorf("suggested %q to a Spanish page", st.Suggestions)
		}
	})
}

// A pair answers questions with one text, and suggestions with another. It stops
// where it is told to.
type pair struct {
	answer   llmtest.Turn
	propose  llmtest.Turn
	ended    chan struct{} // closed when the suggestions are all said
	mu       sync.Mutex
	requests []llm.Request
}

func (p *pair) Name() string { return "pair" }

func (p *pair) Generate(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		p.mu.Lock()
		p.requests = append(p.requests, r)
		p.mu.Unlock()
		if strings.Contains(r.Messages[0].Text, "Suggest up to three") {
			if p.ended != nil {
				defer close(p.ended)
			}
			llmtest.NewScript(p.propose).Generate(ctx, r)(yield)
			return
		}
		llmtest.NewScript(p.answer).Generate(ctx, r)(yield)
	}
}

func TestSuggestionsFromTheModel(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ended := make(chan struct{})
		model := &pair{ended: ended,
			answer: llmtest.Turn{llmtest.Text("The ferry leaves every "), llmtest.Wait(ended), llmtest.Text("half hour [1]."), llmtest.Used(100, 20)},
			propose: llmtest.Turn{llmtest.Text("Here are some questions:\n1. \"When does the ferry leave?\"\n- Does a storm stop the ferry?\nSee https://evil.example?\n" +
				"**Is it** bold?\n" + strings.Repeat("long ", 20) + "?\n¿Cuándo sale el barco de la isla en el invierno?\nهل يبحر القارب؟\ndoes a STORM stop the ferry ?\n" +
				"Can wheelchairs come aboard?\nIs there a \u202eramp?\nDo bicycles cost anything?\nAnd a fourth?"), llmtest.Used(70, 30)}}
		s := newSite(t, d, model)
		s.add(ferry)
		s.change(func(a *config.Agent) { a.Suggest, a.MaxTokens = config.SuggestModel, 4000 })
		st := s.wait(s.ask(answer.Question{Text: "When does the ferry leave?"}), s.visitor)
		want := answer.Suggestions{"Does a storm stop the ferry?", "Can wheelchairs come aboard?", "Do bicycles cost anything?"}
		if !slices.Equal(st.Suggestions, want) {
			t.Errorf("suggested %q, want %q", st.Suggestions, want)
		}
		if st.PromptTokens != 170 || st.CompletionTokens != 50 {
			t.Errorf("%d and %d tokens are counted, want 170 and 50", st.PromptTokens, st.CompletionTokens)
		}
		if call := model.requests[1]; call.MaxTokens > 300 || len(call.Tools) != 0 || !strings.Contains(call.Messages[0].Text, "half hour") {
			t.Errorf("the second call: %+v", call)
		}
		record, err := s.Record(t.Context(), st.LogID)
		if err != nil {
			t.Fatal(err)
		}
		if record.PromptTokens != 170 || !slices.ContainsFunc(record.Steps, func(x *answer.Step) bool { return strings.HasPrefix(x.Output, "Here are some") }) {
			t.Errorf("the record counts %d tokens and does not show the call", record.PromptTokens)
		}
	})
}

// A second call that is late, fails, panics or says nothing usable changes nothing
// but where the suggestions come from.
func TestSuggestionsFallBackToHeadings(t *testing.T) {
	never := make(chan struct{})
	for name, propose := range map[string]llmtest.Turn{
		"late":     {llmtest.Text("Does a storm stop the ferry?\n"), llmtest.Wait(never)},
		"failed":   {llmtest.Text("Does a storm stop the ferry?\n"), llmtest.Fail(fmt.Errorf("no"))},
		"unusable": {llmtest.Text("I cannot suggest anything.")},
		"panic":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			reached := make(chan struct{})
			model := &pair{propose: propose}
			text := llmtest.Text("The ferry leaves every half hour from seven in the morning [1].")
			model.answer = llmtest.Turn{text}
			switch name {
			case "late":
				model.propose = slices.Insert(slices.Clone(propose), 0, llmtest.Reach(reached))
				model.answer = llmtest.Turn{text, llmtest.Wait(reached)}
			case "panic":
				closed := make(chan struct{})
				close(closed)
				model.propose = llmtest.Turn{llmtest.Reach(closed)} // closes it a second time
			default:
				model.ended = make(chan struct{})
				model.answer = llmtest.Turn{text, llmtest.Wait(model.ended)}
			}
			s := newSite(t, dbtest.SQLite(t), model)
			s.add(ferry)
			s.change(func(a *config.Agent) { a.Suggest, a.MaxResults = config.SuggestModel, 1 })
			st := s.wait(s.ask(answer.Question{Text: "When does the ferry leave in the morning?"}), s.visitor)
			if st.Status != answer.Done || len(st.Suggestions) == 0 || st.Suggestions[0] != "Can I take a bicycle?" {
				t.Errorf("%s: suggested %q", st.Status, st.Suggestions)
			}
			for _, q := range st.Suggestions {
				if utf8.RuneCountInString(q) > 80 {
					t.Errorf("%q is too long", q)
				}
			}
		})
	}
}
