package content

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
)

func TestCompare(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		term := func(title string) string {
			return save(t, s, Input{Ref: Ref{Type: TypeTerm}, Bundle: "topics", Lang: "en", Title: title}).ID
		}
		birds, frogs := term("Birds"), term("Frogs")
		in := page("Pond", "/pond/", Published)
		in.Fields[FieldBody], in.Fields[FieldTopics] = "The pond is two metres deep.", []any{birds}
		in.Fields[FieldSummary] = "As it was."
		first := save(t, s, in)
		next := InputOf(first)
		next.Path = "/water/"
		next.Fields = Fields{FieldBody: "The pond is three metres deep.", FieldTopics: []any{birds, frogs}, FieldSummary: "As it was."}
		save(t, s, next)
		c, err := s.Compare(t.Context(), editor, first.Ref, "en", "", "")
		if err != nil || c.A.RevisionID != first.RevisionID || c.B.Path != "/water/" {
			t.Fatalf("%+v, %v", c, err)
		}
		byName := map[string]FieldDiff{}
		for _, f := range c.Fields {
			byName[f.Name] = f
		}
		if f := byName["title"]; f.Changed || len(f.Segments) != 1 {
			t.Errorf("title %+v", f)
		}
		if f := byName[FieldSummary]; f.Changed || f.Label != "Summary" {
			t.Errorf("summary %+v", f)
		}
		if got := marked(byName[FieldBody].Segments); got != "The pond is [-two-]{+three+} metres deep." || !byName[FieldBody].Changed {
			t.Errorf("body %s", got)
		}
		if f := byName[FieldTopics]; !f.Changed || f.Kind != DiffValues || len(f.Before) != 1 || len(f.After) != 2 || f.After[1].Text != "Frogs" {
			t.Errorf("topics %+v", f)
		}
		if got := marked(byName["path"].Segments); got != "/[-pond-]{+water+}/" {
			t.Errorf("path %s", got)
		}
		if _, err := s.Compare(t.Context(), visitor, first.Ref, "en", "", ""); !errors.Is(err, ErrForbidden) {
			t.Errorf("a visitor compares: %v", err)
		}
		if _, err := s.Compare(t.Context(), editor, first.Ref, "en", "nothing", ""); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("no such revision: %v", err)
		}
	})
}

func marked(segments []Segment) string {
	var b strings.Builder
	for _, s := range segments {
		switch s.Op {
		case Same:
			b.WriteString(s.Text)
		case Removed:
			b.WriteString("[-" + s.Text + "-]")
		case Added:
			b.WriteString("{+" + s.Text + "+}")
		}
	}
	return b.String()
}

// TestWordsTellBothTexts makes sure that what both texts say can be read from
// their difference, and that words stay whole.
func TestWordsTellBothTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"pond", "the", "deep", " ", " ", "\n\n", "**", "水", "池", "العمق", "it's", "é", "."}
	text := func() string {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteString(words[r.IntN(len(words))])
		}
		return b.String()
	}
	for range 500 {
		a, b := text(), text()
		var before, after strings.Builder
		for _, s := range Words(a, b) {
			if s.Op != Added {
				before.WriteString(s.Text)
			}
			if s.Op != Removed {
				after.WriteString(s.Text)
			}
		}
		if before.String() != a || after.String() != b {
			t.Fatalf("%q, %q: %q, %q", a, b, before.String(), after.String())
		}
	}
	if got := marked(Words("opening hours", "closing hours")); got != "[-opening-]{+closing+} hours" {
		t.Errorf("split a word: %s", got)
	}
}
