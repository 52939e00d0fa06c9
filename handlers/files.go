package handlers

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"docent/db"
)

// filePolicy keeps a file that is opened by itself from doing anything.
const filePolicy = "default-src 'none'; sandbox"

// file handles GET /files/*: an image that content shows. An address may get
// other bytes later, so caches ask each time whether theirs are still current.
func (h *Handlers) file(c echo.Context) error {
	path, err := url.PathUnescape(c.Param("*"))
	if err != nil {
		return db.ErrNotFound
	}
	f, err := h.Content.FileByPath(c.Request().Context(), path)
	if err != nil {
		return err
	}
	body, err := h.Content.OpenFile(f)
	if err != nil {
		return err
	}
	defer body.Close()
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, f.MIME)
	header.Set("Content-Security-Policy", filePolicy)
	header.Set("Cache-Control", "public, no-cache")
	header.Set("ETag", `"`+f.Hash[:32]+`"`)
	http.ServeContent(c.Response(), c.Request(), "", f.CreatedAt, body)
	return nil
}
