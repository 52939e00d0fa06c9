package answer_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/llm/llmtest"
)

func TestEveryRunIsRecorded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		model := llmtest.NewScript(
			llmtest.Turn{llmtest.Call("search", `{"query":"opening ada@example.org"}`), llmtest.Used(1000, 10)},
			llmtest.Turn{llmtest.Text("Ten, ada@example.org [1][9]."), llmtest.Used(2000, 90)},
			llmtest.Turn{})
		s := newSite(t, d, model)
		s.settings(func(a *config.AnswerSettings) {
			a.Prices, a.Currency = []config.ModelPrice{{Model: "script", Input: 2, Output: 10}}, "EUR"
		})
		st := s.wait(s.ask(answer.Question{Text: "opening hours for ada@example.org?", Page: "/hours/"}), s.visitor)
		r, err := s.Record(t.Context(), st.LogID)
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome != answer.OutcomeAnswered || r.Question != "opening hours for [mail]?" || r.Answer != "Ten, [mail] [1]." || r.Page != "/hours/" ||
			r.Rounds != 2 || r.PromptTokens != 3000 || r.CompletionTokens != 100 || r.Cost != 0.007 || r.Currency != "EUR" || r.Dropped != 1 ||
			r.Cited != 1 || r.TraceID != st.TraceID || len(r.TraceID) != 32 || r.FinishedAt == nil || r.FirstTextMS == 0 {
			t.Errorf("record %+v", r)
		}
		if len(r.Sources) == 0 || r.Sources[0].Score <= 0 || r.Sources[0].Title == "" {
			t.Errorf("sources %+v", r.Sources)
		}
		var kinds []string
		for _, step := range r.Steps {
			kinds = append(kinds, string(step.Kind))
		}
		if got := strings.Join(kinds, " "); got != "search model tool search model" {
			t.Errorf("steps %s", got)
		}
		if data, _ := json.Marshal(r); strings.Contains(string(data), "ada@example.org") || strings.Contains(string(data), st.ConversationID) || strings.Contains(string(data), st.ID) {
			t.Errorf("the record tells too much: %s", data)
		}
		if len(r.Steps[1].Messages) < 2 || len(r.Steps[0].Hits) == 0 || r.Steps[0].Hits[0].Number != 1 {
			t.Errorf("trace %+v", r.Steps[0])
		}
		s.wait(s.ask(answer.Question{Text: "zzyzx qwertz 100%_", Lang: "en"}), s.visitor)
		for _, tt := range []struct {
			filter answer.RecordFilter
			want   int
		}{
			{answer.RecordFilter{}, 2}, {answer.RecordFilter{Text: "OPENING"}, 1}, {answer.RecordFilter{Text: "100%_"}, 1}, {answer.RecordFilter{Text: "%"}, 1},
			{answer.RecordFilter{Outcome: answer.OutcomeRefused}, 1}, {answer.RecordFilter{Agent: "other"}, 0}, {answer.RecordFilter{Rating: answer.Unrated}, 2},
			{answer.RecordFilter{After: time.Now().Add(time.Hour)}, 0}, {answer.RecordFilter{Before: time.Now().Add(time.Hour)}, 2}, {answer.RecordFilter{Uncited: true}, 0},
		} {
			if got, total, err := s.Records(t.Context(), tt.filter); err != nil || total != tt.want || len(got) != tt.want {
				t.Errorf("%+v: %d of %d, %v", tt.filter, len(got), total, err)
			}
		}
		// Who deletes a conversation deletes what is recorded of it.
		if err := s.Delete(t.Context(), st.ConversationID, s.visitor); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Record(t.Context(), st.LogID); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("after delete: %v", err)
		}
		s.settings(func(a *config.AnswerSettings) { a.RetentionDays = 0 })
		if err := s.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, total, _ := s.Records(t.Context(), answer.RecordFilter{}); total != 0 {
			t.Errorf("%d records after the purge", total)
		}
	})
}

func TestNothingIsKeptWhenNothingIsToBe(t *testing.T) {
	s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{llmtest.Text("a [1]")}))
	s.settings(func(a *config.AnswerSettings) { a.RetentionDays = 0 })
	s.wait(s.ask(answer.Question{Text: "opening hours"}), s.visitor)
	if _, total, err := s.Records(t.Context(), answer.RecordFilter{}); err != nil || total != 0 {
		t.Errorf("%d records, %v", total, err)
	}
}

func TestTrialUsesUnsavedSettings(t *testing.T) {
	model := llmtest.NewScript(llmtest.Turn{llmtest.Text("a [1]")})
	s := newSite(t, dbtest.SQLite(t), model)
	agent := config.DefaultAgent()
	agent.Enabled, agent.Prompt = false, "UNSAVED"
	st := s.wait(s.ask(answer.Question{Text: "opening hours", Who: s.member, Trial: &agent}), s.member)
	r, err := s.Record(t.Context(), st.LogID)
	if err != nil || !r.Trial || r.Outcome != answer.OutcomeAnswered || !strings.HasPrefix(r.Steps[1].Messages[0].Text, "UNSAVED") {
		t.Errorf("%+v %v", r, err)
	}
}

func TestRating(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		sent := make(chan string, 8)
		langfuse := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user, pass, _ := r.BasicAuth()
			sent <- r.URL.Path + " " + user + ":" + pass + " " + readAll(t, r.Body)
			http.Error(w, "down", http.StatusInternalServerError) // nobody is to notice
		}))
		defer langfuse.Close()
		scores, err := answer.NewScores(langfuse.URL+"/", "pk", "sk", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		s := newSite(t, d, llmtest.NewScript(llmtest.Turn{llmtest.Text("a [1]")}))
		s.reopen(func(o *answer.Options) { o.Scores = scores })
		st := s.wait(s.ask(answer.Question{Text: "opening hours", Who: s.member}), s.member)
		vote := answer.Vote{ConversationID: st.ConversationID, Turn: 1, Rating: answer.Negative, Reasons: []string{"wrong", "missing", "wrong"}, Comment: " Ask ada@example.org ", Who: s.member}
		rated, err := s.Rate(t.Context(), vote)
		if err != nil || rated.Rating != answer.Negative || !rated.Explained {
			t.Fatalf("%+v %v", rated.Turn, err)
		}
		r, err := s.Record(t.Context(), st.LogID)
		if err != nil || r.Rating != answer.Negative || strings.Join(r.Reasons, " ") != "missing wrong" || r.Comment != "Ask [mail]" || r.RatedAt == nil {
			t.Errorf("%+v %v", r, err)
		}
		if got := <-sent; !strings.HasPrefix(got, "/api/public/scores pk:sk ") || !strings.Contains(got, `"name":"user_feedback"`) || !strings.Contains(got, `"traceId":"`+st.TraceID+`"`) {
			t.Errorf("sent %s", got)
		}
		// A later vote replaces it, reasons and all.
		vote.Rating, vote.Reasons, vote.Comment = answer.Positive, nil, ""
		if rated, err = s.Rate(t.Context(), vote); err != nil || rated.Rating != answer.Positive || rated.Explained {
			t.Errorf("%+v %v", rated.Turn, err)
		}
		if r, err = s.Record(t.Context(), st.LogID); err != nil || r.Rating != answer.Positive || len(r.Reasons) != 0 || r.Comment != "" {
			t.Errorf("%+v %v", r, err)
		}
		if again, err := s.Turn(t.Context(), st.ID, s.member); err != nil || again.Rating != answer.Positive {
			t.Errorf("stored %+v %v", again.Turn, err)
		}
		for name, bad := range map[string]answer.Vote{
			"rating":  {ConversationID: st.ConversationID, Turn: 1, Rating: "great", Who: s.member},
			"turn":    {ConversationID: st.ConversationID, Turn: 0, Rating: answer.Positive, Who: s.member},
			"reason":  {ConversationID: st.ConversationID, Turn: 1, Rating: answer.Negative, Reasons: []string{"rude"}, Who: s.member},
			"comment": {ConversationID: st.ConversationID, Turn: 1, Rating: answer.Negative, Comment: strings.Repeat("é", 1001), Who: s.member},
		} {
			if _, err := s.Rate(t.Context(), bad); err == nil {
				t.Errorf("%s was taken", name)
			} else if _, ok := errors.AsType[*answer.InvalidError](err); !ok {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, who := range []account.Account{s.visitor, {ID: "eve", Permissions: s.member.Permissions}} {
			vote.Who = who
			if _, err := s.Rate(t.Context(), vote); !errors.Is(err, answer.ErrNotFound) {
				t.Errorf("somebody else: %v", err)
			}
		}
		vote.Who, vote.Turn = s.member, 7
		if _, err := s.Rate(t.Context(), vote); !errors.Is(err, answer.ErrNotFound) {
			t.Errorf("unknown turn: %v", err)
		}
		s.change(func(a *config.Agent) { a.Feedback = false })
		vote.Turn = 1
		if _, err := s.Rate(t.Context(), vote); !errors.Is(err, answer.ErrFeedbackOff) || s.TakesFeedback(t.Context(), "site") {
			t.Errorf("feedback off: %v", err)
		}
	})
}

func TestParseRating(t *testing.T) {
	for word, want := range map[string]answer.Rating{"up": answer.Positive, "1": answer.Positive, "positive": answer.Positive,
		"down": answer.Negative, "-1": answer.Negative, "0": answer.Negative, "negative": answer.Negative, "": "", "2": "", "upp": ""} {
		if got, ok := answer.ParseRating(word); got != want || ok != (want != "") {
			t.Errorf("%q: %q %v", word, got, ok)
		}
	}
}

func TestSpans(t *testing.T) {
	sent := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent <- r.URL.Path + " " + r.Header.Get("X-Team") + " " + readAll(t, r.Body)
	}))
	defer collector.Close()
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_EXPORTER_OTLP_HEADERS": "x-team=a%20b", "OTEL_SERVICE_NAME": "mill"}
	spans, err := answer.NewSpans(func(k string) string { return env[k] }, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{llmtest.Text("secret words [1]"), llmtest.Used(5, 6)}))
	s.reopen(func(o *answer.Options) { o.Spans = spans })
	st := s.wait(s.ask(answer.Question{Text: "opening hours"}), s.visitor)
	got := <-sent
	var body struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID, SpanID, ParentSpanID, Name, StartTimeUnixNano string
					Attributes                                             []struct {
						Key   string
						Value map[string]any
					}
				}
			}
		}
	}
	head, data, _ := strings.Cut(got, "{")
	if err := json.Unmarshal([]byte("{"+data), &body); err != nil || head != "/v1/traces a b " {
		t.Fatalf("%v %s", err, got)
	}
	all := body.ResourceSpans[0].ScopeSpans[0].Spans
	if len(all) != 3 || all[0].Name != "invoke_agent site" || all[0].TraceID != st.TraceID || all[1].Name != "execute_tool search" || all[2].Name != "chat script" ||
		all[2].ParentSpanID != all[0].SpanID || all[1].SpanID == all[2].SpanID || len(all[0].SpanID) != 16 {
		t.Errorf("spans %+v", all)
	}
	attributes := map[string]any{}
	for _, a := range all[2].Attributes {
		for _, v := range a.Value {
			attributes[a.Key] = v
		}
	}
	if attributes["gen_ai.operation.name"] != "chat" || attributes["gen_ai.usage.output_tokens"] != "6" || attributes["gen_ai.request.model"] != "script" {
		t.Errorf("attributes %v", attributes)
	}
	if strings.Contains(got, "secret words") || strings.Contains(got, "opening hours") {
		t.Error("spans hold text")
	}
	if none, err := answer.NewSpans(func(string) string { return "" }, nil); none != nil || err != nil {
		t.Errorf("without settings: %v %v", none, err)
	}
}
