package content

import (
	"maps"
	"strings"

	"docent/internal/config"
	"docent/internal/fromhtml"
	"docent/internal/markdown"
)

// indexed is an item as the index holds it: its body is Markdown whatever format
// it is written in, begins with the facts that other fields tell, such as when and
// where an event is, and goes on with its other texts.
func (s *Store) indexed(types *Types, it Item) Item {
	ct, known := types.Type(it.Type, it.Bundle)
	if !known {
		return it
	}
	var facts, texts []string
	for _, f := range ct.Fields {
		switch f.Name {
		case FieldSummary, FieldSource, FieldTopics:
			continue
		case FieldBody:
			if text, format := it.Fields.LongText(f.Name); text != "" {
				texts = append(texts, types.markdown(format, text))
			}
			continue
		}
		var told []string
		for _, value := range list(it.Fields[f.Name]) {
			switch f.Type {
			case config.FieldLongText:
				text, format := longText(value)
				texts = append(texts, "## "+f.LabelIn(it.Lang)+"\n\n"+types.markdown(format, text))
			case config.FieldComponents:
				if text, format := longText(value); text != "" {
					texts = append(texts, types.markdown(format, text))
				}
			default:
				if fact := s.fact(f, it.Lang, value); fact != "" {
					told = append(told, fact)
				}
			}
		}
		if told != nil {
			facts = append(facts, "- "+f.LabelIn(it.Lang)+": "+strings.Join(told, ", "))
		}
	}
	if facts != nil {
		texts = append([]string{strings.Join(facts, "\n")}, texts...)
	}
	body := strings.Join(texts, "\n\n")
	if body == it.Fields.Text(FieldBody) {
		return it
	}
	it.Fields = maps.Clone(it.Fields)
	it.Fields[FieldBody] = body
	return it
}

// fact tells a short value in words; "" when it says nothing by itself.
func (s *Store) fact(f config.Field, lang string, value any) string {
	l := &lookup{s: s}
	switch f.Type {
	case config.FieldDate, config.FieldDateRange:
		if v, ok := dates(value); ok {
			return s.opts.DateText(lang, v)
		}
	case config.FieldText, config.FieldInteger, config.FieldDecimal, config.FieldEmail, config.FieldList, config.FieldLink:
		if v, ok := l.value(f, config.ViewItem{}, lang, value, 0); ok {
			return strings.Join(strings.Fields(v.Text), " ")
		}
	}
	return ""
}

// markdown makes Markdown of a text in a format.
func (t *Types) markdown(format, text string) string {
	f, _ := t.Format(format)
	switch f.Filter {
	case config.FilterMarkdown:
		return text
	case config.FilterRestrictedHTML, config.FilterFullHTML:
		safe, _ := t.HTML(format, text, markdown.Labels{})
		same := func(address string) string { return address }
		if md, err := fromhtml.Markdown(safe, fromhtml.Links{Link: same, Image: same}); err == nil {
			return md
		}
		return t.Plain(format, text)
	}
	return text
}
