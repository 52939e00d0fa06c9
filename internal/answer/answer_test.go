package answer_test

import (
	"errors"
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

func TestAnswerIsCitedAndStored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		model := llmtest.NewScript(llmtest.Turn{llmtest.Text("It opens at ten [1"), llmtest.Text("], see [9].\n\n```\nx[1]\n```\n"), llmtest.Used(100, 20)})
		s := newSite(t, d, model)
		st := s.wait(s.ask(answer.Question{Text: "  When does the mill\nopen? "}), s.visitor)

		if st.Question != "When does the mill open?" || st.Status != answer.Done || st.Number != 1 {
			t.Errorf("turn = %+v", st.Turn)
		}
		if want := "It opens at ten [1], see.\n\n```\nx[1]\n```"; st.FinalText != want {
			t.Errorf("final text %q, want %q", st.FinalText, want)
		}
		cited := st.Cited()
		if len(cited) != 1 || cited[0].Title != "Opening hours" || cited[0].Running != 1 || cited[0].Path != "/hours/" {
			t.Errorf("cited %+v", cited)
		}
		if st.PromptTokens != 100 || st.CompletionTokens != 20 {
			t.Errorf("tokens %d and %d", st.PromptTokens, st.CompletionTokens)
		}
		// What is stored shows the same as what was streamed.
		again, err := s.Turn(t.Context(), st.ID, s.visitor)
		if err != nil {
			t.Fatal(err)
		}
		if html(again) != html(st) || again.FinalText != st.FinalText || !slices.Equal(titles(again.Cited()), titles(cited)) {
			t.Errorf("stored\n%s\nstreamed\n%s", html(again), html(st))
		}
		req := model.Requests()[0]
		system := req.Messages[0].Text
		for _, part := range []string{"[4]", "Opening hours", "ten in the morning", "Today is"} {
			if !strings.Contains(system, part) {
				t.Errorf("the system prompt lacks %q:\n%s", part, system)
			}
		}
		if strings.Contains(system, "heron") {
			t.Error("the prompt holds what the visitor may not see")
		}
	})
}

func TestMembersSeeTheirOwn(t *testing.T) {
	answerWith := func(who func(*site) account.Account) answer.State {
		s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{llmtest.Text("The code is heron [1].")}))
		return s.wait(s.ask(answer.Question{Text: "What is the gate code for members?", Who: who(s)}), who(s))
	}
	if st := answerWith(func(s *site) account.Account { return s.member }); st.Refused || st.Cited()[0].Title != "Members' evening" {
		t.Errorf("a member got %+v", st.Turn)
	}
	st := answerWith(func(s *site) account.Account { return s.visitor })
	if slices.Contains(titles(st.Sources), "Members' evening") {
		t.Errorf("a visitor's sources: %v", titles(st.Sources))
	}
}

func TestNothingFoundIsSaidHonestly(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		// The model talks although it has no sources: nobody must see it.
		s := newSite(t, d, llmtest.NewScript(llmtest.Turn{llmtest.Text("Paris is the capital of France.")}))
		st := s.ask(answer.Question{Text: "zzyzx qwertz?", Lang: "es"})
		states, err := s.Watch(t.Context(), st.ID, s.visitor)
		if err != nil {
			t.Fatal(err)
		}
		for st, err = range states {
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(html(st), "Paris") || strings.Contains(st.Text, "Paris") {
				t.Fatal("unsupported text was shown")
			}
		}
		if !st.Refused || st.FinalText != "Nothing found (es)." || len(st.Sources) != 0 || st.Status != answer.Done {
			t.Errorf("turn = %+v", st.Turn)
		}
		if st, _ = s.Turn(t.Context(), st.ID, s.visitor); html(st) == "" || !st.Refused {
			t.Errorf("stored: %+v", st)
		}
	})
}

func TestFollowUpHoldsSourcesAndNumbersRunOn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		model := llmtest.NewScript(
			llmtest.Turn{llmtest.Text("At ten [1].")},
			llmtest.Turn{llmtest.Call("search", `{"query":"ticket cost"}`)},
			llmtest.Turn{llmtest.Text("Four pounds [2], open at ten [1].")},
		)
		s := newSite(t, d, model)
		first := s.wait(s.ask(answer.Question{Text: "opening morning winter"}), s.visitor)
		if got := titles(first.Sources); len(got) == 0 || got[0] != "Opening hours" {
			t.Fatalf("first sources: %v", got)
		}
		second := s.wait(s.ask(answer.Question{Text: "and the price?", ConversationID: first.ConversationID, Agent: "ignored"}), s.visitor)
		if second.Number != 2 || second.Status != answer.Done {
			t.Fatalf("second = %+v", second.Turn)
		}
		// The held source kept its number, the found one came behind.
		if second.Sources[0].Title != "Opening hours" {
			t.Errorf("sources: %v", titles(second.Sources))
		}
		byTitle := map[string]answer.Source{}
		for _, src := range second.Sources {
			byTitle[src.Title] = src
		}
		if src := byTitle["Opening hours"]; src.Running != 1 {
			t.Errorf("opening hours has number %d on the list, want the 1 it had", src.Running)
		}
		reqs := model.Requests()
		last := reqs[2].Messages
		result := last[len(last)-1]
		if result.Role != llm.RoleTool || !strings.Contains(result.Text, "four pounds") {
			t.Errorf("tool message: %+v", result)
		}
		// The tool message uses the numbers that the answer is to cite.
		for _, src := range llm.ParseSources(result.Text) {
			if byTitle[src.Title].Number != src.Number {
				t.Errorf("%q is %d in the tool message and %d in the turn", src.Title, src.Number, byTitle[src.Title].Number)
			}
		}
		if len(reqs[1].Messages) < 4 || strings.Contains(reqs[1].Messages[2].Text, "[1]") {
			t.Errorf("history: %+v", reqs[1].Messages)
		}
		_, states, err := s.Conversation(t.Context(), first.ConversationID, s.visitor)
		if err != nil {
			t.Fatal(err)
		}
		if len(states) != 2 || html(states[1]) != html(second) || html(states[0]) != html(first) {
			t.Error("the conversation shows something else than the stream did")
		}
	})
}

func TestOwnerRule(t *testing.T) {
	d := dbtest.SQLite(t)
	s := newSite(t, d, llmtest.NewScript(llmtest.Turn{llmtest.Text("a [1]")}, llmtest.Turn{llmtest.Text("b [1]")}))
	mine := s.wait(s.ask(answer.Question{Text: "opening hours", Who: s.member}), s.member)
	open := s.wait(s.ask(answer.Question{Text: "opening hours"}), s.visitor)
	ctx := t.Context()
	stranger := account.Account{ID: "eve", Roles: s.member.Roles, Permissions: s.member.Permissions}
	for _, who := range []account.Account{s.visitor, stranger} {
		if _, err := s.Turn(ctx, mine.ID, who); !errors.Is(err, answer.ErrNotFound) {
			t.Errorf("turn: %v", err)
		}
		if _, _, err := s.Conversation(ctx, mine.ConversationID, who); !errors.Is(err, answer.ErrNotFound) {
			t.Errorf("conversation: %v", err)
		}
		if err := s.Stop(ctx, mine.ID, who); !errors.Is(err, answer.ErrNotFound) {
			t.Errorf("stop: %v", err)
		}
		if err := s.Delete(ctx, mine.ConversationID, who); !errors.Is(err, answer.ErrNotFound) {
			t.Errorf("delete: %v", err)
		}
		if _, err := s.Ask(ctx, answer.Question{Text: "more", ConversationID: mine.ConversationID, Who: who, Lang: "en"}); !errors.Is(err, answer.ErrNotFound) {
			t.Errorf("ask: %v", err)
		}
	}
	if _, err := s.Turn(ctx, open.ID, s.member); err != nil {
		t.Errorf("an anonymous conversation belongs to whoever knows its id: %v", err)
	}
	if err := s.Delete(ctx, mine.ConversationID, s.member); err != nil {
		t.Error(err)
	}
	if _, err := s.Turn(ctx, mine.ID, s.member); !errors.Is(err, answer.ErrNotFound) {
		t.Errorf("after delete: %v", err)
	}
}

func TestBadQuestions(t *testing.T) {
	s := newSite(t, dbtest.SQLite(t), llmtest.NewScript())
	for name, q := range map[string]answer.Question{
		"empty":     {Agent: "site", Text: " \t\n\x00"},
		"huge":      {Agent: "site", Text: strings.Repeat("é", 2001)},
		"agent":     {Agent: "nobody", Text: "hi"},
		"key":       {Agent: "site", Text: "hi", IdempotencyKey: strings.Repeat("k", 201)},
		"noagent":   {Text: "hi"},
		"badagents": {Agent: "'; drop table turns; --", Text: "hi"},
	} {
		q.Who, q.Lang = s.visitor, "en"
		_, err := s.Ask(t.Context(), q)
		if _, ok := errors.AsType[*answer.InvalidError](err); !ok {
			t.Errorf("%s: %v, want an InvalidError", name, err)
		}
	}
	agent, err := config.Get[config.Agent](t.Context(), s.opts.Config, "site")
	if err != nil {
		t.Fatal(err)
	}
	agent.Enabled = false
	if err := config.Put(t.Context(), s.opts.Config, "site", agent, ""); err != nil {
		t.Fatal(err)
	}
	_, err = s.Ask(t.Context(), answer.Question{Agent: "site", Text: "hi", Who: s.visitor, Lang: "en"})
	if _, ok := errors.AsType[*answer.UnusableError](err); !ok {
		t.Errorf("disabled agent: %v", err)
	}
}

func TestOneQuestionAtATimeAndIdempotency(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		hold := make(chan struct{})
		s := newSite(t, d, llmtest.NewScript(
			llmtest.Turn{llmtest.Text("one [1]")},
			llmtest.Turn{llmtest.Text("one [1]")},
			llmtest.Turn{llmtest.Wait(hold), llmtest.Text("two [1]")},
		))
		q := answer.Question{Agent: "site", Text: "opening hours", IdempotencyKey: "k1", Lang: "en", Who: s.visitor, Visitor: "one browser"}
		var wg sync.WaitGroup
		got := make([]answer.State, 8)
		for i := range got {
			wg.Go(func() { got[i] = s.ask(q) })
		}
		wg.Wait()
		for _, st := range got[1:] {
			if st.ID != got[0].ID {
				t.Fatal("one key gave two turns")
			}
		}
		first := s.wait(got[0], s.visitor)
		other := q
		other.Visitor = "another browser"
		if st := s.wait(s.ask(other), s.visitor); st.ID == first.ID {
			t.Error("a key opened somebody else's answer")
		}

		// Of many follow-ups at once one runs; the others are told to wait.
		q = answer.Question{Text: "winter", ConversationID: first.ConversationID, Lang: "en", Who: s.visitor}
		errs := make([]error, 6)
		states := make([]answer.State, len(errs))
		for i := range errs {
			wg.Go(func() { states[i], errs[i] = s.Ask(t.Context(), q) })
		}
		wg.Wait()
		ok := 0
		var running answer.State
		for i, err := range errs {
			switch {
			case err == nil:
				ok++
				running = states[i]
			case !errors.Is(err, answer.ErrBusy):
				t.Errorf("ask: %v", err)
			}
		}
		if ok != 1 {
			t.Fatalf("%d of %d follow-ups ran, want 1", ok, len(errs))
		}
		close(hold)
		s.wait(running, s.visitor)
	})
}

func TestStopKeepsText(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		never, written := make(chan struct{}), make(chan struct{})
		s := newSite(t, d, llmtest.NewScript(
			llmtest.Turn{llmtest.Text("Half an answer [1], and\n\n"), llmtest.Reach(written), llmtest.Wait(never)},
			llmtest.Turn{llmtest.Text("Whole [1].")},
		))
		st := s.ask(answer.Question{Text: "opening hours"})
		<-written
		if err := s.Stop(t.Context(), st.ID, s.visitor); err != nil {
			t.Fatal(err)
		}
		st = s.wait(st, s.visitor)
		if st.Status != answer.Stopped || !strings.Contains(st.Text, "Half an answer") || len(st.Cited()) != 1 {
			t.Errorf("stopped turn: %+v", st.Turn)
		}
		if err := s.Stop(t.Context(), st.ID, s.visitor); err != nil {
			t.Errorf("second stop: %v", err)
		}
		next := s.wait(s.ask(answer.Question{Text: "winter hours", ConversationID: st.ConversationID}), s.visitor)
		if next.Status != answer.Done || next.Number != 2 {
			t.Errorf("after a stop: %+v", next.Turn)
		}
	})
}

// What one process writes, another shows as far as it is stored: never as final
// while it grows, and to its end.
func TestWatchedFromAnotherProcess(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		written, more := make(chan struct{}), make(chan struct{})
		s := newSite(t, d, llmtest.NewScript(llmtest.Turn{
			llmtest.Text("First [1].\n\nSecond grows\nline by line"), llmtest.Reach(written), llmtest.Wait(more), llmtest.Text(" to its end [1]."),
		}))
		st := s.ask(answer.Question{Text: "opening hours"})
		<-written
		other, err := answer.New(t.Context(), s.opts)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close(t.Context())
		states, err := other.Watch(t.Context(), st.ID, s.visitor)
		if err != nil {
			t.Fatal(err)
		}
		open := false
		for st, err = range states {
			if err != nil {
				t.Fatal(err)
			}
			if n := st.Blocks.Len(); st.IsRunning() && n == 2 && !open {
				if len(st.Blocks.Settled) == n {
					t.Error("the second block counts as settled while it grows")
				}
				open = true
				close(more)
			}
		}
		if !open || st.Status != answer.Done || !strings.Contains(html(st), "to its end") {
			t.Errorf("ended as %+v", st.Turn)
		}
	})
}
