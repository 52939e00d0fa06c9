package handlers

import (
	"maps"
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

// people handles GET /admin/people.
func (h *Handlers) people(c echo.Context) error {
	page, err := h.peoplePage(c)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Accounts(page))
}

func (h *Handlers) peoplePage(c echo.Context) (views.AccountsPage, error) {
	ctx, who, n := c.Request().Context(), h.account(c), pageNumber(c)
	page := views.AccountsPage{Admin: h.admin(c), NewURL: "/admin/people/new"}
	labels, err := h.roleLabels(c)
	if err != nil {
		return page, err
	}
	page.Text, page.Role = c.QueryParam("text"), c.QueryParam("role")
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if name != account.RoleAnonymous && name != account.RoleAuthenticated {
			page.Roles = append(page.Roles, components.Option{Value: name, Label: labels[name]})
		}
	}
	records, total, err := h.Accounts.Find(ctx, account.Filter{Text: page.Text, Role: page.Role}, (n-1)*pageSize, pageSize)
	if err != nil {
		return page, err
	}
	for _, r := range records {
		row := views.AccountRow{Name: r.Name, Mail: r.Email, Blocked: r.Blocked, LastSeen: r.LastSeenAt}
		var roles []string
		for _, role := range r.Roles {
			if label := labels[role]; label != "" {
				role = label
			}
			roles = append(roles, role)
		}
		row.Roles = strings.Join(roles, ", ")
		if h.Accounts.MayManage(ctx, who, r.Roles) == nil {
			base := "/admin/people/" + url.PathEscape(r.ID)
			row.URL = base
			switch {
			case r.Blocked:
				row.UnblockURL = base + "/unblock"
			case r.ID == who.ID:
				row.LinkURL = base + "/link"
			default:
				row.LinkURL, row.BlockURL = base+"/link", base+"/block"
			}
		}
		page.Rows = append(page.Rows, row)
	}
	page.Pager = pager(c, n, len(records), total)
	return page, nil
}

func (h *Handlers) roleLabels(c echo.Context) (map[string]string, error) {
	roles, err := config.All[config.Role](c.Request().Context(), h.Config)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{}
	for _, r := range roles {
		labels[r.Name] = r.Value.Label
	}
	return labels, nil
}

// newPerson handles GET /admin/people/new.
func (h *Handlers) newPerson(c echo.Context) error {
	page, err := h.newPersonPage(c, nil)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.NewAccount(page))
}

// newPersonPage offers the roles that the account itself may hand out.
func (h *Handlers) newPersonPage(c echo.Context, chosen []string) (views.NewAccountPage, error) {
	ctx := c.Request().Context()
	page := views.NewAccountPage{Admin: h.admin(c), Action: "/admin/people/new"}
	roles, err := config.All[config.Role](ctx, h.Config)
	if err != nil {
		return page, err
	}
	for _, r := range roles {
		if r.Name == account.RoleAnonymous || r.Name == account.RoleAuthenticated ||
			h.Accounts.MayManage(ctx, h.account(c), []string{r.Name}) != nil {
			continue
		}
		page.Roles = append(page.Roles, views.RoleChoice{Name: r.Name, Label: r.Value.Label, Chosen: slices.Contains(chosen, r.Name)})
	}
	return page, nil
}

// createPerson handles POST /admin/people/new. The new account has no password:
// its first way in is the sign-in link that is shown now.
func (h *Handlers) createPerson(c echo.Context) error {
	ctx := c.Request().Context()
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	roles := form["roles"]
	if err := h.Accounts.MayManage(ctx, h.account(c), roles); err != nil {
		return err
	}
	page, err := h.newPersonPage(c, roles)
	if err != nil {
		return err
	}
	r, err := h.Accounts.Create(ctx, account.NewAccount{Name: form.Get("name"), Email: strings.TrimSpace(form.Get("email")), Roles: roles})
	if refused := refusedFields(err); refused != nil {
		page.Name, page.Mail = form.Get("name"), form.Get("email")
		page.NameError, page.MailError, page.RolesError = sentence(refused["name"]), sentence(refused["email"]), sentence(refused["roles"])
		return h.render(c, http.StatusUnprocessableEntity, views.NewAccount(page))
	}
	if err != nil {
		return err
	}
	return h.showSignInLink(c, r, i18n.T(ctx, "done.created"))
}

// createSignInLink handles POST /admin/people/:id/link.
func (h *Handlers) createSignInLink(c echo.Context) error {
	r, err := h.managed(c)
	if err != nil {
		return err
	}
	return h.showSignInLink(c, r, "")
}

// showSignInLink makes a link and shows it, this once: it is kept nowhere in clear.
func (h *Handlers) showSignInLink(c echo.Context, r account.Record, done string) error {
	token, err := h.Accounts.CreateLink(c.Request().Context(), r.ID, h.account(c).ID)
	if err != nil {
		return err
	}
	page, err := h.peoplePage(c)
	if err != nil {
		return err
	}
	if done != "" {
		page.Notices = append(page.Notices, components.NoticeProps{Kind: components.NoticeOK, Title: done, Live: true})
	}
	page.NewLink = h.BaseURL.JoinPath("user", "signin", token).String()
	page.NewLinkName, page.NewLinkEnds = r.Name, db.Now().Add(account.LinkLife)
	return h.render(c, http.StatusOK, views.Accounts(page))
}

// managed returns the account of the address, if the one who asks may manage it.
func (h *Handlers) managed(c echo.Context) (account.Record, error) {
	ctx := c.Request().Context()
	r, err := h.Accounts.ByID(ctx, c.Param("id"))
	if err != nil {
		return r, err
	}
	return r, h.Accounts.MayManage(ctx, h.account(c), r.Roles)
}

// blockPerson handles POST /admin/people/:id/block.
func (h *Handlers) blockPerson(c echo.Context) error { return h.setBlocked(c, true) }

// unblockPerson handles POST /admin/people/:id/unblock.
func (h *Handlers) unblockPerson(c echo.Context) error { return h.setBlocked(c, false) }

func (h *Handlers) setBlocked(c echo.Context, blocked bool) error {
	r, err := h.managed(c)
	if err != nil {
		return err
	}
	if err := h.Accounts.SetBlocked(c.Request().Context(), r.ID, blocked); err != nil {
		return err
	}
	if blocked {
		return c.Redirect(http.StatusSeeOther, "/admin/people?done=blocked")
	}
	return c.Redirect(http.StatusSeeOther, "/admin/people?done=unblocked")
}
