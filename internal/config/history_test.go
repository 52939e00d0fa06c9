package config

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
)

func TestChanges(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := open(t, d)
		for _, r := range []Role{{Label: "Clerk"}, {Label: "Clerks", Permissions: nil}, {Label: "Clerks", Permissions: account.AllPermissions()[:1]}} {
			if err := Put(ctx, s, "clerk", r, "ada"); err != nil {
				t.Fatal(err)
			}
		}
		if err := Delete[Role](ctx, s, "clerk", "root"); err != nil {
			t.Fatal(err)
		}
		changes, err := Changes[Role](ctx, s, "clerk", 10)
		if err != nil || len(changes) != 4 {
			t.Fatalf("%d changes, %v", len(changes), err)
		}
		if changes[0].After != "" || changes[0].By != "root" || changes[3].Before != "" || changes[3].By != "ada" {
			t.Errorf("changes are %+v", changes)
		}
		if got := changes[2].Fields(); !slices.Equal(got, []string{"label"}) {
			t.Errorf("the second change touched %v", got)
		}
		if got := changes[1].Fields(); !slices.Equal(got, []string{"permissions"}) {
			t.Errorf("the third change touched %v", got)
		}
		if last, err := Changes[Role](ctx, s, "clerk", 1); err != nil || len(last) != 1 || last[0].By != "root" {
			t.Errorf("the last change is %+v, %v", last, err)
		}
	})
}

func TestUpdatesTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := open(t, d)
		if err := Put(ctx, s, "clerk", Role{Label: "Clerk"}, ""); err != nil {
			t.Fatal(err)
		}
		all := account.AllPermissions()[:6]
		var wg sync.WaitGroup
		for _, p := range all {
			wg.Go(func() {
				err := Update(ctx, s, "clerk", "", func(r Role) (Role, error) {
					r.Permissions = append(slices.Clone(r.Permissions), p)
					return r, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := mustGet[Role](t, s, "clerk").Permissions; len(got) != len(all) {
			t.Errorf("of %d changes %d are kept", len(all), len(got))
		}
		refused := errors.New("no")
		if err := Update(ctx, s, "clerk", "", func(r Role) (Role, error) { return Role{Label: "Other"}, refused }); !errors.Is(err, refused) {
			t.Errorf("a change that is refused gives %v", err)
		}
		if err := Update(ctx, s, "clerk", "", func(r Role) (Role, error) { return Role{}, nil }); !slices.Equal(refusedFields(t, err), []string{"label"}) {
			t.Errorf("a change to nothing gives %v", err)
		}
		if err := Update(ctx, s, "nobody", "", func(r Role) (Role, error) { return r, nil }); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("without a role: %v", err)
		}
		if got := mustGet[Role](t, s, "clerk").Label; got != "Clerk" {
			t.Errorf("the label is %q", got)
		}
	})
}
