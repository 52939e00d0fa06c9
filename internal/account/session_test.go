package account

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
)

func TestSessions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := New(d, grants)
		now := db.Now()
		s.now = func() time.Time { return now }
		r := create(t, s, "ada", RoleEditor)
		other := create(t, s, "bob")
		token, err := s.NewSession(ctx, r.ID, "Browser/1\x00\xff", "192.0.2.1")
		if err != nil {
			t.Fatal(err)
		}
		session, a, err := s.Lookup(ctx, token)
		if err != nil {
			t.Fatal(err)
		}
		if a.ID != r.ID || !a.Can(EditContent) || session.AccountID != r.ID || session.UserAgent != "Browser/1" ||
			session.Address != "192.0.2.1" || len(session.CSRFToken) < 32 || session.ID == token || !session.CreatedAt.Equal(now) {
			t.Errorf("session %+v of %+v", session, a)
		}
		for _, bad := range []string{"", session.ID, strings.Repeat("0", 64)} {
			if _, _, err := s.Lookup(ctx, bad); !errors.Is(err, ErrNoSession) {
				t.Errorf("token %q gives %v", bad, err)
			}
		}
		now = now.Add(30 * time.Second)
		if session, _, _ = s.Lookup(ctx, token); !session.LastSeenAt.Equal(session.CreatedAt) {
			t.Error("touched after half a minute")
		}
		now = now.Add(13 * 24 * time.Hour)
		s.Lookup(ctx, token)
		if session, _, _ = s.Lookup(ctx, token); !session.LastSeenAt.Equal(now) || !session.ExpiresAt.Equal(now.Add(sessionLife)) {
			t.Errorf("not touched: %+v", session)
		}
		if found, _ := s.ByID(ctx, r.ID); !found.LastSeenAt.Equal(now) {
			t.Errorf("account was last seen %v", found.LastSeenAt)
		}
		second, _ := s.NewSession(ctx, r.ID, "", "")
		foreign, _ := s.NewSession(ctx, other.ID, "", "")
		if sessions, err := s.Sessions(ctx, r.ID); err != nil || len(sessions) != 2 {
			t.Errorf("sessions are %v, %v", sessions, err)
		}
		if err := s.Revoke(ctx, other.ID, session.ID); !errors.Is(err, ErrNoSession) {
			t.Errorf("revoking somebody else's session gives %v", err)
		}
		if err := s.RevokeOthers(ctx, r.ID, session.ID); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			token string
			want  error
		}{{token, nil}, {second, ErrNoSession}, {foreign, nil}} {
			if _, _, err := s.Lookup(ctx, tt.token); !errors.Is(err, tt.want) {
				t.Errorf("after revoking others: %v, want %v", err, tt.want)
			}
		}
		if err := s.Revoke(ctx, r.ID, session.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Lookup(ctx, token); !errors.Is(err, ErrNoSession) {
			t.Errorf("after revoking: %v", err)
		}
		now = now.Add(sessionLife)
		if _, _, err := s.Lookup(ctx, foreign); !errors.Is(err, ErrNoSession) {
			t.Errorf("after two weeks: %v", err)
		}
		if err := s.Cleanup(ctx); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := d.Get(ctx, &n, "select count(*) from sessions"); err != nil || n != 0 {
			t.Errorf("%d sessions are left, %v", n, err)
		}
	})
}

func TestLinks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := New(d, grants)
		now := db.Now()
		s.now = func() time.Time { return now }
		r := create(t, s, "ada")
		first, err := s.CreateLink(ctx, r.ID, "somebody")
		if err != nil {
			t.Fatal(err)
		}
		token, err := s.CreateLink(ctx, r.ID, "somebody")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.UseLink(ctx, first); !errors.Is(err, ErrLink) {
			t.Errorf("an earlier link gives %v", err)
		}
		if peeked, err := s.PeekLink(ctx, token); err != nil || peeked.Name != "ada" {
			t.Errorf("peeking gives %+v, %v", peeked, err)
		}
		var used atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				switch a, err := s.UseLink(context.Background(), token); {
				case err == nil && a.ID == r.ID:
					used.Add(1)
				case !errors.Is(err, ErrLink):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := used.Load(); n != 1 {
			t.Errorf("the link was used %d times", n)
		}
		if _, err := s.PeekLink(ctx, token); !errors.Is(err, ErrLink) {
			t.Errorf("peeking at a used link gives %v", err)
		}
		late, _ := s.CreateLink(ctx, r.ID, "")
		now = now.Add(LinkLife)
		if _, err := s.UseLink(ctx, late); !errors.Is(err, ErrLink) {
			t.Errorf("after a day: %v", err)
		}
		void, _ := s.CreateLink(ctx, r.ID, "")
		if err := s.SetBlocked(ctx, r.ID, true); err != nil {
			t.Fatal(err)
		}
		if _, err := s.UseLink(ctx, void); !errors.Is(err, ErrLink) {
			t.Errorf("for a blocked account: %v", err)
		}
		if _, err := s.CreateLink(ctx, r.ID, ""); !errors.Is(err, ErrBlocked) {
			t.Errorf("creating one for a blocked account: %v", err)
		}
		for _, bad := range []string{"", "x", strings.Repeat("0", 64)} {
			if _, err := s.UseLink(ctx, bad); !errors.Is(err, ErrLink) {
				t.Errorf("token %q gives %v", bad, err)
			}
		}
	})
}
