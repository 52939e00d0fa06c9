package config

import (
	"cmp"
	"slices"
)

// FieldType says what a field holds and how it is stored.
type FieldType string

// The types of fields. What each stores is written in docs/content.md.
const (
	FieldText       FieldType = "text"
	FieldLongText   FieldType = "long_text"
	FieldBoolean    FieldType = "boolean"
	FieldInteger    FieldType = "integer"
	FieldDecimal    FieldType = "decimal"
	FieldDate       FieldType = "date"
	FieldDateRange  FieldType = "date_range"
	FieldEmail      FieldType = "email"
	FieldLink       FieldType = "link"
	FieldList       FieldType = "list"
	FieldImage      FieldType = "image"
	FieldFile       FieldType = "file"
	FieldReference  FieldType = "reference"
	FieldComponents FieldType = "components"
)

// Unlimited is the cardinality of a field that may have any number of values.
const Unlimited = -1

// Entity types that a [ContentType] can describe, and the one of a [Vocabulary].
const (
	EntityNode  = "node"
	EntityMedia = "media"
	EntityTerm  = "term"
)

// A ContentType says what the nodes or media of one bundle are made of; its
// object's name is the bundle.
type ContentType struct {
	Label        string                `json:"label"`
	Labels       map[string]string     `json:"labels,omitempty"` // by language, where they differ from Label
	Entity       string                `json:"entity"`           // EntityNode or EntityMedia
	Description  string                `json:"description,omitempty"`
	Workflow     bool                  `json:"workflow,omitempty"`       // drafts, then published by whoever may; off: every save is public at once
	OutOfAnswers bool                  `json:"out_of_answers,omitempty"` // answers never quote it
	Fields       []Field               `json:"fields"`
	Form         []FormItem            `json:"form,omitempty"`  // the edit form in order; fields it leaves out follow with their first widget
	Views        map[string][]ViewItem `json:"views,omitempty"` // by view mode, in order; fields left out are not shown
}

// A Vocabulary is a set of terms; its object's name is the terms' bundle.
type Vocabulary struct {
	Label       string                `json:"label"`
	Labels      map[string]string     `json:"labels,omitempty"`
	Description string                `json:"description,omitempty"`
	Fields      []Field               `json:"fields,omitempty"`
	Form        []FormItem            `json:"form,omitempty"`
	Views       map[string][]ViewItem `json:"views,omitempty"`
}

// A Field is one typed part of a content type.
type Field struct {
	Name         string            `json:"name"`
	Label        string            `json:"label"`
	Labels       map[string]string `json:"labels,omitempty"`
	Help         string            `json:"help,omitempty"`
	Type         FieldType         `json:"type"`
	Required     bool              `json:"required,omitempty"`
	Cardinality  int               `json:"cardinality,omitempty"`  // values at most; 0 is 1; [Unlimited]
	Translatable bool              `json:"translatable,omitempty"` // off: all languages share its value
	Settings     FieldSettings     `json:"settings,omitzero"`
}

// FieldSettings are what types of fields can be told; each type reads its own.
type FieldSettings struct {
	MaxLength   int      `json:"max_length,omitempty"`   // text, long text: characters; 0: the type's limit
	Formats     []string `json:"formats,omitempty"`      // long text, components: the first is the default; none: markdown
	Min         *float64 `json:"min,omitempty"`          // integer, decimal
	Max         *float64 `json:"max,omitempty"`          //
	Scale       int      `json:"scale,omitempty"`        // decimal: digits after the point, at most; 0 is 2
	Time        bool     `json:"time,omitempty"`         // date, date range: with time of day
	Choices     []Choice `json:"choices,omitempty"`      // list: the values allowed
	Internal    bool     `json:"internal,omitempty"`     // link: addresses of this site only
	Target      string   `json:"target,omitempty"`       // reference: entity type; none: node
	Bundles     []string `json:"bundles,omitempty"`      // reference: none: every bundle
	AltRequired bool     `json:"alt_required,omitempty"` // image: alternative text must be given with it
	Extensions  []string `json:"extensions,omitempty"`   // file: "pdf"; none: every kind that may be uploaded
	MaxBytes    int64    `json:"max_bytes,omitempty"`    // image, file; 0: the site's limit
}

// A Choice is an allowed value of a list field.
type Choice struct {
	Value  string            `json:"value"`
	Label  string            `json:"label"`
	Labels map[string]string `json:"labels,omitempty"`
}

// A FormItem puts a field on the edit form.
type FormItem struct {
	Field  string `json:"field"`
	Widget string `json:"widget"` // one of [Widgets], or [Hidden]
}

// A ViewItem shows a field in a view mode.
type ViewItem struct {
	Field     string `json:"field"`
	Label     string `json:"label"`           // one of [LabelPositions]
	Formatter string `json:"formatter"`       // one of [Formatters]
	Style     string `json:"style,omitempty"` // images: name of the derivative
	Mode      string `json:"mode,omitempty"`  // formatter entity: view mode of what is referred to
	Limit     int    `json:"limit,omitempty"` // formatter trimmed: characters
}

// Hidden is the widget of a field that the edit form leaves out.
const Hidden = "hidden"

// The view modes of every type.
const (
	ViewFull   = "full"
	ViewTeaser = "teaser"
	ViewCard   = "card"
)

// ViewModes lists the view modes, the whole one first.
func ViewModes() []string { return []string{ViewFull, ViewTeaser, ViewCard} }

// Where a field's label stands beside its values.
const (
	LabelAbove  = "above"
	LabelInline = "inline"
	LabelHidden = "hidden"
)

// LabelPositions lists where a label can stand.
func LabelPositions() []string { return []string{LabelAbove, LabelInline, LabelHidden} }

// fieldKind is what a type of field can be edited and shown with, the default first.
type fieldKind struct {
	widgets    []string
	formatters []string
}

// fieldKinds lists every type of field.
func fieldKinds() map[FieldType]fieldKind {
	return map[FieldType]fieldKind{
		FieldText:       {[]string{"text", "textarea"}, []string{"text", "heading", "link_to_entity"}},
		FieldLongText:   {[]string{"editor", "textarea"}, []string{"html", "trimmed", "plain"}},
		FieldBoolean:    {[]string{"checkbox", "radios"}, []string{"yes_no", "label_if_true"}},
		FieldInteger:    {[]string{"number"}, []string{"number"}},
		FieldDecimal:    {[]string{"number"}, []string{"number"}},
		FieldDate:       {[]string{"date"}, []string{"date", "date_short"}},
		FieldDateRange:  {[]string{"date_range"}, []string{"date_range", "date_range_short"}},
		FieldEmail:      {[]string{"email"}, []string{"mailto", "text"}},
		FieldLink:       {[]string{"link"}, []string{"link", "address"}},
		FieldList:       {[]string{"select", "radios", "checkboxes"}, []string{"label"}},
		FieldImage:      {[]string{"image"}, []string{"image"}},
		FieldFile:       {[]string{"file"}, []string{"file_link"}},
		FieldReference:  {[]string{"autocomplete", "select", "checkboxes", "media_library"}, []string{"label", "link", "entity"}},
		FieldComponents: {[]string{"components"}, []string{"components"}},
	}
}

// FieldTypes lists the types of fields in the order in which forms offer them.
func FieldTypes() []FieldType {
	return []FieldType{
		FieldText, FieldLongText, FieldBoolean, FieldInteger, FieldDecimal, FieldDate, FieldDateRange, FieldEmail,
		FieldLink, FieldList, FieldImage, FieldFile, FieldReference, FieldComponents,
	}
}

// Widgets lists what a type of field can be edited with, the default first.
func Widgets(t FieldType) []string { return fieldKinds()[t].widgets }

// Formatters lists what a type of field can be shown with, the default first.
func Formatters(t FieldType) []string { return fieldKinds()[t].formatters }

// Multiple reports whether a field holds a list of values.
func (f Field) Multiple() bool { return f.Cardinality == Unlimited || f.Cardinality > 1 }

// LabelIn is the field's label in a language.
func (f Field) LabelIn(lang string) string { return cmp.Or(f.Labels[lang], f.Label) }

// LabelIn is the choice's label in a language.
func (c Choice) LabelIn(lang string) string { return cmp.Or(c.Labels[lang], c.Label) }

// LabelIn is the type's label in a language.
func (t ContentType) LabelIn(lang string) string { return cmp.Or(t.Labels[lang], t.Label) }

// LabelIn is the vocabulary's label in a language.
func (v Vocabulary) LabelIn(lang string) string { return cmp.Or(v.Labels[lang], v.Label) }

// Field returns a field by its name.
func (t ContentType) Field(name string) (Field, bool) {
	i := slices.IndexFunc(t.Fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return t.Fields[i], true
}

// FormItems is the whole edit form: every field once, in order, hidden ones too.
func (t ContentType) FormItems() []FormItem {
	var items []FormItem
	placed := map[string]bool{}
	for _, i := range t.Form {
		if _, ok := t.Field(i.Field); ok && !placed[i.Field] {
			items = append(items, i)
			placed[i.Field] = true
		}
	}
	for _, f := range t.Fields {
		if !placed[f.Name] {
			items = append(items, FormItem{Field: f.Name, Widget: Widgets(f.Type)[0]})
		}
	}
	return items
}

// ViewItems is what a view mode shows, in order. A type without a display for the
// mode shows it as full, and without that every field.
func (t ContentType) ViewItems(mode string) []ViewItem {
	items, ok := t.Views[mode]
	if !ok {
		items, ok = t.Views[ViewFull]
	}
	if ok {
		return slices.DeleteFunc(slices.Clone(items), func(i ViewItem) bool {
			_, known := t.Field(i.Field)
			return !known
		})
	}
	for _, f := range t.Fields {
		items = append(items, ViewItem{Field: f.Name, Label: LabelAbove, Formatter: Formatters(f.Type)[0]})
	}
	return items
}

// AsType is the vocabulary as the type of its terms.
func (v Vocabulary) AsType() ContentType {
	return ContentType{
		Label: v.Label, Labels: v.Labels, Entity: EntityTerm, Description: v.Description,
		Fields: v.Fields, Form: v.Form, Views: v.Views,
	}
}

// A TextFormat is a way to write long text; its object's name is the format.
type TextFormat struct {
	Label  string `json:"label"`
	Help   string `json:"help,omitempty"`
	Filter string `json:"filter"` // one of [TextFilters]
	Weight int    `json:"weight"` // order in forms
}

// How the text of a format becomes HTML. Nothing that a filter lets through can
// run a script.
const (
	FilterPlain          = "plain"
	FilterMarkdown       = "markdown"
	FilterRestrictedHTML = "restricted_html" // what Markdown can say, and tables
	FilterFullHTML       = "full_html"       // also classes, images, figures and media of this site
)

// TextFilters lists the filters of text formats.
func TextFilters() []string {
	return []string{FilterPlain, FilterMarkdown, FilterRestrictedHTML, FilterFullHTML}
}
