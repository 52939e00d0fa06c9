package content

import (
	"context"
	"slices"
)

// A blockUse is a field of a translation that holds a block.
type blockUse struct {
	ID     string `db:"entity_id"`
	Lang   string `db:"lang"`
	Field  string `db:"field"`
	Target string `db:"target"`
	Live   bool   `db:"live"`
}

// blockUses finds the fields that hold a block.
func (s *Store) blockUses(ctx context.Context, target string) (uses []blockUse, err error) {
	err = s.d.Select(ctx, &uses, `select entity_id, lang, field, target, live from usages
		where target = ? order by entity_id, lang, field limit ?`, target, placesOfOne)
	return uses, err
}

// allBlockUses finds the fields that hold blocks of a name.
func (s *Store) allBlockUses(ctx context.Context, name string, limit int) (uses []blockUse, err error) {
	err = s.d.Select(ctx, &uses, `select entity_id, lang, field, target, live from usages
		where target like ? escape '\' order by entity_id, lang, field, target limit ?`, likeEscape.Replace(blockTarget(name, ""))+"%", limit)
	return uses, err
}

// holdersOf reads entities as visitors see them, or with their latest revisions.
func (s *Store) holdersOf(ctx context.Context, ids []string, live bool) ([]Item, error) {
	var items []Item
	from := fromLatest
	if live {
		from = fromShown
	}
	for chunk := range slices.Chunk(ids, inChunk) {
		rows, err := s.rows(ctx, from, "e.id in (?)", chunk)
		if err != nil {
			return nil, err
		}
		found, err := s.items(ctx, rows)
		if err != nil {
			return nil, err
		}
		items = append(items, found...)
	}
	return items, nil
}
