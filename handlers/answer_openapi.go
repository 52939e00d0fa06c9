package handlers

import (
	_ "embed"
	"net/http"

	"github.com/labstack/echo/v4"
)

//go:embed openapi.json
var openAPI []byte

// openAPI handles GET /ai-answers/openapi.json: the description of these routes
// for programs.
func (h *Handlers) openAPI(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "public, max-age=3600")
	return c.Blob(http.StatusOK, "application/json", openAPI)
}
