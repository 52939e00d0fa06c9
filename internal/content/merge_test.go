package content

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
)

func TestConcurrentEditsAreBroughtTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		in := page("Pond", "/pond/", Published)
		in.Fields[FieldSummary] = "Frogs."
		base := save(t, s, in)
		theirs := InputOf(base)
		theirs.Title, theirs.Weight = "The pond", 4
		theirs.Fields = Fields{FieldBody: "Theirs.", FieldSummary: "Frogs."}
		latest := save(t, s, theirs)

		mine := InputOf(base)
		mine.Fields = Fields{FieldBody: base.Fields[FieldBody], FieldSummary: "Frogs and newts."}
		mine.Access = &Access{ViewRoles: []string{"member"}}
		merged := save(t, s, mine)
		if !merged.Merged || merged.Title != "The pond" || merged.Weight != 4 || merged.Fields.Text(FieldBody) != "Theirs." ||
			merged.Fields.Text(FieldSummary) != "Frogs and newts." || !slices.Equal(merged.ViewRoles, []string{"member"}) {
			t.Errorf("merged: %+v", merged)
		}

		clash := InputOf(base)
		clash.Fields = Fields{FieldBody: "Mine.", FieldSummary: "Frogs."}
		_, err := s.Save(t.Context(), editor, clash)
		conflict, ok := errors.AsType[*Conflict](err)
		if !ok || !errors.Is(err, ErrConflict) {
			t.Fatalf("both changed the text: %v", err)
		}
		if !slices.Equal(conflict.Overlaps, []string{FieldBody}) || conflict.Base.Fields.Text(FieldBody) != "About Pond." ||
			conflict.Theirs.Fields.Text(FieldBody) != "Theirs." || conflict.Merged.Fields.Text(FieldBody) != "Mine." ||
			conflict.Merged.Fields.Text(FieldSummary) != "Frogs and newts." || conflict.Merged.Title != "The pond" {
			t.Errorf("conflict %+v", conflict)
		}
		resolved := conflict.Merged
		resolved.Fields[FieldBody] = "Theirs. Mine."
		it := save(t, s, resolved)
		if it.Merged || it.Title != "The pond" || it.Fields.Text(FieldBody) != "Theirs. Mine." || it.Fields.Text(FieldSummary) != "Frogs and newts." {
			t.Errorf("resolved: %+v", it)
		}
		if history, err := s.History(t.Context(), editor, base.Ref, "en"); err != nil || len(history) != 4 {
			t.Errorf("%d revisions, %v", len(history), err)
		}
		removed := InputOf(latest)
		removed.Fields = Fields{FieldBody: "Theirs."} // the summary goes, which somebody rewrote since
		if _, err := s.Save(t.Context(), editor, removed); !errors.Is(err, ErrConflict) {
			t.Errorf("removed what somebody changed: %v", err)
		}
	})
}

// TestMergeLosesNothing brings together every combination of changes to two
// parts and checks that each side's change is there or named as a conflict.
func TestMergeLosesNothing(t *testing.T) {
	values := []any{nil, "a", "b"}
	bare := func(_, path string) string { return path }
	for n := range 3 * 3 * 3 {
		was, their, mine := values[n%3], values[n/3%3], values[n/9]
		fields := func(v any) Fields {
			f := Fields{"other": "x"}
			if v != nil {
				f["f"] = v
			}
			return f
		}
		base := Item{Title: fmt.Sprint(was), Fields: fields(was)}
		theirs := Item{Title: fmt.Sprint(their), Fields: fields(their)}
		out, overlaps := merge(base, theirs, Input{Title: fmt.Sprint(mine), Fields: fields(mine)}, bare)
		clash := was != their && was != mine && their != mine
		if clash != slices.Equal(overlaps, []string{"title", "f"}) || !clash && len(overlaps) > 0 {
			t.Errorf("%v, %v, %v: overlaps %v", was, their, mine, overlaps)
		}
		want := mine
		if mine == was {
			want = their
		}
		if out.Fields["f"] != want || out.Title != fmt.Sprint(want) || out.Fields["other"] != "x" {
			t.Errorf("%v, %v, %v: merged %v %q, want %v", was, their, mine, out.Fields, out.Title, want)
		}
	}
}

// TestTranslationsDoNotReopen publishes a language that was written before the
// entity was closed to others.
func TestTranslationsDoNotReopen(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		en := save(t, s, page("Plan", "/plan/", Published))
		es := save(t, s, Input{Ref: en.Ref, Lang: "es", Title: "Plan", Path: "/plan/"})
		closed := InputOf(en)
		closed.State, closed.Access = Published, &Access{ViewRoles: []string{"member"}}
		save(t, s, closed)
		if _, err := s.SetState(t.Context(), editor, es.Ref, "es", Published, es.LatestID); err != nil {
			t.Fatal(err)
		}
		for _, lang := range []string{"en", "es"} {
			if _, err := s.ByPath(t.Context(), visitor, lang, "/plan/"); !errors.Is(err, ErrForbidden) {
				t.Errorf("%s is open again: %v", lang, err)
			}
		}
		writer := allowed("w")
		writer.Permissions[account.ViewUnpublished] = true
		for _, p := range []account.Permission{"edit any page content", "publish page content"} {
			writer.Permissions[p] = true
		}
		writer.Roles = append(writer.Roles, "member")
		away := InputOf(en)
		away.BasedOn, away.Access = "", &Access{ViewRoles: []string{"staff"}}
		if _, err := s.Save(t.Context(), writer, away); err == nil {
			t.Error("somebody closed a page to themselves")
		}
	})
}
