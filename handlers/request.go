package handlers

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/internal/i18n"
)

// decodeBody reads a request from JSON or a form. The route has checked that the
// body is one of the types allowed there.
func decodeBody(c echo.Context, dest any) error {
	ctx := c.Request().Context()
	if bodyKind(c.Request()) != jsonBody {
		return c.Bind(dest)
	}
	d := json.NewDecoder(c.Request().Body)
	if err := d.Decode(dest); err != nil {
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return tooLarge
		}
		return refuse(http.StatusBadRequest, i18n.T(ctx, "invalid.json_invalid"))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return refuse(http.StatusBadRequest, i18n.T(ctx, "invalid.json_invalid"))
	}
	return nil
}

func isHTMX(c echo.Context) bool { return c.Request().Header.Get("HX-Request") == "true" }

// accepts reports whether the client names a media type among those it takes.
func accepts(c echo.Context, media string) bool {
	for part := range strings.SplitSeq(c.Request().Header.Get(echo.HeaderAccept), ",") {
		if kind, params, err := mime.ParseMediaType(part); err == nil && kind == media && params["q"] != "0" {
			return true
		}
	}
	return false
}

// isFragment reports whether htmx asks for a part of a page. It asks for whole
// pages too: for boosted links, for its history, and to replace the body.
func isFragment(c echo.Context) bool {
	h := c.Request().Header
	return isHTMX(c) && h.Get("HX-Boosted") != "true" && h.Get("HX-History-Restore-Request") != "true" &&
		h.Get("HX-Request-Type") != "full"
}
