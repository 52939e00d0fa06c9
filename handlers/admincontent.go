package handlers

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

const (
	contentListURL = "/admin/content"
	reviewURL      = "/admin/content/review"
)

// authorsShown bounds the filter by author.
const authorsShown = 200

// contentList handles GET /admin/content: the pages that the account may see, the
// last changed first.
func (h *Handlers) contentList(c echo.Context) error {
	page, filter, err := h.contentPage(c, contentListURL)
	if err != nil {
		return err
	}
	return h.showContent(c, page, filter)
}

// reviewList handles GET /admin/content/review: drafts beside something published
// and drafts that were never public, for those who may publish them.
func (h *Handlers) reviewList(c echo.Context) error {
	page, filter, err := h.contentPage(c, reviewURL)
	if err != nil {
		return err
	}
	page.Heading, page.ReviewCurrent = i18n.T(c.Request().Context(), "content.review"), true
	bundles, err := h.reviewable(c)
	if err != nil {
		return err
	}
	if len(bundles) == 0 {
		return content.ErrForbidden
	}
	filter.States = []content.State{content.Draft}
	if filter.Bundle == "" {
		filter.Bundles = bundles
	} else if !slices.Contains(bundles, filter.Bundle) {
		return content.ErrForbidden
	}
	return h.showContent(c, page, filter)
}

// contentPage reads the filters of a list.
func (h *Handlers) contentPage(c echo.Context, address string) (views.ContentListPage, content.Filter, error) {
	ctx := c.Request().Context()
	page := views.ContentListPage{
		Admin: h.admin(c), Action: address, BulkAction: "/admin/content/bulk", Text: c.QueryParam("text"), Type: c.QueryParam("type"),
		State: c.QueryParam("state"), Language: c.QueryParam("language"), Author: c.QueryParam("author"), Sort: c.QueryParam("sort"),
		States: []components.Option{
			{Value: string(content.Published), Label: i18n.T(ctx, "state.published")},
			{Value: string(content.Draft), Label: i18n.T(ctx, "state.draft")},
			{Value: string(content.Archived), Label: i18n.T(ctx, "state.archived")},
		},
	}
	if !slices.ContainsFunc(page.States, func(o components.Option) bool { return o.Value == page.State }) {
		page.State = ""
	}
	filter := content.Filter{
		Type: content.TypeNode, Bundle: page.Type, Lang: page.Language, Author: page.Author, Text: page.Text,
		Order: content.ByChanged, Limit: pageSize, Offset: (pageNumber(c) - 1) * pageSize,
	}
	if page.State != "" {
		filter.State = content.State(page.State)
	}
	h.sortContent(c, &page, &filter)
	return page, filter, h.contentOptions(c, &page)
}

// sortContent reads the order of a list and leads to the other ones.
func (h *Handlers) sortContent(c echo.Context, page *views.ContentListPage, filter *content.Filter) {
	link := func(sort string) string {
		query := c.Request().URL.Query()
		for _, name := range []string{"done", "page", "sort"} {
			query.Del(name)
		}
		if sort != "" {
			query.Set("sort", sort)
		}
		if len(query) == 0 {
			return page.Action
		}
		return page.Action + "?" + query.Encode()
	}
	page.ByTitle.URL, page.ByChanged.URL = link("title"), link("")
	switch page.Sort {
	case "title":
		filter.Order, page.ByTitle.Order, page.ByTitle.URL = content.ByTitle, "ascending", link("-title")
	case "-title":
		filter.Order, filter.Reverse, page.ByTitle.Order = content.ByTitle, true, "descending"
	case "-changed":
		filter.Reverse, page.ByChanged.Order = true, "ascending"
	default:
		page.Sort, page.ByChanged.Order, page.ByChanged.URL = "", "descending", link("-changed")
	}
}

// contentOptions fills what the filters offer.
func (h *Handlers) contentOptions(c echo.Context, page *views.ContentListPage) error {
	ctx := c.Request().Context()
	types, err := h.Content.Types(ctx)
	if err != nil {
		return err
	}
	for _, t := range types.Bundles(content.TypeNode) {
		page.Types = append(page.Types, components.Option{Value: t.Name, Label: t.Value.LabelIn(i18n.Language(ctx))})
	}
	languages, err := config.Languages(ctx, h.Config)
	if err != nil {
		return err
	}
	for _, l := range languages {
		page.Languages = append(page.Languages, components.Option{Value: l.Name, Label: l.Value.Label})
	}
	people, _, err := h.Accounts.List(ctx, 0, authorsShown)
	if err != nil {
		return err
	}
	for _, p := range people {
		if len(p.Roles) > 0 || p.ID == page.Author {
			page.Authors = append(page.Authors, components.Option{Value: p.ID, Label: p.Name})
		}
	}
	creatable, err := h.Content.MayCreate(ctx, h.account(c), content.TypeNode)
	if err != nil {
		return err
	}
	page.Add = addLinks(c, creatable)
	return nil
}

func addLinks(c echo.Context, types []config.Named[config.ContentType]) []components.Link {
	var out []components.Link
	for _, t := range types {
		if t.Name == externalType { // copies of pages elsewhere: nobody writes them here
			continue
		}
		out = append(out, components.Link{Label: t.Value.LabelIn(i18n.Language(c.Request().Context())), URL: addURL(t.Name), Summary: t.Value.Description})
	}
	return out
}

// showContent renders a list with what can be done with it.
func (h *Handlers) showContent(c echo.Context, page views.ContentListPage, filter content.Filter) error {
	ctx, who := c.Request().Context(), h.account(c)
	items, total, err := h.Content.List(ctx, who, filter)
	if err != nil {
		return err
	}
	authors := make([]string, len(items))
	for i, it := range items {
		authors[i] = it.AuthorID
	}
	names, zone := h.authorNames(c, authors...), h.zone(c.Request().Context())
	labels := map[string]string{}
	for _, t := range page.Types {
		labels[t.Value] = t.Label
	}
	for _, it := range items {
		row := views.ContentRow{
			Key: it.ID + "." + it.Lang, Title: it.Title, URL: nodeURL(it.ID, it.Lang), Path: it.Path, Type: labels[it.Bundle],
			State: string(it.LatestState), NewDraft: it.Published && it.LatestState == content.Draft,
			Lang: it.Lang, Languages: it.Languages, Author: names[it.AuthorID], Changed: it.UpdatedAt.In(zone),
		}
		if row.NewDraft {
			row.State = string(content.Published)
		}
		if row.Type == "" {
			row.Type = content.Humanize(it.Bundle)
		}
		if len(row.Languages) == 0 {
			row.Languages = []string{it.Lang}
		}
		if h.Content.May(who, content.OpEdit, it) != nil {
			row.URL = it.Path
		}
		page.Rows = append(page.Rows, row)
	}
	page.Actions = []views.ContentAction{
		{Op: "publish", Label: i18n.T(ctx, "content.publish")}, {Op: "unpublish", Label: i18n.T(ctx, "content.unpublish")},
		{Op: "archive", Label: i18n.T(ctx, "content.archive")}, {Op: "delete", Label: i18n.T(ctx, "content.delete"), Danger: true},
	}
	page.Pager = pager(c, pageNumber(c), len(items), total)
	page.Back = listAddress(c)
	if page.ReviewCount, err = h.reviewCount(c); err != nil {
		return err
	}
	if page.ReviewCount >= 0 {
		page.ReviewURL = reviewURL
	}
	return h.render(c, http.StatusOK, views.ContentList(page))
}

// listAddress is the list as it is shown, without what was just done.
func listAddress(c echo.Context) string {
	query := c.Request().URL.Query()
	query.Del("done")
	if len(query) == 0 {
		return c.Request().URL.Path
	}
	return c.Request().URL.Path + "?" + query.Encode()
}

// reviewable lists the types whose drafts the account may publish.
func (h *Handlers) reviewable(c echo.Context) ([]string, error) {
	types, err := h.Content.Types(c.Request().Context())
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range types.Bundles(content.TypeNode) {
		may := h.account(c).Can(account.EditContent) || h.account(c).Can(config.PermissionFor(config.OpPublish, content.TypeNode, t.Name))
		if t.Value.Workflow && may {
			out = append(out, t.Name)
		}
	}
	return out, nil
}

// reviewCount is how many drafts wait, -1 for accounts that can publish nothing.
func (h *Handlers) reviewCount(c echo.Context) (int, error) {
	bundles, err := h.reviewable(c)
	if err != nil || len(bundles) == 0 {
		return -1, err
	}
	_, n, err := h.Content.List(c.Request().Context(), h.account(c), content.Filter{
		Type: content.TypeNode, Bundles: bundles, States: []content.State{content.Draft}, Limit: 1,
	})
	return n, err
}

// contentAdd handles GET /admin/content/add: what can be made, and what was begun.
func (h *Handlers) contentAdd(c echo.Context) error {
	types, err := h.Content.MayCreate(c.Request().Context(), h.account(c), content.TypeNode)
	if err != nil {
		return err
	}
	if len(types) == 0 {
		return content.ErrForbidden
	}
	page := views.ContentAddPage{Admin: h.admin(c), Types: addLinks(c, types)}
	if page.Begun, err = h.begun(c, "", ""); err != nil {
		return err
	}
	page.Crumbs = []components.Link{{Label: i18n.T(c.Request().Context(), "content.title"), URL: contentListURL}, {Label: i18n.T(c.Request().Context(), "content.add")}}
	return h.render(c, http.StatusOK, views.ContentAdd(page))
}

// begun lists new content that the account typed and did not save, of one type or
// of all.
func (h *Handlers) begun(c echo.Context, bundle, without string) ([]views.BegunForm, error) {
	ctx := c.Request().Context()
	forms, err := h.Editing.Begun(ctx, h.account(c).ID)
	if err != nil || len(forms) == 0 {
		return nil, err
	}
	types, err := h.Content.Types(ctx)
	if err != nil {
		return nil, err
	}
	zone := h.zone(c.Request().Context())
	var out []views.BegunForm
	for _, f := range forms {
		t, ok := types.Type(content.TypeNode, f.Bundle)
		if !ok || f.ID == without || bundle != "" && f.Bundle != bundle {
			continue
		}
		out = append(out, views.BegunForm{
			Title: f.Title, Type: t.LabelIn(i18n.Language(ctx)), At: f.UpdatedAt.In(zone),
			URL:        addURL(f.Bundle) + "?" + url.Values{"form": {f.ID}, "language": {f.Lang}}.Encode(),
			DiscardURL: discardURL(f.ID, "", "", f.Bundle),
		})
	}
	return out, nil
}
