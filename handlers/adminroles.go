package handlers

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

const rolesURL = "/admin/people/roles"

// roles handles GET /admin/people/roles: who may do what.
func (h *Handlers) roles(c echo.Context) error {
	page, err := h.rolesPage(c, c.QueryParam("text"))
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Roles(page))
}

func (h *Handlers) rolesPage(c echo.Context, text string) (views.RolesPage, error) {
	ctx, who := c.Request().Context(), h.account(c)
	page := views.RolesPage{Admin: h.admin(c), Action: rolesURL, NewURL: rolesURL + "/new", Text: text}
	roles, err := h.rolesInOrder(ctx)
	if err != nil {
		return page, err
	}
	for _, r := range roles {
		column := views.RoleColumn{Name: r.Name, Label: r.Value.Label, URL: rolesURL + "/" + url.PathEscape(r.Name), Was: joinPermissions(r.Value.Permissions)}
		page.Roles = append(page.Roles, column)
	}
	groups, err := h.permissionGroups(ctx)
	if err != nil {
		return page, err
	}
	for _, g := range groups {
		shown := views.PermissionGroup{Label: g.label}
		for _, p := range g.permissions {
			if !strings.Contains(strings.ToLower(g.label+" "+p.label), strings.ToLower(strings.TrimSpace(text))) {
				continue
			}
			row := views.PermissionRow{Name: string(p.permission), Label: p.label}
			for _, r := range roles {
				all := r.Name == account.RoleAdministrator
				row.Cells = append(row.Cells, views.PermissionCell{
					Role: r.Name, Granted: all || slices.Contains(r.Value.Permissions, p.permission), Fixed: all || !who.Can(p.permission),
				})
			}
			shown.Rows = append(shown.Rows, row)
		}
		if len(shown.Rows) > 0 {
			page.Groups = append(page.Groups, shown)
		}
	}
	return page, nil
}

// rolesInOrder lists visitors first and administrators last.
func (h *Handlers) rolesInOrder(ctx context.Context) ([]config.Named[config.Role], error) {
	roles, err := config.All[config.Role](ctx, h.Config)
	place := func(name string) int {
		switch name {
		case account.RoleAnonymous:
			return 0
		case account.RoleAuthenticated:
			return 1
		case account.RoleAdministrator:
			return 3
		}
		return 2
	}
	slices.SortStableFunc(roles, func(a, b config.Named[config.Role]) int { return place(a.Name) - place(b.Name) })
	return roles, err
}

func joinPermissions(permissions []account.Permission) string {
	names := make([]string, len(permissions))
	for i, p := range permissions {
		names[i] = string(p)
	}
	return strings.Join(names, "|")
}

// saveRoles handles POST /admin/people/roles. What changed against the page that
// was filled in is applied to the roles as they are now, so that two people who
// change different things both succeed.
func (h *Handlers) saveRoles(c echo.Context) error {
	ctx, who := c.Request().Context(), h.account(c)
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	shown, err := h.rolesPage(c, form.Get("text"))
	if err != nil {
		return err
	}
	granted := map[string]bool{}
	for _, cell := range form["grant"] {
		granted[cell] = true
	}
	for _, column := range shown.Roles {
		if column.Name == account.RoleAdministrator || !form.Has("was."+column.Name) {
			continue
		}
		was := strings.Split(form.Get("was."+column.Name), "|")
		var give, take []account.Permission
		for _, g := range shown.Groups {
			for _, row := range g.Rows {
				p := account.Permission(row.Name)
				before, after := slices.Contains(was, row.Name), granted[column.Name+"|"+row.Name]
				switch {
				case after && !before && !who.Can(p):
					return account.ErrBeyondOwn
				case after && !before:
					give = append(give, p)
				case before && !after && who.Can(p): // a box that could not be changed was not sent
					take = append(take, p)
				}
			}
		}
		err := config.Update(ctx, h.Config, column.Name, who.ID, func(role config.Role) (config.Role, error) {
			role.Permissions = slices.DeleteFunc(slices.Clone(role.Permissions), func(p account.Permission) bool { return slices.Contains(take, p) })
			for _, p := range give {
				if !slices.Contains(role.Permissions, p) {
					role.Permissions = append(role.Permissions, p)
				}
			}
			return role, nil
		})
		if err != nil && !errors.Is(err, db.ErrNotFound) { // somebody may have deleted it
			return err
		}
	}
	address := rolesURL + "?done=saved"
	if text := form.Get("text"); text != "" {
		address += "&text=" + url.QueryEscape(text)
	}
	return c.Redirect(http.StatusSeeOther, address)
}

// newRole handles GET /admin/people/roles/new.
func (h *Handlers) newRole(c echo.Context) error {
	return h.render(c, http.StatusOK, views.Form(h.roleForm(c, "", config.Role{}, nil)))
}

// roleForm is the form of a role, or with no name of a new one.
func (h *Handlers) roleForm(c echo.Context, name string, role config.Role, refused map[string]string) views.FormPage {
	ctx := c.Request().Context()
	page := views.FormPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "roles.new"), Action: rolesURL + "/new", CancelURL: rolesURL,
		Crumbs: []components.Link{{Label: i18n.T(ctx, "roles.title"), URL: rolesURL}},
	}
	label := views.Control{FieldProps: components.FieldProps{ID: "role-label", Name: "label", Label: i18n.T(ctx, "form.label"), Value: role.Label, MaxLength: 120, Required: true}}
	machine := views.Control{FieldProps: components.FieldProps{ID: "role-name", Name: "name", Label: i18n.T(ctx, "form.machine_name"), Help: i18n.T(ctx, "form.machine_name_help"), MaxLength: 63, Optional: true}}
	controls := []views.Control{label, machine}
	if name != "" {
		page.Title, page.Action = role.Label, rolesURL+"/"+url.PathEscape(name)
		page.Changes = history[config.Role](h, c, name)
		controls = controls[:1]
		if !fixedRole(name) {
			page.DeleteURL, page.DeleteLabel = page.Action+"/delete", i18n.T(ctx, "roles.delete")
			page.Links = []components.Link{{Label: i18n.T(ctx, "roles.accounts"), URL: "/admin/people?" + url.Values{"role": {name}}.Encode()}}
		}
	} else {
		controls[1].Value = c.FormValue("name")
	}
	page.Groups = []views.FormGroup{{Controls: controls}}
	refuseControls(page.Groups, refused)
	return page
}

// fixedRole reports whether every site has the role.
func fixedRole(name string) bool {
	return name == account.RoleAnonymous || name == account.RoleAuthenticated || name == account.RoleAdministrator
}

// createRole handles POST /admin/people/roles/new. A new role grants nothing.
func (h *Handlers) createRole(c echo.Context) error {
	ctx := c.Request().Context()
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	role := config.Role{Label: strings.TrimSpace(form.Get("label"))}
	name := strings.TrimSpace(form.Get("name"))
	if name == "" {
		name = nameFrom(role.Label)
	}
	_, err = config.Get[config.Role](ctx, h.Config, name)
	switch {
	case err == nil:
		err = &config.InvalidError{Fields: map[string]string{"name": i18n.T(ctx, "form.name_taken")}}
	case errors.Is(err, db.ErrNotFound):
		err = config.Put(ctx, h.Config, name, role, h.account(c).ID)
	}
	if refused := refusedFields(err); refused != nil {
		return h.render(c, http.StatusUnprocessableEntity, views.Form(h.roleForm(c, "", role, refused)))
	}
	if err != nil {
		return err
	}
	return leadTo(c, rolesURL, "added")
}

// editRole handles GET /admin/people/roles/:name.
func (h *Handlers) editRole(c echo.Context) error {
	role, err := config.Get[config.Role](c.Request().Context(), h.Config, c.Param("name"))
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Form(h.roleForm(c, c.Param("name"), role, nil)))
}

// saveRole handles POST /admin/people/roles/:name.
func (h *Handlers) saveRole(c echo.Context) error {
	ctx, name := c.Request().Context(), c.Param("name")
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	role, err := config.Get[config.Role](ctx, h.Config, name)
	if err != nil {
		return err
	}
	role.Label = strings.TrimSpace(form.Get("label"))
	err = config.Put(ctx, h.Config, name, role, h.account(c).ID)
	if refused := refusedFields(err); refused != nil {
		return h.render(c, http.StatusUnprocessableEntity, views.Form(h.roleForm(c, name, role, refused)))
	}
	if err != nil {
		return err
	}
	return leadTo(c, rolesURL, "saved")
}

// confirmDeleteRole handles GET /admin/people/roles/:name/delete.
func (h *Handlers) confirmDeleteRole(c echo.Context) error {
	ctx, name := c.Request().Context(), c.Param("name")
	role, err := config.Get[config.Role](ctx, h.Config, name)
	if err != nil {
		return err
	}
	page := views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "roles.delete_title", role.Label), Action: c.Request().URL.Path,
		Submit: i18n.T(ctx, "roles.delete"), Danger: true, CancelURL: rolesURL + "/" + url.PathEscape(name),
		Crumbs: []components.Link{{Label: i18n.T(ctx, "roles.title"), URL: rolesURL}, {Label: role.Label, URL: rolesURL + "/" + url.PathEscape(name)}},
	}
	if fixedRole(name) {
		page.Refused = i18n.T(ctx, "roles.fixed")
	} else {
		_, n, err := h.Accounts.Find(ctx, account.Filter{Role: name}, 0, 1)
		if err != nil {
			return err
		}
		page.Consequences = []components.Link{
			{Label: i18n.T(ctx, "roles.delete_accounts", n), URL: "/admin/people?" + url.Values{"role": {name}}.Encode()},
			{Label: i18n.T(ctx, "roles.delete_content")},
		}
	}
	return h.render(c, http.StatusOK, views.Confirm(page))
}

// deleteRole handles POST /admin/people/roles/:name/delete. Who deletes a role
// must have what it grants: that is taken from others, too.
func (h *Handlers) deleteRole(c echo.Context) error {
	ctx, name := c.Request().Context(), c.Param("name")
	if err := h.Accounts.MayManage(ctx, h.account(c), []string{name}); err != nil {
		return err
	}
	if err := config.Delete[config.Role](ctx, h.Config, name, h.account(c).ID); err != nil {
		return err
	}
	if err := h.Accounts.TakeRole(ctx, name); err != nil {
		return err
	}
	return leadTo(c, rolesURL, "deleted")
}
