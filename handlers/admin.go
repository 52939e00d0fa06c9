package handlers

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/account"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/internal/llm"
	"docent/views"
)

// pageSize is how many rows a list of the administration shows.
const pageSize = 50

// admin is what stands around every page of the administration.
func (h *Handlers) admin(c echo.Context) views.Admin {
	ctx, v := c.Request().Context(), visitOf(c)
	s := h.site(c)
	s.Blocks, s.Menu, s.FooterLinks = views.Blocks{}, nil, nil
	s.AccountName, s.CSRF = v.account.Name, v.token
	a := views.Admin{Site: s, AccountURL: "/user", LogoutURL: "/user/logout", Rail: h.rail(c)}
	if text := doneText(ctx, c.QueryParam("done")); text != "" {
		a.Notices = []components.NoticeProps{{Kind: components.NoticeOK, Title: text, Live: true}}
	}
	return a
}

// doneText says what was just done. The address carries only which of these it
// was, so that no other text can be put on the page by a link.
func doneText(ctx context.Context, done string) string {
	switch done {
	case "password":
		return i18n.T(ctx, "done.password")
	case "session":
		return i18n.T(ctx, "done.session")
	case "sessions":
		return i18n.T(ctx, "done.sessions")
	case "settings":
		return i18n.T(ctx, "done.settings")
	case "blocked":
		return i18n.T(ctx, "done.blocked")
	case "unblocked":
		return i18n.T(ctx, "done.unblocked")
	case "created":
		return i18n.T(ctx, "done.created")
	case "saved":
		return i18n.T(ctx, "done.saved")
	case "added":
		return i18n.T(ctx, "done.added")
	case "draft":
		return i18n.T(ctx, "done.draft")
	case "published":
		return i18n.T(ctx, "done.published")
	case "reverted":
		return i18n.T(ctx, "done.reverted")
	case "discarded":
		return i18n.T(ctx, "done.discarded")
	case "unpublished":
		return i18n.T(ctx, "done.unpublished")
	case "archived":
		return i18n.T(ctx, "done.archived")
	case "partly":
		return i18n.T(ctx, "done.partly")
	case "nothing":
		return i18n.T(ctx, "content.nothing_chosen")
	case "deleted":
		return i18n.T(ctx, "done.deleted")
	case "terms_merged":
		return i18n.T(ctx, "done.terms_merged")
	case "moved":
		return i18n.T(ctx, "done.moved")
	case "merged":
		return i18n.T(ctx, "done.merged")
	}
	return ""
}

// dashboard handles GET /admin.
func (h *Handlers) dashboard(c echo.Context) error {
	ctx, who := c.Request().Context(), h.account(c)
	stats, err := h.Search.Stats(ctx)
	if err != nil {
		return err
	}
	page := views.DashboardPage{Admin: h.admin(c), Model: h.Answers.Model.Name(), IndexChunks: stats.Chunks, IndexChanged: stats.LastChange}
	page.ModelOffline = page.Model == llm.OfflineName
	for _, f := range []struct {
		label string
		state content.State
	}{
		{i18n.T(ctx, "state.published"), content.Published},
		{i18n.T(ctx, "state.draft"), content.Draft},
		{i18n.T(ctx, "state.archived"), content.Archived},
	} {
		_, n, err := h.Content.List(ctx, who, content.Filter{Type: content.TypeNode, State: f.state, Limit: 1})
		if err != nil {
			return err
		}
		page.Counts = append(page.Counts, views.Count{
			Label: f.label, Value: n, URL: "/admin/content?" + url.Values{"state": {string(f.state)}}.Encode(),
		})
	}
	if n, err := h.reviewCount(c); err != nil {
		return err
	} else if n >= 0 {
		page.Counts = append(page.Counts, views.Count{Label: i18n.T(ctx, "content.review"), Value: n, URL: reviewURL})
	}
	if who.Can(account.AdministerAccounts) {
		_, n, err := h.Accounts.List(ctx, 0, 1)
		if err != nil {
			return err
		}
		page.Counts = append(page.Counts, views.Count{Label: i18n.T(ctx, "accounts.title"), Value: n, URL: "/admin/people"})
	}
	return h.render(c, http.StatusOK, views.Dashboard(page))
}

// pageNumber reads which page of a list is asked for, from 1.
func pageNumber(c echo.Context) int {
	n, err := strconv.Atoi(c.QueryParam("page"))
	if err != nil {
		return 1
	}
	return min(max(n, 1), 1_000_000)
}

// pager leads to the pages around page n of a list, keeping its filters.
func pager(c echo.Context, n, shown, total int) components.PagerProps {
	p := components.PagerProps{Total: total}
	if shown > 0 {
		p.From, p.To = (n-1)*pageSize+1, (n-1)*pageSize+shown
	}
	link := func(n int) string {
		query := c.Request().URL.Query()
		query.Del("done")
		query.Set("page", strconv.Itoa(n))
		return c.Request().URL.Path + "?" + query.Encode()
	}
	if n > 1 {
		p.PrevURL = link(n - 1)
	}
	if n*pageSize < total {
		p.NextURL = link(n + 1)
	}
	return p
}
