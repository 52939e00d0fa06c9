package handlers

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// A refusal is an error with the status and the text that the client is shown.
type refusal struct {
	status  int
	message string // empty: what pages say about the status
}

func (r *refusal) Error() string { return cmp.Or(r.message, http.StatusText(r.status)) }

// refuse returns an error that is shown as it says.
func refuse(status int, message string) error { return &refusal{status, message} }

// A verdict is what the client gets for an error.
type verdict struct {
	status     int
	message    string
	retryAfter time.Duration
	redirect   string
}

// judge maps errors to verdicts. What it does not know is internal, and its text
// stays in the log.
func judge(err error) verdict {
	if e, ok := errors.AsType[*waitRefusal](err); ok {
		return verdict{status: e.status, message: e.message, retryAfter: e.after}
	}
	if e, ok := errors.AsType[*refusal](err); ok {
		return verdict{status: e.status, message: e.message}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return verdict{status: http.StatusRequestEntityTooLarge}
	}
	if e, ok := errors.AsType[*echo.HTTPError](err); ok {
		return verdict{status: e.Code}
	}
	if e, ok := errors.AsType[*content.Redirect](err); ok {
		return verdict{status: http.StatusMovedPermanently, redirect: e.To}
	}
	if e, ok := errors.AsType[*account.ThrottledError](err); ok {
		return verdict{status: http.StatusTooManyRequests, message: sentence(e.Error()), retryAfter: e.RetryAfter}
	}
	if e, ok := errors.AsType[*answer.LimitError](err); ok {
		return verdict{status: http.StatusTooManyRequests, retryAfter: e.RetryAfter}
	}
	if fields := refusedFields(err); fields != nil {
		var parts []string
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			parts = append(parts, strings.TrimSpace(field+" "+fields[field]))
		}
		return verdict{status: http.StatusUnprocessableEntity, message: sentence(strings.Join(parts, "; "))}
	}
	if _, ok := errors.AsType[*answer.InvalidError](err); ok {
		return verdict{status: http.StatusBadRequest}
	}
	if _, ok := errors.AsType[*answer.UnusableError](err); ok {
		return verdict{status: http.StatusConflict}
	}
	for _, known := range []struct {
		err    error
		status int
		show   bool // the error's own text
	}{
		{db.ErrNotFound, http.StatusNotFound, false},
		{answer.ErrNotFound, http.StatusNotFound, false},
		{account.ErrNoSession, http.StatusNotFound, false},
		{account.ErrLink, http.StatusNotFound, true},
		{content.ErrForbidden, http.StatusForbidden, false},
		{account.ErrBeyondOwn, http.StatusForbidden, true},
		{account.ErrBlocked, http.StatusForbidden, true},
		{content.ErrConflict, http.StatusConflict, true},
		{answer.ErrBusy, http.StatusConflict, false},
		{answer.ErrFeedbackOff, http.StatusConflict, true},
		{account.ErrLastAdministrator, http.StatusConflict, true},
		{config.ErrRequired, http.StatusConflict, true},
		{context.DeadlineExceeded, http.StatusServiceUnavailable, false},
	} {
		if errors.Is(err, known.err) {
			v := verdict{status: known.status}
			if known.show {
				v.message = sentence(known.err.Error())
			}
			return v
		}
	}
	return verdict{status: http.StatusInternalServerError}
}

// refusedFields returns what an error says about single fields, nil if nothing.
func refusedFields(err error) map[string]string {
	if e, ok := errors.AsType[*account.InvalidError](err); ok {
		return e.Fields
	}
	if e, ok := errors.AsType[*config.InvalidError](err); ok {
		return e.Fields
	}
	if e, ok := errors.AsType[*content.InvalidError](err); ok {
		return e.Fields
	}
	return nil
}

// sentence makes an error's text one that can stand alone.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:] + "."
}

// fail writes the response for an error and returns its status: a page, a fragment
// for htmx, or JSON. A client that left gets nothing, and neither does one whose
// response has begun.
func (h *Handlers) fail(c echo.Context, err error) int {
	if _, panicked := err.(*panicError); !panicked && errors.Is(c.Request().Context().Err(), context.Canceled) {
		return statusClientGone
	}
	v := judge(err)
	if c.Response().Committed {
		return v.status
	}
	header := c.Response().Header()
	header.Del("ETag")
	header.Set("Cache-Control", "no-store")
	setRetryAfter(c, v.retryAfter)
	if write := h.writeVerdict(c, v); write != nil {
		h.Log.Error("error page", "request", header.Get(echo.HeaderXRequestID), "error", write)
		if !c.Response().Committed {
			c.String(v.status, http.StatusText(v.status))
		}
	}
	return v.status
}

// setRetryAfter tells programs how long to wait, in whole seconds.
func setRetryAfter(c echo.Context, wait time.Duration) {
	if wait > 0 {
		c.Response().Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	}
}

func (h *Handlers) writeVerdict(c echo.Context, v verdict) error {
	ctx := c.Request().Context()
	switch {
	case v.redirect != "":
		c.Response().Header().Set("Cache-Control", "no-cache")
		return c.Redirect(v.status, (&url.URL{Path: v.redirect, RawQuery: c.Request().URL.RawQuery}).String())
	case isFragment(c) && v.status == http.StatusNotFound && c.Get(askedKey) != nil:
		return h.fragment(c, v.status, components.Notice(components.NoticeProps{Kind: components.NoticeDanger, Live: true,
			Title: i18n.T(ctx, "conversation.missing"), Message: v.message}))
	case isFragment(c):
		return h.fragment(c, v.status, views.ErrorNotice(v.status, v.message))
	case wantsJSON(c):
		return c.JSON(v.status, map[string]string{"message": views.ErrorMessage(ctx, v.status, v.message)})
	}
	p := views.ErrorPage{Site: h.errorSite(c, v.status), Status: v.status, Message: v.message}
	if v.status >= http.StatusInternalServerError {
		p.RequestID = c.Response().Header().Get(echo.HeaderXRequestID)
	}
	if p.Question = h.refusedForm(c, v.status); p.Question != nil {
		p.Blocks = views.Blocks{} // one form, and that with the question
	}
	switch {
	case p.Question != nil && v.status == http.StatusNotFound:
		p.Title = i18n.T(ctx, "conversation.missing")
	case p.Question == nil && (v.status == http.StatusNotFound || v.status == http.StatusGone):
		p.SearchURL = h.languagePrefix(h.lang(c)) + searchURL
		p.Query, p.Nearest = h.nearest(c)
	}
	if v.status == http.StatusForbidden && h.account(c).IsAnonymous() {
		p.LoginURL = loginURL(c)
	}
	return h.render(c, v.status, views.Error(p))
}

// wantsJSON reports whether a client is a program: it sends JSON, or takes JSON or
// events, and does not take pages.
func wantsJSON(c echo.Context) bool {
	if accepts(c, "text/html") {
		return false
	}
	kind := bodyKind(c.Request())
	return kind == jsonBody || accepts(c, echo.MIMEApplicationJSON) || accepts(c, "text/event-stream")
}
