package handlers

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
)

// suggestionsShown is how many entities a reference's line offers.
const suggestionsShown = 12

// newTerm stands for a term that is made when the form is saved.
const newTerm = "+"

// loadTitles reads what the form's references lead to.
func (h *Handlers) loadTitles(c echo.Context, f *nodeForm) error {
	var refs []content.Ref
	for _, field := range f.typ.Fields {
		if field.Type != config.FieldReference {
			continue
		}
		for _, key := range f.keys(field.Name) {
			name := input(field.Name, key)
			for _, id := range append(f.values[name+".id"], f.values[name]...) {
				if id != "" && len(id) <= 64 {
					refs = append(refs, content.Ref{Type: referenceTarget(field), ID: id})
				}
			}
		}
	}
	f.titles = map[content.Ref]content.Item{}
	if len(refs) == 0 {
		return nil
	}
	var err error
	f.titles, err = h.Content.LoadMany(c.Request().Context(), f.who, refs, f.lang)
	return err
}

// resolve finds out what the lines of references mean: what was chosen from the
// suggestions, else what has the title that was typed.
func (h *Handlers) resolve(c echo.Context, f *nodeForm) error {
	ctx := c.Request().Context()
	if err := h.loadTitles(c, f); err != nil {
		return err
	}
	for _, field := range f.typ.Fields {
		if field.Type != config.FieldReference || f.widget(field) != "autocomplete" {
			continue
		}
		for _, key := range f.keys(field.Name) {
			name := input(field.Name, key)
			if choice := f.values.Get(name + ".choice"); choice != "" {
				f.values.Set(name+".id", choice)
				if choice == newTerm {
					continue
				}
				f.values.Set(name, choice)
			}
			text, id := strings.TrimSpace(f.values.Get(name)), f.values.Get(name+".id")
			if text == "" {
				f.values.Del(name + ".id")
				continue
			}
			it, known := f.titles[content.Ref{Type: referenceTarget(field), ID: id}]
			if id == newTerm || id != "" && (text == id || known && strings.EqualFold(text, it.Title)) {
				continue
			}
			if err := h.resolveTitle(ctx, f, field, name, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// resolveTitle finds the entity with a title, or offers those that come near it.
func (h *Handlers) resolveTitle(ctx context.Context, f *nodeForm, field config.Field, name, text string) error {
	found, err := h.suggest(ctx, f, field, text)
	if err != nil {
		return err
	}
	var exact []content.Item
	for _, it := range found {
		if strings.EqualFold(it.Title, text) {
			exact = append(exact, it)
		}
	}
	f.values.Del(name + ".id")
	if len(exact) == 1 {
		f.values.Set(name+".id", exact[0].ID)
		return nil
	}
	f.bad[name] = i18n.T(ctx, "widget.no_match", excerpt(text, 80))
	if len(exact) > 1 {
		f.bad[name] = i18n.T(ctx, "widget.many_match", excerpt(text, 80))
		found = exact
	}
	for _, it := range found {
		f.choices[name] = append(f.choices[name], components.Option{Value: it.ID, Label: it.Title + " (" + it.Path + ")"})
	}
	if len(exact) == 0 && h.mayAddTerm(f, field) {
		f.choices[name] = append(f.choices[name], components.Option{Value: newTerm, Label: i18n.T(ctx, "widget.create_term", excerpt(text, 80))})
	}
	return nil
}

func (h *Handlers) suggest(ctx context.Context, f *nodeForm, field config.Field, text string) ([]content.Item, error) {
	items, _, err := h.Content.List(ctx, f.who, content.Filter{
		Type: referenceTarget(field), Bundles: field.Settings.Bundles, Text: text, Order: content.ByTitle, Limit: 2 * suggestionsShown,
	})
	items = inOneLanguage(items, f.lang)
	return items[:min(len(items), suggestionsShown)], err
}

// mayAddTerm reports whether a title that no term has can become one.
func (h *Handlers) mayAddTerm(f *nodeForm, field config.Field) bool {
	return referenceTarget(field) == content.TypeTerm && len(field.Settings.Bundles) == 1 &&
		h.Content.May(f.who, config.OpCreate, content.Item{Ref: content.Ref{Type: content.TypeTerm}, Bundle: field.Settings.Bundles[0]}) == nil
}

// suggestions handles GET /admin/content/suggest: what a line of a reference may
// mean, as JSON.
func (h *Handlers) suggestions(c echo.Context) error {
	query := c.QueryParams()
	field := config.Field{Type: config.FieldReference, Settings: config.FieldSettings{Target: query.Get("entity"), Bundles: query["bundle"]}}
	f := &nodeForm{who: h.account(c), lang: h.knownLanguage(query.Get("language"))}
	text := excerpt(query.Get("q"), 200)
	found, err := h.suggest(c.Request().Context(), f, field, text)
	if err != nil {
		return err
	}
	type suggestion struct {
		ID     string `json:"id"`
		Label  string `json:"label"`
		Detail string `json:"detail,omitempty"`
	}
	out := []suggestion{}
	exact := false
	for _, it := range found {
		out = append(out, suggestion{it.ID, it.Title, it.Path})
		exact = exact || strings.EqualFold(it.Title, strings.TrimSpace(text))
	}
	if strings.TrimSpace(text) != "" && !exact && h.mayAddTerm(f, field) {
		out = append(out, suggestion{newTerm, strings.TrimSpace(text), i18n.T(c.Request().Context(), "widget.create_term", strings.TrimSpace(text))})
	}
	return c.JSON(http.StatusOK, out)
}
