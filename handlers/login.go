package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/internal/account"
	"docent/internal/i18n"
	"docent/views"
)

// loginForm handles GET /user/login.
func (h *Handlers) loginForm(c echo.Context) error {
	destination := ownPath(c.QueryParam("destination"))
	if a := h.account(c); !a.IsAnonymous() {
		return c.Redirect(http.StatusSeeOther, afterLogin(a, destination))
	}
	return h.render(c, http.StatusOK, views.Login(views.LoginPage{Site: h.site(c), Action: "/user/login", Destination: destination}))
}

// login handles POST /user/login.
func (h *Handlers) login(c echo.Context) error {
	ctx := c.Request().Context()
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	name, destination := form.Get("name"), ownPath(form.Get("destination"))
	a, err := h.Accounts.Authenticate(ctx, name, form.Get("password"), c.RealIP())
	if err == nil {
		if err := h.startSession(c, a.ID); err != nil {
			return err
		}
		return c.Redirect(http.StatusSeeOther, afterLogin(a, destination))
	}
	page := views.LoginPage{Site: h.site(c), Action: "/user/login", Name: name, Destination: destination}
	throttled, locked := errors.AsType[*account.ThrottledError](err)
	switch {
	case locked:
		v := judge(err)
		setRetryAfter(c, v.retryAfter)
		page.Locked = true
		page.Error = i18n.T(ctx, "login.wait", int(throttled.RetryAfter.Minutes())+1)
		return h.render(c, v.status, views.Login(page))
	case errors.Is(err, account.ErrCredentials):
		page.Error = i18n.T(ctx, "login.wrong")
	case errors.Is(err, account.ErrBlocked):
		page.Error = i18n.T(ctx, "login.blocked")
	default:
		return err
	}
	return h.render(c, http.StatusUnprocessableEntity, views.Login(page))
}

// afterLogin is where somebody goes who has signed in.
func afterLogin(a account.Account, destination string) string {
	switch {
	case destination != "":
		return destination
	case a.Can(account.AccessAdministration):
		return "/admin"
	default:
		return "/user"
	}
}

// ownPath returns a destination if it is a path on this site, and else nothing.
func ownPath(destination string) string {
	if len(destination) > 2000 || !strings.HasPrefix(destination, "/") || strings.HasPrefix(destination, "//") ||
		strings.ContainsFunc(destination, func(r rune) bool { return r == '\\' || r <= ' ' || r == 0x7f }) {
		return ""
	}
	u, err := url.Parse(destination)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil {
		return ""
	}
	return destination
}

// logout handles POST /user/logout.
func (h *Handlers) logout(c echo.Context) error {
	if s := visitOf(c).session; s.ID != "" {
		err := h.Accounts.Revoke(c.Request().Context(), s.AccountID, s.ID)
		if err != nil && !errors.Is(err, account.ErrNoSession) {
			return err
		}
	}
	h.dropCookie(c)
	return c.Redirect(http.StatusSeeOther, "/")
}

// signInLink handles GET /user/signin/:token. It changes nothing, since programs
// open links too.
func (h *Handlers) signInLink(c echo.Context) error {
	token := c.Param("token")
	page := views.SignInLinkPage{Site: h.site(c), Action: "/user/signin/" + url.PathEscape(token), Token: token}
	r, err := h.Accounts.PeekLink(c.Request().Context(), token)
	switch {
	case errors.Is(err, account.ErrLink):
		page.Invalid = true
		return h.render(c, http.StatusNotFound, views.SignInLink(page))
	case err != nil:
		return err
	}
	page.Name = r.Name
	return h.render(c, http.StatusOK, views.SignInLink(page))
}

// useSignInLink handles POST /user/signin/:token.
func (h *Handlers) useSignInLink(c echo.Context) error {
	a, err := h.Accounts.UseLink(c.Request().Context(), c.Param("token"))
	if errors.Is(err, account.ErrLink) {
		return h.render(c, http.StatusNotFound, views.SignInLink(views.SignInLinkPage{Site: h.site(c), Invalid: true}))
	}
	if err != nil {
		return err
	}
	if err := h.startSession(c, a.ID); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/user")
}
