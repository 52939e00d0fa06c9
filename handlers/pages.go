package handlers

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/internal/markdown"
	"docent/internal/search"
	"docent/views"
)

const (
	siblingsShown = 40
	searchShown   = 20
)

// page handles every address that no other route takes: behind the prefix of a
// language, a page of the program's own or that of an entity.
func (h *Handlers) page(c echo.Context) error {
	ctx, who, lang := c.Request().Context(), h.account(c), h.lang(c)
	path := strings.TrimPrefix(c.Request().URL.Path, h.languagePrefix(lang))
	if path == "" {
		path = "/"
	}
	switch path {
	case answersURL:
		return h.answers(c)
	case searchURL:
		return h.searchPage(c)
	}
	it, err := h.Content.ByPath(ctx, who, lang, path)
	fallback := ""
	if errors.Is(err, db.ErrNotFound) && lang != h.Content.DefaultLanguage() {
		// A page that is not translated is shown as it is, with a word about it.
		if it, err = h.Content.ByPath(ctx, who, h.Content.DefaultLanguage(), path); err == nil {
			fallback = i18n.Name(it.Lang)
		}
	}
	if moved, ok := errors.AsType[*content.Redirect](err); ok {
		return c.Redirect(http.StatusMovedPermanently, moved.To)
	}
	if err != nil {
		return err
	}
	if it.Type == content.TypeTerm {
		return h.topicPage(c, it)
	}
	children, total, err := h.children(c, content.Filter{ParentPath: path, Type: content.TypeNode}, it)
	if err != nil {
		return err
	}
	if it.IsSectionIndex && total > pageSize && path != "/" {
		return h.listing(c, it, children, total)
	}
	return h.entity(c, it, fallback, children)
}

// children lists what lies below an item, a page of it at a time.
func (h *Handlers) children(c echo.Context, f content.Filter, it content.Item) ([]content.Item, int, error) {
	f.Lang, f.State, f.Limit, f.Offset = it.Lang, content.Published, pageSize, (pageNumber(c)-1)*pageSize
	return h.Content.List(c.Request().Context(), h.account(c), f)
}

func (h *Handlers) entity(c echo.Context, it content.Item, fallback string, children []content.Item) error {
	ctx := c.Request().Context()
	site := h.site(c)
	crumbs, err := h.breadcrumb(c, it)
	if err != nil {
		return err
	}
	body, _ := markdown.Page(it.Fields.Text(content.FieldBody))
	p := views.EntityPage{
		Site: site, Title: it.Title, Description: it.Fields.Text(content.FieldSummary),
		Canonical: h.BaseURL.JoinPath(it.Path).String(), Standfirst: it.Fields.Text(content.FieldSummary),
		Front: len(crumbs) < 2, Breadcrumb: crumbs, Body: body, BodyLang: it.Lang, Fallback: fallback,
		Preview: !it.Published || it.State != content.Published,
	}
	if !p.Front {
		if p.Section, p.Siblings, err = h.siblings(c, it, crumbs); err != nil {
			return err
		}
	} else {
		p.Breadcrumb = nil
	}
	if it.Bundle == "article" {
		p.Published = it.Date
	}
	if source := it.Fields.Text(content.FieldSource); source != "" {
		p.Facts = append(p.Facts, views.Fact{Label: i18n.T(ctx, "entity.original"), Value: source, URL: source})
		p.FactsTitle = i18n.T(ctx, "entity.facts")
	}
	if !p.Front {
		p.Related = h.links(children)
		p.RelatedTitle = i18n.T(ctx, "entity.in_section")
	}
	p.Site.Languages = h.translationLinks(c, it)
	return h.renderCacheable(c, views.Entity(p))
}

// breadcrumb leads from the front page to the item.
func (h *Handlers) breadcrumb(c echo.Context, it content.Item) ([]components.Link, error) {
	ctx := c.Request().Context()
	above, err := h.Content.Ancestors(ctx, h.account(c), it)
	if err != nil {
		return nil, err
	}
	var out []components.Link
	for i, a := range above {
		label := a.Title
		if i == 0 && a.ParentPath == "" {
			label = i18n.T(ctx, "nav.home")
		}
		out = append(out, components.Link{Label: label, URL: a.Path})
	}
	return append(out, components.Link{Label: it.Title, URL: it.Path}), nil
}

// siblings are the pages beside an item, or below it when it opens a section.
func (h *Handlers) siblings(c echo.Context, it content.Item, crumbs []components.Link) (string, []components.Link, error) {
	parent := it.ParentPath
	title := ""
	if len(crumbs) > 1 {
		title = crumbs[len(crumbs)-2].Label
	}
	if it.IsSectionIndex || parent == "" || parent == "/" {
		return "", nil, nil // its pages are listed below it; the menu shows what is beside it
	}
	items, _, err := h.Content.List(c.Request().Context(), h.account(c), content.Filter{
		Type: content.TypeNode, Lang: it.Lang, ParentPath: parent, State: content.Published, Limit: siblingsShown})
	if err != nil || len(items) < 2 || len(items) == siblingsShown {
		return "", nil, err
	}
	links := h.links(items)
	for i := range links {
		links[i].Current = links[i].URL == it.Path
		links[i].Summary = ""
	}
	return title, links, nil
}

func (h *Handlers) links(items []content.Item) []components.Link {
	out := make([]components.Link, len(items))
	for i, it := range items {
		out[i] = components.Link{Label: it.Title, URL: it.Path, Summary: excerpt(it.Fields.Text(content.FieldSummary), 200)}
	}
	return out
}

// topicPage lists what is filed under a term.
func (h *Handlers) topicPage(c echo.Context, term content.Item) error {
	items, total, err := h.children(c, content.Filter{TermID: term.ID, Type: content.TypeNode, Order: content.ByDate}, term)
	if err != nil {
		return err
	}
	return h.listing(c, term, items, total)
}

func (h *Handlers) listing(c echo.Context, it content.Item, items []content.Item, total int) error {
	crumbs, err := h.breadcrumb(c, it)
	if err != nil {
		return err
	}
	return h.renderCacheable(c, views.Listing(views.ListingPage{
		Site: h.site(c), Title: it.Title, Standfirst: it.Fields.Text(content.FieldSummary),
		Canonical: h.BaseURL.JoinPath(it.Path).String(), Breadcrumb: crumbs, Items: h.links(items),
		Pager: pager(c, pageNumber(c), len(items), total),
	}))
}

// translationLinks lead to the item in the site's other languages, or to their
// front pages where it is not translated.
func (h *Handlers) translationLinks(c echo.Context, it content.Item) []views.LanguageLink {
	links := h.site(c).Languages
	items, err := h.Content.Translations(c.Request().Context(), it.ID)
	if err != nil {
		h.Log.Warn("translations of a page", "err", err)
		return links
	}
	for i := range links {
		for _, other := range items {
			if other.Lang == links[i].Code && other.Published {
				links[i].URL = other.Path
			}
		}
	}
	return links
}

// searchPage handles GET /search: pages that speak of the words asked for.
func (h *Handlers) searchPage(c echo.Context) error {
	ctx, lang := c.Request().Context(), h.lang(c)
	query := excerpt(c.QueryParam("q"), 300)
	p := views.ListingPage{Site: h.site(c), Title: i18n.T(ctx, "search.title"), SearchAction: h.languagePrefix(lang) + searchURL, Query: query}
	if query != "" {
		hits, err := h.Search.Search(ctx, search.Query{Text: query, Index: config.Index{}, Lang: lang, Who: h.account(c), Limit: 3 * searchShown})
		if err != nil {
			return err
		}
		shown := map[content.Ref]bool{}
		for _, hit := range hits {
			if shown[hit.Ref] || len(shown) == searchShown {
				continue
			}
			shown[hit.Ref] = true
			p.Items = append(p.Items, components.Link{Label: hit.Title, URL: hit.Path, Where: hit.Heading, Summary: excerpt(markdown.PlainText(hit.Text), 240), Lang: hit.Lang})
		}
	}
	return h.render(c, http.StatusOK, views.Listing(p))
}
