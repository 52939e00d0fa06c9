package content

import (
	"cmp"
	"context"
	"slices"

	"docent/internal/account"
)

// A MenuItem is one entry of a menu.
type MenuItem struct {
	Ref
	Title    string
	Path     string // with language prefix; another site's address for a menu_link
	Children []MenuItem
}

// Menu returns the entries of a menu that the account may see: those in the
// language preferred, or, when it has none, those in the site's default. A menu in
// two languages at once would help nobody. An entity of type menu_link leads to
// the address in its field [FieldSource]. Entries whose parent is not among them
// stand at the top.
func (s *Store) Menu(ctx context.Context, who account.Account, lang, name string) ([]MenuItem, error) {
	items, err := s.inMenu(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, preferred := range s.preference(lang)[:2] {
		entries := slices.DeleteFunc(slices.Clone(items), func(it Item) bool {
			return it.Lang != preferred || !it.Published || !CanView(who, it)
		})
		if len(entries) > 0 {
			return menuTree(entries), nil
		}
	}
	return nil, nil
}

// menuTree puts the entries of a menu below their parents.
func menuTree(entries []Item) []MenuItem {
	byID := make(map[string]Item, len(entries))
	for _, it := range entries {
		byID[it.ID] = it
	}
	children := map[string][]Item{} // "": at the top
	for _, it := range entries {
		parent := it.MenuParent
		for up, n := parent, 0; up != ""; up, n = byID[up].MenuParent, n+1 {
			if _, ok := byID[up]; !ok && n == 0 || n > len(entries) {
				parent = "" // not in the menu, or below itself
				break
			}
		}
		children[parent] = append(children[parent], it)
	}
	var below func(id string) []MenuItem
	below = func(id string) (menu []MenuItem) {
		for _, it := range children[id] {
			entry := MenuItem{Ref: it.Ref, Title: cmp.Or(it.MenuTitle, it.Title), Path: it.Path, Children: below(it.ID)}
			if it.Type == TypeMenuLink {
				entry.Path = it.Fields.Text(FieldSource)
			}
			menu = append(menu, entry)
		}
		return menu
	}
	return below("")
}
