package handlers

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

const formatsURL = "/admin/structure/formats"

func formatURL(name string) string { return formatsURL + "/" + url.PathEscape(name) }

// formats handles GET /admin/structure/formats.
func (h *Handlers) formats(c echo.Context) error {
	ctx := c.Request().Context()
	page := views.ListPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "formats.title"), Intro: i18n.T(ctx, "formats.intro"), ReadOnly: !h.ConfigWritable,
		Head: i18n.T(ctx, "form.label"), Columns: []string{i18n.T(ctx, "formats.allows"), i18n.T(ctx, "formats.roles")}, Empty: i18n.T(ctx, "formats.empty"),
	}
	if h.ConfigWritable {
		page.New = components.Link{Label: i18n.T(ctx, "formats.new"), URL: formatsURL + "/new"}
	}
	all, err := config.All[config.TextFormat](ctx, h.Config)
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b config.Named[config.TextFormat]) int { return a.Value.Weight - b.Value.Weight })
	for _, f := range all {
		roles, err := h.rolesWith(ctx, config.FormatPermission(f.Name))
		if err != nil {
			return err
		}
		page.Rows = append(page.Rows, views.ListRow{
			Title: f.Value.Label, URL: formatURL(f.Name), Note: f.Name, NoteLTR: true,
			Cells: []views.ListCell{{Text: i18n.T(ctx, "formats.filter."+f.Value.Filter)}, {Text: strings.Join(roles, ", ")}},
		})
	}
	return h.render(c, http.StatusOK, views.List(page))
}

// rolesWith lists the labels of the roles that grant a permission.
func (h *Handlers) rolesWith(ctx context.Context, p account.Permission) ([]string, error) {
	roles, err := h.rolesInOrder(ctx)
	var labels []string
	for _, r := range roles {
		if r.Name == account.RoleAdministrator || slices.Contains(r.Value.Permissions, p) {
			labels = append(labels, r.Value.Label)
		}
	}
	return labels, err
}

// newFormat handles GET /admin/structure/formats/new.
func (h *Handlers) newFormat(c echo.Context) error {
	page, err := h.formatForm(c, "", config.TextFormat{Filter: config.FilterRestrictedHTML}, nil)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Form(page))
}

// editFormat handles GET /admin/structure/formats/:name.
func (h *Handlers) editFormat(c echo.Context) error {
	name := c.Param("name")
	f, err := config.Get[config.TextFormat](c.Request().Context(), h.Config, name)
	if err != nil {
		return err
	}
	page, err := h.formatForm(c, name, f, nil)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Form(page))
}

func (h *Handlers) formatForm(c echo.Context, name string, f config.TextFormat, refused map[string]string) (views.FormPage, error) {
	ctx := c.Request().Context()
	page := views.FormPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "formats.new"), Action: formatsURL + "/new", CancelURL: formatsURL, ReadOnly: !h.ConfigWritable,
		Crumbs: []components.Link{{Label: i18n.T(ctx, "formats.title"), URL: formatsURL}},
	}
	main := views.FormGroup{Controls: []views.Control{{FieldProps: components.FieldProps{
		ID: "format-label", Name: "label", Label: i18n.T(ctx, "form.label"), Value: f.Label, MaxLength: 120, Required: true}}}}
	if name == "" {
		main.Controls = append(main.Controls, views.Control{FieldProps: components.FieldProps{
			ID: "format-name", Name: "name", Label: i18n.T(ctx, "form.machine_name"), Value: c.FormValue("name"), Help: i18n.T(ctx, "form.machine_name_help"), MaxLength: 63, Optional: true}})
	} else {
		page.Title, page.Action = f.Label, formatURL(name)
		page.DeleteURL, page.DeleteLabel = page.Action+"/delete", i18n.T(ctx, "action.delete")
		page.Changes = history[config.TextFormat](h, c, name)
		roles, err := h.rolesWith(ctx, config.FormatPermission(name))
		if err != nil {
			return page, err
		}
		page.Intro = i18n.T(ctx, "formats.used_by", strings.Join(roles, ", "))
		if h.account(c).Can(account.AdministerRoles) {
			page.Links = []components.Link{{Label: i18n.T(ctx, "formats.change_roles"), URL: rolesURL + "?" + url.Values{"text": {f.Label}}.Encode()}}
		}
	}
	main.Controls = append(main.Controls,
		views.Control{FieldProps: components.FieldProps{ID: "format-help", Name: "help", Label: i18n.T(ctx, "formats.help"), Value: f.Help, Help: i18n.T(ctx, "formats.help_help"), MaxLength: 2000, Optional: true}},
		views.Control{FieldProps: components.FieldProps{ID: "format-weight", Name: "weight", Type: "number", Label: i18n.T(ctx, "formats.weight"), Value: strconv.Itoa(f.Weight), Help: i18n.T(ctx, "formats.weight_help")}})
	filter := views.Control{Kind: views.ControlRadios, Chosen: []string{f.Filter}, FieldProps: components.FieldProps{ID: "format-filter", Name: "filter", Label: i18n.T(ctx, "formats.allows"), Help: i18n.T(ctx, "formats.safe")}}
	for _, name := range config.TextFilters() {
		filter.Options = append(filter.Options, components.Option{Value: name, Label: i18n.T(ctx, "formats.filter."+name)})
	}
	page.Groups = []views.FormGroup{main, {Controls: []views.Control{filter}}}
	refuseControls(page.Groups, refused)
	return page, nil
}

// createFormat handles POST /admin/structure/formats/new.
func (h *Handlers) createFormat(c echo.Context) error {
	ctx := c.Request().Context()
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	name := strings.TrimSpace(form.Get("name"))
	if name == "" {
		name = nameFrom(form.Get("label"))
	}
	_, err = config.Get[config.TextFormat](ctx, h.Config, name)
	switch {
	case err == nil:
		return h.putFormat(c, form, "", name, map[string]string{"name": i18n.T(ctx, "form.name_taken")})
	case !errors.Is(err, db.ErrNotFound):
		return err
	}
	return h.putFormat(c, form, "", name, map[string]string{})
}

// saveFormat handles POST /admin/structure/formats/:name.
func (h *Handlers) saveFormat(c echo.Context) error {
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	name := c.Param("name")
	if _, err := config.Get[config.TextFormat](c.Request().Context(), h.Config, name); err != nil {
		return err
	}
	return h.putFormat(c, form, name, name, map[string]string{})
}

// putFormat stores a format; old is its name until now, "" of a new one.
func (h *Handlers) putFormat(c echo.Context, form url.Values, old, name string, refused map[string]string) error {
	ctx := c.Request().Context()
	f := config.TextFormat{Label: strings.TrimSpace(form.Get("label")), Help: strings.TrimSpace(form.Get("help")), Filter: form.Get("filter")}
	weight, err := strconv.Atoi(strings.TrimSpace(form.Get("weight")))
	if err != nil && form.Get("weight") != "" {
		refused["weight"] = i18n.T(ctx, "form.whole_number")
	}
	f.Weight = weight
	if len(refused) == 0 {
		err = config.Put(ctx, h.Config, name, f, h.account(c).ID)
		if refused = refusedFields(err); refused == nil && err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		page, err := h.formatForm(c, old, f, refused)
		if err != nil {
			return err
		}
		return h.render(c, http.StatusUnprocessableEntity, views.Form(page))
	}
	if old == "" {
		return leadTo(c, formatsURL, "added")
	}
	return leadTo(c, formatsURL, "saved")
}

// confirmDeleteFormat handles GET /admin/structure/formats/:name/delete.
func (h *Handlers) confirmDeleteFormat(c echo.Context) error {
	return h.askToDeleteFormat(c, http.StatusOK, "")
}

func (h *Handlers) askToDeleteFormat(c echo.Context, status int, refused string) error {
	ctx, name := c.Request().Context(), c.Param("name")
	f, err := config.Get[config.TextFormat](ctx, h.Config, name)
	if err != nil {
		return err
	}
	return h.render(c, status, views.Confirm(views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "formats.delete_title", f.Label), Action: c.Request().URL.Path, Refused: refused,
		Crumbs:       []components.Link{{Label: i18n.T(ctx, "formats.title"), URL: formatsURL}, {Label: f.Label, URL: formatURL(name)}},
		Consequences: []components.Link{{Label: i18n.T(ctx, "formats.delete_texts")}, {Label: i18n.T(ctx, "formats.delete_permission")}},
		Submit:       i18n.T(ctx, "action.delete"), Danger: true, CancelURL: formatURL(name),
	}))
}

// deleteFormat handles POST /admin/structure/formats/:name/delete.
func (h *Handlers) deleteFormat(c echo.Context) error {
	ctx, by := c.Request().Context(), h.account(c).ID
	err := config.Delete[config.TextFormat](ctx, h.Config, c.Param("name"), by)
	if refused := refusedFields(err); refused != nil {
		return h.askToDeleteFormat(c, http.StatusConflict, sentence(refused[""]))
	}
	if err != nil {
		return err
	}
	if err := h.dropUnknownPermissions(ctx, by); err != nil {
		return err
	}
	return leadTo(c, formatsURL, "deleted")
}
