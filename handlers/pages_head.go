package handlers

import (
	"cmp"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/content"
	"docent/views"
)

// absolute is an address of this site as other sites write it.
func (h *Handlers) absolute(path string) string { return absoluteURL(h.BaseURL, path) }

func absoluteURL(base *url.URL, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		u = &url.URL{Path: address}
	}
	return base.ResolveReference(u).String()
}

// head is what an item's page says about itself. Paths are the item's addresses
// by language.
func (h *Handlers) head(c echo.Context, it content.Item, description string, paths map[string]string) views.Head {
	head := views.Head{
		Description: excerpt(description, 300), Canonical: h.absolute(escaped(it.Path)), Article: it.Bundle == articleType,
		Feeds: h.feedLinks(c, "", ""),
	}
	if source := it.Fields.Text(content.FieldSource); it.Bundle == externalType && isExternal(source) {
		head.Canonical = source
		return head
	}
	for _, lang := range slices.Sorted(maps.Keys(paths)) {
		head.Alternates = append(head.Alternates, views.LanguageLink{Code: lang, URL: h.absolute(escaped(paths[lang]))})
	}
	if at, ok := paths[h.Content.DefaultLanguage()]; ok && len(paths) > 1 {
		head.Alternates = append(head.Alternates, views.LanguageLink{Code: "x-default", URL: h.absolute(escaped(at))})
	}
	return head
}

// escaped is a path as addresses write it.
func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// ogImage is the picture that other sites show beside a link to the page.
func ogImage(base *url.URL, picture *components.ImageProps) components.ImageProps {
	if picture == nil {
		return components.ImageProps{}
	}
	return components.ImageProps{Src: absoluteURL(base, picture.Src), Alt: picture.Alt}
}

const schema = "https://schema.org"

// structured describes a page as schema.org does.
func (h *Handlers) structured(p views.EntityPage, it content.Item, fields []content.RenderedField) []any {
	about := map[string]any{
		"@context": schema, "inLanguage": it.Lang, "url": p.Head.Canonical, "name": it.Title,
	}
	if p.Head.Description != "" {
		about["description"] = p.Head.Description
	}
	if p.Head.Image.Src != "" {
		about["image"] = p.Head.Image.Src
	}
	switch it.Bundle {
	case articleType:
		about["@type"], about["headline"], about["mainEntityOfPage"] = "Article", it.Title, p.Head.Canonical
		if author := it.Fields.Text("byline"); author != "" {
			about["author"] = map[string]any{"@type": "Person", "name": author}
		}
		about["publisher"] = map[string]any{"@type": "Organization", "name": p.SiteName}
		about["dateModified"] = it.UpdatedAt.Format(time.RFC3339)
		if !it.Date.IsZero() {
			about["datePublished"] = it.Date.Format(time.RFC3339)
		}
		return []any{about}
	case eventType:
		when, clock, ok := eventTimes(it)
		if !ok {
			return nil
		}
		about["@type"], about["startDate"] = "Event", machineTime(when.from, clock)
		if !when.to.IsZero() {
			about["endDate"] = machineTime(when.to, clock)
		}
		if place := it.Fields.Text("place"); place != "" {
			about["location"] = map[string]any{"@type": "Place", "name": place, "address": place}
		}
		return []any{about}
	case faqType:
		questions := faqQuestions(fields)
		if len(questions) == 0 {
			return nil
		}
		about["@type"], about["mainEntity"] = "FAQPage", questions
		return []any{about}
	}
	return nil
}

func machineTime(t time.Time, clock bool) string {
	if clock {
		return t.Format(time.RFC3339)
	}
	return t.Format(time.DateOnly)
}

var headingElement = regexp.MustCompile(`(?s)<h[2-6]\b[^>]*>.*?</h[2-6]>`)

// faqQuestions are the headings of a text with what stands below each.
func faqQuestions(fields []content.RenderedField) []any {
	var out []any
	for _, f := range fields {
		for _, v := range f.Values {
			at := headingElement.FindAllStringIndex(v.HTML, -1)
			for i := range min(len(at), len(v.Headings)) {
				end := len(v.HTML)
				if i+1 < len(at) {
					end = at[i+1][0]
				}
				answer := strings.TrimSpace(v.HTML[at[i][1]:end])
				if answer == "" { // a heading above questions, not one
					continue
				}
				out = append(out, map[string]any{
					"@type": "Question", "name": v.Headings[i].Text,
					"acceptedAnswer": map[string]any{"@type": "Answer", "text": answer},
				})
			}
		}
	}
	return out
}

// breadcrumbData is the way from the front page as schema.org describes it.
func (h *Handlers) breadcrumbData(crumbs []components.Link) any {
	items := make([]any, len(crumbs))
	for i, l := range crumbs {
		items[i] = map[string]any{"@type": "ListItem", "position": i + 1, "name": l.Label, "item": h.absolute(escaped(l.URL))}
	}
	return map[string]any{"@context": schema, "@type": "BreadcrumbList", "itemListElement": items}
}

// A period is when something takes place.
type period struct{ from, to time.Time }

// end is when it is over: what has no end lasts a day.
func (p period) end(clock bool) time.Time {
	last := cmp.Or(p.to, p.from)
	if !clock || p.to.IsZero() {
		last = last.Truncate(24 * time.Hour).Add(24 * time.Hour)
	}
	return last
}

// eventTimes reads when an event takes place, and whether it says the hour.
func eventTimes(it content.Item) (p period, clock, ok bool) {
	when, _ := it.Fields["when"].(map[string]any)
	read := func(name string) (time.Time, bool) {
		s, _ := when[name].(string)
		if t, err := time.Parse(time.RFC3339, s); err == nil {
			return t, true
		}
		t, _ := time.Parse(time.DateOnly, s)
		return t, false
	}
	p.from, clock = read("from")
	p.to, _ = read("to")
	return p, clock, !p.from.IsZero()
}
