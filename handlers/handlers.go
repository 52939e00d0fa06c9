// Package handlers is the site over HTTP: it decodes requests, calls what does the
// work and renders what comes back.
package handlers

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"

	"github.com/gorilla/sessions"
	"github.com/labstack/echo/v4"

	"docent/db"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/editing"
	"docent/internal/job"
	"docent/internal/search"
)

// Deps is what the handlers work with.
type Deps struct {
	DB             *db.DB
	Config         *config.Store
	Accounts       *account.Service
	Content        *content.Store
	Editing        *editing.Store
	Search         *search.Engine
	Answers        *answer.Service
	Jobs           *job.Queue
	Log            *slog.Logger
	BaseURL        *url.URL       // of the site as visitors see it; with https, cookies are for https only
	TrustedProxies []netip.Prefix // whose X-Forwarded-For is believed
	ConfigWritable bool           // structure may be changed in the browser
	Development    bool           // everybody may see the style guide
}

// Handlers answers the requests of a site.
type Handlers struct {
	Deps
	cookies *sessions.CookieStore
	asked   buckets // questions by visitor
	shells  shells  // pages that everybody gets
	shared  buckets // links to answers made and ended, by visitor
	https   bool
}

// New returns handlers whose cookies all processes of the site understand.
func New(ctx context.Context, d Deps) (*Handlers, error) {
	signing, err := d.Accounts.Secret(ctx, "cookie signing", 64)
	if err != nil {
		return nil, fmt.Errorf("handlers: %w", err)
	}
	encryption, err := d.Accounts.Secret(ctx, "cookie encryption", 32)
	if err != nil {
		return nil, fmt.Errorf("handlers: %w", err)
	}
	h := &Handlers{Deps: d, https: d.BaseURL.Scheme == "https"}
	h.cookies = newCookieStore(signing, encryption, h.https)
	return h, nil
}

// Echo returns the site as one HTTP handler.
func (h *Handlers) Echo() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.IPExtractor = clientAddress(h.TrustedProxies)
	e.HTTPErrorHandler = func(err error, c echo.Context) { h.fail(c, err) }
	e.Use(h.observe, h.secure, h.speak, h.identify)
	h.routes(e)
	return e
}

// clientAddress reads the visitor's address from X-Forwarded-For as far as known
// proxies wrote it, and else takes the connection's.
func clientAddress(trusted []netip.Prefix) echo.IPExtractor {
	if len(trusted) == 0 {
		return echo.ExtractIPDirect()
	}
	options := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range trusted {
		options = append(options, echo.TrustIPRange(&net.IPNet{
			IP: p.Masked().Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen()),
		}))
	}
	return echo.ExtractIPFromXFFHeader(options...)
}
