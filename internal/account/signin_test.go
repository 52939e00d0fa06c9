package account

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
)

func TestAuthenticate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := New(d, grants)
		r := create(t, s, "Ada", RoleEditor)
		a, err := s.Authenticate(ctx, "ada", password, "192.0.2.1")
		if err != nil || a.ID != r.ID || !a.Can(EditContent) {
			t.Fatalf("account %+v, %v", a, err)
		}
		if _, err := s.Create(ctx, NewAccount{Name: "link only"}); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct{ name, password string }{
			{"ada", "wrong horse battery"}, {"ada", ""}, {"ada", strings.Repeat("x", 100000)}, {"ada", "\xff\x00"},
			{"nobody", password}, {"", password}, {"\x00", password}, {"link only", ""},
		} {
			if _, err := s.Authenticate(ctx, tt.name, tt.password, "192.0.2.1"); !errors.Is(err, ErrCredentials) {
				t.Errorf("%q with %.20q gives %v", tt.name, tt.password, err)
			}
		}
		grace, err := s.Create(ctx, NewAccount{Name: "grace", Email: "Grace@example.org", Password: password})
		if err != nil {
			t.Fatal(err)
		}
		if a, err := s.Authenticate(ctx, " grace@Example.org", password, ""); err != nil || a.ID != grace.ID {
			t.Errorf("by e-mail: %+v, %v", a, err)
		}
		if _, err := s.Create(ctx, NewAccount{Name: "grace 2", Email: "grace@example.org", Password: password}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Authenticate(ctx, "grace@example.org", password, ""); !errors.Is(err, ErrCredentials) {
			t.Errorf("by an e-mail address of two accounts: %v", err)
		}
		// Typed on a system that composes accents differently.
		composed, decomposed := "caf\u00e9 au lait", "cafe\u0301 au lait"
		if _, err := s.Create(ctx, NewAccount{Name: "chloe", Password: composed}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Authenticate(ctx, "chloe", decomposed, ""); err != nil {
			t.Errorf("the same password in other bytes gives %v", err)
		}
		if err := s.SetBlocked(ctx, r.ID, true); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Authenticate(ctx, "ada", password, ""); !errors.Is(err, ErrBlocked) {
			t.Errorf("a blocked account with its password gives %v", err)
		}
		if _, err := s.Authenticate(ctx, "ada", "wrong horse battery", ""); !errors.Is(err, ErrCredentials) {
			t.Errorf("a blocked account without its password gives %v", err)
		}
	})
}

func TestHashes(t *testing.T) {
	ctx := t.Context()
	d := dbtest.SQLite(t)
	s := New(d, grants)
	r := create(t, s, "ada")
	first, err := s.ByID(ctx, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(first.passwordHash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("hash is %s", first.passwordHash)
	}
	// The reference implementation's own vector: "password", salt "somesalt", m=256, t=2, p=1.
	old := "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"
	if _, err := d.Exec(ctx, "update accounts set password_hash = ?", old); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.Authenticate(ctx, "ada", "password", ""); err != nil {
			t.Fatal(err)
		}
	}
	renewed, err := s.ByID(ctx, r.ID)
	if err != nil || !strings.HasPrefix(renewed.passwordHash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("after signing in the hash is %s, %v", renewed.passwordHash, err)
	}
	for _, hash := range []string{
		"x", "$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=999999999,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=256,t=0,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$", "$argon2id$v=19$m=256,t=2,p=1$!!$nf65",
	} {
		if _, err := parseHash(hash); err == nil {
			t.Errorf("%s is accepted", hash)
		}
	}
}

func TestThrottling(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := New(d, grants)
		now := db.Now()
		s.now = func() time.Time { return now }
		create(t, s, "ada")
		for range attemptsPerName {
			now = now.Add(time.Second)
			if _, err := s.Authenticate(ctx, "Ada", "wrong horse battery", "192.0.2.1"); !errors.Is(err, ErrCredentials) {
				t.Fatal(err)
			}
		}
		now = now.Add(time.Second)
		for range 3 {
			_, err := s.Authenticate(ctx, "ada", password, "192.0.2.2")
			throttled, ok := errors.AsType[*ThrottledError](err)
			if !ok || throttled.RetryAfter != throttleWindow-10*time.Second {
				t.Fatalf("the right password after too many wrong ones gives %v", err)
			}
		}
		now = now.Add(throttleWindow - 10*time.Second)
		if _, err := s.Authenticate(ctx, "ada", password, "192.0.2.2"); err != nil {
			t.Errorf("after the wait: %v", err)
		}
		if err := s.Cleanup(ctx); err != nil {
			t.Fatal(err)
		}
		for i := range attemptsPerAddress + 1 {
			_, err := s.Authenticate(ctx, strings.Repeat("x", i+1), "wrong horse battery", "2001:db8::"+string(rune('1'+i%9)))
			if _, throttled := errors.AsType[*ThrottledError](err); throttled != (i == attemptsPerAddress) {
				t.Fatalf("attempt %d from one network gives %v", i+1, err)
			}
		}
		if _, err := s.Authenticate(ctx, "ada", password, "192.0.2.2"); err != nil {
			t.Errorf("from elsewhere: %v", err)
		}
	})
}

func TestThrottlingTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := New(d, grants)
		var looked atomic.Int64
		var wg sync.WaitGroup
		for range 3 * attemptsPerName {
			wg.Go(func() {
				if _, err := s.Authenticate(context.Background(), "ada", "wrong horse battery", ""); errors.Is(err, ErrCredentials) {
					looked.Add(1)
				}
			})
		}
		wg.Wait()
		if n := looked.Load(); n > attemptsPerName {
			t.Errorf("%d passwords were looked at, %d are allowed", n, attemptsPerName)
		}
	})
}

func TestChangePassword(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := New(d, grants)
		r := create(t, s, "ada")
		here, _ := s.NewSession(ctx, r.ID, "", "")
		if err := s.ChangePassword(ctx, r.ID, "not the old one", "another good one"); !slices.Equal(refusedFields(err), []string{"old_password"}) {
			t.Errorf("a wrong old password gives %v", err)
		}
		if err := s.ChangePassword(ctx, r.ID, password, "short"); !slices.Equal(refusedFields(err), []string{"password"}) {
			t.Errorf("a short new password gives %v", err)
		}
		if err := s.ChangePassword(ctx, r.ID, password, "another good one"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Lookup(ctx, here); !errors.Is(err, ErrNoSession) {
			t.Errorf("a session from before: %v", err)
		}
		if _, err := s.Authenticate(ctx, "ada", "another good one", ""); err != nil {
			t.Error(err)
		}
		var throttled bool
		for range attemptsPerName + 1 {
			_, throttled = errors.AsType[*ThrottledError](s.ChangePassword(ctx, r.ID, "not the old one", "a third good one"))
		}
		if !throttled {
			t.Error("an open session can guess the password without limit")
		}
		fresh, err := s.Create(ctx, NewAccount{Name: "link only"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.ChangePassword(ctx, fresh.ID, "", "a first password"); err != nil {
			t.Errorf("a first password gives %v", err)
		}
	})
}
