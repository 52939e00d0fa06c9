package content

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/config"
)

const (
	oneBlock   = "01a22d37-848b-7984-b04e-2586cbdc1301"
	otherBlock = "01a22d37-848b-7984-b04e-2586cbdc1302"
)

func answerPart(uuid, agent string) map[string]any {
	return map[string]any{"type": "block", "block": config.BlockAnswer, "uuid": uuid, "settings": map[string]any{"agent": agent}}
}

func TestPlacedBlocks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		typ := config.ContentType{Label: "With parts", Entity: config.EntityNode, Workflow: true, Fields: []config.Field{
			{Name: "parts", Label: "Parts", Type: config.FieldComponents, Translatable: true}}}
		types := NewTypes([]config.Named[config.ContentType]{{Name: "every", Value: typ}}, nil, config.ShippedFormats())
		s := New(d, Options{Types: typesOf(types), Languages: func() []string { return []string{"en", "es"} }})
		agentOf := func(lang string) string {
			p, err := s.PlacedBlock(ctx, visitor, config.BlockAnswer, oneBlock, lang)
			if errors.Is(err, db.ErrNotFound) {
				return "none"
			}
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(p.Settings["agent"])
		}
		in := Input{Bundle: "every", Lang: "en", Title: "Visit", State: Draft, Fields: Fields{"parts": []any{
			map[string]any{"type": "text", "value": "Hi"}, answerPart(oneBlock, "first"), answerPart(otherBlock, "other"), answerPart(oneBlock, "again")}}}
		it := save(t, s, in)
		if got := agentOf("en"); got != "none" {
			t.Errorf("a visitor finds the draft's block: %s", got)
		}
		if p, err := s.PlacedBlock(ctx, editor, config.BlockAnswer, oneBlock, "en"); err != nil || p.Live || p.Item.Title != "Visit" || p.Field != "parts" {
			t.Errorf("%+v, %v", p, err)
		}
		if _, err := s.SetState(ctx, editor, it.Ref, "en", Published, ""); err != nil {
			t.Fatal(err)
		}
		if got := agentOf("en"); got != "first" {
			t.Errorf("a visitor finds %s", got)
		}

		// A draft beside it changes nothing for visitors, and its new block waits.
		next := InputOf(it)
		next.BasedOn, next.Fields = "", Fields{"parts": []any{answerPart(otherBlock, "changed"), answerPart("01a22d37-848b-7984-b04e-2586cbdc1303", "new")}}
		save(t, s, next)
		if got := agentOf("en"); got != "first" {
			t.Errorf("with a draft beside it a visitor finds %s", got)
		}
		all, err := s.PlacedBlocks(ctx, editor, config.BlockAnswer, 10)
		var got []string
		for _, p := range all {
			got = append(got, fmt.Sprint(p.Settings["agent"], p.Live))
		}
		if want := "firsttrue othertrue newfalse"; err != nil || strings.Join(got, " ") != want {
			t.Errorf("all blocks are %q, want %q, %v", got, want, err)
		}
		if all, err := s.PlacedBlocks(ctx, visitor, config.BlockAnswer, 10); err != nil || len(all) != 2 {
			t.Errorf("a visitor sees %d blocks, %v", len(all), err)
		}
		if all, err := s.PlacedBlocks(ctx, editor, config.BlockAnswer, 1); err != nil || len(all) != 1 {
			t.Errorf("%d blocks of one, %v", len(all), err)
		}

		// The translation is the same page with the same block.
		es := in
		es.Ref, es.Lang, es.State, es.Fields = it.Ref, "es", Published, Fields{"parts": []any{answerPart(oneBlock, "segundo")}}
		save(t, s, es)
		if en, es, fr := agentOf("en"), agentOf("es"), agentOf("fr"); en != "first" || es != "segundo" || fr != "first" {
			t.Errorf("by language: %s, %s, %s", en, es, fr)
		}
		for _, bad := range []string{"", "%", strings.Repeat("x", 10_000), oneBlock + "%"} {
			if _, err := s.PlacedBlock(ctx, editor, config.BlockAnswer, bad, "en"); !errors.Is(err, db.ErrNotFound) {
				t.Errorf("%.20q is found: %v", bad, err)
			}
		}
		if _, err := s.PlacedBlock(ctx, editor, config.BlockSources, oneBlock, "en"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("as another block: %v", err)
		}

		// Who may not see the page does not find its block.
		closed := InputOf(it)
		closed.BasedOn, closed.State, closed.Access, closed.Fields = "", Published, &Access{ViewRoles: []string{"member"}}, in.Fields
		save(t, s, closed)
		if got := agentOf("en"); got != "none" {
			t.Errorf("past the page's roles: %s", got)
		}
		if _, err := s.SetState(ctx, editor, it.Ref, "en", Archived, ""); err != nil {
			t.Fatal(err)
		}
		if all, err := s.PlacedBlocks(ctx, editor, config.BlockAnswer, 10); err != nil || len(all) != 1 || all[0].Item.Lang != "es" {
			t.Errorf("after archiving: %+v, %v", all, err)
		}
	})
}

// A block that this program cannot make anything of may stay where it is, and no
// new one like it can be put there.
func TestUnknownBlockStays(t *testing.T) {
	d := dbtest.SQLite(t)
	s := New(d, Options{Types: typesOf(everyType())})
	it := save(t, s, Input{Bundle: "every", Lang: "en", Title: "T", State: Published, Fields: Fields{"parts": []any{answerPart(oneBlock, "site")}}})
	if _, err := d.Exec(t.Context(), "update revisions set fields = replace(fields, '\"answer\"', '\"poll\"')"); err != nil {
		t.Fatal(err)
	}
	old, err := s.Latest(t.Context(), editor, it.Ref, "en")
	if err != nil {
		t.Fatal(err)
	}
	in := InputOf(old)
	in.Title = "Another title"
	kept := save(t, s, in)
	if name, uuid := blockOf(list(kept.Fields["parts"])[0]); name != "poll" || uuid != oneBlock {
		t.Errorf("%+v", kept.Fields)
	}
	in = InputOf(kept)
	part := answerPart(otherBlock, "site")
	part["block"] = "poll"
	in.Fields = Fields{"parts": []any{part}}
	if _, err := s.Save(t.Context(), editor, in); err == nil {
		t.Error("a block that there is not is taken")
	}
}

func TestBlocksInComparisonsAndIndex(t *testing.T) {
	s := New(dbtest.SQLite(t), Options{Types: typesOf(everyType())})
	it := save(t, s, Input{Bundle: "every", Lang: "en", Title: "T", State: Published, Fields: Fields{"parts": []any{
		map[string]any{"type": "text", "value": "Hello"}, answerPart(oneBlock, "first")}}})
	in := InputOf(it)
	in.Fields = Fields{"parts": []any{map[string]any{"type": "text", "value": "Hello"}, answerPart(oneBlock, "second")}}
	next := save(t, s, in)
	c, err := s.Compare(t.Context(), editor, it.Ref, "en", it.RevisionID, next.RevisionID)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Fields {
		if f.Name == "parts" && !f.Changed {
			t.Errorf("the changed settings of a block go unnoticed: %+v", f)
		}
	}
	types, err := s.Types(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if body := s.indexed(types, next).Fields.Text(FieldBody); !strings.Contains(body, "Hello") || strings.Contains(body, "second") || strings.Contains(body, "answer") {
		t.Errorf("indexed as %q", body)
	}
}
