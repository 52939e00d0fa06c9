package handlers

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/internal/account"
	"docent/internal/i18n"
	"docent/views"
)

// ownAccount handles GET /user.
func (h *Handlers) ownAccount(c echo.Context) error {
	page, err := h.accountPage(c)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Account(page))
}

func (h *Handlers) accountPage(c echo.Context) (views.AccountPage, error) {
	ctx, v := c.Request().Context(), visitOf(c)
	page := views.AccountPage{
		Admin: h.admin(c), PasswordAction: "/user/password", MinPassword: account.PasswordLeast,
		RevokeAction: "/user/sessions/revoke",
	}
	r, err := h.Accounts.ByID(ctx, v.account.ID)
	if err != nil {
		return page, err
	}
	page.HasPassword = r.HasPassword
	open, err := h.Accounts.Sessions(ctx, v.account.ID)
	if err != nil {
		return page, err
	}
	for _, s := range open {
		page.Sessions = append(page.Sessions, views.SessionRow{
			ID: s.ID, Agent: browserName(s.UserAgent), Address: s.Address, Since: s.CreatedAt, Seen: s.LastSeenAt,
			Current: s.ID == v.session.ID,
		})
	}
	if len(open) > 1 {
		page.RevokeAll = "/user/sessions/revoke-others"
	}
	return page, nil
}

// changePassword handles POST /user/password. All sessions end with the old
// password; this browser gets a new one.
func (h *Handlers) changePassword(c echo.Context) error {
	ctx, who := c.Request().Context(), h.account(c)
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	refused := map[string]string{}
	if form.Get("new_password") != form.Get("repeat_password") {
		refused["repeat_password"] = i18n.T(ctx, "account.differs")
	} else if err := h.Accounts.ChangePassword(ctx, who.ID, form.Get("old_password"), form.Get("new_password")); err != nil {
		if refused = refusedFields(err); refused == nil {
			return err
		}
	}
	if len(refused) > 0 {
		page, err := h.accountPage(c)
		if err != nil {
			return err
		}
		page.OldError, page.NewError, page.RepeatError = sentence(refused["old_password"]), sentence(refused["password"]), refused["repeat_password"]
		return h.render(c, http.StatusUnprocessableEntity, views.Account(page))
	}
	if err := h.startSession(c, who.ID); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/user?done=password")
}

// revokeSession handles POST /user/sessions/revoke.
func (h *Handlers) revokeSession(c echo.Context) error {
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	if err := h.Accounts.Revoke(c.Request().Context(), h.account(c).ID, form.Get("session")); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/user?done=session")
}

// revokeOtherSessions handles POST /user/sessions/revoke-others.
func (h *Handlers) revokeOtherSessions(c echo.Context) error {
	v := visitOf(c)
	if err := h.Accounts.RevokeOthers(c.Request().Context(), v.account.ID, v.session.ID); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/user?done=sessions")
}

// browserName makes a User-Agent readable: "Firefox, Linux". The order matters,
// since browsers name each other.
func browserName(userAgent string) string {
	find := func(pairs ...[2]string) string {
		for _, p := range pairs {
			if strings.Contains(userAgent, p[0]) {
				return p[1]
			}
		}
		return ""
	}
	browser := find([2]string{"Edg", "Edge"}, [2]string{"OPR/", "Opera"}, [2]string{"Firefox/", "Firefox"}, [2]string{"FxiOS", "Firefox"},
		[2]string{"Chrome/", "Chrome"}, [2]string{"CriOS", "Chrome"}, [2]string{"Safari/", "Safari"})
	system := find([2]string{"Android", "Android"}, [2]string{"iPhone", "iPhone"}, [2]string{"iPad", "iPad"}, [2]string{"Windows", "Windows"},
		[2]string{"Mac OS X", "macOS"}, [2]string{"CrOS", "ChromeOS"}, [2]string{"Linux", "Linux"})
	switch {
	case browser != "" && system != "":
		return browser + ", " + system
	case browser != "":
		return browser
	default:
		name, _, _ := strings.Cut(userAgent, " ")
		return name
	}
}
