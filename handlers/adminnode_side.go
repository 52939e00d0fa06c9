package handlers

import (
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// fillSide adds what is edited beside the fields: address, access, menu, order.
func (h *Handlers) fillSide(c echo.Context, f *nodeForm, page *views.NodeEditPage) error {
	ctx, v := c.Request().Context(), f.values
	side := &page.Side
	*side = views.NodeSide{
		IsNode: f.item.Type == content.TypeNode, Path: v.Get("path"), Message: v.Get("message"),
		Menu: v.Get("menu"), MenuTitle: v.Get("menu_title"), MenuParent: v.Get("menu_parent"),
		Weight: v.Get("weight"), Date: v.Get("date"),
		OutOfAnswers: v.Get("out_of_answers") != "", SectionIndex: v.Get("section_index") != "",
		Created: f.item.CreatedAt,
	}
	var err error
	if side.Roles, err = h.roleChoices(c, v["roles"]); err != nil {
		return err
	}
	if v.Get("view") != "roles" {
		for i := range side.Roles {
			side.Roles[i].Chosen = false
		}
	}
	names := h.authorNames(c, f.item.AuthorID, f.item.RevisedBy)
	side.Author = names[f.item.AuthorID]
	if f.item.LatestID != "" {
		side.Created = side.Created.In(f.zone)
		side.StateText = i18n.T(ctx, "edit.state_line", stateLabel(c, f.item.LatestState), authorOr(c, names[f.item.RevisedBy]), i18n.DateTime(ctx, f.item.UpdatedAt.In(f.zone)))
	}
	side.Errors = sideErrors(c, f)
	if side.IsNode {
		if err := h.fillMenus(c, f, side); err != nil {
			return err
		}
	}
	if f.item.ID != "" && !h.onlyLanguage() {
		page.Translations, err = h.translationChoices(c, f.item)
	}
	return err
}

func stateLabel(c echo.Context, state content.State) string {
	ctx := c.Request().Context()
	switch state {
	case content.Published:
		return i18n.T(ctx, "state.published")
	case content.Archived:
		return i18n.T(ctx, "state.archived")
	default:
		return i18n.T(ctx, "state.draft")
	}
}

// authorOr names those who are not known any more, and the import.
func authorOr(c echo.Context, name string) string {
	if name == "" {
		return i18n.T(c.Request().Context(), "content.nobody")
	}
	return name
}

// settingLabel is what people call a part of content that is no field.
func settingLabel(c echo.Context, name string) string {
	ctx := c.Request().Context()
	switch name {
	case "title":
		return i18n.T(ctx, "edit.title")
	case "path":
		return i18n.T(ctx, "side.path")
	case "view_roles", "access":
		return i18n.T(ctx, "side.access")
	case "out_of_answers":
		return i18n.T(ctx, "side.out_of_answers")
	case "menu":
		return i18n.T(ctx, "side.menu")
	case "menu_title":
		return i18n.T(ctx, "side.menu_title")
	case "menu_parent":
		return i18n.T(ctx, "side.menu_parent")
	case "date":
		return i18n.T(ctx, "side.date")
	case "weight":
		return i18n.T(ctx, "side.weight")
	case "section_index":
		return i18n.T(ctx, "side.section")
	}
	return name
}

// sideErrors are what is wrong with settings; what belongs to no control of the
// form is told as "other".
func sideErrors(c echo.Context, f *nodeForm) map[string]string {
	ctx := c.Request().Context()
	out := map[string]string{}
	var other []string
	for name, message := range f.errors {
		if name == "title" {
			continue
		}
		if label := settingLabel(c, name); label != name {
			out[name] = fieldError(ctx, label, message)
			continue
		}
		if _, isField := f.typ.Field(name); !isField {
			other = append(other, fieldError(ctx, name, message))
		}
	}
	if len(other) > 0 {
		out["other"] = strings.Join(other, " ")
	}
	return out
}

// fillMenus offers the site's menus and the entries that the page can stand below.
func (h *Handlers) fillMenus(c echo.Context, f *nodeForm, side *views.NodeSide) error {
	ctx := c.Request().Context()
	for _, menu := range menuNames() {
		label := menuLabel(ctx, menu)
		side.Menus = append(side.Menus, components.Option{Value: menu, Label: label})
		entries, err := h.Content.Menu(ctx, f.who, f.lang, menu)
		if err != nil {
			return err
		}
		side.Parents = appendEntries(side.Parents, entries, f.item.ID, label+": ")
	}
	return nil
}

// appendEntries lists a menu's entries; none can stand below itself.
func appendEntries(options []components.Option, entries []content.MenuItem, without, prefix string) []components.Option {
	for _, e := range entries {
		if e.ID == without {
			continue
		}
		options = append(options, components.Option{Value: e.ID, Label: prefix + e.Title})
		options = appendEntries(options, e.Children, without, prefix+e.Title+" / ")
	}
	return options
}

// translationChoices are the site's languages with what an entity has in them.
func (h *Handlers) translationChoices(c echo.Context, it content.Item) ([]views.TranslationLink, error) {
	all, err := h.Content.TranslationsFor(c.Request().Context(), h.account(c), it.Ref)
	if err != nil {
		return nil, err
	}
	languages, err := config.Languages(c.Request().Context(), h.Config)
	if err != nil {
		return nil, err
	}
	var out []views.TranslationLink
	for _, l := range languages {
		link := views.TranslationLink{Label: l.Value.Label, Code: l.Name, URL: nodeURL(it.ID, l.Name), Current: l.Name == it.Lang}
		for _, t := range all {
			if t.Lang == l.Name {
				link.State = string(t.LatestState)
			}
		}
		if link.State == "" && it.LatestID != "" {
			link.URL += "?from=" + it.Lang
		}
		out = append(out, link)
	}
	return out, nil
}
