package handlers

import (
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
