package handlers

import (
	"context"
	"net/url"
	"slices"
	"time"

	"docent/components"
	"docent/internal/config"
	"docent/internal/content"
)

// How wide an image of a style is shown, for browsers to choose a file by.
const (
	wideSizes = "(min-width: 62rem) 40rem, 94vw"
	cardSizes = "(min-width: 40rem) 15rem, 94vw"
)

// A shownItem is what a view display makes of an item: its summary, the fields
// beside the text, the text, and the terms that it is filed under.
type shownItem struct {
	summary string
	facts   []components.ShownField
	text    []components.ShownField
	topics  []components.ShownField
}

// fields are those that stand beside and in the text.
func (s shownItem) fields() []components.ShownField { return slices.Concat(s.facts, s.text) }

// shownFields sorts the fields of a display: the summary stands below the title;
// of those with their label beside them, terms stand below the text and the others
// are facts; all that is left is the text. Placed blocks among them are made by
// blocks; without it they are left out.
func shownFields(ctx context.Context, fields []content.RenderedField, zone *time.Location, blocks *blockBuilder) shownItem {
	var out shownItem
	for _, f := range fields {
		values := shownValues(ctx, f, zone, blocks)
		if len(values) == 0 {
			continue
		}
		shown := components.ShownField{Name: f.Name, Label: f.Label, Above: f.LabelPosition == config.LabelAbove, Values: values}
		switch {
		case f.Name == content.FieldSummary && f.LabelPosition == config.LabelHidden:
			out.summary = values[0].Text
		case f.LabelPosition == config.LabelInline && f.Values[0].Item != nil && f.Values[0].Item.Type == content.TypeTerm:
			out.topics = append(out.topics, shown)
		case f.LabelPosition == config.LabelInline:
			out.facts = append(out.facts, shown)
		default:
			out.text = append(out.text, shown)
		}
	}
	return out
}

func shownValues(ctx context.Context, f content.RenderedField, zone *time.Location, blocks *blockBuilder) []components.ShownValue {
	out := make([]components.ShownValue, 0, len(f.Values))
	for _, v := range f.Values {
		if v.Block != nil {
			if blocks == nil {
				continue
			}
			if block := blocks.fromContent(*v.Block); block != nil {
				out = append(out, components.ShownValue{Block: block})
			}
			continue
		}
		shown := components.ShownValue{HTML: v.HTML, Text: v.Text, URL: v.URL, External: isExternal(v.URL), From: v.From, To: v.To, Clock: v.Clock}
		if v.Clock {
			shown.From, shown.To = inZone(v.From, zone), inZone(v.To, zone)
		}
		if v.Image != nil {
			shown.Image = imageProps(*v.Image, f.Style)
		}
		if v.File != nil {
			shown.File = &components.FileProps{Name: v.Text, URL: v.URL, Detail: fileDetail(ctx, *v.File)}
		}
		for _, below := range v.Fields {
			if f.Style != "" && below.Type == config.FieldImage {
				below.Style = f.Style // where it is shown knows how much room there is
			}
			if values := shownValues(ctx, below, zone, blocks); len(values) > 0 {
				shown.Fields = append(shown.Fields, components.ShownField{
					Name: below.Name, Label: below.Label, Above: below.LabelPosition != config.LabelHidden, Values: values,
				})
			}
		}
		out = append(out, shown)
	}
	return out
}

func inZone(t time.Time, zone *time.Location) time.Time {
	if t.IsZero() {
		return t
	}
	return t.In(zone)
}

// imageProps is an image in a style, with its sizes.
func imageProps(img content.Image, style string) *components.ImageProps {
	if style == "" {
		style = "wide"
	}
	sizes := wideSizes
	if style != "wide" {
		sizes = cardSizes
	}
	d := img.File.Derivative(style)
	return &components.ImageProps{
		Src: d.URL, Srcset: img.File.Srcset(style), Sizes: sizes, Width: d.Width, Height: d.Height, Alt: img.Alt,
	}
}

// pictureOf finds the first image among fields.
func pictureOf(fields []components.ShownField) *components.ImageProps {
	for _, f := range fields {
		for _, v := range f.Values {
			if v.Image != nil {
				return v.Image
			}
			if found := pictureOf(v.Fields); found != nil {
				return found
			}
		}
	}
	return nil
}

func isExternal(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// teaser is an item as lists show it.
func teaser(ctx context.Context, it content.Item, fields []content.RenderedField, zone *time.Location, lang string) components.TeaserProps {
	shown := shownFields(ctx, fields, zone, nil)
	t := components.TeaserProps{Title: it.Title, URL: it.Path, Text: excerpt(shown.summary, 240), Facts: shown.facts}
	if it.Lang != lang {
		t.Lang = it.Lang
	}
	if it.Bundle == articleType {
		t.Date = it.Date
	}
	if picture := pictureOf(shown.text); picture != nil {
		small := *picture
		small.Sizes = cardSizes
		t.Image = &small
	}
	return t
}

// zone is the time zone of the site.
func (h *Handlers) zone(ctx context.Context) *time.Location {
	settings, err := config.Get[config.Settings](ctx, h.Config, config.SiteName)
	if err != nil || settings.TimeZone == "" {
		return time.UTC
	}
	zone, err := time.LoadLocation(settings.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}
