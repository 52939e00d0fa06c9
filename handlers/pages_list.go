package handlers

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

const (
	listSize = 20 // entries on a page of a list

	// eventsRead bounds how many events of a site are put in order.
	eventsRead = 500

	topicsURL = "/topics/"
)

// list reads the page of a list that a request asks for.
func (h *Handlers) list(c echo.Context, f content.Filter, lang string) ([]content.Item, int, error) {
	f.Lang, f.State, f.Limit, f.Offset = lang, content.Published, listSize, (pageNumber(c)-1)*listSize
	return h.Content.List(c.Request().Context(), h.account(c), f)
}

// A listing is a list on its way to its page.
type listing struct {
	title, standfirst string
	path              string // canonical
	crumbs            []components.Link
	fields            []components.ShownField
	paths             map[string]string // addresses by language
	feed              string            // path of its feed; empty: it has none
	blocks            views.Blocks      // around it
}

// sectionPage lists what lies below a page that opens a section.
func (h *Handlers) sectionPage(c echo.Context, it content.Item, path string, items []content.Item, total int) error {
	l, err := h.listingOf(c, it)
	if err != nil {
		return err
	}
	if len(items) > 0 && items[0].Bundle == eventType {
		return h.writeEvents(c, l, content.Filter{ParentPath: path, Lang: it.Lang})
	}
	return h.writeListing(c, l, items, total)
}

// listingOf starts a list with what its own page says.
func (h *Handlers) listingOf(c echo.Context, it content.Item) (listing, error) {
	ctx := c.Request().Context()
	crumbs, err := h.breadcrumb(c, it)
	if err != nil {
		return listing{}, err
	}
	fields, err := h.Content.Render(ctx, h.account(c), it, config.ViewFull)
	if err != nil {
		return listing{}, err
	}
	blocks := h.blockBuilder(c)
	regions, among := blocks.placeOn(it)
	shown := shownFields(ctx, fields, h.zone(ctx), blocks)
	if err := h.sizeImages(ctx, shown.text); err != nil {
		return listing{}, err
	}
	l := listing{
		title: it.Title, standfirst: shown.summary, path: it.Path, crumbs: crumbs, paths: h.translations(c, it), feed: it.Path,
		blocks: regions,
	}
	if pageNumber(c) == 1 {
		l.fields = amongFields(shown.text, among)
	}
	return l, nil
}

// topicPage lists what is filed under a term.
func (h *Handlers) topicPage(c echo.Context, term content.Item) error {
	items, total, err := h.list(c, content.Filter{TermID: term.ID, Type: content.TypeNode, Order: content.ByDate}, h.lang(c))
	if err != nil {
		return err
	}
	if total == 0 && h.lang(c) != h.Content.DefaultLanguage() {
		if items, total, err = h.list(c, content.Filter{TermID: term.ID, Type: content.TypeNode, Order: content.ByDate}, h.Content.DefaultLanguage()); err != nil {
			return err
		}
	}
	l, err := h.listingOf(c, term)
	if err != nil {
		return err
	}
	if at := c.Request().URL.Path; term.Lang != h.lang(c) && len(items) > 0 && items[0].Lang == h.lang(c) {
		l.path, l.feed = at, at // its pages are in this language, even if its name is not
	}
	return h.writeListing(c, l, items, total)
}

// topicsPage lists all topics.
func (h *Handlers) topicsPage(c echo.Context) error {
	ctx, lang := c.Request().Context(), h.lang(c)
	terms, total, err := h.list(c, content.Filter{Type: content.TypeTerm, Bundle: content.FieldTopics, Order: content.ByTitle}, "")
	if err != nil {
		return err
	}
	l := h.plainListing(c, i18n.T(ctx, "listing.topics"), h.languagePrefix(lang)+topicsURL)
	return h.writeListing(c, l, terms, total)
}

// typePage lists all nodes of a type.
func (h *Handlers) typePage(c echo.Context, t config.Named[config.ContentType]) error {
	lang := h.lang(c)
	l := h.plainListing(c, t.Value.LabelIn(lang), h.languagePrefix(lang)+listingPath(t.Name))
	switch t.Name {
	case articleType:
		l.title = i18n.T(c.Request().Context(), "entity.news")
		l.feed = h.languagePrefix(lang) + "/"
	case eventType:
		l.title = i18n.T(c.Request().Context(), "listing.events")
		return h.writeEvents(c, l, content.Filter{Lang: lang})
	}
	items, total, err := h.list(c, content.Filter{Type: content.TypeNode, Bundle: t.Name, Order: content.ByDate}, lang)
	if err != nil {
		return err
	}
	return h.writeListing(c, l, items, total)
}

// plainListing is a list that has no page of its own to speak for it.
func (h *Handlers) plainListing(c echo.Context, title, path string) listing {
	blocks, _ := h.blockBuilder(c).place(h.pathOnSite(c), "")
	return listing{title: title, path: path, blocks: blocks, crumbs: []components.Link{
		{Label: i18n.T(c.Request().Context(), "nav.home"), URL: h.languagePrefix(h.lang(c)) + "/"}, {Label: title, URL: path},
	}}
}

func (h *Handlers) writeListing(c echo.Context, l listing, items []content.Item, total int) error {
	p, err := h.listingPage(c, l)
	if err != nil {
		return err
	}
	if p.Items, err = h.teasers(c, items); err != nil {
		return err
	}
	p.Pager = publicPager(c, len(items), total)
	return h.renderCacheable(c, views.Listing(p))
}

func (h *Handlers) listingPage(c echo.Context, l listing) (views.ListingPage, error) {
	prefill(c, l.blocks, amongBlocks(l.fields))
	p := views.ListingPage{
		Site: h.siteAround(c, l.blocks), Title: l.title, Standfirst: l.standfirst, Breadcrumb: l.crumbs, Fields: l.fields,
		Head: views.Head{
			Description: excerpt(l.standfirst, 300), Canonical: h.absolute(escaped(l.path)), Feeds: h.feedLinks(c, l.title, l.feed),
			Data: []any{h.breadcrumbData(l.crumbs)},
		},
	}
	if l.paths != nil {
		p.Site.Languages = h.languageLinks(c, l.paths)
		p.Head.Alternates = h.head(c, content.Item{}, "", l.paths).Alternates
	}
	if n := pageNumber(c); n > 1 {
		p.Title = fmt.Sprintf("%s (%d)", l.title, n)
		p.Head.Canonical += "?page=" + strconv.Itoa(n)
		p.Head.Alternates = nil
	}
	return p, nil
}

// publicPager leads through the lists that visitors see.
func publicPager(c echo.Context, shown, total int) components.PagerProps {
	n := pageNumber(c)
	p := components.PagerProps{Total: total}
	if shown > 0 {
		p.From, p.To = (n-1)*listSize+1, (n-1)*listSize+shown
	}
	link := func(n int) string {
		query := c.Request().URL.Query()
		query.Set("page", strconv.Itoa(n))
		if n == 1 {
			query.Del("page")
		}
		return (&url.URL{Path: c.Request().URL.Path, RawQuery: query.Encode()}).String()
	}
	if n > 1 {
		p.PrevURL = link(n - 1)
	}
	if n*listSize < total {
		p.NextURL = link(n + 1)
	}
	return p
}

// calendar is events in the order in which people want them.
type calendar struct {
	upcoming []content.Item // the next first
	past     []content.Item // the latest first
}

// events reads the events that a filter leaves, those without a time last.
func (h *Handlers) events(c echo.Context, f content.Filter) (calendar, error) {
	f.Type, f.Bundle, f.State, f.Limit, f.Order = content.TypeNode, eventType, content.Published, eventsRead, content.ByChanged
	items, _, err := h.Content.List(c.Request().Context(), h.account(c), f)
	if err != nil {
		return calendar{}, err
	}
	return arrangeEvents(items, time.Now()), nil
}

func arrangeEvents(items []content.Item, now time.Time) calendar {
	var out calendar
	start := func(it content.Item) time.Time {
		when, _, _ := eventTimes(it)
		return when.from
	}
	for _, it := range items {
		when, clock, ok := eventTimes(it)
		if !ok || when.end(clock).After(now) {
			out.upcoming = append(out.upcoming, it)
		} else {
			out.past = append(out.past, it)
		}
	}
	slices.SortStableFunc(out.upcoming, func(a, b content.Item) int {
		x, y := start(a), start(b)
		if x.IsZero() != y.IsZero() {
			if x.IsZero() {
				return 1
			}
			return -1
		}
		return x.Compare(y)
	})
	slices.SortStableFunc(out.past, func(a, b content.Item) int { return start(b).Compare(start(a)) })
	return out
}

// writeEvents lists what is coming up, and apart from it what is over, a page at
// a time.
func (h *Handlers) writeEvents(c echo.Context, l listing, f content.Filter) error {
	ctx := c.Request().Context()
	events, err := h.events(c, f)
	if err != nil {
		return err
	}
	p, err := h.listingPage(c, l)
	if err != nil {
		return err
	}
	all := slices.Concat(events.upcoming, events.past)
	from := min((pageNumber(c)-1)*listSize, len(all))
	to := min(from+listSize, len(all))
	split := min(max(len(events.upcoming), from), to)
	if p.Items, err = h.teasers(c, all[from:split]); err != nil {
		return err
	}
	if err := h.addList(c, &p.Lists, views.TeaserList{ID: "past", Title: i18n.T(ctx, "listing.past")}, all[split:to]); err != nil {
		return err
	}
	if len(p.Lists) > 0 && len(p.Items) == 0 && from == 0 {
		p.Empty = i18n.T(ctx, "listing.no_upcoming")
	}
	p.Pager = publicPager(c, to-from, len(all))
	return h.renderCacheable(c, views.Listing(p))
}
