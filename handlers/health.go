package handlers

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// Addresses for whoever watches over the process.
const (
	healthURL = "/healthz"
	readyURL  = "/readyz"
)

// healthy handles GET /healthz: the process answers.
func (h *Handlers) healthy(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.String(http.StatusOK, "ok\n")
}

// ready handles GET /readyz: the process can serve, since its database answers.
func (h *Handlers) ready(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	ctx, cancel := context.WithTimeout(c.Request().Context(), 2*time.Second)
	defer cancel()
	if err := h.DB.Ping(ctx); err != nil {
		h.Log.Warn("not ready", "err", err)
		return c.String(http.StatusServiceUnavailable, "the database does not answer\n")
	}
	return c.String(http.StatusOK, "ok\n")
}
