package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

// editPerson handles GET /admin/people/:id.
func (h *Handlers) editPerson(c echo.Context) error {
	r, err := h.managed(c)
	if err != nil {
		return err
	}
	page, err := h.personForm(c, r, nil)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Form(page))
}

func personURL(id string) string { return "/admin/people/" + url.PathEscape(id) }

// personForm offers the roles that the account itself may hand out; others that
// the person has are kept, and said.
func (h *Handlers) personForm(c echo.Context, r account.Record, refused map[string]string) (views.FormPage, error) {
	ctx := c.Request().Context()
	page := views.FormPage{
		Admin: h.admin(c), Title: r.Name, Action: personURL(r.ID), CancelURL: "/admin/people",
		Crumbs: []components.Link{{Label: i18n.T(ctx, "accounts.title"), URL: "/admin/people"}},
	}
	if r.Blocked {
		page.Notices = append(page.Notices, components.NoticeProps{Kind: components.NoticeWait, Title: i18n.T(ctx, "accounts.is_blocked")})
		page.Actions = []views.RowAction{{Label: i18n.T(ctx, "accounts.unblock"), URL: page.Action + "/unblock", Post: true}}
	} else {
		page.Links = []components.Link{{Label: i18n.T(ctx, "accounts.reset"), URL: page.Action + "/reset"}}
		page.Actions = []views.RowAction{{Label: i18n.T(ctx, "accounts.make_link"), URL: page.Action + "/link", Post: true}}
		if r.ID != h.account(c).ID {
			page.Actions = append(page.Actions, views.RowAction{Label: i18n.T(ctx, "accounts.block"), URL: page.Action + "/block", Post: true, Danger: true})
		}
	}
	roles, err := config.All[config.Role](ctx, h.Config)
	if err != nil {
		return page, err
	}
	boxes := views.Control{
		Kind: views.ControlChecks, Chosen: r.Roles,
		FieldProps: components.FieldProps{ID: "person-roles", Name: "roles", Label: i18n.T(ctx, "accounts.roles"), Help: i18n.T(ctx, "accounts.roles_help")},
	}
	for _, role := range roles {
		if h.mayGive(c, role.Name) {
			boxes.Options = append(boxes.Options, components.Option{Value: role.Name, Label: role.Value.Label})
		}
	}
	page.Groups = []views.FormGroup{{Controls: []views.Control{
		{FieldProps: components.FieldProps{ID: "person-mail", Name: "email", Type: "email", Label: i18n.T(ctx, "accounts.mail"), Value: r.Email, MaxLength: 254, Autocomplete: "off", Optional: true}},
		boxes,
	}}}
	refuseControls(page.Groups, refused)
	return page, nil
}

// mayGive reports whether the account may hand out a role.
func (h *Handlers) mayGive(c echo.Context, role string) bool {
	return role != account.RoleAnonymous && role != account.RoleAuthenticated &&
		h.Accounts.MayManage(c.Request().Context(), h.account(c), []string{role}) == nil
}

// savePerson handles POST /admin/people/:id.
func (h *Handlers) savePerson(c echo.Context) error {
	ctx := c.Request().Context()
	r, err := h.managed(c)
	if err != nil {
		return err
	}
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	roles := form["roles"]
	// Only what is added has to be the account's to give: a role that was deleted
	// from the site, or is beyond it, stays as it is.
	for _, role := range roles {
		if !slices.Contains(r.Roles, role) && !h.mayGive(c, role) {
			return account.ErrBeyondOwn
		}
	}
	email := strings.TrimSpace(form.Get("email"))
	err = h.Accounts.Edit(ctx, r.ID, email, roles)
	if refused := refusedFields(err); refused != nil {
		r.Email, r.Roles = email, roles
		page, err := h.personForm(c, r, refused)
		if err != nil {
			return err
		}
		return h.render(c, http.StatusUnprocessableEntity, views.Form(page))
	}
	if err != nil {
		return err
	}
	return leadTo(c, personURL(r.ID), "saved")
}

// confirmResetPassword handles GET /admin/people/:id/reset.
func (h *Handlers) confirmResetPassword(c echo.Context) error {
	ctx := c.Request().Context()
	r, err := h.managed(c)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Confirm(views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "accounts.reset_title", r.Name), Action: personURL(r.ID) + "/reset",
		Crumbs:       []components.Link{{Label: i18n.T(ctx, "accounts.title"), URL: "/admin/people"}, {Label: r.Name, URL: personURL(r.ID)}},
		Consequences: []components.Link{{Label: i18n.T(ctx, "accounts.reset_password")}, {Label: i18n.T(ctx, "accounts.reset_sessions")}, {Label: i18n.T(ctx, "accounts.reset_link")}},
		Submit:       i18n.T(ctx, "accounts.reset"), Danger: true, CancelURL: personURL(r.ID),
	}))
}

// resetPassword handles POST /admin/people/:id/reset: the old password and the
// open sessions end, and the way back in is shown once.
func (h *Handlers) resetPassword(c echo.Context) error {
	r, err := h.managed(c)
	if err != nil {
		return err
	}
	if r.Blocked {
		return account.ErrBlocked
	}
	if err := h.Accounts.ResetPassword(c.Request().Context(), r.ID); err != nil {
		return err
	}
	return h.showSignInLink(c, r, "")
}
