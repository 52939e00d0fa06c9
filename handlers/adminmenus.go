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

// addToMenu handles GET /admin/structure/menus/:menu/add: pages that fit a search,
// and the form for a link elsewhere.
func (h *Handlers) addToMenu(c echo.Context) error {
	page, err := h.menuAddPage(c, nil)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.MenuAdd(page))
}

func (h *Handlers) menuAddPage(c echo.Context, refused map[string]string) (views.MenuAddPage, error) {
	ctx, menu := c.Request().Context(), c.Param("menu")
	page := views.MenuAddPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "menus.add_to", menuLabel(ctx, menu)), SearchAction: menuURL(menu) + "/add", PlaceAction: menuURL(menu) + "/pages",
		LinkAction: menuURL(menu) + "/links", Text: c.QueryParam("text"), CancelURL: menuURL(menu),
		Crumbs: []components.Link{{Label: menuLabel(ctx, menu), URL: menuURL(menu)}},
	}
	if _, err := h.menuEntries(c, menu); err != nil {
		return page, err
	}
	labels := map[string]string{}
	for _, lang := range h.Content.Languages() {
		labels[lang] = c.FormValue("label." + lang)
	}
	page.Link = h.linkControls(ctx, labels, c.FormValue("url"), true)
	groups := []views.FormGroup{{Controls: page.Link}}
	refuseControls(groups, refused)
	if strings.TrimSpace(page.Text) == "" {
		return page, nil
	}
	items, _, err := h.Content.List(ctx, h.account(c), content.Filter{Type: content.TypeNode, Text: page.Text, Limit: pagesFound})
	if err != nil {
		return page, err
	}
	for _, it := range items {
		if slices.ContainsFunc(page.Pages, func(p views.MenuPage) bool { return p.ID == it.ID }) {
			continue // found in another language already
		}
		found := views.MenuPage{ID: it.ID, Title: it.Title, Path: it.Path}
		if it.Menu != "" {
			found.In = menuLabel(ctx, it.Menu)
			found.Here = it.Menu == menu
		}
		page.Pages = append(page.Pages, found)
	}
	page.Searched = true
	return page, nil
}

// linkControls are the controls of a menu link: a label in each language, the
// first of them needed.
func (h *Handlers) linkControls(ctx context.Context, labels map[string]string, address string, shown bool) []views.Control {
	controls := []views.Control{{FieldProps: components.FieldProps{
		ID: "link-url", Name: "url", Label: i18n.T(ctx, "menus.address"), Value: address, Placeholder: "https://example.org/", Help: i18n.T(ctx, "menus.address_help"), MaxLength: 2000, Required: true}}}
	for i, lang := range h.Content.Languages() {
		controls = append(controls, views.Control{Lang: lang, FieldProps: components.FieldProps{
			ID: "link-label-" + lang, Name: "label." + lang, Label: i18n.T(ctx, "menus.label_in", i18n.Name(lang)), Value: labels[lang], MaxLength: 200, Required: i == 0, Optional: i > 0}})
	}
	var on []string
	if shown {
		on = []string{"on"}
	}
	return append(controls, views.Control{Kind: views.ControlCheck, Chosen: on, FieldProps: components.FieldProps{
		ID: "link-shown", Name: "shown", Value: "on", Label: i18n.T(ctx, "menus.shown")}})
}

// placePage handles POST /admin/structure/menus/:menu/pages: a page is put at the
// end of the menu.
func (h *Handlers) placePage(c echo.Context) error {
	ctx, menu := c.Request().Context(), c.Param("menu")
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	roots, err := h.menuEntries(c, menu)
	if err != nil {
		return err
	}
	ref := content.Ref{Type: content.TypeNode, ID: form.Get("page")}
	if _, err := h.Content.Load(ctx, h.account(c), ref, h.lang(c)); err != nil {
		return err
	}
	if around, _ := (&branch{children: branches(roots)}).find(ref.ID); around == nil {
		if err := h.Content.PlaceInMenus(ctx, h.account(c), []content.Place{{ID: ref.ID, Menu: menu, Weight: h.lastWeight(roots)}}); err != nil {
			return err
		}
	}
	return c.Redirect(http.StatusSeeOther, menuURL(menu)+"?done=added#row-"+url.PathEscape(ref.ID))
}

func (h *Handlers) lastWeight(roots []*menuEntry) int {
	weight := 0
	for _, e := range roots {
		weight = max(weight, e.Weight+1)
	}
	return weight
}

// createMenuLink handles POST /admin/structure/menus/:menu/links.
func (h *Handlers) createMenuLink(c echo.Context) error {
	menu := c.Param("menu")
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	roots, err := h.menuEntries(c, menu)
	if err != nil {
		return err
	}
	id, refused, err := h.saveLink(c, form, &menuEntry{Item: content.Item{Menu: menu, Weight: h.lastWeight(roots)}})
	if err != nil {
		return err
	}
	if refused != nil {
		page, err := h.menuAddPage(c, refused)
		if err != nil {
			return err
		}
		return h.render(c, http.StatusUnprocessableEntity, views.MenuAdd(page))
	}
	return c.Redirect(http.StatusSeeOther, menuURL(menu)+"?done=added#row-"+url.PathEscape(id))
}

// saveLink stores a menu link in every language that it has a label in, all or
// none of them.
func (h *Handlers) saveLink(c echo.Context, form url.Values, e *menuEntry) (id string, refused map[string]string, err error) {
	ctx := c.Request().Context()
	address := strings.TrimSpace(form.Get("url"))
	refused = map[string]string{}
	if address == "" {
		refused["url"] = i18n.T(ctx, "form.required")
	}
	state := content.Archived
	if form.Has("shown") {
		state = content.Published
	}
	languages := h.Content.Languages()
	if strings.TrimSpace(form.Get("label."+languages[0])) == "" {
		refused["label."+languages[0]] = i18n.T(ctx, "form.required")
	}
	if len(refused) > 0 {
		return "", refused, nil
	}
	id = e.ID
	err = h.DB.InTx(ctx, func(tx *db.DB) error {
		store := h.Content.In(tx)
		for _, lang := range languages {
			label := strings.TrimSpace(form.Get("label." + lang))
			old, exists := e.languages[lang]
			if label == "" {
				if exists {
					if err := store.DeleteTranslation(ctx, h.account(c), e.Ref, lang); err != nil {
						return err
					}
				}
				continue
			}
			saved, err := store.Save(ctx, h.account(c), content.Input{
				Ref: content.Ref{Type: content.TypeMenuLink, ID: id}, Bundle: e.Menu, Lang: lang, Title: label, State: state,
				Fields: content.Fields{content.FieldSource: address}, Menu: e.Menu, MenuParent: e.MenuParent, Weight: e.Weight, BasedOn: old.LatestID,
			})
			if fields := refusedFields(err); fields != nil {
				for field, message := range fields {
					switch field {
					case content.FieldSource:
						refused["url"] = message
					default:
						refused["label."+lang] = message
					}
				}
			}
			if err != nil {
				return err
			}
			id = saved.ID
		}
		return nil
	})
	if len(refused) > 0 {
		return "", refused, nil
	}
	return id, nil, err
}

// menuEntry finds the entry of the address.
func (h *Handlers) menuEntry(c echo.Context) (*menuEntry, error) {
	roots, err := h.menuEntries(c, c.Param("menu"))
	if err != nil {
		return nil, err
	}
	var find func(entries []*menuEntry) *menuEntry
	find = func(entries []*menuEntry) *menuEntry {
		for _, e := range entries {
			if e.ID == c.Param("id") {
				return e
			}
			if found := find(e.children); found != nil {
				return found
			}
		}
		return nil
	}
	e := find(roots)
	if e == nil {
		return nil, db.ErrNotFound
	}
	return e, nil
}

// editMenuEntry handles GET /admin/structure/menus/:menu/:id.
func (h *Handlers) editMenuEntry(c echo.Context) error {
	e, err := h.menuEntry(c)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Form(h.menuEntryForm(c, e, nil)))
}

func (h *Handlers) menuEntryForm(c echo.Context, e *menuEntry, refused map[string]string) views.FormPage {
	ctx, menu := c.Request().Context(), c.Param("menu")
	page := views.FormPage{
		Admin: h.admin(c), Title: e.label(), Action: menuURL(menu) + "/" + url.PathEscape(e.ID), CancelURL: menuURL(menu),
		Crumbs:      []components.Link{{Label: menuLabel(ctx, menu), URL: menuURL(menu)}},
		DeleteLabel: i18n.T(ctx, "action.remove"),
	}
	page.DeleteURL = page.Action + "/remove"
	posted := c.Request().Method == http.MethodPost
	if e.Type == content.TypeMenuLink {
		labels, address, shown := map[string]string{}, e.target(), e.Published
		for lang, it := range e.languages {
			labels[lang] = it.Title
		}
		if posted {
			address, shown = c.FormValue("url"), c.FormValue("shown") != ""
			for _, lang := range h.Content.Languages() {
				labels[lang] = c.FormValue("label." + lang)
			}
		}
		page.Groups = []views.FormGroup{{Controls: h.linkControls(ctx, labels, address, shown)}}
	} else {
		page.Intro = i18n.T(ctx, "menus.page_intro", e.Title)
		page.Links = []components.Link{{Label: i18n.T(ctx, "menus.edit_page"), URL: contentURL(e.Item)}}
		var controls []views.Control
		for _, lang := range h.Content.Languages() {
			it, ok := e.languages[lang]
			if !ok {
				continue
			}
			title := it.MenuTitle
			if posted {
				title = c.FormValue("label." + lang)
			}
			controls = append(controls, views.Control{Lang: lang, FieldProps: components.FieldProps{
				ID: "link-label-" + lang, Name: "label." + lang, Label: i18n.T(ctx, "menus.label_in", i18n.Name(lang)), Value: title, Placeholder: it.Title, MaxLength: 200, Optional: true}})
		}
		page.Groups = []views.FormGroup{{Controls: controls, Intro: i18n.T(ctx, "menus.label_help")}}
	}
	refuseControls(page.Groups, refused)
	return page
}

// contentURL is where a piece of content is edited.
func contentURL(it content.Item) string {
	return "/admin/content/" + url.PathEscape(it.ID) + "/" + url.PathEscape(it.Lang)
}

// saveMenuEntry handles POST /admin/structure/menus/:menu/:id.
func (h *Handlers) saveMenuEntry(c echo.Context) error {
	ctx, menu := c.Request().Context(), c.Param("menu")
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	e, err := h.menuEntry(c)
	if err != nil {
		return err
	}
	var refused map[string]string
	if e.Type == content.TypeMenuLink {
		_, refused, err = h.saveLink(c, form, e)
	} else {
		titles := map[string]string{}
		for lang := range e.languages {
			if field := "label." + lang; form.Has(field) {
				titles[lang] = strings.TrimSpace(form.Get(field))
				if len([]rune(titles[lang])) > 200 || strings.ContainsAny(titles[lang], "\r\n\x00") {
					refused = map[string]string{field: i18n.T(ctx, "menus.label_refused")}
				}
			}
		}
		if refused == nil {
			err = h.Content.PlaceInMenus(ctx, h.account(c), []content.Place{{ID: e.ID, Menu: menu, Parent: e.MenuParent, Weight: e.Weight, Titles: titles}})
		}
	}
	if err != nil {
		return err
	}
	if refused != nil {
		return h.render(c, http.StatusUnprocessableEntity, views.Form(h.menuEntryForm(c, e, refused)))
	}
	return c.Redirect(http.StatusSeeOther, menuURL(menu)+"?done=saved#row-"+url.PathEscape(e.ID))
}

// confirmRemoveMenuEntry handles GET /admin/structure/menus/:menu/:id/remove.
func (h *Handlers) confirmRemoveMenuEntry(c echo.Context) error {
	ctx, menu := c.Request().Context(), c.Param("menu")
	e, err := h.menuEntry(c)
	if err != nil {
		return err
	}
	page := views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "menus.remove_title", e.label()), Action: c.Request().URL.Path,
		Crumbs: []components.Link{{Label: menuLabel(ctx, menu), URL: menuURL(menu)}},
		Submit: i18n.T(ctx, "action.remove"), Danger: true, CancelURL: menuURL(menu),
	}
	if e.Type == content.TypeNode {
		page.Consequences = append(page.Consequences, components.Link{Label: i18n.T(ctx, "menus.remove_page")})
	} else {
		page.Consequences = append(page.Consequences, components.Link{Label: i18n.T(ctx, "menus.remove_link", len(e.languages))})
	}
	if len(e.children) > 0 {
		page.Consequences = append(page.Consequences, components.Link{Label: i18n.T(ctx, "menus.remove_children", len(e.children))})
	}
	return h.render(c, http.StatusOK, views.Confirm(page))
}

// removeMenuEntry handles POST /admin/structure/menus/:menu/:id/remove: what is
// below the entry takes its place.
func (h *Handlers) removeMenuEntry(c echo.Context) error {
	ctx, menu := c.Request().Context(), c.Param("menu")
	e, err := h.menuEntry(c)
	if err != nil {
		return err
	}
	err = h.DB.InTx(ctx, func(tx *db.DB) error {
		store := h.Content.In(tx)
		var places []content.Place
		for _, child := range e.children {
			places = append(places, content.Place{ID: child.ID, Menu: menu, Parent: e.MenuParent, Weight: e.Weight})
		}
		if e.Type == content.TypeMenuLink {
			if err := store.Delete(ctx, h.account(c), e.Ref); err != nil {
				return err
			}
		} else {
			places = append(places, content.Place{ID: e.ID})
		}
		return store.PlaceInMenus(ctx, h.account(c), places)
	})
	if err != nil {
		return err
	}
	return leadTo(c, menuURL(menu), "deleted")
}
