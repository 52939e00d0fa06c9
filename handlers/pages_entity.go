package handlers

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// How many pages stand beside or below a page.
const (
	siblingsShown = 40
	relatedShown  = 4
	frontShown    = 3
)

// nodePage shows a node, and what lies below it when it opens a section.
func (h *Handlers) nodePage(c echo.Context, it content.Item, path, fallback string) error {
	if it.IsSectionIndex {
		items, total, err := h.list(c, content.Filter{ParentPath: path, Lang: it.Lang, Type: content.TypeNode}, it.Lang)
		if err != nil {
			return err
		}
		if total > listSize || len(items) > 0 && items[0].Bundle == eventType {
			return h.sectionPage(c, it, path, items, total)
		}
		return h.writeNode(c, it, fallback, items)
	}
	return h.writeNode(c, it, fallback, nil)
}

func (h *Handlers) writeNode(c echo.Context, it content.Item, fallback string, below []content.Item) error {
	p, err := h.entityPage(c, it)
	if err != nil {
		return err
	}
	p.Fallback = fallback
	if err := h.addLists(c, &p, it, below); err != nil {
		return err
	}
	return h.renderCacheable(c, views.Entity(p))
}

// entityPage is the page of an item as its type's display shows it, for visitors
// and for previews: it may hold a revision that nobody has saved.
func (h *Handlers) entityPage(c echo.Context, it content.Item) (views.EntityPage, error) {
	ctx := c.Request().Context()
	fields, err := h.Content.Render(ctx, h.account(c), it, config.ViewFull)
	if err != nil {
		return views.EntityPage{}, err
	}
	crumbs, err := h.breadcrumb(c, it)
	if err != nil {
		return views.EntityPage{}, err
	}
	paths := h.translations(c, it)
	blocks := h.blockBuilder(c)
	blocks.know(fields)
	regions, among := blocks.placeOn(it)
	shown := shownFields(ctx, fields, h.zone(ctx), blocks)
	if err := h.sizeImages(ctx, shown.text); err != nil {
		return views.EntityPage{}, err
	}
	if picture := pictureOf(shown.text); picture != nil {
		picture.Eager = true
	}
	p := views.EntityPage{
		Site: h.siteAround(c, regions), Title: it.Title, Standfirst: shown.summary, Facts: shown.facts, Fields: amongFields(shown.text, among), Topics: shown.topics,
		BodyLang: it.Lang, Front: len(crumbs) < 2, Preview: !it.Published || it.State != content.Published,
	}
	prefill(c, regions, amongBlocks(p.Fields))
	p.Site.Languages = h.languageLinks(c, paths)
	p.Head = h.head(c, it, shown.summary, paths)
	p.Head.Image = ogImage(h.BaseURL, pictureOf(shown.text))
	p.Head.Data = h.structured(p, it, fields)
	if !p.Front {
		p.Breadcrumb = crumbs
		p.Head.Data = append(p.Head.Data, h.breadcrumbData(crumbs))
		if p.Section, p.Siblings, err = h.siblings(c, it, crumbs); err != nil {
			return p, err
		}
	}
	if it.Bundle == articleType {
		p.Author = it.Fields.Text("byline")
		p.Published = it.Date
		if changed := it.UpdatedAt; !it.Date.IsZero() && changed.Sub(it.Date) > 24*time.Hour {
			p.Changed = changed
		}
	}
	if it.Bundle == externalType {
		p.Original = it.Fields.Text(content.FieldSource)
	}
	return p, nil
}

// addLists puts pages below a page: those of its section, or related ones.
func (h *Handlers) addLists(c echo.Context, p *views.EntityPage, it content.Item, below []content.Item) error {
	ctx := c.Request().Context()
	title := i18n.T(ctx, "entity.in_section")
	if len(below) == 0 && it.Type == content.TypeNode && it.Bundle != externalType {
		topics := it.Fields.Strings(content.FieldTopics)
		if len(topics) == 0 {
			return nil
		}
		related, _, err := h.Content.List(ctx, h.account(c), content.Filter{
			Type: content.TypeNode, Lang: it.Lang, TermID: topics[0], State: content.Published, Order: content.ByDate, Limit: relatedShown + 3})
		if err != nil {
			return err
		}
		for _, r := range related {
			if r.ID != it.ID && !r.IsSectionIndex && len(below) < relatedShown {
				below = append(below, r)
			}
		}
		title = i18n.T(ctx, "entity.related")
	}
	return h.addList(c, &p.Lists, views.TeaserList{ID: "below", Title: title}, below)
}

// addList renders items as a list, unless there are none.
func (h *Handlers) addList(c echo.Context, lists *[]views.TeaserList, l views.TeaserList, items []content.Item) error {
	if len(items) == 0 {
		return nil
	}
	teasers, err := h.teasers(c, items)
	l.Items = teasers
	*lists = append(*lists, l)
	return err
}

// teasers renders items as lists show them.
func (h *Handlers) teasers(c echo.Context, items []content.Item) ([]components.TeaserProps, error) {
	ctx := c.Request().Context()
	fields, err := h.Content.RenderMany(ctx, h.account(c), items, config.ViewTeaser)
	if err != nil {
		return nil, err
	}
	zone, lang := h.zone(ctx), h.lang(c)
	out := make([]components.TeaserProps, len(items))
	for i, it := range items {
		out[i] = teaser(ctx, it, fields[i], zone, lang)
	}
	return out, nil
}

// frontPage shows the page at the root, with news and what is coming up.
func (h *Handlers) frontPage(c echo.Context, it content.Item, fallback string) error {
	p, err := h.entityPage(c, it)
	if err != nil {
		return err
	}
	p.Fallback = fallback
	if err := h.addNews(c, &p, it.Lang); err != nil {
		return err
	}
	return h.renderCacheable(c, views.Entity(p))
}

func (h *Handlers) addNews(c echo.Context, p *views.EntityPage, lang string) error {
	ctx := c.Request().Context()
	more := func(bundle string) components.Link {
		return components.Link{Label: i18n.T(ctx, "listing.all"), URL: h.languagePrefix(lang) + listingPath(bundle)}
	}
	news, total, err := h.Content.List(ctx, h.account(c), content.Filter{
		Type: content.TypeNode, Bundle: articleType, Lang: lang, State: content.Published, Order: content.ByDate, Limit: frontShown})
	if err != nil {
		return err
	}
	l := views.TeaserList{ID: "news", Title: i18n.T(ctx, "entity.news")}
	if total > len(news) {
		l.More = more(articleType)
	}
	if err := h.addList(c, &p.Lists, l, news); err != nil {
		return err
	}
	events, err := h.events(c, content.Filter{Lang: lang})
	if err != nil {
		return err
	}
	l = views.TeaserList{ID: "events", Title: i18n.T(ctx, "entity.events")}
	coming := events.upcoming
	if len(coming) > frontShown || len(events.past) > 0 {
		l.More = more(eventType)
	}
	return h.addList(c, &p.Lists, l, coming[:min(frontShown, len(coming))])
}

// emptyFrontPage stands in for a page at the root that nobody has made yet.
func (h *Handlers) emptyFrontPage(c echo.Context) error {
	ctx, lang := c.Request().Context(), h.lang(c)
	site := h.site(c)
	p := views.EntityPage{Site: site, Title: site.SiteName, Front: true}
	p.Head = views.Head{Canonical: h.absolute(h.languagePrefix(lang) + "/"), Feeds: h.feedLinks(c, "", "")}
	recent, _, err := h.Content.List(ctx, h.account(c), content.Filter{
		Type: content.TypeNode, Lang: lang, State: content.Published, Order: content.ByChanged, Limit: 10})
	if err != nil {
		return err
	}
	if err := h.addList(c, &p.Lists, views.TeaserList{ID: "recent", Title: i18n.T(ctx, "entity.recent")}, recent); err != nil {
		return err
	}
	if len(recent) == 0 {
		p.Standfirst = i18n.T(ctx, "listing.empty")
	}
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

// siblings are the pages beside an item. The pages of one that opens a section
// are listed below it.
func (h *Handlers) siblings(c echo.Context, it content.Item, crumbs []components.Link) (string, []components.Link, error) {
	parent := it.ParentPath
	if it.IsSectionIndex || parent == "" || parent == "/" || it.Type != content.TypeNode || it.Bundle != "page" {
		return "", nil, nil
	}
	items, _, err := h.Content.List(c.Request().Context(), h.account(c), content.Filter{
		Type: content.TypeNode, Bundle: it.Bundle, Lang: it.Lang, ParentPath: parent, State: content.Published, Limit: siblingsShown})
	if err != nil || len(items) < 2 || len(items) == siblingsShown {
		return "", nil, err
	}
	links := make([]components.Link, len(items))
	for i, s := range items {
		links[i] = components.Link{Label: s.Title, URL: s.Path, Current: s.Path == it.Path}
	}
	title := ""
	if len(crumbs) > 1 {
		title = crumbs[len(crumbs)-2].Label
	}
	return title, links, nil
}

// translations are the addresses of an item by language.
func (h *Handlers) translations(c echo.Context, it content.Item) map[string]string {
	paths := map[string]string{it.Lang: it.Path}
	if len(it.Languages) < 2 {
		return paths
	}
	items, err := h.translationsOf(c.Request().Context(), it)
	if err != nil {
		h.Log.Warn("translations of a page", "err", err)
	}
	for _, other := range items {
		paths[other.Lang] = other.Path
	}
	return paths
}

func (h *Handlers) translationsOf(ctx context.Context, it content.Item) ([]content.Item, error) {
	if it.Type == content.TypeNode {
		return h.Content.Translations(ctx, it.ID)
	}
	var out []content.Item
	for _, lang := range it.Languages {
		if other, err := h.Content.Load(ctx, archivist, it.Ref, lang); err != nil {
			return nil, err
		} else if other.Lang == lang {
			out = append(out, other)
		}
	}
	return out, nil
}
