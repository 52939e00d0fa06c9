package account

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
)

const password = "correct horse battery"

// grants stands for the configured roles.
func grants(_ context.Context, roles []string) (map[Permission]bool, error) {
	byRole := map[string][]Permission{
		RoleAnonymous:     {AccessContent},
		RoleAuthenticated: {AccessContent},
		RoleEditor:        {EditContent},
		"clerk":           {AdministerAccounts, AccessContent},
	}
	all := map[Permission]bool{}
	for _, role := range roles {
		for _, p := range byRole[role] {
			all[p] = true
		}
	}
	return all, nil
}

func create(t *testing.T, s *Service, name string, roles ...string) Record {
	t.Helper()
	r, err := s.Create(t.Context(), NewAccount{Name: name, Password: password, Roles: roles})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func refusedFields(err error) []string {
	invalid, ok := errors.AsType[*InvalidError](err)
	if !ok {
		return nil
	}
	return slices.Sorted(maps.Keys(invalid.Fields))
}

func TestCreateAndFind(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := New(d, grants)
		r, err := s.Create(ctx, NewAccount{Name: " Ada  Lovelace", Email: "ada@example.org", Password: password, Roles: []string{"clerk", RoleEditor, "clerk"}})
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.ByName(ctx, "ADA LOVELACE")
		if err != nil {
			t.Fatal(err)
		}
		if found.ID != r.ID || found.Name != "Ada Lovelace" || found.Email != "ada@example.org" || !found.HasPassword ||
			!slices.Equal(found.Roles, []string{"clerk", RoleEditor}) || !found.CreatedAt.Equal(r.CreatedAt) || !found.LastSeenAt.IsZero() {
			t.Errorf("found %+v", found)
		}
		a, err := s.Resolve(ctx, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		if !a.HasRole(RoleAuthenticated) || !a.HasRole(RoleEditor) || !a.Can(EditContent) || a.Can(AdministerSite) || a.IsAnonymous() {
			t.Errorf("resolved %+v", a)
		}
		visitor, err := s.Anonymous(ctx)
		if err != nil || !visitor.IsAnonymous() || visitor.HasRole(RoleAuthenticated) || !visitor.Can(AccessContent) || visitor.Can(EditContent) {
			t.Errorf("visitor is %+v, %v", visitor, err)
		}
		if _, err := s.Create(ctx, NewAccount{Name: "ada lovelace"}); !slices.Equal(refusedFields(err), []string{"name"}) {
			t.Errorf("a taken name gives %v", err)
		}
		if _, err := s.ByName(ctx, "nobody"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("an unknown name gives %v", err)
		}
		if _, err := s.Resolve(ctx, "nobody"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("an unknown id gives %v", err)
		}
		create(t, s, "Zoe")
		create(t, s, "bob")
		page, total, err := s.List(ctx, 1, 1)
		if err != nil || total != 3 || len(page) != 1 || page[0].Name != "bob" {
			t.Errorf("page is %+v of %d, %v", page, total, err)
		}
	})
}

func TestRefusedAccounts(t *testing.T) {
	s := New(dbtest.SQLite(t), grants)
	for name, tt := range map[string]struct {
		account NewAccount
		want    []string
	}{
		"no name":          {NewAccount{Name: "  "}, []string{"name"}},
		"long name":        {NewAccount{Name: strings.Repeat("é", 61)}, []string{"name"}},
		"huge name":        {NewAccount{Name: strings.Repeat("x", 1<<20)}, []string{"name"}},
		"line in name":     {NewAccount{Name: "ada\nadmin"}, []string{"name"}},
		"reversed name":    {NewAccount{Name: "ada\u202enimda"}, []string{"name"}},
		"broken name":      {NewAccount{Name: "ada\xff"}, []string{"name"}},
		"email":            {NewAccount{Name: "ada", Email: "Ada <ada@example.org>"}, []string{"email"}},
		"automatic role":   {NewAccount{Name: "ada", Roles: []string{RoleAuthenticated}}, []string{"roles"}},
		"hostile role":     {NewAccount{Name: "ada", Roles: []string{`x","administrator`}}, []string{"roles"}},
		"short password":   {NewAccount{Name: "ada", Password: "123456789"}, []string{"password"}},
		"long password":    {NewAccount{Name: "ada", Password: strings.Repeat("ab", 129)}, []string{"password"}},
		"control password": {NewAccount{Name: "ada", Password: "0123456789\x00ab"}, []string{"password"}},
		"name as password": {NewAccount{Name: "Ada Lovelace", Password: "ada lovelace"}, []string{"password"}},
		"common password":  {NewAccount{Name: "ada", Password: "Password123"}, []string{"password"}},
		"one character":    {NewAccount{Name: "ada", Password: "aaaaaaaaaaaaa"}, []string{"password"}},
		"everything wrong": {NewAccount{Email: "x", Password: "x", Roles: []string{"X"}}, []string{"email", "name", "password", "roles"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Create(t.Context(), tt.account)
			if got := refusedFields(err); !slices.Equal(got, tt.want) {
				t.Errorf("refused %v (%v), want %v", got, err, tt.want)
			}
		})
	}
}

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

func TestBlockingAndRoles(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := New(d, grants)
		ada := create(t, s, "ada", RoleAdministrator)
		bob := create(t, s, "bob", RoleAdministrator)
		token, _ := s.NewSession(ctx, bob.ID, "", "")
		// Each takes the other's rights at the same moment: one has to fail.
		var failed atomic.Int64
		var wg sync.WaitGroup
		for _, id := range []string{ada.ID, bob.ID} {
			wg.Go(func() {
				if err := s.SetRoles(context.Background(), id, nil); errors.Is(err, ErrLastAdministrator) {
					failed.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if failed.Load() != 1 {
			t.Errorf("%d of 2 changes were refused", failed.Load())
		}
		for _, id := range []string{ada.ID, bob.ID} {
			if err := s.SetRoles(ctx, id, []string{RoleAdministrator}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.SetBlocked(ctx, bob.ID, true); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Lookup(ctx, token); !errors.Is(err, ErrNoSession) {
			t.Errorf("the blocked account's session gives %v", err)
		}
		if _, err := s.NewSession(ctx, bob.ID, "", ""); !errors.Is(err, ErrBlocked) {
			t.Errorf("a new session for it gives %v", err)
		}
		if err := s.SetBlocked(ctx, ada.ID, true); !errors.Is(err, ErrLastAdministrator) {
			t.Errorf("blocking the last administrator gives %v", err)
		}
		if err := s.SetBlocked(ctx, bob.ID, false); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Lookup(ctx, token); !errors.Is(err, ErrNoSession) {
			t.Errorf("unblocking brought a session back: %v", err)
		}
		if err := s.SetBlocked(ctx, "nobody", true); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("blocking an unknown account gives %v", err)
		}
		if err := s.SetRoles(ctx, ada.ID, []string{"Bad"}); !slices.Equal(refusedFields(err), []string{"roles"}) {
			t.Errorf("a bad role gives %v", err)
		}
	})
}

func TestMayManage(t *testing.T) {
	s := New(dbtest.SQLite(t), grants)
	account := func(roles ...string) Account {
		a, err := s.withPermissions(t.Context(), Account{ID: "x", Roles: append(roles, RoleAuthenticated)})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, tt := range []struct {
		by    Account
		roles []string
		want  error
	}{
		{account(RoleAdministrator), []string{RoleAdministrator, RoleEditor}, nil},
		{account("clerk"), nil, nil},
		{account("clerk"), []string{"clerk"}, nil},
		{account("clerk"), []string{RoleEditor}, ErrBeyondOwn},
		{account("clerk", RoleEditor), []string{RoleEditor}, nil},
		{account("clerk"), []string{RoleAdministrator}, ErrBeyondOwn},
	} {
		if err := s.MayManage(t.Context(), tt.by, tt.roles); !errors.Is(err, tt.want) {
			t.Errorf("%v managing %v gives %v, want %v", tt.by.Roles, tt.roles, err, tt.want)
		}
	}
}

func TestEnsureAdmin(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := New(d, grants)
		if _, err := s.EnsureAdmin(ctx, "short"); !slices.Equal(refusedFields(err), []string{"password"}) {
			t.Fatalf("a short password gives %v", err)
		}
		tokens := make(chan string, 6)
		var wg sync.WaitGroup
		for range cap(tokens) {
			wg.Go(func() {
				token, err := s.EnsureAdmin(context.Background(), "")
				if err != nil {
					t.Error(err)
				}
				tokens <- token
			})
		}
		wg.Wait()
		close(tokens)
		var token string
		given := 0
		for candidate := range tokens {
			if candidate != "" {
				token = candidate
				given++
			}
		}
		a, err := s.UseLink(ctx, token)
		if err != nil || given != 1 || a.Name != "admin" || !a.Can(AdministerSite) {
			t.Errorf("%d links were given; the link leads to %+v, %v", given, a, err)
		}
		if again, err := s.EnsureAdmin(ctx, "correct horse battery"); err != nil || again != "" {
			t.Errorf("the next start gives %q, %v", again, err)
		}
		if r, _ := s.ByName(ctx, "admin"); r.HasPassword {
			t.Error("a later start set a password")
		}
	})
	t.Run("password", func(t *testing.T) {
		s := New(dbtest.SQLite(t), grants)
		if token, err := s.EnsureAdmin(t.Context(), password); err != nil || token != "" {
			t.Fatalf("%q, %v", token, err)
		}
		if _, err := s.Authenticate(t.Context(), "admin", password, ""); err != nil {
			t.Error(err)
		}
	})
}

func TestSecret(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		keys := make(chan string, 4)
		var wg sync.WaitGroup
		for range cap(keys) {
			wg.Go(func() {
				key, err := New(d, grants).Secret(context.Background(), "cookie", 32)
				if err != nil {
					t.Error(err)
				}
				keys <- string(key)
			})
		}
		wg.Wait()
		first := <-keys
		for range cap(keys) - 1 {
			if key := <-keys; key != first || len(key) != 32 {
				t.Errorf("keys differ: %x, %x", key, first)
			}
		}
		if other, err := New(d, grants).Secret(t.Context(), "other", 32); err != nil || string(other) == first {
			t.Errorf("another name gives %x, %v", other, err)
		}
	})
}
