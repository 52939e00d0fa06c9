package content

import (
	"slices"
	"strconv"
	"strings"

	"docent/internal/config"
)

// excerptLength is how much of a long text the formatter "trimmed" shows, in
// characters, unless a display says otherwise.
const excerptLength = 300

// values shows the values of a field.
func (l *lookup) values(f config.Field, view config.ViewItem, lang string, value any) []RenderedValue {
	return l.valuesAt(f, view, lang, value, 0)
}

func (l *lookup) valuesAt(f config.Field, view config.ViewItem, lang string, value any, depth int) []RenderedValue {
	var out []RenderedValue
	for _, one := range list(value) {
		if f.Type == config.FieldComponents {
			out = append(out, l.component(one, lang))
		} else if v, ok := l.value(f, view, lang, one, depth); ok {
			out = append(out, v)
		}
	}
	return out
}

// list is the values that a field holds, however many it may.
func list(value any) []any {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		return v
	case []string: // not stored yet
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = s
		}
		return out
	}
	return []any{value}
}

// value shows one value; ok is false when there is nothing to see.
func (l *lookup) value(f config.Field, view config.ViewItem, lang string, value any, depth int) (v RenderedValue, ok bool) {
	switch f.Type {
	case config.FieldLongText:
		text, format := longText(value)
		switch view.Formatter {
		case "trimmed":
			v.Text = excerpt(l.types.Plain(format, text), orDefault(view.Limit, excerptLength))
		case "plain":
			v.Text = l.types.Plain(format, text)
		default:
			v.HTML, v.Headings = l.types.HTML(format, text, l.s.opts.Labels(lang))
		}
		return v, text != ""
	case config.FieldBoolean:
		v.Yes, ok = value.(bool)
		return v, ok && (v.Yes || view.Formatter != "label_if_true")
	case config.FieldInteger:
		n, ok := value.(float64)
		v.Text = strconv.FormatFloat(n, 'f', -1, 64)
		return v, ok
	case config.FieldDate, config.FieldDateRange:
		return dates(value)
	case config.FieldLink:
		v.URL = (Fields{"": value}).Text("")
		v.Text = v.URL
		if m, ok := value.(map[string]any); ok {
			if title, _ := m["title"].(string); title != "" && view.Formatter != "address" {
				v.Text = title
			}
		}
		return v, linkable(v.URL)
	case config.FieldList:
		v.Text, ok = value.(string)
		if i := slices.IndexFunc(f.Settings.Choices, func(c config.Choice) bool { return c.Value == v.Text }); i >= 0 {
			v.Text = f.Settings.Choices[i].LabelIn(lang)
		}
		return v, ok
	case config.FieldImage, config.FieldFile:
		return l.file(f, value)
	case config.FieldReference:
		id, _ := value.(string)
		return l.reference(id, view, lang, depth)
	}
	v.Text, ok = value.(string) // text, email, decimal
	if ok && f.Type == config.FieldEmail && view.Formatter != "text" {
		v.URL = "mailto:" + v.Text
	}
	return v, ok && v.Text != ""
}

func dates(value any) (v RenderedValue, ok bool) {
	from, isText := value.(string)
	to := ""
	if m, isRange := value.(map[string]any); isRange {
		from, isText = m["from"].(string)
		to, _ = m["to"].(string)
	}
	var err error
	if v.From, v.Clock, err = ParseDate(from); err != nil || !isText {
		return v, false
	}
	v.Text = from
	if to != "" {
		if v.To, _, err = ParseDate(to); err != nil {
			return v, false
		}
		v.Text += " – " + to
	}
	return v, true
}

// file shows a file that there is.
func (l *lookup) file(f config.Field, value any) (v RenderedValue, ok bool) {
	m, _ := value.(map[string]any)
	id, _ := m["file"].(string)
	file, ok := l.files[id]
	if !ok {
		return v, false
	}
	v.File, v.URL, v.Text = &file, file.URL(), file.Name
	if f.Type == config.FieldImage {
		alt, _ := m["alt"].(string)
		v.Image, v.Text = &Image{File: file, Alt: alt}, alt
	} else if title, _ := m["title"].(string); title != "" {
		v.Text = title
	}
	return v, true
}

// reference shows an entity that the account may see. Of media, the picture comes
// with it.
func (l *lookup) reference(id string, view config.ViewItem, lang string, depth int) (v RenderedValue, ok bool) {
	it, ok := l.entity(id, lang)
	if !ok {
		return v, false
	}
	v.Item, v.Text, v.URL = &it, it.Title, it.Path
	if it.Type == TypeMedia {
		v.Image, v.File = l.picture(it)
	}
	if view.Formatter == "entity" && depth < nesting {
		mode := view.Mode
		if mode == "" {
			mode = config.ViewTeaser
		}
		v.Fields = l.render(it, mode, depth+1)
	}
	return v, true
}

// picture finds what a media entity holds: its first image, or its first file.
func (l *lookup) picture(it Item) (*Image, *File) {
	ct, _ := l.types.Type(it.Type, it.Bundle)
	for _, f := range ct.Fields {
		if f.Type != config.FieldImage && f.Type != config.FieldFile {
			continue
		}
		for _, one := range list(it.Fields[f.Name]) {
			v, ok := l.file(f, one)
			if !ok {
				continue
			}
			if v.Image != nil && v.Image.Alt == "" {
				v.Image.Alt = it.Fields.Text("alt")
			}
			return v.Image, v.File
		}
	}
	return nil, nil
}

// component shows a text or a block among components.
func (l *lookup) component(part any, lang string) (v RenderedValue) {
	m, _ := part.(map[string]any)
	if m["type"] == "block" {
		b := &Block{}
		b.Name, _ = m["block"].(string)
		b.UUID, _ = m["uuid"].(string)
		b.Settings, _ = m["settings"].(map[string]any)
		v.Block = b
		return v
	}
	text, format := longText(m)
	v.HTML, v.Headings = l.types.HTML(format, text, l.s.opts.Labels(lang))
	v.Text = strings.TrimSpace(text)
	return v
}
