package handlers

import (
	"crypto/subtle"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/internal/i18n"
)

// contentPolicy lets pages use nothing but the site's own files, and no inline
// script or style.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secure sets the headers that limit what a page may do, before anything can fail.
func (h *Handlers) secure(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set("Content-Security-Policy", contentPolicy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		// Stricter than this, browsers would send "Origin: null" with our own forms.
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		if h.https {
			header.Set("Strict-Transport-Security", "max-age=31536000")
		}
		return next(c)
	}
}

// noStore keeps the pages of a group out of every cache.
func noStore(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set("Cache-Control", "no-store")
		return next(c)
	}
}

// limitBody refuses bodies of more than n bytes.
func limitBody(n int64) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			if r.ContentLength > n {
				return &http.MaxBytesError{Limit: n}
			}
			r.Body = http.MaxBytesReader(c.Response(), r.Body, n)
			return next(c)
		}
	}
}

// guardPublic protects a POST route on pages that everybody shares. Their forms
// hold no token and need proof that the site itself sent them; bodies that only
// scripts can send need the token of the session in X-CSRF-Token.
func (h *Handlers) guardPublic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, ctx := c.Request(), c.Request().Context()
		switch bodyKind(r) {
		case formBody, noBody:
			if !h.sameOrigin(r) {
				return refuse(http.StatusForbidden, i18n.T(ctx, "error.origin"))
			}
		case jsonBody, multipartBody:
			if !h.validToken(c, r.Header.Get("X-CSRF-Token")) {
				return refuse(http.StatusForbidden, i18n.T(ctx, "error.token"))
			}
		default:
			return refuse(http.StatusUnsupportedMediaType, "")
		}
		return next(c)
	}
}

// guardForm protects a POST route of the administration: the session's token comes
// as the form field csrf_token, in multipart forms before the first file, or in
// X-CSRF-Token.
func (h *Handlers) guardForm(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, ctx := c.Request(), c.Request().Context()
		token := r.Header.Get("X-CSRF-Token")
		switch bodyKind(r) {
		case formBody, noBody:
			form, err := postedForm(c)
			if err != nil {
				return err
			}
			if token == "" {
				token = form.Get("csrf_token")
			}
		case multipartBody:
			form, err := h.parts(c)
			if err != nil {
				return err
			}
			if token == "" {
				token = form.values.Get("csrf_token")
			}
		case jsonBody:
		default:
			return refuse(http.StatusUnsupportedMediaType, "")
		}
		if !h.validToken(c, token) {
			return refuse(http.StatusForbidden, i18n.T(ctx, "error.token"))
		}
		return next(c)
	}
}

// sameOrigin reports whether a browser says that a page of this site sent the
// request. Sec-Fetch-Site counts before Origin, which older browsers send; with
// neither there is no proof.
func (h *Handlers) sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || origin.Host == "" {
		return false
	}
	if strings.EqualFold(origin.Host, h.BaseURL.Host) && origin.Scheme == h.BaseURL.Scheme {
		return true
	}
	// The site may be reached under other names than its own, such as localhost.
	return strings.EqualFold(origin.Host, r.Host) && (origin.Scheme == "https" || !h.https)
}

func (h *Handlers) validToken(c echo.Context, token string) bool {
	want := visitOf(c).token
	return want != "" && subtle.ConstantTimeCompare([]byte(want), []byte(token)) == 1
}

// A bodyType is a type of request body as far as its safety goes: other sites can
// make browsers send forms, and only the site's own scripts send JSON.
type bodyType int

const (
	otherBody bodyType = iota
	noBody
	formBody
	jsonBody
	multipartBody
)

func bodyKind(r *http.Request) bodyType {
	header := r.Header.Values(echo.HeaderContentType)
	if len(header) == 0 && r.ContentLength == 0 {
		return noBody
	}
	if len(header) != 1 {
		return otherBody
	}
	kind, _, err := mime.ParseMediaType(header[0])
	if err != nil {
		return otherBody
	}
	switch kind {
	case echo.MIMEApplicationForm:
		return formBody
	case echo.MIMEApplicationJSON:
		return jsonBody
	case echo.MIMEMultipartForm:
		return multipartBody
	default:
		return otherBody
	}
}

// postedForm returns the fields in the body of a request, and none of its address.
func postedForm(c echo.Context) (url.Values, error) {
	r := c.Request()
	if r.PostForm != nil {
		return r.PostForm, nil
	}
	if err := r.ParseForm(); err != nil {
		if _, tooLarge := err.(*http.MaxBytesError); tooLarge {
			return nil, err
		}
		return nil, refuse(http.StatusBadRequest, "")
	}
	return r.PostForm, nil
}
