package content

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
)

// TestEveryReadAgreesWithCanView saves random content and reads it as random
// accounts, in every way there is, with CanView as the oracle.
func TestEveryReadAgreesWithCanView(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		s.opts.Types = typesOf(NewTypes(append(config.ShippedTypes(), config.Named[config.ContentType]{Name: "linked", Value: config.ContentType{
			Fields: []config.Field{{Name: "to", Type: config.FieldReference}}, Entity: TypeNode,
		}}), config.ShippedVocabularies(), config.ShippedFormats()))
		r := rand.New(rand.NewPCG(1, 2))
		roles := []string{"member", "Member", "mem", "staff", account.RoleEditor, account.RoleAnonymous, account.RoleAuthenticated}
		some := func() (out []string) {
			for _, role := range roles {
				if r.IntN(4) == 0 {
					out = append(out, role)
				}
			}
			return out
		}
		bundles, authors := []string{"page", "article"}, []string{"ann", "bob", "root"}
		states := []State{Draft, Published, Published, Archived}
		for n := range 30 {
			in := page(fmt.Sprint("Page ", n), fmt.Sprintf("/p/%d/", n), states[r.IntN(4)])
			in.Access = &Access{}
			for _, role := range some() {
				if role != "Member" { // a role that no page can name, to see that case counts
					in.Access.ViewRoles = append(in.Access.ViewRoles, role)
				}
			}
			in.Menu = "main"
			in.Bundle = bundles[r.IntN(len(bundles))]
			author := admin
			author.ID = authors[r.IntN(len(authors))]
			first, err := s.Save(t.Context(), author, in)
			if err != nil {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 {
				in := InputOf(first)
				in.State = states[r.IntN(4)]
				save(t, s, in)
			}
			if r.IntN(3) == 0 {
				save(t, s, Input{Ref: first.Ref, Lang: "es", Title: "Página", Path: fmt.Sprintf("/p/%d/", n), State: states[r.IntN(4)], Menu: "main"})
			}
		}
		all, err := s.shown(t.Context(), "1 = 1")
		if err != nil {
			t.Fatal(err)
		}
		var refs []Ref
		for _, it := range all {
			refs = append(refs, it.Ref)
		}
		permissions := []account.Permission{
			"view unpublished page content", "view unpublished article content", "edit any article content", "edit own page content",
			"edit own article content", "view unpublished page media", "edit any page terms", "edit own a b content",
		}
		for range 30 {
			who := account.Account{Roles: some(), Permissions: map[account.Permission]bool{account.AccessContent: r.IntN(5) > 0}}
			for _, p := range permissions {
				who.Permissions[p] = r.IntN(4) == 0
			}
			for _, p := range []account.Permission{account.ViewUnpublished, account.EditContent, account.AdministerTerms, account.AdministerMenus} {
				who.Permissions[p] = r.IntN(8) == 0
			}
			if r.IntN(3) > 0 {
				who.ID = authors[r.IntN(len(authors))]
			}
			if r.IntN(10) == 0 {
				who.Roles = append(who.Roles, account.RoleAdministrator)
			}
			check(t, s, who, all, refs)
		}
		check(t, s, account.Account{}, all, refs)
		check(t, s, account.Account{Roles: []string{",", `"`, `\`, "%"}, Permissions: visitor.Permissions}, all, refs)
	})
}

func check(t *testing.T, s *Store, who account.Account, all []Item, refs []Ref) {
	t.Helper()
	may := map[string]bool{} // translations
	mayAny := map[Ref]bool{}
	for _, it := range all {
		if CanView(who, it) {
			may[it.ID+it.Lang] = true
			mayAny[it.Ref] = true
		}
	}
	listed, total, err := s.List(t.Context(), who, Filter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if total != len(may) || len(listed) != len(may) {
		t.Errorf("%+v: listed %d of %d, may see %d", who, len(listed), total, len(may))
	}
	for _, it := range listed {
		if !may[it.ID+it.Lang] {
			t.Errorf("%+v: lists %q %v", who, it.Path, it.ViewRoles)
		}
	}
	many, err := s.LoadMany(t.Context(), who, refs, "es")
	if err != nil {
		t.Fatal(err)
	}
	menu, err := s.Menu(t.Context(), who, "es", "main")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range menu {
		if !mayAny[m.Ref] {
			t.Errorf("%+v: menu shows %q", who, m.Title)
		}
	}
	for _, it := range all {
		got, err := s.ByPath(t.Context(), who, it.Lang, s.barePath(it.Lang, it.Path))
		verdict(t, who, it, got, err, may[it.ID+it.Lang])
		got, err = s.Load(t.Context(), who, it.Ref, it.Lang)
		verdict(t, who, it, got, err, mayAny[it.Ref])
		if _, ok := many[it.Ref]; ok != mayAny[it.Ref] {
			t.Errorf("%+v: LoadMany %q is %v", who, it.Path, ok)
		}
		for n, read := range []func() error{
			func() error { _, err := s.Latest(t.Context(), who, it.Ref, it.Lang); return err },
			func() error { _, err := s.History(t.Context(), who, it.Ref, it.Lang); return err },
			func() error { _, err := s.Revision(t.Context(), who, it.Ref, it.Lang, it.RevisionID); return err },
			func() error { _, err := s.Compare(t.Context(), who, it.Ref, it.Lang, it.RevisionID, ""); return err },
		} {
			want := CanViewRoles(who, it.ViewRoles) && canViewUnpublished(who, it)
			if err := read(); want != (err == nil) || err != nil && !errors.Is(err, ErrForbidden) {
				t.Errorf("%+v reads the history of %q %v (%d): %v", who, it.Path, it.ViewRoles, n, err)
			}
			if want != (s.May(who, config.OpViewUnpublished, it) == nil) {
				t.Errorf("%+v: May does not agree about %q", who, it.Path)
			}
		}
		if s.May(who, OpEdit, it) == nil && !may[it.ID+it.Lang] && who.Can(account.AccessContent) {
			t.Errorf("%+v may edit %q but not see it", who, it.Path)
		}
		fields, err := s.Render(t.Context(), who, Item{Ref: Ref{Type: TypeNode}, Bundle: "linked", Lang: it.Lang, Fields: Fields{"to": it.ID}}, config.ViewFull)
		if err != nil || (len(fields) == 1) != mayAny[it.Ref] {
			t.Errorf("%+v: a reference to %q shows %v, %v", who, it.Path, fields, err)
		}
		above, err := s.Ancestors(t.Context(), who, Item{Lang: it.Lang, Path: it.Path + "below/"})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range above {
			if !may[a.ID+a.Lang] {
				t.Errorf("%+v: an ancestor is %q", who, a.Path)
			}
		}
	}
}

func verdict(t *testing.T, who account.Account, it, got Item, err error, may bool) {
	t.Helper()
	switch {
	case may && (err != nil || !CanView(who, got)):
		t.Errorf("%+v may view %q %v: %v", who, it.Path, it.ViewRoles, err)
	case !may && err == nil:
		t.Errorf("%+v may not view %q %v, but does", who, it.Path, it.ViewRoles)
	case !may && !errors.Is(err, ErrForbidden) && !errors.Is(err, db.ErrNotFound):
		t.Errorf("%q: %v", it.Path, err)
	}
}
