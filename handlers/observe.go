package handlers

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// statusClientGone is logged for requests whose client left; nobody receives it.
const statusClientGone = 499

// observe gives each request an id, turns its error or panic into a response, and
// logs one line about it.
func (h *Handlers) observe(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		id := make([]byte, 8)
		rand.Read(id)
		c.Response().Header().Set(echo.HeaderXRequestID, hex.EncodeToString(id))
		err := recovered(next, c)
		status := 0
		if err != nil {
			status = h.fail(c, err)
		} else {
			status = c.Response().Status
		}
		h.logRequest(c, start, hex.EncodeToString(id), status, err)
		return nil
	}
}

// logRequest is apart from observe for the sake of streams, whose thousands of
// goroutines would all keep room for it on their stacks.
func (h *Handlers) logRequest(c echo.Context, start time.Time, id string, status int, err error) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("method", c.Request().Method), slog.String("path", loggedPath(c)), slog.Int("status", status),
		slog.Int64("ms", time.Since(start).Milliseconds()), slog.String("request", id),
	}
	if a := h.account(c); !a.IsAnonymous() {
		attrs = append(attrs, slog.String("account", a.ID))
	}
	if err != nil && status >= http.StatusInternalServerError {
		level = slog.LevelError
		attrs = append(attrs, slog.String("error", err.Error()))
		if p, ok := err.(*panicError); ok {
			attrs = append(attrs, slog.String("stack", p.stack))
		}
	}
	h.Log.LogAttrs(context.WithoutCancel(c.Request().Context()), level, "request", attrs...)
}

// loggedPath is the address without its query, and without the values in it: some
// of them are secrets, such as sign-in tokens and ids of conversations.
func loggedPath(c echo.Context) string {
	if route := c.Path(); strings.Contains(route, ":") {
		return route
	}
	path := c.Request().URL.Path
	for _, secret := range []string{"/ai-answers/", "/user/"} { // an address like one of those, not quite right
		if strings.HasPrefix(path, secret) && c.Path() != path {
			return secret + "…"
		}
	}
	return path
}

type panicError struct {
	value any
	stack string
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// recovered calls next and returns its panic as an error.
func recovered(next echo.HandlerFunc, c echo.Context) (err error) {
	defer func() {
		switch value := recover(); value {
		case nil:
		case http.ErrAbortHandler:
			panic(value)
		default:
			err = &panicError{value: value, stack: string(debug.Stack())}
		}
	}()
	return next(c)
}
