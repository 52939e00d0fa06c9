package answer

import (
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
)

// A run whose process died leaves a record that says so, and one that still runs
// keeps its own.
func TestLostRecordsEnd(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, now := t.Context(), db.Now()
		conv := Conversation{ID: newSecret(), Agent: "site", CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
		if err := insertConversation(ctx, d, conv); err != nil {
			t.Fatal(err)
		}
		running := Turn{ID: newSecret(), ConversationID: conv.ID, LogID: newRunID(), Question: "q", Lang: "en", Delivery: Whole, CreatedAt: now}
		if err := insertTurn(ctx, d, &running, "", "owner", now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		lost, young := newRunID(), newRunID()
		for id, at := range map[string]time.Time{running.LogID: now.Add(-time.Hour), lost: now.Add(-time.Hour), young: now} {
			r := Record{ID: id, TraceID: newTraceID(), Agent: "site", Turn: 1, Question: "q", Outcome: OutcomeRunning, CreatedAt: at}
			if err := insertRecord(ctx, d, r); err != nil {
				t.Fatal(err)
			}
		}
		if err := endLostRecords(ctx, d, now.Add(-time.Minute)); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]Outcome{running.LogID: OutcomeRunning, lost: OutcomeInterrupted, young: OutcomeRunning} {
			if r, err := findRecord(ctx, d, id); err != nil || r.Outcome != want {
				t.Errorf("%s, want %s; %v", r.Outcome, want, err)
			}
		}
	})
}
