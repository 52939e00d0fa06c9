package handlers

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

func contextURL(name string) string { return contextsURL + "/" + url.PathEscape(name) }

// contexts handles GET /admin/config/ai/ai-answers/contexts.
func (h *Handlers) contexts(c echo.Context) error {
	ctx := c.Request().Context()
	page := views.ListPage{Admin: h.admin(c), Title: i18n.T(ctx, "contexts.title"), Intro: i18n.T(ctx, "contexts.intro"), Head: i18n.T(ctx, "form.label"),
		Columns: []string{i18n.T(ctx, "contexts.paths"), i18n.T(ctx, "contexts.agents")},
		New:     components.Link{Label: i18n.T(ctx, "contexts.new"), URL: contextsURL + "/new"}, Empty: i18n.T(ctx, "contexts.empty")}
	all, err := config.All[config.SiteContext](ctx, h.Config)
	if err != nil {
		return err
	}
	agents, err := config.All[config.Agent](ctx, h.Config)
	if err != nil {
		return err
	}
	for _, x := range all {
		var users []string
		for _, a := range agents {
			for _, name := range a.Value.Contexts {
				if name == x.Name {
					users = append(users, a.Value.Label)
				}
			}
		}
		paths := i18n.T(ctx, "contexts.everywhere")
		if len(x.Value.Paths) > 0 {
			paths = strings.Join(x.Value.Paths, " ")
		}
		page.Rows = append(page.Rows, views.ListRow{Title: x.Value.Label, URL: contextURL(x.Name), Note: excerpt(x.Value.Text[h.Content.DefaultLanguage()], 120),
			Cells:   []views.ListCell{{Text: paths}, {Text: strings.Join(users, ", ")}},
			Actions: []views.RowAction{{Label: i18n.T(ctx, "action.edit"), URL: contextURL(x.Name)}, {Label: i18n.T(ctx, "action.delete"), URL: contextURL(x.Name) + "/delete", Post: true, Danger: true}}})
	}
	return h.render(c, http.StatusOK, views.List(page))
}

// newContext handles GET /admin/config/ai/ai-answers/contexts/new.
func (h *Handlers) newContext(c echo.Context) error {
	return h.contextForm(c, http.StatusOK, "", config.SiteContext{}, nil)
}

// context handles GET /admin/config/ai/ai-answers/contexts/:name.
func (h *Handlers) context(c echo.Context) error {
	x, err := config.Get[config.SiteContext](c.Request().Context(), h.Config, c.Param("name"))
	if err != nil {
		return err
	}
	return h.contextForm(c, http.StatusOK, c.Param("name"), x, nil)
}

func (h *Handlers) contextForm(c echo.Context, status int, name string, x config.SiteContext, refused map[string]string) error {
	ctx := c.Request().Context()
	page := views.FormPage{Admin: h.admin(c), Title: i18n.T(ctx, "contexts.new"), Action: contextsURL + "/new", CancelURL: contextsURL,
		Intro: i18n.T(ctx, "contexts.intro"), Crumbs: []components.Link{{Label: i18n.T(ctx, "contexts.title"), URL: contextsURL}}}
	label := views.Control{FieldProps: components.FieldProps{ID: "context-label", Name: "label", Label: i18n.T(ctx, "form.label"), Value: x.Label, Required: true, MaxLength: 120}}
	group := views.FormGroup{Controls: []views.Control{label}}
	if name == "" {
		group.Controls = append(group.Controls, views.Control{FieldProps: components.FieldProps{ID: "context-name", Name: "name", Label: i18n.T(ctx, "form.machine_name"),
			Value: c.FormValue("name"), Help: i18n.T(ctx, "form.machine_name_help"), MaxLength: 63, Optional: true}})
	} else {
		page.Title, page.Action = x.Label, contextURL(name)
	}
	group.Controls = append(group.Controls,
		views.Control{Kind: views.ControlArea, Rows: 3, FieldProps: components.FieldProps{ID: "context-paths", Name: "paths", Label: i18n.T(ctx, "contexts.paths"),
			Value: strings.Join(x.Paths, "\n"), Help: i18n.T(ctx, "contexts.paths_help"), Placeholder: "/visit/", Optional: true}},
		views.Control{FieldProps: components.FieldProps{ID: "context-weight", Name: "weight", Type: "number", Label: i18n.T(ctx, "contexts.weight"), Value: strconv.Itoa(x.Weight)}})
	texts := views.FormGroup{Title: i18n.T(ctx, "contexts.text"), Intro: i18n.T(ctx, "contexts.text_help")}
	languages, err := config.Languages(ctx, h.Config)
	if err != nil {
		return err
	}
	for i, l := range languages {
		texts.Controls = append(texts.Controls, views.Control{Kind: views.ControlArea, Rows: 6, Lang: l.Name, FieldProps: components.FieldProps{
			ID: "context-text-" + l.Name, Name: "text." + l.Name, Label: l.Value.Label, Value: x.Text[l.Name], MaxLength: 2000, Optional: i > 0}})
	}
	page.Groups = []views.FormGroup{group, texts}
	refuseControls(page.Groups, refused)
	return h.render(c, status, views.Form(page))
}

// saveContext handles POST /admin/config/ai/ai-answers/contexts/:name, and …/new.
func (h *Handlers) saveContext(c echo.Context) error {
	ctx, name := c.Request().Context(), c.Param("name")
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	var x config.SiteContext
	if name != "" {
		if x, err = config.Get[config.SiteContext](ctx, h.Config, name); err != nil {
			return err
		}
	}
	refused := map[string]string{}
	x.Label, x.Paths, x.Text = strings.TrimSpace(form.Get("label")), strings.Fields(form.Get("paths")), maps.Clone(x.Text)
	if x.Weight, err = strconv.Atoi(strings.TrimSpace(form.Get("weight"))); err != nil {
		refused["weight"] = i18n.T(ctx, "form.whole_number")
	}
	for _, lang := range h.Content.Languages() {
		x.Text = withText(x.Text, lang, form, "text")
	}
	stored, done := name, "saved"
	if name == "" {
		done, name = "added", form.Get("name")
		if name == "" {
			name = machineName(x.Label)
		}
		if _, err := config.Get[config.SiteContext](ctx, h.Config, name); err == nil || name == "new" {
			refused["name"] = i18n.T(ctx, "form.name_taken")
		}
	}
	if len(refused) == 0 {
		err = config.Put(ctx, h.Config, name, x, h.account(c).ID)
		if refused = refusedFields(err); refused == nil && err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		return h.contextForm(c, http.StatusUnprocessableEntity, stored, x, refused)
	}
	return c.Redirect(http.StatusSeeOther, contextsURL+"?done="+done)
}

// deleteContext handles POST /admin/config/ai/ai-answers/contexts/:name/delete.
func (h *Handlers) deleteContext(c echo.Context) error {
	if err := config.Delete[config.SiteContext](c.Request().Context(), h.Config, c.Param("name"), h.account(c).ID); err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	return c.Redirect(http.StatusSeeOther, contextsURL+"?done=deleted")
}
