package handlers

import (
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// A fieldForm is the form of one field of a type.
type fieldForm struct {
	c       echo.Context
	field   config.Field
	isNew   bool
	types   *content.Types
	formats []config.Named[config.TextFormat]
}

func (f fieldForm) t(key string, args ...any) string {
	return i18n.T(f.c.Request().Context(), "fields."+key, args...)
}

func (f fieldForm) check(name, label, help string, on bool) views.Control {
	c := views.Control{Kind: views.ControlCheck, FieldProps: components.FieldProps{ID: "field-" + name, Name: name, Value: "on", Label: label, Help: help}}
	if on {
		c.Chosen = []string{"on"}
	}
	return c
}

// typed is a number as it was typed, or as it is stored.
func (f fieldForm) typed(name, stored string) string {
	if form := f.c.Request().PostForm; form.Has(name) {
		return form.Get(name)
	}
	return stored
}

func (f fieldForm) number(name, label, help, stored string) views.Control {
	return views.Control{FieldProps: components.FieldProps{
		ID: "field-" + name, Name: name, Label: label, Help: help, Value: f.typed(name, stored), Autocomplete: "off", MaxLength: 20, Optional: true}}
}

func positive(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// main is what every field has.
func (f fieldForm) main() views.FormGroup {
	g := views.FormGroup{Controls: []views.Control{{FieldProps: components.FieldProps{
		ID: "field-label", Name: "label", Label: f.t("label"), Value: f.field.Label, MaxLength: 120, Required: true}}}}
	if f.isNew {
		g.Controls = append(g.Controls, views.Control{FieldProps: components.FieldProps{
			ID: "field-name", Name: "name", Label: f.t("name"), Value: f.c.FormValue("name"), Help: f.t("name_help"), MaxLength: 63, Optional: true}})
	}
	g.Controls = append(g.Controls, views.Control{Kind: views.ControlArea, Rows: 3, FieldProps: components.FieldProps{
		ID: "field-help", Name: "help", Label: f.t("help"), Value: f.field.Help, Help: f.t("help_help"), MaxLength: 2000, Optional: true}},
		f.check("required", f.t("required"), "", f.field.Required),
		f.check("translatable", f.t("translatable"), f.t("translatable_help"), f.field.Translatable))
	if f.field.Type == config.FieldComponents || f.field.Type == config.FieldBoolean {
		return g
	}
	values := "one"
	switch {
	case f.field.Cardinality == config.Unlimited:
		values = "unlimited"
	case f.field.Cardinality > 1:
		values = "limited"
	}
	values = f.typed("values", values)
	g.Controls = append(g.Controls,
		views.Control{Kind: views.ControlRadios, Chosen: []string{values}, FieldProps: components.FieldProps{ID: "field-values", Name: "values", Label: f.t("values")},
			Options: []components.Option{{Value: "one", Label: f.t("one")}, {Value: "unlimited", Label: f.t("unlimited")}, {Value: "limited", Label: f.t("limited")}}},
		f.number("cardinality", f.t("cardinality"), f.t("cardinality_help"), positive(f.field.Cardinality)))
	return g
}

// settings is what fields of the type can be told.
func (f fieldForm) settings() views.FormGroup {
	s := f.field.Settings
	g := views.FormGroup{Title: f.t("settings")}
	add := func(c ...views.Control) { g.Controls = append(g.Controls, c...) }
	switch f.field.Type {
	case config.FieldText:
		add(f.number("max_length", f.t("max_length"), "", positive(s.MaxLength)))
	case config.FieldLongText:
		add(f.formatBoxes(), f.number("max_length", f.t("max_length"), "", positive(s.MaxLength)))
	case config.FieldComponents:
		add(f.formatBoxes())
	case config.FieldInteger, config.FieldDecimal:
		add(f.number("min", f.t("min"), "", float(s.Min)), f.number("max", f.t("max"), "", float(s.Max)))
		if f.field.Type == config.FieldDecimal {
			add(f.number("scale", f.t("scale"), f.t("scale_help"), positive(s.Scale)))
		}
	case config.FieldDate, config.FieldDateRange:
		add(f.check("time", f.t("time"), "", s.Time))
	case config.FieldList:
		var lines []string
		for _, choice := range s.Choices {
			lines = append(lines, choice.Value+"|"+choice.Label)
		}
		add(views.Control{Kind: views.ControlArea, Rows: 6, FieldProps: components.FieldProps{
			ID: "field-choices", Name: "choices", Label: f.t("choices"), Help: f.t("choices_help"), Value: f.typed("choices", strings.Join(lines, "\n")), Required: true}})
	case config.FieldLink:
		add(f.check("internal", f.t("internal"), "", s.Internal))
	case config.FieldImage:
		add(f.check("alt_required", f.t("alt_required"), f.t("alt_required_help"), s.AltRequired), f.size(s.MaxBytes))
	case config.FieldFile:
		add(views.Control{FieldProps: components.FieldProps{
			ID: "field-extensions", Name: "extensions", Label: f.t("extensions"), Help: f.t("extensions_help"), Value: strings.Join(s.Extensions, " "), Placeholder: "pdf docx", MaxLength: 200, Optional: true}}, f.size(s.MaxBytes))
	case config.FieldReference:
		add(f.targets()...)
	}
	return g
}

func float(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

func (f fieldForm) size(bytes int64) views.Control {
	stored := ""
	if bytes > 0 {
		stored = strconv.FormatFloat(float64(bytes)/megabyte, 'f', -1, 64)
	}
	return f.number("max_bytes", f.t("max_bytes"), f.t("max_bytes_help"), stored)
}

func (f fieldForm) formatBoxes() views.Control {
	c := views.Control{Kind: views.ControlChecks, Chosen: f.field.Settings.Formats, FieldProps: components.FieldProps{
		ID: "field-formats", Name: "formats", Label: f.t("formats"), Help: f.t("formats_help")}}
	formats := slices.Clone(f.formats)
	slices.SortStableFunc(formats, func(a, b config.Named[config.TextFormat]) int { return a.Value.Weight - b.Value.Weight })
	// Those in use come first, in their order: the first is the default.
	slices.SortStableFunc(formats, func(a, b config.Named[config.TextFormat]) int {
		return place(c.Chosen, a.Name) - place(c.Chosen, b.Name)
	})
	for _, format := range formats {
		c.Options = append(c.Options, components.Option{Value: format.Name, Label: format.Value.Label})
	}
	return c
}

func place(names []string, name string) int {
	if i := slices.Index(names, name); i >= 0 {
		return i
	}
	return len(names)
}

// targets are what a reference can lead to: a kind of thing, and of which types.
func (f fieldForm) targets() []views.Control {
	s := f.field.Settings
	target := s.Target
	if target == "" {
		target = config.EntityNode
	}
	kinds := views.Control{Kind: views.ControlRadios, Chosen: []string{target}, FieldProps: components.FieldProps{ID: "field-target", Name: "target", Label: f.t("target")}}
	boxes := views.Control{Kind: views.ControlChecks, FieldProps: components.FieldProps{ID: "field-bundles", Name: "bundles", Label: f.t("bundles"), Help: f.t("bundles_help"), Optional: true}}
	ctx := f.c.Request().Context()
	for _, entity := range []string{config.EntityNode, config.EntityMedia, config.EntityTerm} {
		label := i18n.T(ctx, "types.entity."+entity)
		kinds.Options = append(kinds.Options, components.Option{Value: entity, Label: label})
		for _, t := range f.types.Bundles(entity) {
			boxes.Options = append(boxes.Options, components.Option{Value: entity + "/" + t.Name, Label: label + ": " + t.Value.Label})
			if entity == target && slices.Contains(s.Bundles, t.Name) {
				boxes.Chosen = append(boxes.Chosen, entity+"/"+t.Name)
			}
		}
	}
	return []views.Control{kinds, boxes}
}
