package answer

import (
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
)

// A turn is interrupted when its process is certainly gone, or its lease has run
// out; others are left alone.
func TestRecover(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	host := machine()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := &Service{Options: Options{DB: d, Log: slog.New(slog.DiscardHandler)}, owner: newOwner()}
		ctx, later := t.Context(), db.Now().Add(time.Hour)
		cases := []struct {
			name, owner string
			lease       time.Time
			want        Status
		}{
			{"a dead process of this machine", host + "/" + strconv.Itoa(gone.Process.Pid) + "/x", later, Interrupted},
			{"an earlier process with our number", host + "/" + strconv.Itoa(os.Getpid()) + "/x", later, Interrupted},
			{"a living process of this machine", host + "/1/x", later, Running},
			{"a process elsewhere", "elsewhere/" + strconv.Itoa(gone.Process.Pid) + "/x", later, Running},
			{"a process elsewhere that stopped renewing", "elsewhere/2/y", db.Now().Add(-time.Second), Interrupted},
		}
		ids := make([]string, len(cases))
		for i, c := range cases {
			conv := Conversation{ID: newSecret(), Agent: "site", CreatedAt: db.Now(), ExpiresAt: later}
			if err := insertConversation(ctx, d, conv); err != nil {
				t.Fatal(err)
			}
			turn := Turn{ID: newSecret(), ConversationID: conv.ID, Question: "q", Lang: "en", Delivery: Whole, CreatedAt: db.Now()}
			if err := insertTurn(ctx, d, &turn, "", c.owner, c.lease); err != nil {
				t.Fatal(err)
			}
			ids[i] = turn.ID
		}
		if err := s.recover(ctx); err != nil {
			t.Fatal(err)
		}
		for i, c := range cases {
			turn, err := findTurn(ctx, d, ids[i])
			if err != nil {
				t.Fatal(err)
			}
			if turn.Status != c.want || (turn.FinishedAt == nil) != (c.want == Running) {
				t.Errorf("%s: %s, want %s", c.name, turn.Status, c.want)
			}
		}
	})
}

// A process that could not reach the database for a while, and was taken for dead,
// goes on with its turn; it never takes itself for dead.
func TestLeaseLostAndFound(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, owner := t.Context(), newOwner()
		conv := Conversation{ID: newSecret(), Agent: "site", CreatedAt: db.Now(), ExpiresAt: db.Now().Add(time.Hour)}
		if err := insertConversation(ctx, d, conv); err != nil {
			t.Fatal(err)
		}
		turn := Turn{ID: newSecret(), ConversationID: conv.ID, Question: "q", Lang: "en", Delivery: Whole, CreatedAt: db.Now()}
		if err := insertTurn(ctx, d, &turn, "", owner, db.Now().Add(-time.Second)); err != nil {
			t.Fatal(err)
		}
		now, err := d.Clock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := interruptExpired(ctx, d, owner, now); err != nil || n != 0 {
			t.Fatalf("a process ended %d of its own turns, %v", n, err)
		}
		if n, err := interruptExpired(ctx, d, "another/1/x", now); err != nil || n != 1 {
			t.Fatalf("another process ended %d turns, %v; want 1", n, err)
		}
		if ours, _, err := saveProgress(ctx, d, turn.ID, owner, "so far", now.Add(time.Minute)); err != nil || !ours {
			t.Fatalf("back again: %v, %v", ours, err)
		}
		if turn, err = findTurn(ctx, d, turn.ID); err != nil || turn.Status != Running || turn.FinishedAt != nil || turn.Text != "so far" {
			t.Errorf("the turn is %+v, %v", turn, err)
		}
		// Once the conversation has gone on without it, it is too late.
		if n, err := interruptExpired(ctx, d, "another/1/x", now.Add(time.Hour)); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		next := Turn{ID: newSecret(), ConversationID: conv.ID, Question: "q", Lang: "en", Delivery: Whole, CreatedAt: db.Now()}
		if err := insertTurn(ctx, d, &next, "", "another/1/x", now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		tooLate := func(when string) {
			t.Helper()
			if ours, _, err := saveProgress(ctx, d, turn.ID, owner, "more", now.Add(time.Minute)); err != nil || ours {
				t.Errorf("%s: %v, %v", when, ours, err)
			}
			turn.Status, turn.Text = Done, "more"
			if ended, err := finishTurn(ctx, d, turn, owner); err != nil || ended {
				t.Errorf("%s, at its end: %v, %v", when, ended, err)
			}
		}
		tooLate("while the next turn runs")
		next.Status, next.FinishedAt = Done, &now
		if ended, err := finishTurn(ctx, d, next, "another/1/x"); err != nil || !ended {
			t.Fatal(ended, err)
		}
		tooLate("after the next turn")
		if kept, err := findTurn(ctx, d, turn.ID); err != nil || kept.Status != Interrupted || kept.Text != "so far" {
			t.Errorf("the turn is %+v, %v", kept, err)
		}
	})
}
