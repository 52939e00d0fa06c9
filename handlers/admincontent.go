package handlers

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// contentList handles GET /admin/content: the pages that the account may see,
// the last changed first.
func (h *Handlers) contentList(c echo.Context) error {
	ctx, n := c.Request().Context(), pageNumber(c)
	page := views.ContentListPage{
		Admin: h.admin(c), Action: "/admin/content",
		Text: c.QueryParam("text"), Type: c.QueryParam("type"), State: c.QueryParam("state"), Language: c.QueryParam("language"),
		States: []components.Option{
			{Value: string(content.Published), Label: i18n.T(ctx, "state.published")},
			{Value: string(content.Draft), Label: i18n.T(ctx, "state.draft")},
			{Value: string(content.Archived), Label: i18n.T(ctx, "state.archived")},
		},
	}
	if !slices.ContainsFunc(page.States, func(o components.Option) bool { return o.Value == page.State }) {
		page.State = ""
	}
	if page.Type != "" {
		page.Types = []components.Option{{Value: page.Type, Label: content.Humanize(page.Type)}}
	}
	languages, err := config.Languages(ctx, h.Config)
	if err != nil {
		return err
	}
	for _, l := range languages {
		page.Languages = append(page.Languages, components.Option{Value: l.Name, Label: l.Value.Label})
	}
	items, total, err := h.Content.List(ctx, h.account(c), content.Filter{
		Type: content.TypeNode, Bundle: page.Type, Lang: page.Language, State: content.State(page.State), Text: page.Text,
		Order: content.ByChanged, Limit: pageSize, Offset: (n - 1) * pageSize,
	})
	if err != nil {
		return err
	}
	for _, it := range items {
		page.Rows = append(page.Rows, contentRow(it))
	}
	page.Pager = pager(c, n, len(items), total)
	return h.render(c, http.StatusOK, views.ContentList(page))
}

func contentRow(it content.Item) views.ContentRow {
	return views.ContentRow{
		Title: it.Title, URL: it.Path, Path: it.Path, Type: content.Humanize(it.Bundle), State: string(it.State),
		NewDraft: it.Published && it.LatestState == content.Draft, Languages: it.Languages, Changed: it.UpdatedAt,
	}
}
