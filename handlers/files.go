package handlers

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"docent/db"
	"docent/internal/content"
	"docent/internal/media"
)

// filePolicy keeps a file that is opened by itself from doing anything.
const filePolicy = "default-src 'none'; sandbox"

// file handles GET /files/*: a file that content shows. Its address may get other
// bytes later and others may be kept from it, so caches ask each time.
func (h *Handlers) file(c echo.Context) error {
	ctx := c.Request().Context()
	path, err := url.PathUnescape(c.Param("*"))
	if err != nil {
		return db.ErrNotFound
	}
	f, err := h.Content.FileByPath(ctx, path)
	if err != nil {
		return err
	}
	if err := h.Content.MayRead(ctx, h.account(c), f); err != nil {
		return err
	}
	body, err := h.Content.OpenFile(f)
	if err != nil {
		return err
	}
	return serveFile(c, f, body, f.MIME, f.Hash[:32])
}

// derivative handles GET /files/styles/{style}/{file}/{version}: an image as a style
// shows it. Other addresses that begin alike are files.
func (h *Handlers) derivative(c echo.Context) error {
	ctx, style, id := c.Request().Context(), c.Param("style"), c.Param("file")
	if _, known := media.StyleNamed(style); !known || uuid.Validate(id) != nil {
		c.SetParamNames("*")
		c.SetParamValues(strings.TrimPrefix(c.Request().URL.EscapedPath(), content.FilePrefix))
		return h.file(c)
	}
	f, err := h.Content.File(ctx, id)
	if err != nil {
		return err
	}
	if err := h.Content.MayRead(ctx, h.account(c), f); err != nil {
		return err
	}
	body, mime, err := h.Content.OpenDerivative(ctx, f, style)
	if errors.Is(err, media.ErrDamaged) || errors.Is(err, media.ErrTooLarge) { // an import that cannot be decoded: as it is
		if body, err = h.Content.OpenFile(f); err == nil {
			mime = f.MIME
		}
	}
	if err != nil {
		return err
	}
	return serveFile(c, f, body, mime, f.Hash[:16]+"-"+style+"-"+c.Param("version"))
}

// serveFile sends a file and closes it. Only images are shown; all else is saved.
func serveFile(c echo.Context, f content.File, body *os.File, mimeType, etag string) error {
	defer body.Close()
	header := c.Response().Header()
	if strings.HasPrefix(mimeType, "text/") {
		mimeType += "; charset=utf-8"
	}
	header.Set(echo.HeaderContentType, mimeType)
	header.Set("Content-Security-Policy", filePolicy)
	header.Set("Cache-Control", "public, no-cache")
	if f.Private {
		header.Set("Cache-Control", "private, no-cache")
		header.Set("Vary", "Cookie")
	}
	if !f.IsImage() {
		header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	}
	header.Set("ETag", `"`+etag+`"`)
	http.ServeContent(c.Response(), c.Request(), "", f.CreatedAt, body)
	return nil
}
