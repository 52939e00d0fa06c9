package content

import (
	"context"
	"fmt"
	"slices"

	"docent/db"
)

// putUsages stores what a revision just written refers to: in place of what is
// there or, when it stands aside, in place of what an earlier draft referred to. It
// returns the media that the translation showed or shows.
func putUsages(ctx context.Context, tx *db.DB, id, lang string, aside, live bool, targets []usage) (media []string, err error) {
	shown, err := mediaTargets(ctx, tx, id, lang)
	if err != nil {
		return nil, err
	}
	query := "delete from usages where entity_id = ? and lang = ?"
	if aside {
		query += " and not live"
	}
	if _, err := tx.Exec(ctx, query, id, lang); err != nil {
		return nil, fmt.Errorf("forget references: %w", err)
	}
	rows := make([][]any, len(targets))
	for i, t := range targets {
		rows[i] = []any{id, lang, t.field, t.target, live}
	}
	if err := insertMany(ctx, tx, "usages (entity_id, lang, field, target, live)", "on conflict do nothing", rows); err != nil {
		return nil, err
	}
	now, err := mediaTargets(ctx, tx, id, lang)
	for _, m := range now {
		if !slices.Contains(shown, m) {
			shown = append(shown, m)
		}
	}
	return shown, err
}

// mediaTargets lists the media that an entity shows in a language, or, when that is
// empty, in any: itself or by its file.
func mediaTargets(ctx context.Context, tx *db.DB, id, lang string) (ids []string, err error) {
	err = tx.Select(ctx, &ids, `select m.id from usages u join entities m on m.id = u.target
		where u.entity_id = ? and (? = '' or u.lang = ?) and m.type = 'media'
		union select m.id from usages u join usages h on h.target = u.target join entities m on m.id = h.entity_id
		where u.entity_id = ? and (? = '' or u.lang = ?) and u.target like 'file:%' and m.type = 'media'
		order by id`, id, lang, lang, id, lang, lang)
	return ids, err
}

// A use is one translation that refers to something.
type use struct {
	ID    string `db:"entity_id"`
	Lang  string `db:"lang"`
	Field string `db:"field"`
	Live  bool   `db:"live"`
}

func (s *Store) uses(ctx context.Context, targets []string) ([]use, error) {
	return selectIn[use](ctx, s.d, "select entity_id, lang, field, live from usages where target in (?) order by entity_id, lang, field", targets)
}

// formerPaths lists the addresses that lead on to an entity.
func (s *Store) formerPaths(ctx context.Context, id string) (paths []struct {
	Lang string `db:"lang"`
	Path string `db:"path"`
}, err error) {
	err = s.d.Select(ctx, &paths, "select lang, path from aliases where entity_id = ?", id)
	return paths, err
}

// below lists the menu entries that stand below an entity's.
func (s *Store) belowInMenus(ctx context.Context, id string) ([]Item, error) {
	return s.shown(ctx, "t.menu_parent = ? and t.menu <> '' order by t.menu, t.weight, t.title_key, t.entity_id", id)
}

// menuParents maps the entries of a menu to the ones above them.
func (s *Store) menuParents(ctx context.Context, menu string) (map[string]string, error) {
	var entries []struct {
		ID     string `db:"entity_id"`
		Parent string `db:"menu_parent"`
	}
	err := s.d.Select(ctx, &entries, "select distinct entity_id, menu_parent from translations where menu = ?", menu)
	parents := make(map[string]string, len(entries))
	for _, e := range entries {
		parents[e.ID] = e.Parent
	}
	return parents, err
}

// A BundleCount is how many entities a bundle has.
type BundleCount struct {
	Type   string `db:"type"`
	Bundle string `db:"bundle"`
	N      int    `db:"n"`
}

// CountBundles counts the entities of every bundle that has any.
func (s *Store) CountBundles(ctx context.Context) (counts []BundleCount, err error) {
	err = s.d.Select(ctx, &counts, "select type, bundle, count(*) as n from entities group by type, bundle order by type, bundle")
	return counts, err
}
