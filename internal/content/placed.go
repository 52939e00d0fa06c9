package content

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"docent/db"
	"docent/internal/account"
)

// A PlacedBlock is a block among the components of content.
type PlacedBlock struct {
	Block
	Item  Item // as the block stands in it: what visitors see, or a draft
	Field string
	Live  bool // visitors see it

	place int // among the parts of its field
}

// placesOfOne bounds in how many languages and pages one block is looked for.
const placesOfOne = 50

// blockTarget is the name of a block in the table of usages: what holds a block is
// found by it, as what shows a file is.
func blockTarget(name, uuid string) string { return "block:" + name + ":" + uuid }

// blockOf reads which block a value of components is, "" when it is none.
func blockOf(value any) (name, uuid string) {
	m, _ := value.(map[string]any)
	if m["type"] != "block" {
		return "", ""
	}
	name, _ = m["block"].(string)
	uuid, _ = m["uuid"].(string)
	return name, uuid
}

// PlacedBlock finds a block in content that the account may see, as it stands in
// the language preferred if it does, and as visitors see it rather than in a
// draft. Without one the error is [db.ErrNotFound].
func (s *Store) PlacedBlock(ctx context.Context, who account.Account, name, uuid, lang string) (PlacedBlock, error) {
	uses, err := s.blockUses(ctx, blockTarget(name, uuid))
	if err != nil {
		return PlacedBlock{}, err
	}
	found, err := s.placed(ctx, who, uses)
	if err != nil {
		return PlacedBlock{}, err
	}
	for _, good := range []func(PlacedBlock) bool{
		func(p PlacedBlock) bool { return p.Live && p.Item.Lang == lang },
		func(p PlacedBlock) bool { return p.Live },
		func(p PlacedBlock) bool { return p.Item.Lang == lang },
		func(PlacedBlock) bool { return true },
	} {
		if i := slices.IndexFunc(found, good); i >= 0 {
			return found[i], nil
		}
	}
	return PlacedBlock{}, db.ErrNotFound
}

// PlacedBlocks lists the blocks of one name in all content that the account may
// see, limit at most: in what visitors see, and in drafts. One block that several
// languages of a page hold is there once for each. They come in order of titles,
// those of one page as they stand on it.
func (s *Store) PlacedBlocks(ctx context.Context, who account.Account, name string, limit int) ([]PlacedBlock, error) {
	uses, err := s.allBlockUses(ctx, name, limit)
	if err != nil {
		return nil, err
	}
	return s.placed(ctx, who, uses)
}

func liveFirst(a, b PlacedBlock) int {
	switch {
	case a.Live == b.Live:
		return 0
	case a.Live:
		return -1
	}
	return 1
}

// placed reads the blocks that usages speak of.
func (s *Store) placed(ctx context.Context, who account.Account, uses []blockUse) ([]PlacedBlock, error) {
	items := map[blockUse]Item{}
	for _, live := range []bool{true, false} {
		var ids []string
		for _, u := range uses {
			if u.Live == live {
				ids = append(ids, u.ID)
			}
		}
		slices.Sort(ids)
		found, err := s.holdersOf(ctx, slices.Compact(ids), live)
		if err != nil {
			return nil, err
		}
		for _, it := range found {
			items[blockUse{ID: it.ID, Lang: it.Lang, Live: live}] = it
		}
	}
	var out []PlacedBlock
	for _, u := range uses {
		it, ok := items[blockUse{ID: u.ID, Lang: u.Lang, Live: u.Live}]
		if !ok || it.State == Archived || !CanView(who, it) {
			continue
		}
		for i, value := range list(it.Fields[u.Field]) {
			name, uuid := blockOf(value)
			if name == "" || blockTarget(name, uuid) != u.Target {
				continue
			}
			settings, _ := value.(map[string]any)["settings"].(map[string]any)
			out = append(out, PlacedBlock{Block: Block{Name: name, UUID: uuid, Settings: settings}, Item: it, Field: u.Field, Live: u.Live, place: i})
			break
		}
	}
	slices.SortFunc(out, func(a, b PlacedBlock) int {
		return cmp.Or(strings.Compare(titleKey(a.Item.Title), titleKey(b.Item.Title)), strings.Compare(a.Item.ID, b.Item.ID),
			strings.Compare(a.Item.Lang, b.Item.Lang), liveFirst(a, b), strings.Compare(a.Field, b.Field), cmp.Compare(a.place, b.place))
	})
	return out, nil
}
