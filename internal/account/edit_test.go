package account

import (
	"errors"
	"slices"
	"testing"

	"docent/db"
	"docent/db/dbtest"
)

func TestFindAccounts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := New(d, grants)
		for _, n := range []NewAccount{
			{Name: "Ada", Email: "ada@example.org", Roles: []string{"news_desk"}}, {Name: "50%", Roles: []string{"newsxdesk"}}, {Name: "Grace", Email: "Grace@Navy.example"},
		} {
			if _, err := s.Create(ctx, n); err != nil {
				t.Fatal(err)
			}
		}
		for _, tt := range []struct {
			filter Filter
			want   []string
		}{
			{Filter{}, []string{"50%", "Ada", "Grace"}}, {Filter{Text: " ADA"}, []string{"Ada"}}, {Filter{Text: "navy"}, []string{"Grace"}}, {Filter{Text: "%"}, []string{"50%"}},
			{Filter{Text: "_"}, nil}, {Filter{Role: "news_desk"}, []string{"Ada"}}, {Filter{Role: "news_desk", Text: "grace"}, nil}, {Filter{Text: "a\x00d"}, []string{"Ada"}},
		} {
			found, total, err := s.Find(ctx, tt.filter, 0, 10)
			var names []string
			for _, r := range found {
				names = append(names, r.Name)
			}
			if err != nil || !slices.Equal(names, tt.want) || total != len(tt.want) {
				t.Errorf("%+v finds %v of %d, %v, want %v", tt.filter, names, total, err, tt.want)
			}
		}
	})
}

func TestEdit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := New(d, grants)
		root := create(t, s, "root", RoleAdministrator)
		ada := create(t, s, "Ada", RoleEditor)
		if err := s.Edit(ctx, ada.ID, "ada@example.org", []string{"clerk"}); err != nil {
			t.Fatal(err)
		}
		if r, err := s.ByID(ctx, ada.ID); err != nil || r.Email != "ada@example.org" || !slices.Equal(r.Roles, []string{"clerk"}) {
			t.Errorf("Ada is %+v, %v", r, err)
		}
		if err := s.Edit(ctx, ada.ID, "nowhere", nil); !slices.Equal(refusedFields(err), []string{"email"}) {
			t.Errorf("a bad address gives %v", err)
		}
		if err := s.Edit(ctx, root.ID, "root@example.org", nil); !errors.Is(err, ErrLastAdministrator) {
			t.Errorf("the last administrator gives %v", err)
		}
		if r, err := s.ByID(ctx, root.ID); err != nil || r.Email != "" {
			t.Errorf("half of a refused change was stored: %+v, %v", r, err)
		}
	})
}

func TestResetPasswordAndTakeRole(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := New(d, grants)
		ada := create(t, s, "Ada", RoleEditor, "clerk")
		token, err := s.NewSession(ctx, ada.ID, "", "")
		if err != nil {
			t.Fatal(err)
		}
		link, err := s.CreateLink(ctx, ada.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.ResetPassword(ctx, ada.ID); err != nil {
			t.Fatal(err)
		}
		if r, err := s.ByID(ctx, ada.ID); err != nil || r.HasPassword {
			t.Errorf("Ada still has a password: %v", err)
		}
		if _, _, err := s.Lookup(ctx, token); !errors.Is(err, ErrNoSession) {
			t.Errorf("the session that was open: %v", err)
		}
		if _, err := s.UseLink(ctx, link); !errors.Is(err, ErrLink) {
			t.Errorf("the older link: %v", err)
		}
		if err := s.ResetPassword(ctx, "nobody"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("nobody: %v", err)
		}
		if err := s.TakeRole(ctx, "clerk"); err != nil {
			t.Fatal(err)
		}
		if r, err := s.ByID(ctx, ada.ID); err != nil || !slices.Equal(r.Roles, []string{RoleEditor}) {
			t.Errorf("Ada has %v, %v", r.Roles, err)
		}
		if names, err := s.Names(ctx, []string{ada.ID, "nobody"}); err != nil || len(names) != 1 || names[ada.ID] != "Ada" {
			t.Errorf("names are %v, %v", names, err)
		}
	})
}
