package handlers

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

// formDisplay is the display that is the edit form, in addresses.
const formDisplay = "form"

// imageStyles are the derivatives that displays can show images in.
func imageStyles() []string { return []string{"thumbnail", "card", "wide"} }

// display handles GET …/:name/displays/:mode: how a type is edited, or shown in a
// view mode.
func (h *Handlers) display(c echo.Context) error {
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	if !slices.Contains(append(config.ViewModes(), formDisplay), c.Param("mode")) {
		return db.ErrNotFound
	}
	return h.render(c, http.StatusOK, views.Display(h.displayPage(c, s, nil)))
}

func (h *Handlers) displayPage(c echo.Context, s shape, refused map[string]string) views.DisplayPage {
	ctx, mode := c.Request().Context(), c.Param("mode")
	address := s.url() + "/displays/" + mode
	page := views.DisplayPage{
		Admin: h.admin(c), Action: address, Crumbs: shapeCrumbs(ctx, s), Links: shapeLinks(ctx, s, address), Form: mode == formDisplay, ReadOnly: !h.ConfigWritable,
		Changes: h.shapeHistory(c, s),
	}
	if page.Form {
		page.Title = i18n.T(ctx, "displays.form_title", s.LabelIn(h.lang(c)))
		page.Error = sentence(refused["form"])
		for _, item := range s.FormItems() {
			page.Rows = append(page.Rows, h.formRow(c, s, item))
		}
		return page
	}
	page.Title = i18n.T(ctx, "displays.view_title", s.LabelIn(h.lang(c)), i18n.T(ctx, "types.view."+mode))
	page.Error = sentence(refused["views."+mode])
	_, own := s.Views[mode]
	page.Own = own && mode != config.ViewFull
	page.Follows = !own && mode != config.ViewFull
	placed := map[string]bool{}
	for _, item := range s.ViewItems(mode) {
		placed[item.Field] = true
		page.Rows = append(page.Rows, h.viewRow(c, s, item))
	}
	for _, f := range s.Fields {
		if !placed[f.Name] {
			page.Rows = append(page.Rows, h.viewRow(c, s, config.ViewItem{Field: f.Name, Label: config.LabelAbove, Formatter: config.Hidden}))
		}
	}
	return page
}

// options are names with their labels in the interface's language.
func options(names []string, label func(name string) string) []components.Option {
	out := make([]components.Option, len(names))
	for i, name := range names {
		out[i] = components.Option{Value: name, Label: label(name)}
	}
	return out
}

func (h *Handlers) formRow(c echo.Context, s shape, item config.FormItem) views.DisplayRow {
	ctx := c.Request().Context()
	f, _ := s.Field(item.Field)
	names := config.Widgets(f.Type)
	if !f.Required {
		names = append(slices.Clone(names), config.Hidden)
	}
	row := displayRow(ctx, f, f.LabelIn(h.lang(c)))
	row.Off = item.Widget == config.Hidden
	row.Choices = []views.DisplayChoice{{
		Name: "widget." + f.Name, Label: i18n.T(ctx, "displays.widget"), Value: item.Widget,
		Options: options(names, func(name string) string { return i18n.T(ctx, "widget."+name) }),
	}}
	return row
}

func displayRow(ctx context.Context, f config.Field, label string) views.DisplayRow {
	return views.DisplayRow{Field: f.Name, Label: label, Type: i18n.T(ctx, "field.type."+string(f.Type))}
}

func (h *Handlers) viewRow(c echo.Context, s shape, item config.ViewItem) views.DisplayRow {
	ctx := c.Request().Context()
	f, _ := s.Field(item.Field)
	row := displayRow(ctx, f, f.LabelIn(h.lang(c)))
	row.Off = item.Formatter == config.Hidden
	choice := func(name, label, value string, opts []components.Option) {
		row.Choices = append(row.Choices, views.DisplayChoice{Name: name + "." + f.Name, Label: label, Value: value, Options: opts})
	}
	choice("formatter", i18n.T(ctx, "displays.formatter"), item.Formatter,
		options(append(slices.Clone(config.Formatters(f.Type)), config.Hidden), func(name string) string { return i18n.T(ctx, "formatter."+name) }))
	choice("label", i18n.T(ctx, "displays.label"), item.Label,
		options(config.LabelPositions(), func(name string) string { return i18n.T(ctx, "displays.label."+name) }))
	none := components.Option{Label: i18n.T(ctx, "displays.default")}
	if f.Type == config.FieldImage || f.Type == config.FieldReference && f.Settings.Target == config.EntityMedia {
		choice("style", i18n.T(ctx, "displays.style"), item.Style,
			append([]components.Option{none}, options(imageStyles(), func(name string) string { return i18n.T(ctx, "displays.style."+name) })...))
	}
	if f.Type == config.FieldReference {
		choice("mode", i18n.T(ctx, "displays.mode"), item.Mode,
			append([]components.Option{none}, options(config.ViewModes(), func(name string) string { return i18n.T(ctx, "types.view."+name) })...))
	}
	if f.Type == config.FieldLongText {
		row.Limit, row.HasLimit = positive(item.Limit), true
	}
	return row
}

// saveDisplay handles POST …/:name/displays/:mode. Buttons that move a field send
// the whole form: what was chosen is kept.
func (h *Handlers) saveDisplay(c echo.Context) error {
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	mode := c.Param("mode")
	if !slices.Contains(append(config.ViewModes(), formDisplay), mode) {
		return db.ErrNotFound
	}
	var names []string
	for _, name := range form["field"] {
		if _, ok := s.Field(name); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	moved := form.Get("move") != "" || form.Get("drop") != ""
	var m move
	if moved {
		if m, err = postedMove(c); err != nil {
			return err
		}
		if names, err = m.reorder(names); err != nil {
			return err
		}
	}
	apply := func(s *shape) error {
		shown := maps.Clone(s.Views)
		if shown == nil {
			shown = map[string][]config.ViewItem{}
		}
		switch {
		case mode == formDisplay:
			s.Form = postedFormItems(form, names)
		case form.Get("op") == "follow":
			delete(shown, mode)
		default:
			items, ok := postedViewItems(form, names)
			shown[mode] = items
			if !ok {
				s.Views = shown
				return &config.InvalidError{Fields: map[string]string{"views." + mode: i18n.T(c.Request().Context(), "displays.limit_refused")}}
			}
		}
		s.Views = shown
		return nil
	}
	err = h.changeShape(c, s, apply)
	if refused := refusedFields(err); refused != nil {
		_ = apply(&s) // what was chosen is shown again
		page := h.displayPage(c, s, refused)
		if page.Error == "" {
			page.Error = judge(err).message
		}
		return h.render(c, http.StatusUnprocessableEntity, views.Display(page))
	}
	if err != nil {
		return err
	}
	address := s.url() + "/displays/" + url.PathEscape(mode)
	if moved {
		return m.done(c, address)
	}
	return leadTo(c, address, "saved")
}

func postedFormItems(form url.Values, names []string) []config.FormItem {
	var items []config.FormItem
	for _, name := range names {
		items = append(items, config.FormItem{Field: name, Widget: form.Get("widget." + name)})
	}
	return items
}

// postedViewItems reads the fields that a view mode shows; ok is false when a
// length is no number.
func postedViewItems(form url.Values, names []string) (items []config.ViewItem, ok bool) {
	items, ok = []config.ViewItem{}, true
	for _, name := range names {
		formatter := form.Get("formatter." + name)
		if formatter == config.Hidden || formatter == "" {
			continue
		}
		item := config.ViewItem{
			Field: name, Formatter: formatter, Label: form.Get("label." + name), Style: form.Get("style." + name), Mode: form.Get("mode." + name),
		}
		if text := strings.TrimSpace(form.Get("limit." + name)); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 {
				ok = false
			}
			item.Limit = n
		}
		items = append(items, item)
	}
	return items, ok
}
