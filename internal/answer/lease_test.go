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
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
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
			turn := Turn{ID: newSecret(), ConversationID: conv.ID, Question: "q", Lang: "en", CreatedAt: db.Now()}
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
