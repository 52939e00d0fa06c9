package answer_test

import (
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/answer"
	"docent/internal/llm/llmtest"
)

// A turn that was taken for dead while it ran, and whose conversation has gone on,
// ends as it was stored, for those who watch it too: the numbers that the next turn
// gave stay the reader's.
func TestOvertakenTurnEndsAsItIsStored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		gate := make(chan struct{})
		s := newSite(t, d, llmtest.NewScript(
			llmtest.Turn{llmtest.Text("The mill opens at ten [1].\n\nThe ticket "), llmtest.Wait(gate), llmtest.Text("and flour [2].")},
			llmtest.Turn{llmtest.Text("Flour is sold [2], tickets too [1].")}))
		first := s.ask(answer.Question{Text: "mill museum ticket flour", Delivery: answer.Stream})
		states, err := s.Watch(t.Context(), first.ID, s.visitor)
		if err != nil {
			t.Fatal(err)
		}
		var last answer.State
		for st, err := range states {
			if err != nil {
				t.Fatal(err)
			}
			last = st
			if !strings.Contains(html(st), "The ticket") || s.overtaken(d, first.ID) {
				continue
			}
			next := s.ask(answer.Question{Text: "mill flour ticket", ConversationID: first.ConversationID, Delivery: answer.Stream})
			if next = s.wait(next, s.visitor); next.Number != 2 || len(next.Cited()) != 2 {
				t.Fatalf("the next turn is number %d and cites %v", next.Number, titles(next.Cited()))
			}
			for i, source := range next.Cited() {
				if source.Running != i+1 {
					t.Errorf("the next turn gives %s the number %d", source.Title, source.Running)
				}
			}
			close(gate)
		}
		if last.Status != answer.Interrupted || last.Text != "" || last.Blocks.Len() != 0 || len(last.Cited()) != 0 {
			t.Errorf("those who watched saw the end %s with %q, citing %v", last.Status, last.Text, titles(last.Cited()))
		}
		_, all, err := s.Conversation(t.Context(), first.ConversationID, s.visitor)
		if err != nil || len(all) != 2 || all[0].Status != answer.Interrupted || all[0].Text != last.Text {
			t.Errorf("stored %+v, %v", all, err)
		}
	})
}

// overtaken takes a turn for dead before anything of it was stored, once. It reports
// whether that had happened before.
func (s *site) overtaken(d *db.DB, id string) bool {
	s.t.Helper()
	n, err := d.Exec(s.t.Context(), "update turns set status = 'interrupted', text = '', finished_at = ?, lease_until = null where id = ? and status = 'running'", db.Now(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return n == 0
}
