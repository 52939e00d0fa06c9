package content

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
)

// allowed is an account with permissions for articles alone.
func allowed(id string, ops ...config.Operation) account.Account {
	a := account.Account{ID: id, Roles: []string{account.RoleAuthenticated}, Permissions: map[account.Permission]bool{
		account.AccessContent: true, config.FormatPermission(config.FormatMarkdown): true,
	}}
	for _, op := range ops {
		a.Permissions[config.PermissionFor(op, TypeNode, "article")] = true
	}
	return a
}

func TestWorkflowAsksForPermissions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		author := allowed("author", config.OpCreate, config.OpEditOwn)
		publisher := allowed("publisher", config.OpViewUnpublished, config.OpPublish)
		archivist := allowed("archivist", config.OpViewUnpublished, config.OpArchive, config.OpRestore)
		in := Input{Bundle: "article", Lang: "en", Title: "News", Path: "/news/", State: Published}
		if _, err := s.Save(t.Context(), author, in); !errors.Is(err, ErrForbidden) {
			t.Errorf("an author publishes: %v", err)
		}
		if _, err := s.Save(t.Context(), author, Input{Bundle: "page", Lang: "en", Title: "Page"}); !errors.Is(err, ErrForbidden) {
			t.Errorf("an author of articles makes a page: %v", err)
		}
		in.State = Draft
		it, err := s.Save(t.Context(), author, in)
		if err != nil || it.AuthorID != "author" {
			t.Fatalf("%+v, %v", it, err)
		}
		for _, tt := range []struct {
			who   account.Account
			state State
			ok    bool
		}{
			{author, Published, false},
			{archivist, Published, false},
			{visitor, Published, false},
			{publisher, Archived, false},
			{publisher, Published, true},
			{publisher, Draft, false},
			{author, Archived, false},
			{archivist, Archived, true},
			{archivist, Draft, true},
			{publisher, Published, true},
			{editor, Draft, true},
		} {
			_, err := s.SetState(t.Context(), tt.who, it.Ref, "en", tt.state, "")
			if tt.ok != (err == nil) || err != nil && !errors.Is(err, ErrForbidden) {
				t.Errorf("%s to %s: %v", tt.who.ID, tt.state, err)
			}
		}
		it, err = s.Latest(t.Context(), author, it.Ref, "en")
		if err != nil {
			t.Fatalf("an author reads an own draft: %v", err)
		}
		if _, err := s.Latest(t.Context(), allowed("stranger", config.OpEditOwn), it.Ref, "en"); !errors.Is(err, ErrForbidden) {
			t.Errorf("a stranger reads it: %v", err)
		}
		var ops []config.Operation
		moves, err := s.Transitions(t.Context(), publisher, it)
		for _, m := range moves {
			ops = append(ops, m.Op)
		}
		if err != nil || !slices.Equal(ops, []config.Operation{config.OpPublish}) {
			t.Errorf("a publisher is offered %v, %v", ops, err)
		}
		if types, err := s.MayCreate(t.Context(), author, TypeNode); err != nil || len(types) != 1 || types[0].Name != "article" {
			t.Errorf("an author may create %v, %v", types, err)
		}
		if err := s.Delete(t.Context(), author, it.Ref); !errors.Is(err, ErrForbidden) {
			t.Errorf("an author deletes: %v", err)
		}
		if err := s.Delete(t.Context(), allowed("d", config.OpDelete, config.OpViewUnpublished), it.Ref); err != nil {
			t.Errorf("whoever may delete: %v", err)
		}
	})
}

func TestTypesWithoutWorkflowArePublicAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		term := save(t, s, Input{Ref: Ref{Type: TypeTerm}, Bundle: "topics", Lang: "en", Title: "Water birds"})
		if !term.Published || term.State != Published || term.Path != "/topics/water-birds/" {
			t.Errorf("%+v", term)
		}
		if _, err := s.Save(t.Context(), editor, Input{Ref: Ref{Type: TypeTerm}, Bundle: "topics", Lang: "en", Title: "Water  Birds"}); err == nil {
			t.Error("two terms of one name")
		}
		again := InputOf(term)
		again.Fields = Fields{FieldSummary: "Herons and ducks."}
		if it := save(t, s, again); !it.Published || it.LatestID != it.RevisionID {
			t.Errorf("%+v", it)
		}
		if got, err := s.ByPath(t.Context(), visitor, "en", "/topics/water-birds/"); err != nil || got.Fields.Text(FieldSummary) == "" {
			t.Errorf("%+v, %v", got, err)
		}
		gone, err := s.SetState(t.Context(), editor, term.Ref, "en", Archived, "")
		if err != nil || gone.Published {
			t.Errorf("%+v, %v", gone, err)
		}
		if it := save(t, s, InputOf(gone)); it.State != Archived {
			t.Errorf("saving brought it back: %+v", it)
		}
	})
}

func TestRevert(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		topic := save(t, s, Input{Ref: Ref{Type: TypeTerm}, Bundle: "topics", Lang: "en", Title: "Birds"})
		in := page("First", "/first/", Published)
		in.Fields[FieldTopics] = []any{topic.ID}
		first := save(t, s, in)
		second := InputOf(first)
		second.Title, second.Path, second.State, second.Fields = "Second", "/second/", Published, Fields{FieldBody: "Other."}
		latest := save(t, s, second)
		if err := s.Delete(t.Context(), editor, topic.Ref); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Revert(t.Context(), editor, first.Ref, "en", first.RevisionID, first.RevisionID); !errors.Is(err, ErrConflict) {
			t.Errorf("not what the editor saw: %v", err)
		}
		back, err := s.Revert(t.Context(), editor, first.Ref, "en", first.RevisionID, latest.RevisionID)
		if err != nil {
			t.Fatal(err)
		}
		if back.Title != "First" || back.Fields.Text(FieldBody) != "About First." || back.Path != "/second/" || back.State != Draft || back.Fields[FieldTopics] != nil {
			t.Errorf("%+v", back)
		}
		if got, err := s.ByPath(t.Context(), visitor, "en", "/second/"); err != nil || got.Title != "Second" {
			t.Errorf("visitors see %q, %v", got.Title, err)
		}
		old, err := s.Revision(t.Context(), editor, first.Ref, "en", first.RevisionID)
		if err != nil || old.Title != "First" || old.Path != "/first/" {
			t.Errorf("%+v, %v", old, err)
		}
		if _, err := s.Revision(t.Context(), visitor, first.Ref, "en", first.RevisionID); !errors.Is(err, ErrForbidden) {
			t.Errorf("a visitor reads the history: %v", err)
		}
	})
}

func TestLanguagesShareWhatIsNotTranslated(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		day := func(n int) map[string]any { return map[string]any{"from": fmt.Sprintf("2026-05-%02d", n)} }
		event := Input{Bundle: "event", Lang: "en", Title: "Fair", Path: "/fair/", State: Published, Fields: Fields{"when": day(1), "place": "Barn"}}
		en := save(t, s, event)
		from, err := s.NewTranslation(t.Context(), editor, en.Ref, "en", "es")
		if err != nil || from.Lang != "es" || from.Fields.Text("place") != "Barn" {
			t.Fatalf("%+v, %v", from, err)
		}
		from.Title, from.State, from.Fields = "Feria", Published, Fields{"place": "Granero"} // a translator sends what is translated
		es := save(t, s, from)
		if fmt.Sprint(es.Fields["when"]) != "map[from:2026-05-01]" {
			t.Errorf("a new language lost the date: %v", es.Fields)
		}
		if _, err := s.NewTranslation(t.Context(), editor, en.Ref, "en", "es"); !errors.Is(err, ErrConflict) {
			t.Errorf("twice: %v", err)
		}
		from.Title = "La feria"
		if _, err := s.Save(t.Context(), editor, from); !errors.Is(err, ErrConflict) {
			t.Errorf("two translators at once: %v", err)
		}
		draft := InputOf(es)
		draft.Fields = Fields{"when": es.Fields["when"], "place": "Plaza"}
		waiting := save(t, s, draft)

		moved := InputOf(en)
		moved.Fields = Fields{"when": day(2), "place": "Barn"}
		forward := save(t, s, moved)
		shown := func(lang string) string {
			it, err := s.Load(t.Context(), visitor, en.Ref, lang)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(it.Lang, it.Fields["when"], it.Fields["place"])
		}
		if got := shown("es"); got != "esmap[from:2026-05-01]Granero" {
			t.Errorf("a draft changed another language: %s", got)
		}
		if _, err := s.SetState(t.Context(), editor, en.Ref, "en", Published, forward.LatestID); err != nil {
			t.Fatal(err)
		}
		if got := shown("en") + shown("es"); got != "enmap[from:2026-05-02]Barnesmap[from:2026-05-02]Granero" {
			t.Errorf("after publishing: %s", got)
		}
		latest, err := s.Latest(t.Context(), editor, en.Ref, "es")
		if err != nil || fmt.Sprint(latest.Fields) != "map[place:Plaza when:map[from:2026-05-02]]" || latest.State != Draft {
			t.Errorf("the Spanish draft: %v %s, %v", latest.Fields, latest.State, err)
		}
		// The Spanish editor who still has the old form loses nothing and changes nothing back.
		late := InputOf(waiting)
		late.Title, late.State = "Feria grande", Published
		merged, err := s.Save(t.Context(), editor, late)
		if err != nil || !merged.Merged {
			t.Fatalf("%+v, %v", merged, err)
		}
		if got := shown("en") + shown("es"); got != "enmap[from:2026-05-02]Barnesmap[from:2026-05-02]Plaza" {
			t.Errorf("after a late save: %s", got)
		}
		all, err := s.TranslationsFor(t.Context(), editor, en.Ref)
		if err != nil || len(all) != 2 {
			t.Errorf("%v, %v", all, err)
		}
		if err := s.DeleteTranslation(t.Context(), editor, en.Ref, "es"); err != nil {
			t.Fatal(err)
		}
		if got := shown("es"); got != "enmap[from:2026-05-02]Barn" {
			t.Errorf("after deleting Spanish: %s", got)
		}
	})
}
