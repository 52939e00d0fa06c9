package editing

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
)

func TestForms(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, s := t.Context(), New(d)
		accounts := account.New(d, func(context.Context, []string) (map[account.Permission]bool, error) { return nil, nil })
		var ids []string
		for _, name := range []string{"ada", "grace"} {
			r, err := accounts.Create(ctx, account.NewAccount{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, r.ID)
		}
		ada, grace := ids[0], ids[1]
		if _, err := s.Form(ctx, ada, "x"); !errors.Is(err, db.ErrNotFound) {
			t.Fatalf("nothing kept: %v", err)
		}
		for _, text := range []string{"one", "two & three = \x00 \xff"} {
			if _, err := s.Keep(ctx, Form{AccountID: ada, ID: "x", Bundle: "article", Lang: "en", BasedOn: "r1", Title: "T", Values: url.Values{"title": {text}}}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.Form(ctx, ada, "x")
		if err != nil || got.Values.Get("title") != "two & three = \x00 \xff" || got.BasedOn != "r1" || got.Bundle != "article" {
			t.Errorf("kept %+v, %v", got, err)
		}
		if _, err := s.Form(ctx, grace, "x"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("somebody else's form: %v", err)
		}
		if _, err := s.Keep(ctx, Form{AccountID: ada, ID: "y", Lang: "en", Values: url.Values{"a": {strings.Repeat("x", maxData)}}}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("a huge form: %v", err)
		}
		for i := range maxNew + 5 {
			if _, err := s.Keep(ctx, Form{AccountID: ada, ID: fmt.Sprintf("n%02d", i), Lang: "en"}); err != nil {
				t.Fatal(err)
			}
		}
		begun, err := s.Begun(ctx, ada)
		if err != nil || len(begun) != maxNew || begun[0].ID != fmt.Sprintf("n%02d", maxNew+4) {
			t.Errorf("%d begun, %v", len(begun), err)
		}
		if err := errors.Join(s.Forget(ctx, ada, "n20"), s.Forget(ctx, ada, "n20"), s.Purge(ctx)); err != nil {
			t.Error(err)
		}
		if _, err := s.Form(ctx, ada, "n20"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("a forgotten form: %v", err)
		}
	})
}
