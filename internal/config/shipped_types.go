package config

import "slices"

// Names of the text formats that a new site has.
const (
	FormatPlain          = "plain"
	FormatMarkdown       = "markdown"
	FormatRestrictedHTML = "restricted_html"
	FormatFullHTML       = "full_html"
)

// ShippedFormats are the text formats that a new site has.
func ShippedFormats() []Named[TextFormat] {
	return []Named[TextFormat]{
		{FormatMarkdown, TextFormat{Label: "Markdown", Filter: FilterMarkdown}},
		{FormatPlain, TextFormat{Label: "Plain text", Filter: FilterPlain, Weight: 1}},
		{FormatRestrictedHTML, TextFormat{Label: "Restricted HTML", Filter: FilterRestrictedHTML, Weight: 2}},
		{FormatFullHTML, TextFormat{Label: "Full HTML", Filter: FilterFullHTML, Weight: 3}},
	}
}

// ShippedVocabularies are the vocabularies that a new site has.
func ShippedVocabularies() []Named[Vocabulary] {
	summary := summaryField()
	return []Named[Vocabulary]{
		{"topics", Vocabulary{
			Label: "Topics", Description: "What pages are about.", Fields: []Field{summary},
			Views: map[string][]ViewItem{ViewFull: {{Field: summary.Name, Label: LabelHidden, Formatter: "text"}}},
		}},
	}
}

// ShippedTypes are the content types that a new site has.
func ShippedTypes() []Named[ContentType] {
	image := Field{
		Name: "image", Label: "Image", Labels: map[string]string{"es": "Imagen", "ar": "صورة"}, Type: FieldReference, Translatable: true,
		Settings: FieldSettings{Target: EntityMedia, Bundles: []string{"image"}},
	}
	when := Field{
		Name: "when", Label: "When", Labels: map[string]string{"es": "Cuándo", "ar": "الموعد"}, Type: FieldDateRange, Settings: FieldSettings{Time: true},
	}
	author := Field{
		Name: "byline", Label: "Author", Labels: map[string]string{"es": "Autor", "ar": "الكاتب"}, Type: FieldText,
		Help: "Who wrote it, as readers should see it.", Settings: FieldSettings{MaxLength: 255},
	}
	place := Field{Name: "place", Label: "Place", Labels: map[string]string{"es": "Lugar", "ar": "المكان"}, Type: FieldText, Translatable: true}
	shown := ViewItem{Field: image.Name, Label: LabelHidden, Formatter: "entity", Style: "wide", Mode: ViewCard}
	thumbnail := shown
	thumbnail.Style = "card"
	facts := []ViewItem{
		{Field: when.Name, Label: LabelInline, Formatter: "date_range"},
		{Field: place.Name, Label: LabelInline, Formatter: "text"},
	}
	return []Named[ContentType]{
		{"page", pageType()},
		{"article", textType("Article", "News and reports, with a date.", []Field{author, image}, []ViewItem{shown}, []ViewItem{thumbnail})},
		{"event", textType("Event", "Something that happens at a time and a place.", []Field{when, place, image}, append(facts, shown), append(facts, thumbnail))},
		{"faq", textType("FAQ", "Questions with their answers: each question is a heading of the text.", nil, nil, nil)},
		{"external", externalType()},
		{"image", ContentType{
			Label: "Image", Entity: EntityMedia, Description: "A picture to show on pages.",
			Fields: []Field{
				{Name: "image", Label: "Image file", Type: FieldImage, Required: true},
				{Name: "alt", Label: "Alternative text", Type: FieldText, Required: true, Translatable: true,
					Help: "What the picture shows, for people who cannot see it.", Settings: FieldSettings{MaxLength: 500}},
				{Name: "caption", Label: "Caption", Type: FieldText, Translatable: true, Settings: FieldSettings{MaxLength: 500}},
				{Name: "credit", Label: "Credit", Type: FieldText, Settings: FieldSettings{MaxLength: 255}},
			},
			Views: map[string][]ViewItem{
				ViewFull: {
					{Field: "image", Label: LabelHidden, Formatter: "image", Style: "wide"},
					{Field: "caption", Label: LabelHidden, Formatter: "text"},
					{Field: "credit", Label: LabelInline, Formatter: "text"},
				},
				ViewTeaser: {{Field: "image", Label: LabelHidden, Formatter: "image", Style: "card"}},
				ViewCard:   {{Field: "image", Label: LabelHidden, Formatter: "image", Style: "card"}},
			},
		}},
		{"document", ContentType{
			Label: "Document", Entity: EntityMedia, Description: "A file to download.",
			Fields: []Field{
				{Name: "file", Label: "File", Type: FieldFile, Required: true, Translatable: true},
				summaryField(),
			},
			Views: map[string][]ViewItem{
				ViewFull: {
					{Field: "file", Label: LabelHidden, Formatter: "file_link"},
					{Field: "summary", Label: LabelHidden, Formatter: "text"},
				},
				ViewTeaser: {{Field: "file", Label: LabelHidden, Formatter: "file_link"}},
				ViewCard:   {{Field: "file", Label: LabelHidden, Formatter: "file_link"}},
			},
		}},
	}
}

// pageType is of pages that stay, the only ones that hold blocks among their text.
func pageType() ContentType {
	t := textType("Page", "A page that stays: visiting hours, how to join.", nil, nil, nil)
	parts := Field{
		Name: "parts", Label: "Parts of the page", Labels: map[string]string{"es": "Partes de la página", "ar": "أجزاء الصفحة"}, Type: FieldComponents, Translatable: true,
		Help:     "More text, with blocks to ask in and answers among it.",
		Settings: FieldSettings{Formats: []string{FormatMarkdown, FormatRestrictedHTML, FormatFullHTML, FormatPlain}},
	}
	const above = "body"
	t.Fields = slices.Insert(t.Fields, 1+slices.IndexFunc(t.Fields, func(f Field) bool { return f.Name == above }), parts)
	t.Form = slices.Insert(t.Form, 1+slices.IndexFunc(t.Form, func(i FormItem) bool { return i.Field == above }), FormItem{Field: parts.Name, Widget: Widgets(parts.Type)[0]})
	full := t.Views[ViewFull]
	t.Views[ViewFull] = slices.Insert(full, 1+slices.IndexFunc(full, func(i ViewItem) bool { return i.Field == above }),
		ViewItem{Field: parts.Name, Label: LabelHidden, Formatter: Formatters(parts.Type)[0]})
	return t
}

// externalType is of copies of pages elsewhere, made for answering from them.
func externalType() ContentType {
	t := textType("External page", "A copy of a page of another site, kept up to date from there.", nil, nil, nil)
	t.Workflow = false
	keep := []string{"summary", "body", "source_url"}
	t.Fields = slices.DeleteFunc(t.Fields, func(f Field) bool { return !slices.Contains(keep, f.Name) })
	t.Form = slices.DeleteFunc(t.Form, func(i FormItem) bool { return !slices.Contains(keep, i.Field) })
	t.Views[ViewFull] = slices.DeleteFunc(t.Views[ViewFull], func(i ViewItem) bool { return !slices.Contains(keep, i.Field) })
	return t
}

func summaryField() Field {
	return Field{
		Name: "summary", Label: "Summary", Help: "One or two sentences.", Type: FieldText, Translatable: true,
		Settings: FieldSettings{MaxLength: 10_000},
	}
}

// textType is a type of nodes that has the fields all shipped ones have, and more
// after the summary, shown above the body in full and below the summary in lists.
func textType(label, description string, more []Field, full, teaser []ViewItem) ContentType {
	body := Field{
		Name: "body", Label: "Text", Type: FieldLongText, Translatable: true,
		Settings: FieldSettings{Formats: []string{FormatMarkdown, FormatRestrictedHTML, FormatFullHTML, FormatPlain}},
	}
	topics := Field{
		Name: "topics", Label: "Topics", Labels: map[string]string{"es": "Temas", "ar": "المواضيع"}, Type: FieldReference, Cardinality: Unlimited, Translatable: true,
		Settings: FieldSettings{Target: EntityTerm, Bundles: []string{"topics"}},
	}
	source := Field{
		Name: "source_url", Label: "Original address", Labels: map[string]string{"es": "Dirección original", "ar": "العنوان الأصلي"}, Type: FieldLink, Translatable: true,
		Help: "Where this text comes from, if it stands elsewhere too.",
	}
	summary := summaryField()
	short := append([]ViewItem{{Field: summary.Name, Label: LabelHidden, Formatter: "text"}}, teaser...)
	t := ContentType{
		Label: label, Entity: EntityNode, Description: description, Workflow: true,
		Fields: append(append([]Field{summary}, more...), body, topics, source),
		Views: map[string][]ViewItem{
			ViewFull: append(append([]ViewItem{{Field: summary.Name, Label: LabelHidden, Formatter: "text"}}, full...),
				ViewItem{Field: body.Name, Label: LabelHidden, Formatter: "html"},
				ViewItem{Field: topics.Name, Label: LabelInline, Formatter: "link"},
				ViewItem{Field: source.Name, Label: LabelInline, Formatter: "link"}),
			ViewTeaser: short,
			ViewCard:   short,
		},
	}
	for _, f := range t.Fields {
		widget := Widgets(f.Type)[0]
		switch {
		case f.Name == summary.Name:
			widget = "textarea"
		case f.Settings.Target == EntityMedia:
			widget = "media_library"
		}
		t.Form = append(t.Form, FormItem{Field: f.Name, Widget: widget})
	}
	return t
}
