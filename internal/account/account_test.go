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

// Whoever runs a site may give its first administrator any password; only the
// program says what it thinks of it.
func TestFirstPasswordMayBeWeak(t *testing.T) {
	s := New(dbtest.SQLite(t), grants)
	if token, err := s.EnsureAdmin(t.Context(), "short"); err != nil || token != "" {
		t.Fatalf("token %q, %v", token, err)
	}
	if _, err := s.Authenticate(t.Context(), "admin", "short", "192.0.2.1"); err != nil {
		t.Error(err)
	}
	if PasswordFault("short", "admin") == "" || PasswordFault("correct horse battery", "admin") != "" {
		t.Error("weak and strong are mixed up")
	}
}
