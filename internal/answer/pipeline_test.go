package answer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/llm/llmtest"
)

// "When streaming, what has reached the client stays; the no-answer message stands
// exactly when nothing did."
func TestNoAnswerStandsExactlyWhenNothingReachedTheClient(t *testing.T) {
	for _, tt := range []struct {
		name     string
		delivery answer.Delivery
		question string
		says     string
		refused  bool
	}{
		{"whole, no source, text", answer.Whole, "zzyzx qwertz?", "Paris.", true},
		{"whole, no source, no text", answer.Whole, "zzyzx qwertz?", "", true},
		{"whole, sources, no text", answer.Whole, "opening hours", "", true},
		{"whole, sources, text", answer.Whole, "opening hours", "At ten [1].", false},
		{"stream, no source, text", answer.Stream, "zzyzx qwertz?", "The sources do not say.", false},
		{"stream, no source, no text", answer.Stream, "zzyzx qwertz?", "", true},
		{"stream, sources, no text", answer.Stream, "opening hours", " \n", true},
		{"stream, sources, text", answer.Stream, "opening hours", "At ten [1].", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{llmtest.Text(tt.says)}))
			st := s.wait(s.ask(answer.Question{Text: tt.question, Delivery: tt.delivery}), s.visitor)
			if st.Refused != tt.refused || st.Refused == (strings.TrimSpace(st.FinalText) == strings.TrimSpace(tt.says)) {
				t.Errorf("turn = %+v", st.Turn)
			}
			again, err := s.Turn(t.Context(), st.ID, s.visitor)
			if err != nil {
				t.Fatal(err)
			}
			if again.Delivery != tt.delivery || html(again) != html(st) {
				t.Errorf("stored: %+v, shown %s", again.Turn, html(st))
			}
		})
	}
}

func TestRefusalOffersTheNearestPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d, llmtest.NewScript(llmtest.Turn{}, llmtest.Turn{}))
		s.change(func(a *config.Agent) { a.MinScore = 1 })
		st := s.wait(s.ask(answer.Question{Text: "what does the mill gate weigh"}), s.visitor)
		if !st.Refused || len(st.Nearest) == 0 || len(st.Nearest) > 3 {
			t.Fatalf("turn = %+v", st.Turn)
		}
		for _, l := range st.Nearest {
			if l.Path == "/members/" {
				t.Error("the nearest page is one that the visitor may not see")
			}
		}
		again, err := s.Turn(t.Context(), st.ID, s.visitor)
		if err != nil || !slices.Equal(again.Nearest, st.Nearest) {
			t.Errorf("stored %v %v", again.Nearest, err)
		}
	})
}

// "On a follow-up turn retrieval is the agent's own decision: else the held sources
// are reused." With the topic-drift check, a new subject is searched for first.
func TestTopicDrift(t *testing.T) {
	for _, tt := range []struct {
		on       bool
		question string
		want     bool // tickets are among the sources
	}{
		{true, "What does a ticket cost for children?", true},
		{true, "When does the museum open in winter?", false},
		{false, "What does a ticket cost for children?", false},
	} {
		s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{llmtest.Text("At ten [1].")}, llmtest.Turn{llmtest.Text("So [1].")}))
		s.change(func(a *config.Agent) { a.TopicDrift, a.MaxResults = tt.on, 1 })
		first := s.wait(s.ask(answer.Question{Text: "opening hours museum winter"}), s.visitor)
		second := s.wait(s.ask(answer.Question{Text: tt.question, ConversationID: first.ConversationID}), s.visitor)
		if got := slices.Contains(titles(second.Sources), "Tickets"); got != tt.want {
			t.Errorf("drift check %v, %q: sources %v", tt.on, tt.question, titles(second.Sources))
		}
		if second.Sources[0].Title != "Opening hours" {
			t.Errorf("the held source lost its number: %v", titles(second.Sources))
		}
	}
}

// The system prompt: the agent's own, the contract, the guidance, the sources, then
// other sections by priority; contexts by agent, page and language.
func TestPromptSections(t *testing.T) {
	model := llmtest.NewScript(llmtest.Turn{llmtest.Text("a [1]")}, llmtest.Turn{llmtest.Text("b [1]")})
	s := newSite(t, dbtest.SQLite(t), model)
	ctx := t.Context()
	for name, c := range map[string]config.SiteContext{
		"rules": {Label: "House rules", Text: map[string]string{"en": "Dogs are welcome.", "es": "Se admiten perros."}, Weight: 5},
		"shop":  {Label: "Shop", Text: map[string]string{"en": "The shop takes cards."}, Paths: []string{"/shop/"}},
		"other": {Label: "Other", Text: map[string]string{"en": "Nobody chose this."}},
	} {
		if err := config.Put(ctx, s.opts.Config, name, c, ""); err != nil {
			t.Fatal(err)
		}
	}
	s.change(func(a *config.Agent) {
		a.Prompt, a.Guidance, a.Contexts = "OWN PROMPT", "EXTRA GUIDANCE", []string{"rules", "shop"}
	})
	s.wait(s.ask(answer.Question{Text: "opening hours", Page: "/shop/bags?x=1"}), s.visitor)
	s.wait(s.ask(answer.Question{Text: "opening hours", Page: "/shopping/", Lang: "es"}), s.visitor)
	at := -1
	system := model.Requests()[0].Messages[0].Text
	for _, part := range []string{"OWN PROMPT", "in square brackets, such as [4]", "EXTRA GUIDANCE", "<source number=\"1\"", "Today is ", "with the code en", "The shop takes cards.", "Dogs are welcome."} {
		i := strings.Index(system, part)
		if i <= at {
			t.Errorf("%q stands at %d, after %d:\n%s", part, i, at, system)
		}
		at = i
	}
	if strings.Contains(system, "Nobody chose this") {
		t.Error("a context that the agent does not name is in the prompt")
	}
	system = model.Requests()[1].Messages[0].Text
	if !strings.Contains(system, "Se admiten perros.") || strings.Contains(system, "takes cards") {
		t.Errorf("for another page and language:\n%s", system)
	}
}

// "The cap skips rather than breaks, so extra chunks of entities already in are not lost."
func TestCapCountsEntities(t *testing.T) {
	s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{llmtest.Text("a [1]")}))
	s.change(func(a *config.Agent) { a.MaxResults, a.MinScore = 1, 0 })
	st := s.wait(s.ask(answer.Question{Text: "mill"}), s.visitor)
	r, err := s.Record(t.Context(), st.LogID)
	if err != nil {
		t.Fatal(err)
	}
	own, others := 0, 0
	for _, h := range r.Steps[0].Hits {
		if h.Number == 1 {
			own++
		} else {
			others++
		}
	}
	if len(st.Sources) != 1 || others == 0 || len(st.Sources[0].Passages) != own {
		t.Fatalf("sources %v, %d hits of the first and %d of others", titles(st.Sources), own, others)
	}
	body := st.Sources[0].Body()
	if st.Sources[0].Title != "Opening hours" {
		return
	}
	if !strings.Contains(body, "ten in the morning") || !strings.Contains(body, "closes at three") {
		t.Errorf("passages of one page: %q", body)
	}
}

func TestRerankOrdersAndFailsSoft(t *testing.T) {
	broken := false
	var asked map[string]any
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken {
			http.Error(w, "no", http.StatusBadGateway)
			return
		}
		json.NewDecoder(r.Body).Decode(&asked)
		documents := asked["documents"].([]any)
		fmt.Fprintf(w, `{"results":[{"index":%d,"relevance_score":0.9},{"index":0,"relevance_score":0.1}]}`, len(documents)-1)
	}))
	defer endpoint.Close()
	s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{llmtest.Text("a [1]")}, llmtest.Turn{llmtest.Text("a [1]")}, llmtest.Turn{llmtest.Text("a [1]")}))
	s.change(func(a *config.Agent) { a.MinScore = 0 })
	question := answer.Question{Text: "mill ticket shop museum"}
	plain := s.wait(s.ask(question), s.visitor)
	rerank, err := answer.NewReranker(endpoint.URL+"/v2/rerank", "rerank-1", "key")
	if err != nil {
		t.Fatal(err)
	}
	s.reopen(func(o *answer.Options) { o.Rerank = rerank })
	ordered := s.wait(s.ask(question), s.visitor)
	if ordered.Sources[0].Title == plain.Sources[0].Title || len(ordered.Sources) != len(plain.Sources) {
		t.Errorf("before %v, after %v", titles(plain.Sources), titles(ordered.Sources))
	}
	if asked["model"] != "rerank-1" || asked["query"] != question.Text {
		t.Errorf("request %v", asked)
	}
	broken = true
	if again := s.wait(s.ask(question), s.visitor); !slices.Equal(titles(again.Sources), titles(plain.Sources)) {
		t.Errorf("with a broken endpoint: %v", titles(again.Sources))
	}
}

// A page whose text gives orders changes nothing: no foreign number, picture or link.
func TestInjectedPageChangesNothing(t *testing.T) {
	model := llmtest.NewScript(llmtest.Turn{llmtest.Text("As told [99] ![x](https://evil.example/p.png?leak=1) [click](https://evil.example/?q=1) " +
		"<img src=//evil.example/x> [1](https://evil.example/) and [1].\n\n[1]: https://evil.example")})
	s := newSite(t, dbtest.SQLite(t), model)
	st := s.wait(s.ask(answer.Question{Text: "opening hours"}), s.visitor)
	page := html(st)
	for _, bad := range []string{"<img", "href=\"https://evil", "[99]"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q in %s", bad, page)
		}
	}
	if strings.Contains(st.FinalText, "99") || len(st.Cited()) != 1 {
		t.Errorf("text %q", st.FinalText)
	}
	record, err := s.Record(t.Context(), st.LogID)
	if err != nil || record.Dropped == 0 {
		t.Errorf("dropped %d, %v", record.Dropped, err)
	}
}

func TestDailyLimit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d, llmtest.NewScript(llmtest.Turn{llmtest.Text("a [1]")}, llmtest.Turn{llmtest.Text("a [1]")}))
		s.change(func(a *config.Agent) { a.DailyTurns = 2 })
		for range 2 {
			s.wait(s.ask(answer.Question{Text: "opening hours"}), s.visitor)
		}
		_, err := s.Ask(t.Context(), answer.Question{Agent: "site", Text: "opening hours", Lang: "en", Who: s.visitor})
		limit, ok := errors.AsType[*answer.LimitError](err)
		if !ok || !limit.Today || limit.RetryAfter <= 0 || limit.RetryAfter.Hours() > 25 {
			t.Errorf("third question: %v", err)
		}
		if _, total, err := s.Records(t.Context(), answer.RecordFilter{}); err != nil || total != 2 {
			t.Errorf("%d records, %v", total, err)
		}
	})
}

// "It prefers the visitor's current content language when the entity has that
// translation, and otherwise keeps the language the source was retrieved in."
func TestTranslationOfSources(t *testing.T) {
	s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{llmtest.Text("a [1]")}, llmtest.Turn{llmtest.Text("a [1]")}))
	editor := account.Account{ID: "editor", Roles: []string{account.RoleAdministrator}}
	store := content.New(s.opts.DB, content.Options{Languages: func() []string { return []string{"en", "es", "fr"} }})
	add := func(in content.Input) content.Item {
		in.Bundle, in.State = "page", content.Published
		it, err := store.Save(t.Context(), editor, in)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.opts.Search.Refresh(t.Context(), store.Translations, it.ID); err != nil {
			t.Fatal(err)
		}
		return it
	}
	it := add(content.Input{Lang: "fr", Title: "Le hibou", Path: "/hibou/", Fields: content.Fields{"body": "Le hibou vigoureux habite la tour."}})
	s.reopen(func(o *answer.Options) { o.Content = store })
	question := answer.Question{Text: "hibou vigoureux tour", Lang: "es"}
	st := s.wait(s.ask(question), s.visitor)
	if len(st.Sources) == 0 || st.Sources[0].Lang != "fr" || st.Sources[0].Title != "Le hibou" {
		t.Fatalf("without a Spanish version: %+v", st.Sources)
	}
	add(content.Input{Ref: it.Ref, Lang: "es", Title: "El búho", Path: "/buho/", Fields: content.Fields{"body": "El ave."}})
	st = s.wait(s.ask(question), s.visitor)
	src := st.Sources[slices.IndexFunc(st.Sources, func(x answer.Source) bool { return x.Ref == it.Ref })]
	if src.Title != "El búho" || src.Lang != "es" {
		t.Errorf("with one: %+v", src)
	}
	// The words that were found stand on the French page: the link leads there.
	if src.FoundLang == "fr" && !strings.HasPrefix(src.FoundPath, "/fr/") {
		t.Errorf("found at %s", src.FoundPath)
	}
}

// "The entity is loaded with an access re-check": what the index still holds and the
// visitor may no longer see reaches neither prompt nor list, held sources included.
func TestAccessIsCheckedAgain(t *testing.T) {
	model := llmtest.NewScript(llmtest.Turn{llmtest.Text("At ten [1].")}, llmtest.Turn{llmtest.Text("Still at ten [1].")}, llmtest.Turn{llmtest.Text("At ten [1].")})
	s := newSite(t, dbtest.SQLite(t), model)
	s.change(func(a *config.Agent) { a.TopicDrift, a.MaxResults = false, 1 })
	first := s.wait(s.ask(answer.Question{Text: "museum morning winter"}), s.visitor)
	if !slices.Equal(titles(first.Sources), []string{"Opening hours"}) {
		t.Fatalf("sources %v", titles(first.Sources))
	}
	editor := account.Account{ID: "editor", Roles: []string{account.RoleAdministrator}}
	it, err := s.opts.Content.Load(t.Context(), editor, first.Sources[0].Ref, "en")
	if err != nil {
		t.Fatal(err)
	}
	in := content.InputOf(it)
	in.State, in.Access = content.Published, &content.Access{ViewRoles: []string{account.RoleAuthenticated}}
	if _, err := s.opts.Content.Save(t.Context(), editor, in); err != nil { // the index does not know yet
		t.Fatal(err)
	}
	held := s.wait(s.ask(answer.Question{Text: "and in winter?", ConversationID: first.ConversationID}), s.visitor)
	again := s.wait(s.ask(answer.Question{Text: "museum morning winter"}), s.visitor)
	for _, st := range []answer.State{held, again} {
		if slices.Contains(titles(st.Sources), "Opening hours") {
			t.Errorf("sources %v", titles(st.Sources))
		}
	}
	for _, r := range model.Requests()[1:] {
		if strings.Contains(r.Messages[0].Text, "ten in the morning") {
			t.Error("the prompt holds what the visitor may no longer see")
		}
	}
	record, err := s.Record(t.Context(), again.LogID)
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := json.Marshal(record.Steps[0]); strings.Contains(string(data), "Opening hours") {
		t.Errorf("the trace names it: %s", data)
	}
}
