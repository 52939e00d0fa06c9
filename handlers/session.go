package handlers

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/sessions"
	"github.com/labstack/echo/v4"

	"docent/internal/account"
	"docent/static"
)

// What the session cookie holds: proof of a session that lives on the server, or
// for visitors who are not signed in the token of their forms.
const (
	sessionKey = "session"
	tokenKey   = "token"
)

// cookieAge is longer than any session: the server decides when one ends.
const cookieAge = 400 * 24 * 3600

func newCookieStore(signing, encryption []byte, https bool) *sessions.CookieStore {
	s := sessions.NewCookieStore(signing, encryption)
	s.MaxAge(cookieAge)
	s.Options.Path = "/"
	s.Options.HttpOnly = true
	s.Options.SameSite = http.SameSiteLaxMode
	s.Options.Secure = https
	return s
}

// cookieName has, on https, the prefix with which browsers guard a cookie against
// being set by other hosts of the domain.
func (h *Handlers) cookieName() string {
	if h.https {
		return "__Host-docent"
	}
	return "docent"
}

// cookie reads the session cookie. One that cannot be read is as good as none.
func (h *Handlers) cookie(c echo.Context) *sessions.Session {
	s, _ := h.cookies.New(c.Request(), h.cookieName())
	return s
}

// setCookie replaces what the session cookie holds by one value.
func (h *Handlers) setCookie(c echo.Context, key, value string) error {
	s := sessions.NewSession(h.cookies, h.cookieName())
	options := *h.cookies.Options
	s.Options = &options
	s.Values[key] = value
	if err := s.Save(c.Request(), c.Response()); err != nil {
		return fmt.Errorf("set cookie: %w", err)
	}
	return nil
}

// dropCookie makes the browser forget the session cookie.
func (h *Handlers) dropCookie(c echo.Context) {
	c.SetCookie(&http.Cookie{
		Name: h.cookieName(), Path: "/", MaxAge: -1, HttpOnly: true, Secure: h.https, SameSite: http.SameSiteLaxMode,
	})
}

// A visit is who sent a request.
type visit struct {
	account account.Account
	session account.Session // zero when nobody is signed in
	token   string          // proves that a form is ours; empty when none was given out
}

const visitKey = "visit"

// visitOf returns who sent a request that [Handlers.identify] has seen.
func visitOf(c echo.Context) visit {
	v, _ := c.Get(visitKey).(visit)
	return v
}

// account is who sent the request, for files nobody in particular.
func (h *Handlers) account(c echo.Context) account.Account { return visitOf(c).account }

// identify finds out who sent the request, except for what is everybody's: files,
// and the word on whether the process is well, which must not need the database.
// It sets no cookie.
func (h *Handlers) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if path := c.Request().URL.Path; strings.HasPrefix(path, static.Prefix) || path == healthURL || path == readyURL {
			return next(c)
		}
		v, err := h.lookUp(c)
		if err != nil {
			return err
		}
		c.Set(visitKey, v)
		return next(c)
	}
}

func (h *Handlers) lookUp(c echo.Context) (visit, error) {
	ctx := c.Request().Context()
	var v visit
	if _, err := c.Request().Cookie(h.cookieName()); err == nil {
		values := h.cookie(c).Values
		if token, ok := values[sessionKey].(string); ok {
			v.session, v.account, err = h.Accounts.Lookup(ctx, token)
			if err == nil {
				v.token = v.session.CSRFToken
				return v, nil
			}
			if !errors.Is(err, account.ErrNoSession) {
				return v, err
			}
		}
		v.token, _ = values[tokenKey].(string)
	}
	var err error
	v.account, err = h.Accounts.Anonymous(ctx)
	return v, err
}

// sessionToken handles GET /session/token: the token that scripts send with what
// they post. A visitor without one gets one, bound to a cookie.
func (h *Handlers) sessionToken(c echo.Context) error {
	token := visitOf(c).token
	if token == "" {
		b := make([]byte, 32)
		rand.Read(b)
		token = hex.EncodeToString(b)
		if err := h.setCookie(c, tokenKey, token); err != nil {
			return err
		}
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.String(http.StatusOK, token)
}

// startSession signs an account in. The session that the request came with ends,
// so that nobody who knew it is signed in by this.
func (h *Handlers) startSession(c echo.Context, accountID string) error {
	ctx := c.Request().Context()
	if old := visitOf(c).session; old.ID != "" {
		if err := h.Accounts.Revoke(ctx, old.AccountID, old.ID); err != nil && !errors.Is(err, account.ErrNoSession) {
			return err
		}
	}
	token, err := h.Accounts.NewSession(ctx, accountID, c.Request().UserAgent(), c.RealIP())
	if err != nil {
		return err
	}
	return h.setCookie(c, sessionKey, token)
}

// signedIn lets only accounts through and sends visitors to the login page.
func (h *Handlers) signedIn(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if h.account(c).IsAnonymous() {
			return h.askToLogIn(c)
		}
		return next(c)
	}
}

// requires lets only accounts with a permission through.
func (h *Handlers) requires(p account.Permission) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			switch a := h.account(c); {
			case a.Can(p):
				return next(c)
			case a.IsAnonymous():
				return h.askToLogIn(c)
			default:
				return refuse(http.StatusForbidden, "")
			}
		}
	}
}

// askToLogIn sends people who opened a page to the login page, and refuses
// everything else.
func (h *Handlers) askToLogIn(c echo.Context) error {
	if !reads(c.Request()) || isFragment(c) || wantsJSON(c) {
		return refuse(http.StatusForbidden, "")
	}
	return c.Redirect(http.StatusSeeOther, loginURL(c))
}

// loginURL is the login page that leads back here.
func loginURL(c echo.Context) string {
	if !reads(c.Request()) {
		return "/user/login"
	}
	return "/user/login?" + url.Values{"destination": {c.Request().URL.RequestURI()}}.Encode()
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }
