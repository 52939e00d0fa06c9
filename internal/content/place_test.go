package content

import (
	"errors"
	"slices"
	"testing"

	"docent/db"
	"docent/db/dbtest"
)

func TestPlaceInMenus(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s, heard := newStore(d)
		visit := save(t, s, page("Visit", "/visit/", Published))
		spanish := page("Visita", "/visita/", Published)
		spanish.Ref, spanish.Lang = visit.Ref, "es"
		save(t, s, spanish)
		draft := page("Visit us", "/visit/", Draft)
		draft.Ref, draft.BasedOn = visit.Ref, visit.LatestID
		waiting := save(t, s, draft)
		prices := save(t, s, page("Prices", "/visit/prices/", Published))
		heard.ids = nil

		places := []Place{
			{ID: visit.ID, Menu: "main", Weight: 2, Titles: map[string]string{"en": "Come", "fr": "Venez"}},
			{ID: prices.ID, Menu: "main", Parent: visit.ID, Weight: 1},
		}
		if err := s.PlaceInMenus(ctx, visitor, places); !errors.Is(err, ErrForbidden) {
			t.Fatalf("a visitor gets %v", err)
		}
		if err := s.PlaceInMenus(ctx, editor, append(places, Place{ID: "nobody"})); !errors.Is(err, db.ErrNotFound) {
			t.Fatalf("placing what is not there gives %v", err)
		}
		if entries, err := s.Menu(ctx, visitor, "en", "main"); err != nil || len(entries) != 0 {
			t.Fatalf("half of the places were stored: %v, %v", entries, err)
		}
		if err := s.PlaceInMenus(ctx, editor, places); err != nil {
			t.Fatal(err)
		}
		check := func(lang string, want ...string) {
			t.Helper()
			entries, err := s.Menu(ctx, visitor, lang, "main")
			var got []string
			for _, e := range entries {
				got = append(got, e.Title)
				for _, below := range e.Children {
					got = append(got, "- "+below.Title)
				}
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("the menu in %s is %v, %v, want %v", lang, got, err, want)
			}
		}
		check("en", "Come", "- Prices")
		check("es", "Visita")
		if _, err := s.SetState(ctx, editor, visit.Ref, "en", Published, waiting.LatestID); err != nil {
			t.Fatal(err)
		}
		check("en", "Come", "- Prices")
		if it, err := s.Load(ctx, visitor, visit.Ref, "en"); err != nil || it.Title != "Visit us" || it.Weight != 2 {
			t.Errorf("the page is %+v, %v", it, err)
		}
		if revisions, err := s.History(ctx, editor, prices.Ref, "en"); err != nil || len(revisions) != 1 {
			t.Errorf("a place made revisions: %d, %v", len(revisions), err)
		}
	})
}

func TestMergeTerms(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s, heard := newStore(d)
		term := func(vocabulary, title string) Item {
			return save(t, s, Input{Ref: Ref{Type: TypeTerm}, Bundle: vocabulary, Lang: "en", Title: title, State: Published})
		}
		birds, fowl := term("topics", "Birds"), term("topics", "Fowl")
		in := page("Geese", "/geese/", Published)
		in.Fields = Fields{FieldBody: "Geese and \"" + fowl.ID + "\".", FieldTopics: []any{fowl.ID, birds.ID}}
		geese := save(t, s, in)
		in.Ref, in.BasedOn, in.State = geese.Ref, geese.LatestID, Draft
		in.Fields = Fields{FieldBody: in.Fields[FieldBody], FieldTopics: []any{fowl.ID}}
		save(t, s, in)
		heard.ids = nil

		for _, tt := range []struct {
			name       string
			from, into Ref
			want       error
		}{
			{"itself", fowl.Ref, fowl.Ref, nil}, {"a page", fowl.Ref, geese.Ref, db.ErrNotFound}, {"nobody", Ref{Type: TypeTerm, ID: "x"}, birds.Ref, db.ErrNotFound},
		} {
			err := s.MergeTerms(ctx, editor, tt.from, tt.into)
			if _, invalid := errors.AsType[*InvalidError](err); !invalid && (tt.want == nil || !errors.Is(err, tt.want)) {
				t.Errorf("merging with %s gives %v", tt.name, err)
			}
		}
		if err := s.MergeTerms(ctx, visitor, fowl.Ref, birds.Ref); !errors.Is(err, ErrForbidden) {
			t.Errorf("a visitor gets %v", err)
		}
		if err := s.MergeTerms(ctx, editor, fowl.Ref, birds.Ref); err != nil {
			t.Fatal(err)
		}
		it, err := s.Load(ctx, visitor, geese.Ref, "en")
		if err != nil || !slices.Equal(it.Fields.Strings(FieldTopics), []string{birds.ID}) || it.Fields.Text(FieldBody) != "Geese and \""+fowl.ID+"\"." {
			t.Errorf("the page has %v, %v", it.Fields, err)
		}
		latest, err := s.Latest(ctx, editor, geese.Ref, "en")
		if err != nil || !slices.Equal(latest.Fields.Strings(FieldTopics), []string{birds.ID}) {
			t.Errorf("the draft that waits has %v, %v", latest.Fields.Strings(FieldTopics), err)
		}
		if _, err := s.Load(ctx, editor, fowl.Ref, "en"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("the term that was merged: %v", err)
		}
		_, err = s.ByPath(ctx, visitor, "en", "/topics/fowl/")
		if moved, ok := errors.AsType[*Redirect](err); !ok || moved.To != "/topics/birds/" {
			t.Errorf("its address gives %v", err)
		}
		if !slices.Contains(heard.ids, geese.ID) {
			t.Error("the index does not hear of the page")
		}
	})
}

func TestOrderTerms(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		var ids []string
		for _, title := range []string{"A", "B", "C"} {
			ids = append(ids, save(t, s, Input{Ref: Ref{Type: TypeTerm}, Bundle: "topics", Lang: "en", Title: title, State: Published}).ID)
		}
		slices.Reverse(ids)
		if err := s.OrderTerms(t.Context(), editor, "topics", ids); err != nil {
			t.Fatal(err)
		}
		items, _, err := s.List(t.Context(), editor, Filter{Type: TypeTerm, Bundle: "topics"})
		if err != nil || len(items) != 3 || items[0].Title != "C" || items[2].Title != "A" {
			t.Errorf("terms are %v, %v", items, err)
		}
	})
}

func TestCountValues(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		save(t, s, page("One", "/one/", Published))
		in := page("Two", "/two/", Published)
		in.Fields = Fields{FieldSummary: `says "body": nothing`}
		save(t, s, in)
		for field, want := range map[string]int{FieldBody: 1, FieldSummary: 1, "bod_": 0, "b%": 0} {
			if n, err := s.CountValues(t.Context(), TypeNode, "page", field); err != nil || n != want {
				t.Errorf("%d values of %s, %v, want %d", n, field, err, want)
			}
		}
	})
}
