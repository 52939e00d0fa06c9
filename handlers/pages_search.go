package handlers

import (
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/internal/markdown"
	"docent/internal/search"
	"docent/views"
)

const (
	queryLimit = 300 // characters

	// passagesRead is how many passages are looked at for a search: what ranks
	// below them nobody turns pages to.
	passagesRead = 300

	passageShown = 260 // characters
	nearestShown = 5
)

// searchPage handles GET /search: one entry for every page that speaks of the
// words asked for, with the passage that fits best.
func (h *Handlers) searchPage(c echo.Context) error {
	ctx, lang := c.Request().Context(), h.lang(c)
	p := views.SearchPage{
		Site: h.site(c), Action: h.languagePrefix(lang) + searchURL, Query: excerpt(c.QueryParam("q"), queryLimit),
	}
	if languages := h.Content.Languages(); len(languages) > 1 {
		p.Choices = []components.Option{{Label: i18n.T(ctx, "search.all_languages")}}
		for _, l := range p.Site.Languages {
			p.Choices = append(p.Choices, components.Option{Value: l.Code, Label: l.Name})
		}
		if in := c.QueryParam("in"); slices.Contains(languages, in) {
			p.In = in
		}
	}
	if p.Query == "" {
		return h.render(c, http.StatusOK, views.Search(p))
	}
	p.Searched = true
	var index config.Index
	if p.In != "" {
		index.Languages = []string{p.In}
	}
	hits, err := h.found(c, p.Query, index, passagesRead)
	if err != nil {
		return err
	}
	from := min((pageNumber(c)-1)*listSize, len(hits))
	shown, err := h.stillThere(c, hits[from:min(from+listSize, len(hits))])
	if err != nil {
		return err
	}
	for _, hit := range shown {
		p.Items = append(p.Items, foundProps(hit, p.Query, lang))
	}
	p.Pager = publicPager(c, len(shown), len(hits))
	if len(hits) == 0 {
		if p.Topics, err = h.topicLinks(c); err != nil {
			return err
		}
	}
	return h.render(c, http.StatusOK, views.Search(p))
}

// found searches and keeps the best passage of every page.
func (h *Handlers) found(c echo.Context, query string, index config.Index, limit int) ([]search.Hit, error) {
	hits, err := h.Search.Search(c.Request().Context(), search.Query{
		Text: query, Index: index, Lang: h.lang(c), Who: h.account(c), Limit: limit})
	if err != nil {
		return nil, err
	}
	seen := make(map[content.Ref]bool, len(hits))
	return slices.DeleteFunc(hits, func(hit search.Hit) bool {
		again := seen[hit.Ref]
		seen[hit.Ref] = true
		return again
	}), nil
}

// stillThere drops hits that the content says the visitor may not see: the index
// may be a moment behind.
func (h *Handlers) stillThere(c echo.Context, hits []search.Hit) ([]search.Hit, error) {
	refs := make([]content.Ref, len(hits))
	for i, hit := range hits {
		refs[i] = hit.Ref
	}
	items, err := h.Content.LoadMany(c.Request().Context(), h.account(c), refs, h.lang(c))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(hits), func(hit search.Hit) bool {
		it, ok := items[hit.Ref]
		return !ok || !slices.Contains(it.Languages, hit.Lang)
	}), nil
}

// foundProps shows a hit, with the words that were searched for marked.
func foundProps(hit search.Hit, query, lang string) components.FoundProps {
	f := components.FoundProps{Title: hit.Title, URL: escaped(hit.Path)}
	if hit.Heading != hit.Title {
		f.Where = hit.Heading
	}
	if hit.Anchor != "" {
		f.URL += "#" + escaped(hit.Anchor)
	}
	if original, ok := strings.CutPrefix(hit.Origin, content.OriginExternal); ok && isExternal(original) {
		f.URL, f.External = original, true
	}
	if hit.Lang != lang {
		f.Lang, f.LangName = hit.Lang, i18n.Name(hit.Lang)
	}
	text := strings.Join(strings.Fields(markdown.PlainText(hit.Text)), " ")
	for _, part := range search.Highlight(hit.Lang, text, query, passageShown) {
		f.Passage = append(f.Passage, components.FoundText{Text: part.Text, Match: part.Match})
	}
	return f
}

// topicLinks are topics to look around by.
func (h *Handlers) topicLinks(c echo.Context) ([]components.Link, error) {
	terms, _, err := h.Content.List(c.Request().Context(), h.account(c), content.Filter{
		Type: content.TypeTerm, Bundle: content.FieldTopics, State: content.Published, Order: content.ByTitle, Limit: 12})
	if err != nil {
		return nil, err
	}
	var links []components.Link
	for _, t := range terms {
		if t.Lang == h.lang(c) || !slices.Contains(t.Languages, h.lang(c)) && t.Lang == h.Content.DefaultLanguage() {
			links = append(links, components.Link{Label: t.Title, URL: t.Path})
		}
	}
	return links, nil
}

// nearest guesses from the words of an address that shows nothing what was meant.
func (h *Handlers) nearest(c echo.Context) (query string, links []components.Link) {
	r := c.Request()
	at := h.pathOnSite(c)
	if !reads(r) || len(at) > 200 || !utf8.ValidString(at) || path.Ext(at) != "" && path.Ext(at) != ".html" && path.Ext(at) != ".php" {
		return "", nil // programs ask for files that never were
	}
	at = strings.TrimSuffix(strings.TrimSuffix(at, ".html"), ".php")
	words := strings.FieldsFunc(at, func(r rune) bool { return strings.ContainsRune("/-_.~+ ", r) })
	if query = strings.Join(words, " "); query == "" {
		return "", nil
	}
	hits, err := h.found(c, query, config.Index{}, 4*nearestShown)
	if err == nil {
		hits, err = h.stillThere(c, hits[:min(nearestShown, len(hits))])
	}
	if err != nil {
		h.Log.Warn("nearest pages", "err", err)
		return query, nil
	}
	for _, hit := range hits {
		l := components.Link{Label: hit.Title, URL: hit.Path}
		if hit.Lang != h.lang(c) {
			l.Lang = hit.Lang
		}
		links = append(links, l)
	}
	return query, links
}
