package content

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
)

var (
	visitor = account.Account{Roles: []string{account.RoleAnonymous}, Permissions: map[account.Permission]bool{account.AccessContent: true}}
	editor  = account.Account{ID: "ed", Roles: []string{account.RoleAuthenticated, account.RoleEditor}, Permissions: map[account.Permission]bool{
		account.AccessContent: true, account.ViewUnpublished: true, account.EditContent: true,
		config.FormatPermission(config.FormatMarkdown): true, config.FormatPermission(config.FormatPlain): true,
		config.FormatPermission(config.FormatRestrictedHTML): true,
	}}
	admin = account.Account{ID: "root", Roles: []string{account.RoleAuthenticated, account.RoleAdministrator}}
)

func withRoles(roles ...string) account.Account {
	return account.Account{ID: "m", Roles: append([]string{account.RoleAuthenticated}, roles...), Permissions: visitor.Permissions}
}

// changes records what the store says has changed.
type changes struct{ ids []string }

func (c *changes) heard(_ context.Context, _ *db.DB, ids []string) error {
	c.ids = append(c.ids, ids...)
	return nil
}

func newStore(d *db.DB) (*Store, *changes) {
	c := &changes{}
	return New(d, Options{
		Languages:        func() []string { return []string{"en", "es", "ar"} },
		TypeOutOfAnswers: func(bundle string) bool { return bundle == "minutes" },
		Reserved:         []string{"admin"},
		OnChange:         c.heard,
	}), c
}

func typesOf(types *Types) func(context.Context) (*Types, error) {
	return func(context.Context) (*Types, error) { return types, nil }
}

func page(title, path string, state State) Input {
	return Input{Bundle: "page", Lang: "en", Title: title, Path: path, State: state, Fields: Fields{FieldBody: "About " + title + "."}}
}

func save(t *testing.T, s *Store, in Input) Item {
	t.Helper()
	it, err := s.Save(t.Context(), editor, in)
	if err != nil {
		t.Fatalf("save %q: %v", in.Title, err)
	}
	return it
}

func TestSaveAndRead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, heard := newStore(d)
		in := page("Tickets & prices", "/Visit/Prices", Published)
		in.Date = time.Date(2026, 10, 1, 9, 30, 0, 0, time.FixedZone("", 7200))
		in.Menu, in.MenuTitle, in.Weight = "main", "Prices", -3
		in.Message = "first"
		saved := save(t, s, in)
		got, err := s.ByPath(t.Context(), visitor, "en", "/visit/prices/")
		if err != nil {
			t.Fatal(err)
		}
		want := Item{
			Ref: saved.Ref, Bundle: "page", Lang: "en", Title: "Tickets & prices", Path: "/visit/prices/", State: Published, LatestState: Published,
			Published: true, RevisionID: saved.RevisionID, LatestID: saved.RevisionID, AuthorID: "ed", RevisedBy: "ed", Weight: -3, Menu: "main", MenuTitle: "Prices",
			Date: time.Date(2026, 10, 1, 7, 30, 0, 0, time.UTC), ParentPath: "/",
		}
		if fmt.Sprint(got.Fields) != "map[body:About Tickets & prices.]" || !slices.Equal(got.Languages, []string{"en"}) || len(got.ViewRoles) > 0 {
			t.Errorf("fields %v, languages %v, roles %v", got.Fields, got.Languages, got.ViewRoles)
		}
		if got.CreatedAt.IsZero() || got.CreatedAt.Location() != time.UTC || got.UpdatedAt.IsZero() {
			t.Errorf("times: %v %v", got.CreatedAt, got.UpdatedAt)
		}
		got.Fields, got.Languages, got.ViewRoles, got.CreatedAt, got.UpdatedAt = nil, nil, nil, time.Time{}, time.Time{}
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if !slices.Equal(heard.ids, []string{saved.ID}) {
			t.Errorf("changes: %v", heard.ids)
		}
		if history, err := s.History(t.Context(), editor, saved.Ref, "en"); err != nil || len(history) != 1 || history[0].Message != "first" || history[0].AuthorID != "ed" {
			t.Errorf("history %+v, %v", history, err)
		}
		if _, err := s.History(t.Context(), visitor, saved.Ref, "en"); !errors.Is(err, ErrForbidden) {
			t.Errorf("a visitor reads the history: %v", err)
		}
	})
}

func TestDraftBesidePublished(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, heard := newStore(d)
		first := save(t, s, page("Old", "/a/", Published))
		in := InputOf(first)
		in.Title, in.Path, in.Weight = "New", "/b/", 7
		in.Access = &Access{ViewRoles: []string{"member"}}
		heard.ids = nil
		draft := save(t, s, in)
		if draft.Title != "New" || draft.Path != "/b/" || draft.State != Draft || !draft.Published {
			t.Errorf("draft: %+v", draft)
		}
		if len(heard.ids) != 0 {
			t.Error("a draft beside a published revision changed the index")
		}
		shown, err := s.ByPath(t.Context(), visitor, "en", "/a/")
		if err != nil || shown.Title != "Old" || shown.RevisionID != first.RevisionID || shown.LatestState != Draft || len(shown.ViewRoles) > 0 {
			t.Errorf("visitors see %+v, %v", shown, err)
		}
		if _, err := s.ByPath(t.Context(), editor, "en", "/b/"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("the draft's path is reachable: %v", err)
		}
		latest, err := s.Latest(t.Context(), editor, first.Ref, "en")
		if err != nil || latest.Title != "New" || latest.Weight != 7 || !slices.Equal(latest.ViewRoles, []string{"member"}) {
			t.Errorf("latest %+v, %v", latest, err)
		}
		if _, err := s.Latest(t.Context(), visitor, first.Ref, "en"); !errors.Is(err, ErrForbidden) {
			t.Errorf("a visitor reads a draft: %v", err)
		}
		if _, err := s.SetState(t.Context(), editor, first.Ref, "en", Published, first.RevisionID); !errors.Is(err, ErrConflict) {
			t.Errorf("published something else than what was reviewed: %v", err)
		}
		if _, err := s.SetState(t.Context(), editor, first.Ref, "en", Published, draft.LatestID); err != nil {
			t.Fatal(err)
		}
		var moved *Redirect
		if _, err := s.ByPath(t.Context(), withRoles("member"), "en", "/a/"); !errors.As(err, &moved) || moved.To != "/b/" {
			t.Errorf("old address: %v", err)
		}
		if _, err := s.ByPath(t.Context(), visitor, "en", "/a/"); !errors.Is(err, ErrForbidden) {
			t.Errorf("the old address tells a visitor where the page is: %v", err)
		}
		if got, err := s.ByPath(t.Context(), withRoles("member"), "en", "/b/"); err != nil || got.Title != "New" || got.Weight != 7 {
			t.Errorf("after publishing: %+v, %v", got, err)
		}
		if _, err := s.SetState(t.Context(), editor, first.Ref, "en", Archived, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ByPath(t.Context(), withRoles("member"), "en", "/b/"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("archived, yet: %v", err)
		}
		if got, err := s.ByPath(t.Context(), editor, "en", "/b/"); err != nil || got.State != Archived {
			t.Errorf("editors see %+v, %v", got, err)
		}
		if history, _ := s.History(t.Context(), editor, first.Ref, "en"); len(history) != 4 {
			t.Errorf("%d revisions, want 4", len(history))
		}
	})
}

func TestSaveRefuses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		held := save(t, s, page("Held", "/held/", Published))
		for _, tt := range []struct {
			name   string
			change func(*Input)
			field  string
		}{
			{"no title", func(in *Input) { in.Title = "  " }, "title"},
			{"two lines", func(in *Input) { in.Title = "a\nb" }, "title"},
			{"NUL", func(in *Input) { in.Title = "a\x00b" }, "title"},
			{"not UTF-8", func(in *Input) { in.Title = "a\xffb" }, "title"},
			{"long title", func(in *Input) { in.Title = string(make([]byte, 300)) }, "title"},
			{"unknown language", func(in *Input) { in.Lang = "tlh" }, "lang"},
			{"unknown state", func(in *Input) { in.State = "live" }, "state"},
			{"bundle", func(in *Input) { in.Bundle = "No Name" }, "bundle"},
			{"path up", func(in *Input) { in.Path = "/a/../b" }, "path"},
			{"path with query", func(in *Input) { in.Path = "/a?b" }, "path"},
			{"path in use", func(in *Input) { in.Path = "/HELD" }, "path"},
			{"path of the program", func(in *Input) { in.Path = "/admin/x/" }, "path"},
			{"path of a language", func(in *Input) { in.Path = "/es/x/" }, "path"},
			{"role", func(in *Input) { in.Access = &Access{ViewRoles: []string{`a","b`}} }, "view_roles"},
			{"date", func(in *Input) { in.Date = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) }, "date"},
			{"fields", func(in *Input) { in.Fields = Fields{"f": func() {}} }, "fields"},
			{"menu", func(in *Input) { in.Menu = "Main menu" }, "menu"},
			{"weight", func(in *Input) { in.Weight = 1 << 40 }, "weight"},
		} {
			in := page("Fine", "/fine/", Published)
			tt.change(&in)
			_, err := s.Save(t.Context(), editor, in)
			invalid, ok := errors.AsType[*InvalidError](err)
			if !ok || invalid.Fields[tt.field] == "" {
				t.Errorf("%s: %v, want %s refused", tt.name, err, tt.field)
			}
		}
		if _, err := s.Save(t.Context(), visitor, page("Fine", "", Draft)); !errors.Is(err, ErrForbidden) {
			t.Errorf("a visitor saves: %v", err)
		}
		in := InputOf(held)
		in.BasedOn, in.Title = "older", "Mine"
		if _, err := s.Save(t.Context(), editor, in); !errors.Is(err, ErrConflict) {
			t.Errorf("lost update: %v", err)
		}
		in = InputOf(held)
		in.ID = "nobody"
		if _, err := s.Save(t.Context(), editor, in); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("saving what is gone: %v", err)
		}
		if _, total, err := s.List(t.Context(), admin, Filter{}); err != nil || total != 1 {
			t.Errorf("refused input left %d translations, %v", total, err)
		}
	})
}

func TestPathsOfTheirOwn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		in := page("Opening hours", "", Published)
		in.Parent = "/visit/"
		for _, want := range []string{"/visit/opening-hours/", "/visit/opening-hours-2/"} {
			if it := save(t, s, in); it.Path != want {
				t.Errorf("path %s, want %s", it.Path, want)
			}
		}
		if it := save(t, s, page("Admin", "", Published)); it.Path != "/admin-2/" {
			t.Errorf("path %s", it.Path)
		}
		if it := save(t, s, page("!!!", "", Published)); it.Path != "/"+it.ID+"/" {
			t.Errorf("path %s", it.Path)
		}
		var moved *Redirect
		if _, err := s.ByPath(t.Context(), visitor, "en", "/Visit/Opening-Hours"); !errors.As(err, &moved) || moved.To != "/visit/opening-hours/" {
			t.Errorf("another spelling: %v", err)
		}
		for _, hostile := range []string{"", "/..", "/%00", "/\x00", "/a//b", "/\xff", "/' or 1=1 --"} {
			if _, err := s.ByPath(t.Context(), admin, "en", hostile); !errors.Is(err, db.ErrNotFound) {
				t.Errorf("%q: %v", hostile, err)
			}
		}
	})
}

func TestTranslations(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		in := page("Hours", "/hours/", Published)
		in.Access = &Access{ViewRoles: []string{"member"}}
		en := save(t, s, in)
		es := save(t, s, Input{Ref: en.Ref, Lang: "es", Title: "Horario", Path: "/es/horario/", State: Published})
		if es.Path != "/es/horario/" || es.ID != en.ID || !slices.Equal(es.ViewRoles, []string{"member"}) {
			t.Errorf("translation: %+v", es)
		}
		if _, err := s.ByPath(t.Context(), visitor, "es", "/horario/"); !errors.Is(err, ErrForbidden) {
			t.Errorf("a translation opened what was closed: %v", err)
		}
		member := withRoles("member")
		for lang, want := range map[string]string{"es": "Horario", "en": "Hours", "ar": "Hours"} {
			if it, err := s.Load(t.Context(), member, en.Ref, lang); err != nil || it.Title != want {
				t.Errorf("%s: %q, %v", lang, it.Title, err)
			}
		}
		if _, err := s.SetState(t.Context(), editor, en.Ref, "en", Draft, ""); err != nil {
			t.Fatal(err)
		}
		if it, err := s.Load(t.Context(), member, en.Ref, "en"); err != nil || it.Title != "Horario" || !slices.Equal(it.Languages, []string{"es"}) {
			t.Errorf("only Spanish is published: %q %v, %v", it.Title, it.Languages, err)
		}
		all, err := s.Translations(t.Context(), en.ID)
		if err != nil || len(all) != 1 || all[0].Lang != "es" {
			t.Errorf("translations to index: %v, %v", all, err)
		}
		if err := s.Delete(t.Context(), editor, en.Ref); err != nil {
			t.Fatal(err)
		}
		if all, err := s.Translations(t.Context(), en.ID); err != nil || len(all) != 0 {
			t.Errorf("deleted, yet %v, %v", all, err)
		}
		if err := s.Delete(t.Context(), editor, en.Ref); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("deleted twice: %v", err)
		}
	})
}

func TestTransactions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		boom := errors.New("boom")
		err := d.InTx(t.Context(), func(tx *db.DB) error {
			if _, err := s.In(tx).Save(t.Context(), editor, page("Gone", "/gone/", Published)); err != nil {
				return err
			}
			return boom
		})
		if !errors.Is(err, boom) {
			t.Fatal(err)
		}
		if any, err := s.AnyNodes(t.Context()); err != nil || any {
			t.Errorf("any nodes: %v, %v", any, err)
		}
		failing := New(d, Options{OnChange: func(context.Context, *db.DB, []string) error { return boom }})
		if _, err := failing.Save(t.Context(), editor, page("Gone", "/gone/", Published)); !errors.Is(err, boom) {
			t.Errorf("a change that could not be enqueued was saved: %v", err)
		}
		save(t, s, page("Here", "/here/", Published))
		if any, err := s.AnyNodes(t.Context()); err != nil || !any {
			t.Errorf("any nodes: %v, %v", any, err)
		}
	})
}

// TestConcurrentSaves lets writers who saw the same revision save at once: one
// of them wins.
func TestConcurrentSaves(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		first := save(t, s, page("Race", "/race/", Published))
		results := make(chan error)
		for i := range 4 {
			go func() {
				in := InputOf(first)
				in.Title = fmt.Sprint("Race ", i)
				_, err := s.Save(t.Context(), editor, in)
				results <- err
			}()
		}
		won := 0
		for range 4 {
			if err := <-results; err == nil {
				won++
			} else if !errors.Is(err, ErrConflict) {
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d writers won", won)
		}
	})
}
