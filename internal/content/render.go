package content

import (
	"context"
	"time"

	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/markdown"
)

// A RenderedField is one field of an item as a view mode shows it.
type RenderedField struct {
	Name          string
	Label         string // in the item's language
	LabelPosition string
	Type          config.FieldType
	Formatter     string
	Style         string // of images
	Values        []RenderedValue
}

// A RenderedValue is one value of a field; the field's type and formatter say
// which parts it has.
type RenderedValue struct {
	HTML     string // safe; of long texts and the texts among components
	Headings []markdown.Heading
	Text     string // plain: of everything else, also a label, a number, an excerpt
	URL      string // of links, and of what is referred to
	Image    *Image
	File     *File
	From, To time.Time       // of dates; To is zero unless a range has an end
	Clock    bool            // they have a time of day
	Item     *Item           // what is referred to, for the account to see
	Fields   []RenderedField // of Item, for the formatter "entity"
	Block    *Block
	Yes      bool // of boolean fields
}

// An Image is a picture with its text for people who cannot see it.
type Image struct {
	File File
	Alt  string
}

// A Block is a placed block among components.
type Block struct {
	Name     string
	UUID     string
	Settings map[string]any
}

// nesting is how deep references are shown within each other.
const nesting = 3

// Render returns the fields of an item that a view mode shows, those without a
// value left out. What a field refers to is shown as far as the account may see it.
func (s *Store) Render(ctx context.Context, who account.Account, it Item, mode string) ([]RenderedField, error) {
	all, err := s.RenderMany(ctx, who, []Item{it}, mode)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// RenderMany is [Store.Render] for many items, in their order. It takes no more
// statements for many than for one.
func (s *Store) RenderMany(ctx context.Context, who account.Account, items []Item, mode string) ([][]RenderedField, error) {
	types, err := s.Types(ctx)
	if err != nil {
		return nil, err
	}
	l, err := s.lookupFor(ctx, who, types, items, mode)
	if err != nil {
		return nil, err
	}
	out := make([][]RenderedField, len(items))
	for i, it := range items {
		out[i] = l.render(it, mode, 0)
	}
	return out, nil
}

// RenderText makes safe HTML of a text in a format and a language.
func (s *Store) RenderText(ctx context.Context, format, lang, text string) (safe string, headings []markdown.Heading, err error) {
	types, err := s.Types(ctx)
	if err != nil {
		return "", nil, err
	}
	safe, headings = types.HTML(format, text, s.opts.Labels(lang))
	return safe, headings, nil
}

// render shows an item; depth counts how often it is nested.
func (l *lookup) render(it Item, mode string, depth int) []RenderedField {
	ct, known := l.types.Type(it.Type, it.Bundle)
	if !known {
		ct = untyped(it.Fields)
	}
	var out []RenderedField
	for _, view := range ct.ViewItems(mode) {
		f, _ := ct.Field(view.Field)
		values := l.valuesAt(f, view, it.Lang, it.Fields[f.Name], depth)
		if len(values) == 0 {
			continue
		}
		if f.Type == config.FieldImage {
			for i := range values {
				if img := values[i].Image; img != nil && img.Alt == "" {
					img.Alt = it.Fields.Text("alt")
				}
			}
		}
		out = append(out, RenderedField{
			Name: f.Name, Label: f.LabelIn(it.Lang), LabelPosition: view.Label, Type: f.Type,
			Formatter: view.Formatter, Style: view.Style, Values: values,
		})
	}
	return out
}

// untyped is a type made of the fields that every shipped one has, for content
// whose type is gone.
func untyped(fields Fields) config.ContentType {
	var ct config.ContentType
	for _, f := range []config.Field{
		{Name: FieldSummary, Label: "Summary", Type: config.FieldText},
		{Name: FieldBody, Label: "Text", Type: config.FieldLongText},
		{Name: FieldTopics, Label: "Topics", Type: config.FieldReference, Cardinality: config.Unlimited, Settings: config.FieldSettings{Target: TypeTerm}},
		{Name: FieldSource, Label: "Original address", Type: config.FieldLink},
	} {
		if fields[f.Name] != nil {
			ct.Fields = append(ct.Fields, f)
		}
	}
	return ct
}
