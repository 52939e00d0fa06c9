package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
)

// optionsShown bounds what a reference offers all at once.
const optionsShown = 300

// widgets are the form's fields as they are edited, in the form display's order.
func (h *Handlers) widgets(c echo.Context, f *nodeForm) ([]components.Widget, error) {
	ctx := c.Request().Context()
	if err := errors.Join(h.loadTitles(c, f), h.loadMedia(c, f)); err != nil {
		return nil, err
	}
	var out []components.Widget
	for _, item := range f.typ.FormItems() {
		field, _ := f.typ.Field(item.Field)
		if item.Widget == config.Hidden {
			continue
		}
		w := components.Widget{
			Name: field.Name, Label: field.LabelIn(i18n.Language(ctx)), Help: field.Help, Required: field.Required,
			Kind: widgetKind(field, item.Widget), Lang: f.lang, Time: field.Settings.Time, MaxLength: field.Settings.MaxLength,
			Multiple: field.Multiple() && !f.manyInOne(field),
			Shared:   !field.Translatable && len(h.Content.Languages()) > 1,
			Error:    fieldError(ctx, field.LabelIn(i18n.Language(ctx)), f.errors[field.Name]),
		}
		if field.Type == config.FieldComponents {
			w.Multiple = true
		}
		if f.manyInOne(field) {
			w.Kind = components.WidgetChecks
		}
		if err := h.fillWidget(c, f, field, &w); err != nil {
			return nil, err
		}
		keys := f.keys(field.Name)
		if len(keys) == 0 && !f.hidesEmpty(field) {
			keys = []string{"0"}
		}
		w.More = field.Cardinality == config.Unlimited || field.Type == config.FieldComponents || len(keys) < field.Cardinality
		for _, key := range keys {
			w.Rows = append(w.Rows, widgetRow(c, f, field, w, key))
		}
		if field.Type == config.FieldComponents {
			if err := h.fillBlocks(c, f, field, &w); err != nil {
				return nil, err
			}
		}
		if f.source != nil && field.Translatable {
			w.Source, w.SourceLang = sourceText(field, f.source.Fields), f.source.Lang
		}
		out = append(out, w)
	}
	return out, nil
}

// fieldError says what is wrong with a part of the form that people know by its
// label: the commonest complaints in their language, the others as content words them.
func fieldError(ctx context.Context, label, message string) string {
	switch {
	case message == "":
		return ""
	case message == "is missing":
		return i18n.T(ctx, "invalid.missing", label)
	case message == "is in use already":
		return i18n.T(ctx, "invalid.in_use", label)
	case strings.HasPrefix(message, "must be a whole number"), strings.HasPrefix(message, "must be a number"):
		return i18n.T(ctx, "invalid.number", label)
	case strings.HasPrefix(message, "must be a date"):
		return i18n.T(ctx, "invalid.date", label)
	case strings.HasPrefix(message, "must be an address"):
		return i18n.T(ctx, "invalid.address", label)
	case strings.HasPrefix(message, "must name a role"):
		return i18n.T(ctx, "invalid.roles", label)
	}
	return sentence(label + " " + message)
}

func widgetKind(field config.Field, widget string) components.WidgetKind {
	switch field.Type {
	case config.FieldText:
		if widget == "textarea" {
			return components.WidgetLong
		}
	case config.FieldLongText:
		return components.WidgetMarkup
	case config.FieldBoolean:
		if widget == "radios" {
			return components.WidgetRadios
		}
		return components.WidgetCheck
	case config.FieldInteger, config.FieldDecimal:
		return components.WidgetNumber
	case config.FieldDate:
		return components.WidgetDate
	case config.FieldDateRange:
		return components.WidgetDateRange
	case config.FieldLink:
		return components.WidgetLink
	case config.FieldList:
		switch widget {
		case "radios":
			return components.WidgetRadios
		case "checkboxes":
			return components.WidgetChecks
		}
		return components.WidgetSelect
	case config.FieldImage, config.FieldFile:
		return components.WidgetMedium
	case config.FieldReference:
		switch widget {
		case "select":
			return components.WidgetSelect
		case "checkboxes":
			return components.WidgetChecks
		case "media_library":
			return components.WidgetMedium
		}
		return components.WidgetReference
	case config.FieldComponents:
		return components.WidgetComponents
	}
	return components.WidgetLine
}

// fillWidget adds what depends on the type of the field: choices, formats, bounds.
func (h *Handlers) fillWidget(c echo.Context, f *nodeForm, field config.Field, w *components.Widget) error {
	ctx := c.Request().Context()
	switch field.Type {
	case config.FieldEmail:
		w.Type = "email"
	case config.FieldInteger:
		w.Step = "1"
	case config.FieldDecimal:
		w.Step = "any"
	case config.FieldBoolean:
		w.Required = true // no is an answer
		if w.Kind == components.WidgetRadios {
			w.Options = []components.Option{{Value: "1", Label: i18n.T(ctx, "widget.yes")}, {Value: "0", Label: i18n.T(ctx, "widget.no")}}
		}
	case config.FieldList:
		for _, choice := range field.Settings.Choices {
			w.Options = append(w.Options, components.Option{Value: choice.Value, Label: choice.LabelIn(i18n.Language(ctx))})
		}
	case config.FieldLongText, config.FieldComponents:
		for _, format := range f.types.Formats(f.who, field) {
			w.Formats = append(w.Formats, components.Option{Value: format.Name, Label: format.Value.Label})
		}
	case config.FieldReference:
		target := referenceTarget(field)
		w.SuggestURL = "/admin/content/suggest?" + url.Values{"entity": {target}, "bundle": field.Settings.Bundles, "language": {f.lang}}.Encode()
		w.PickerURL = pickerURL(field)
		w.Document = target == content.TypeMedia && len(field.Settings.Bundles) > 0 && !slices.Contains(field.Settings.Bundles, "image")
		if w.Kind == components.WidgetSelect || w.Kind == components.WidgetChecks {
			items, _, err := h.Content.List(ctx, f.who, content.Filter{Type: target, Bundles: field.Settings.Bundles, Order: content.ByTitle, Limit: optionsShown})
			if err != nil {
				return err
			}
			for _, it := range inOneLanguage(items, f.lang) {
				w.Options = append(w.Options, components.Option{Value: it.ID, Label: it.Title})
			}
		}
	case config.FieldImage, config.FieldFile:
		w.PickerURL = pickerURL(field)
		w.Document = field.Type == config.FieldFile
	}
	return nil
}

func referenceTarget(field config.Field) string {
	if field.Settings.Target == "" {
		return content.TypeNode
	}
	return field.Settings.Target
}

// inOneLanguage leaves one translation of each entity, in lang where there is one.
func inOneLanguage(items []content.Item, lang string) []content.Item {
	at := map[string]int{}
	var out []content.Item
	for _, it := range items {
		i, seen := at[it.ID]
		switch {
		case !seen:
			at[it.ID] = len(out)
			out = append(out, it)
		case it.Lang == lang:
			out[i] = it
		}
	}
	return out
}

func widgetRow(c echo.Context, f *nodeForm, field config.Field, w components.Widget, key string) components.WidgetRow {
	name := input(field.Name, key)
	row := components.WidgetRow{
		Key: key, Value: f.values.Get(name), End: f.values.Get(name + ".end"), Format: f.values.Get(name + ".format"),
		Kind: f.values.Get(name + ".kind"), Alt: f.values.Get(name + ".alt"),
		Error: f.bad[name], Choices: f.choices[name],
	}
	switch w.Kind {
	case components.WidgetChecks:
		row.Checked = f.values[name]
	case components.WidgetRadios:
		if field.Type == config.FieldBoolean && row.Value == "" {
			row.Value = "0"
		}
	case components.WidgetMarkup, components.WidgetComponents:
		if row.Format == "" && len(w.Formats) > 0 {
			row.Format = w.Formats[0].Value
		}
		row.Closed = row.Value != "" && !slices.ContainsFunc(w.Formats, func(o components.Option) bool { return o.Value == row.Format })
		if row.Closed {
			row.Error = ""
		}
	case components.WidgetReference:
		id := f.values.Get(name + ".id")
		row.Label = row.Value
		if it, ok := f.titles[content.Ref{Type: referenceTarget(field), ID: id}]; ok && (row.Label == id || row.Label == "") {
			row.Label = it.Title
		}
		row.Value = id
	case components.WidgetMedium:
		f.fillMedium(c, field, &row)
	}
	return row
}

// sourceText is what a field says in the language that is translated from.
func sourceText(field config.Field, fields content.Fields) string {
	switch field.Type {
	case config.FieldText, config.FieldLongText:
	case config.FieldComponents:
		var texts []string
		list, _ := fields[field.Name].([]any)
		for _, one := range list {
			if m, ok := one.(map[string]any); ok {
				texts = append(texts, asText(m["value"]))
			}
		}
		return strings.Join(texts, "\n\n")
	default:
		return ""
	}
	switch v := fields[field.Name].(type) {
	case []any:
		var texts []string
		for _, one := range v {
			texts = append(texts, asText(one))
		}
		return strings.Join(texts, "\n")
	case nil:
		return ""
	default:
		return fields.Text(field.Name)
	}
}

// plainValue writes a value in words, for two people's versions side by side.
func (h *Handlers) plainValue(ctx context.Context, f *nodeForm, field config.Field, value any) (string, error) {
	if field.Type == config.FieldComponents {
		return h.partsInWords(ctx, f, value)
	}
	return f.shortValue(field, value), nil
}

func (f *nodeForm) shortValue(field config.Field, value any) string {
	switch field.Type {
	case config.FieldText, config.FieldLongText:
		return sourceText(field, content.Fields{field.Name: value})
	case config.FieldReference:
		list, isList := value.([]any)
		if !isList && value != nil {
			list = []any{value}
		}
		var titles []string
		for _, one := range list {
			id := asText(one)
			if it, ok := f.titles[content.Ref{Type: referenceTarget(field), ID: id}]; ok {
				id = it.Title
			}
			titles = append(titles, id)
		}
		return strings.Join(titles, ", ")
	}
	if value == nil {
		return ""
	}
	if s := asText(value); s != "" {
		return s
	}
	b, _ := json.Marshal(value)
	return string(b)
}
