package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/db"
	"docent/internal/account"
	"docent/internal/content"
	"docent/internal/i18n"
)

// Types of nodes that the public site knows more about than their fields.
const (
	articleType  = "article"
	eventType    = "event"
	faqType      = "faq"
	externalType = "external"
)

// page handles every address that no other route takes: behind the prefix of a
// language, a page of the program's own, a feed, or the page of an entity.
func (h *Handlers) page(c echo.Context) error {
	lang, path := h.lang(c), h.pathOnSite(c)
	switch path {
	case answersURL:
		return h.answers(c)
	case searchURL:
		return h.searchPage(c)
	}
	if section, ok := strings.CutSuffix(path, feedName); ok {
		return h.feed(c, section)
	}
	it, fallback, err := h.entityAt(c, path)
	if moved, ok := errors.AsType[*content.Redirect](err); ok {
		status := http.StatusMovedPermanently
		if moved.Temporary {
			status = http.StatusFound
		}
		h.countRedirect(c, path)
		return c.Redirect(status, moved.To)
	}
	if errors.Is(err, db.ErrNotFound) {
		return h.withoutEntity(c, path)
	}
	if err != nil {
		return err
	}
	if path == "/" {
		if wanted := h.frontLanguage(c, it); wanted != lang && lang == h.Content.DefaultLanguage() {
			to := url.URL{Path: h.languagePrefix(wanted) + "/", RawQuery: c.Request().URL.RawQuery}
			c.Response().Header().Set("Cache-Control", "no-cache")
			return c.Redirect(http.StatusFound, to.String())
		}
		return h.frontPage(c, it, fallback)
	}
	if it.Type == content.TypeTerm {
		return h.topicPage(c, it)
	}
	if it.Type == content.TypeMedia {
		return h.mediaPage(c, it, fallback)
	}
	return h.nodePage(c, it, path, fallback)
}

// entityAt finds what an address shows in the language asked for, or else in the
// site's own; fallback then is the name of that language.
func (h *Handlers) entityAt(c echo.Context, path string) (it content.Item, fallback string, err error) {
	ctx, who, lang := c.Request().Context(), h.account(c), h.lang(c)
	it, err = h.Content.ByPath(ctx, who, lang, path)
	if moved, ok := errors.AsType[*content.Redirect](err); ok && lang != h.Content.DefaultLanguage() && moved.To == path {
		err = db.ErrNotFound // it did not move: it is there, in the site's own language alone
	}
	if errors.Is(err, db.ErrNotFound) && lang != h.Content.DefaultLanguage() {
		if it, err = h.Content.ByPath(ctx, who, h.Content.DefaultLanguage(), path); err == nil {
			fallback = i18n.Name(it.Lang)
		}
	}
	return it, fallback, err
}

// withoutEntity handles addresses at which nothing is kept: lists that the site
// has by itself, and what was archived.
func (h *Handlers) withoutEntity(c echo.Context, path string) error {
	switch gone, err := h.wasArchived(c, path); {
	case err != nil:
		return err
	case gone:
		return refuse(http.StatusGone, "")
	case path == "/":
		return h.emptyFrontPage(c)
	case path == topicsURL:
		return h.topicsPage(c)
	}
	types, err := h.Content.Types(c.Request().Context())
	if err != nil {
		return err
	}
	for _, t := range types.Bundles(content.TypeNode) {
		if path == listingPath(t.Name) {
			return h.typePage(c, t)
		}
	}
	return db.ErrNotFound
}

// archivist sees what was taken down, to tell it from what never was.
var archivist = account.Account{Permissions: map[account.Permission]bool{
	account.AccessContent: true, account.ViewUnpublished: true, account.EditContent: true,
}}

// wasArchived reports whether an address was public once, for visitors like this
// one, and was taken down on purpose.
func (h *Handlers) wasArchived(c echo.Context, path string) (bool, error) {
	ctx := c.Request().Context()
	it, err := h.Content.ByPath(ctx, archivist, h.lang(c), path)
	if err != nil || it.Published || it.LatestState != content.Archived || !content.CanViewRoles(h.account(c), it.ViewRoles) {
		return false, nil // whatever went wrong, the address shows nothing
	}
	history, err := h.Content.History(ctx, archivist, it.Ref, it.Lang)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(history, func(r content.Revision) bool { return r.State == content.Published }), nil
}

// listingPath is where the site lists the nodes of a type, "" where it does not:
// pages have their sections.
func listingPath(bundle string) string {
	switch bundle {
	case "page", externalType:
		return ""
	case articleType:
		return "/articles/"
	case eventType:
		return "/events/"
	}
	return "/" + strings.ReplaceAll(bundle, "_", "-") + "/"
}
