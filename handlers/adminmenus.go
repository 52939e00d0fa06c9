package handlers

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

const (
	menusURL = "/admin/structure/menus"
	// menuEntries is more than a menu can sensibly hold.
	menuEntries = 2000
	// pagesFound is how many pages a search for a menu's entry offers.
	pagesFound = 20
)

// menuNames are the menus that public pages show.
func menuNames() []string { return []string{"main", "footer"} }

func menuURL(name string) string { return menusURL + "/" + url.PathEscape(name) }

// menus handles GET /admin/structure/menus.
func (h *Handlers) menus(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, menuURL(menuNames()[0]))
}

// A menuEntry is one entry of a menu in all its languages.
type menuEntry struct {
	content.Item // in the language that the reader would see, else any
	languages    map[string]content.Item
	children     []*menuEntry
}

// menuEntries returns the entries of a menu as a tree, those that visitors do not
// see too.
func (h *Handlers) menuEntries(c echo.Context, menu string) ([]*menuEntry, error) {
	if !slices.Contains(menuNames(), menu) {
		return nil, db.ErrNotFound
	}
	items, _, err := h.Content.List(c.Request().Context(), h.account(c), content.Filter{Menu: menu, Limit: menuEntries})
	if err != nil {
		return nil, err
	}
	byID := map[string]*menuEntry{}
	var order []*menuEntry
	for _, it := range items {
		entry := byID[it.ID]
		if entry == nil {
			entry = &menuEntry{Item: it, languages: map[string]content.Item{}}
			byID[it.ID] = entry
			order = append(order, entry)
		}
		entry.languages[it.Lang] = it
		if it.Lang == h.Content.DefaultLanguage() {
			entry.Item = it
		}
	}
	var roots []*menuEntry
	for _, entry := range order {
		above := byID[entry.MenuParent]
		for up, n := above, 0; up != nil; up, n = byID[up.MenuParent], n+1 {
			if up == entry || n > len(order) {
				above = nil // below itself
				break
			}
		}
		if above == nil {
			roots = append(roots, entry)
		} else {
			above.children = append(above.children, entry)
		}
	}
	return roots, nil
}

// target is where an entry leads, as visitors see it.
func (e *menuEntry) target() string {
	if e.Type == content.TypeMenuLink {
		return e.Fields.Text(content.FieldSource)
	}
	return e.Path
}

func (e *menuEntry) label() string { return cmp.Or(e.MenuTitle, e.Title) }

// editMenu handles GET /admin/structure/menus/:menu.
func (h *Handlers) editMenu(c echo.Context) error {
	ctx, menu := c.Request().Context(), c.Param("menu")
	roots, err := h.menuEntries(c, menu)
	if err != nil {
		return err
	}
	page := views.TreePage{
		Admin: h.admin(c), Title: menuLabel(ctx, menu), Intro: i18n.T(ctx, "menus.intro"), MoveAction: menuURL(menu) + "/move",
		New:   components.Link{Label: i18n.T(ctx, "menus.add"), URL: menuURL(menu) + "/add"},
		Empty: i18n.T(ctx, "menus.empty"), Nodes: h.menuNodes(c, menu, roots, true),
	}
	for _, name := range menuNames() {
		page.Links = append(page.Links, components.Link{Label: menuLabel(ctx, name), URL: menuURL(name), Current: name == menu})
	}
	return h.render(c, http.StatusOK, views.Tree(page))
}

func menuLabel(ctx context.Context, menu string) string {
	if menu == "footer" {
		return i18n.T(ctx, "menus.footer")
	}
	return i18n.T(ctx, "menus.main")
}

func (h *Handlers) menuNodes(c echo.Context, menu string, entries []*menuEntry, top bool) []views.TreeNode {
	ctx := c.Request().Context()
	var nodes []views.TreeNode
	for i, e := range entries {
		address := menuURL(menu) + "/" + url.PathEscape(e.ID)
		n := views.TreeNode{
			ID: e.ID, Title: e.label(), TitleLang: e.Lang, URL: address, Note: e.target(), NoteLTR: true, Off: !e.Published,
			Up: i > 0, Down: i < len(entries)-1, In: i > 0, Out: !top, Children: h.menuNodes(c, menu, e.children, false),
		}
		if e.Type == content.TypeNode {
			n.Tags = append(n.Tags, views.TreeTag{Kind: components.TagPlain, Label: i18n.T(ctx, "menus.page")})
		}
		switch {
		case e.Published:
		case e.Type == content.TypeMenuLink:
			n.Tags = append(n.Tags, views.TreeTag{Kind: components.TagWait, Label: i18n.T(ctx, "menus.off")})
		default:
			n.Tags = append(n.Tags, views.TreeTag{Kind: components.TagWait, Label: i18n.T(ctx, "menus.unpublished")})
		}
		if missing := h.missingLanguages(e); missing != "" {
			n.Tags = append(n.Tags, views.TreeTag{Kind: components.TagPlain, Label: i18n.T(ctx, "menus.missing", missing)})
		}
		n.Actions = []views.RowAction{
			{Label: i18n.T(ctx, "action.edit"), URL: address},
			{Label: i18n.T(ctx, "action.remove"), URL: address + "/remove", Danger: true},
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// missingLanguages lists the site's languages in which an entry is not shown.
func (h *Handlers) missingLanguages(e *menuEntry) string {
	var missing []string
	for _, lang := range h.Content.Languages() {
		if _, ok := e.languages[lang]; !ok {
			missing = append(missing, lang)
		}
	}
	return strings.Join(missing, ", ")
}

func branches(entries []*menuEntry) []*branch {
	out := make([]*branch, len(entries))
	for i, e := range entries {
		out[i] = &branch{id: e.ID, children: branches(e.children)}
	}
	return out
}

// moveMenuEntry handles POST /admin/structure/menus/:menu/move.
func (h *Handlers) moveMenuEntry(c echo.Context) error {
	ctx, menu := c.Request().Context(), c.Param("menu")
	m, err := postedMove(c)
	if err != nil {
		return err
	}
	roots, err := h.menuEntries(c, menu)
	if err != nil {
		return err
	}
	moved, err := m.apply(branches(roots))
	if err != nil {
		return err
	}
	if err := h.Content.PlaceInMenus(ctx, h.account(c), menuPlaces(menu, "", moved)); err != nil {
		return err
	}
	return m.done(c, menuURL(menu))
}

// menuPlaces gives every entry of a tree its parent and its place.
func menuPlaces(menu, parent string, tree []*branch) []content.Place {
	var places []content.Place
	for i, b := range tree {
		places = append(places, content.Place{ID: b.id, Menu: menu, Parent: parent, Weight: i})
		places = append(places, menuPlaces(menu, b.id, b.children)...)
	}
	return places
}
