package handlers

import (
	"encoding/xml"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
)

const (
	feedName    = "feed.xml" // at the end of a section's address, its feed
	feedEntries = 30
	atomKind    = "application/atom+xml; charset=utf-8"
)

// An atomFeed is written as RFC 4287 describes it.
type atomFeed struct {
	XMLName  xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Lang     string      `xml:"xml:lang,attr"`
	Base     string      `xml:"xml:base,attr"`
	ID       string      `xml:"id"`
	Title    string      `xml:"title"`
	Subtitle string      `xml:"subtitle,omitempty"`
	Updated  string      `xml:"updated"`
	Links    []atomLink  `xml:"link"`
	Author   atomAuthor  `xml:"author"`
	Entries  []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomAuthor struct {
	Name string `xml:"name"`
}

type atomEntry struct {
	ID        string     `xml:"id"`
	Title     string     `xml:"title"`
	Updated   string     `xml:"updated"`
	Published string     `xml:"published,omitempty"`
	Links     []atomLink `xml:"link"`
	Summary   string     `xml:"summary,omitempty"`
	Content   *atomText  `xml:"content"`
}

type atomText struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// feed handles GET …/feed.xml: the site's news at the root, and below the address
// of a section or topic what is new there.
func (h *Handlers) feed(c echo.Context, section string) error {
	ctx, lang := c.Request().Context(), h.lang(c)
	settings, err := config.Get[config.Settings](ctx, h.Config, config.SiteName)
	if err != nil {
		return err
	}
	home := h.languagePrefix(lang) + "/"
	f := atomFeed{Title: settings.SiteName, Subtitle: settings.Tagline[lang], Lang: lang, Author: atomAuthor{settings.SiteName}}
	filter := content.Filter{Type: content.TypeNode, Bundles: []string{articleType, eventType}, Order: content.ByDate}
	at := home
	if section != "/" {
		it, _, err := h.entityAt(c, section)
		if err != nil {
			return err
		}
		switch {
		case it.Type == content.TypeTerm:
			filter = content.Filter{Type: content.TypeNode, TermID: it.ID, Order: content.ByDate}
		case it.Type == content.TypeNode && it.IsSectionIndex:
			filter = content.Filter{Type: content.TypeNode, ParentPath: section, Order: content.ByDate}
		default:
			return db.ErrNotFound
		}
		f.Title = it.Title + " | " + settings.SiteName
		at = it.Path
	}
	filter.Lang, filter.State, filter.Limit = lang, content.Published, feedEntries
	items, _, err := h.Content.List(ctx, h.account(c), filter)
	if err != nil {
		return err
	}
	f.ID, f.Base = h.absolute(escaped(at)), h.absolute("/")
	f.Links = []atomLink{
		{Rel: "self", Type: "application/atom+xml", Href: h.absolute(escaped(strings.TrimSuffix(at, "/") + "/" + feedName))},
		{Rel: "alternate", Type: "text/html", Href: h.absolute(escaped(at))},
	}
	if err := h.addEntries(c, &f, items); err != nil {
		return err
	}
	body, err := xml.Marshal(f)
	if err != nil {
		return err
	}
	return h.cacheable(c, atomKind, append([]byte(xml.Header), body...))
}

func (h *Handlers) addEntries(c echo.Context, f *atomFeed, items []content.Item) error {
	ctx := c.Request().Context()
	rendered, err := h.Content.RenderMany(ctx, h.account(c), items, config.ViewFull)
	if err != nil {
		return err
	}
	var updated time.Time
	zone := h.zone(ctx)
	for i, it := range items {
		shown := shownFields(ctx, rendered[i], zone, nil)
		e := atomEntry{
			// Stays the same when the page moves.
			ID: h.absolute(h.languagePrefix(it.Lang) + "/node/" + it.ID + "/"), Title: it.Title, Summary: shown.summary,
			Updated: it.UpdatedAt.Format(time.RFC3339), Links: []atomLink{{Rel: "alternate", Type: "text/html", Href: h.absolute(escaped(it.Path))}},
		}
		if !it.Date.IsZero() {
			e.Published = it.Date.Format(time.RFC3339)
		}
		if text := feedText(shown.text); text != "" {
			e.Content = &atomText{Type: "html", Text: text}
		}
		if it.UpdatedAt.After(updated) {
			updated = it.UpdatedAt
		}
		f.Entries = append(f.Entries, e)
	}
	f.Updated = updated.Format(time.RFC3339)
	return nil
}

func feedText(fields []components.ShownField) string {
	var b strings.Builder
	for _, f := range fields {
		for _, v := range f.Values {
			b.WriteString(v.HTML)
		}
	}
	return b.String()
}

// feedLinks are the feeds that a page points to: the site's, and that of the
// section at a path with its title.
func (h *Handlers) feedLinks(c echo.Context, title, path string) []components.Link {
	ctx := c.Request().Context()
	settings, err := config.Get[config.Settings](ctx, h.Config, config.SiteName)
	if err != nil {
		return nil
	}
	home := h.languagePrefix(h.lang(c)) + "/"
	links := []components.Link{{Label: i18n.T(ctx, "feed.title", settings.SiteName), URL: home + feedName}}
	if path != "" && path != home {
		links = append(links, components.Link{Label: i18n.T(ctx, "feed.title", title), URL: escaped(path) + feedName})
	}
	return links
}
