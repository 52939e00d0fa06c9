package content

import (
	"fmt"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/config"
)

// TestStatementsDoNotGrowWithLists reads short and long lists and counts what
// they ask of the database.
func TestStatementsDoNotGrowWithLists(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		fill := func(from, to int) (items []Item) {
			for n := from; n < to; n++ {
				topic := save(t, s, Input{Ref: Ref{Type: TypeTerm}, Bundle: "topics", Lang: "en", Title: fmt.Sprint("Topic ", n)})
				in := page(fmt.Sprint("Page ", n), "", Published)
				in.Menu, in.Bundle = "main", "article"
				in.Fields[FieldTopics] = []string{topic.ID}
				items = append(items, save(t, s, in))
			}
			return items
		}
		measure := func(items []Item) map[string]int64 {
			count := map[string]int64{}
			refs := make([]Ref, len(items))
			for i, it := range items {
				refs[i] = it.Ref
			}
			for name, read := range map[string]func() error{
				"list": func() error {
					ctx, n := db.Counting(t.Context())
					defer func() { count["list"] = n.Load() }()
					got, _, err := s.List(ctx, editor, Filter{Type: TypeNode, Limit: 100})
					if len(got) != len(items) {
						t.Errorf("%d listed, want %d", len(got), len(items))
					}
					return err
				},
				"render": func() error {
					ctx, n := db.Counting(t.Context())
					defer func() { count["render"] = n.Load() }()
					fields, err := s.RenderMany(ctx, visitor, items, config.ViewFull)
					if last := fields[len(fields)-1]; len(last) != 2 || last[1].Values[0].Item == nil {
						t.Errorf("rendered %+v", last)
					}
					return err
				},
				"load many": func() error {
					ctx, n := db.Counting(t.Context())
					defer func() { count["load many"] = n.Load() }()
					_, err := s.LoadMany(ctx, visitor, refs, "es")
					return err
				},
				"menu": func() error {
					ctx, n := db.Counting(t.Context())
					defer func() { count["menu"] = n.Load() }()
					_, err := s.Menu(ctx, visitor, "en", "main")
					return err
				},
			} {
				if err := read(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			return count
		}
		items := fill(0, 2)
		few := measure(items)
		many := measure(append(items, fill(2, 60)...))
		for name, n := range many {
			if n != few[name] || n == 0 {
				t.Errorf("%s: %d statements for 2, %d for 60", name, few[name], n)
			}
		}
	})
}
