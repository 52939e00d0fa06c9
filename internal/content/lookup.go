package content

import (
	"context"
	"maps"
	"slices"

	"docent/internal/account"
	"docent/internal/config"
)

// A lookup holds what the fields of some items refer to, read all at once.
type lookup struct {
	s        *Store
	who      account.Account
	types    *Types
	entities map[string][]Item // translations by entity
	files    map[string]File
}

// shownItem is an item with the view mode it is to be shown in; "" stands for
// every field.
type shownItem struct {
	item Item
	mode string
}

// lookup reads what all fields of items refer to.
func (s *Store) lookup(ctx context.Context, who account.Account, types *Types, items []Item) (*lookup, error) {
	return s.lookupFor(ctx, who, types, items, "")
}

// lookupFor reads what is to be seen in a view mode, level by level: how many
// statements that takes depends on how deep references are nested and not on
// how many there are.
func (s *Store) lookupFor(ctx context.Context, who account.Account, types *Types, items []Item, mode string) (*lookup, error) {
	l := &lookup{s: s, who: who, types: types, entities: map[string][]Item{}}
	files := map[string]bool{}
	level := make([]shownItem, len(items))
	for i, it := range items {
		level[i] = shownItem{it, mode}
	}
	for depth := 0; depth <= nesting && len(level) > 0; depth++ {
		wanted := map[string]bool{}
		type nested struct{ id, lang, mode string }
		var next []nested
		for _, shown := range level {
			ct, known := types.Type(shown.item.Type, shown.item.Bundle)
			if !known {
				ct = untyped(shown.item.Fields)
			}
			for _, view := range viewItems(ct, shown.mode) {
				f, _ := ct.Field(view.Field)
				for _, one := range list(shown.item.Fields[f.Name]) {
					switch f.Type {
					case config.FieldImage, config.FieldFile:
						collectFile(files, one)
					case config.FieldReference:
						id, _ := one.(string)
						wanted[id] = true
						if view.Formatter == "entity" && shown.mode != "" {
							next = append(next, nested{id, shown.item.Lang, view.Mode})
						}
					}
				}
			}
		}
		if err := l.load(ctx, slices.Collect(maps.Keys(wanted)), files); err != nil {
			return nil, err
		}
		level = nil
		for _, n := range next {
			if it, ok := l.entity(n.id, n.lang); ok {
				mode := n.mode
				if mode == "" {
					mode = config.ViewTeaser
				}
				level = append(level, shownItem{it, mode})
			}
		}
	}
	if len(files) == 0 {
		return l, nil
	}
	var err error
	l.files, err = s.Files(ctx, slices.Collect(maps.Keys(files)))
	return l, err
}

// viewItems is what a mode shows of a type.
func viewItems(ct config.ContentType, mode string) []config.ViewItem {
	if mode != "" {
		return ct.ViewItems(mode)
	}
	items := make([]config.ViewItem, len(ct.Fields))
	for i, f := range ct.Fields {
		items[i] = config.ViewItem{Field: f.Name, Formatter: config.Formatters(f.Type)[0]}
	}
	return items
}

// load reads entities that are not there yet, and notes the files of media.
func (l *lookup) load(ctx context.Context, ids []string, files map[string]bool) error {
	ids = slices.DeleteFunc(ids, func(id string) bool { return id == "" || l.entities[id] != nil })
	if len(ids) == 0 {
		return nil
	}
	found, err := l.s.byEntities(ctx, ids)
	if err != nil {
		return err
	}
	for _, it := range found {
		l.entities[it.ID] = append(l.entities[it.ID], it)
		if it.Type == TypeMedia {
			for _, id := range it.Fields.FileIDs() {
				files[id] = true
			}
		}
	}
	return nil
}

func collectFile(files map[string]bool, value any) {
	if m, ok := value.(map[string]any); ok {
		if id, ok := m["file"].(string); ok {
			files[id] = true
		}
	}
}

// entity returns what an id refers to, in the language wanted where it has that,
// as far as the account may see it.
func (l *lookup) entity(id, lang string) (Item, bool) {
	it, err := choose(l.who, l.entities[id], l.s.preference(lang))
	return it, err == nil
}
