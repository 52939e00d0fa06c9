package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// maxFields bounds the fields of one type.
const maxFields = 100

var (
	choiceValue   = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,62}$`)
	fileExtension = regexp.MustCompile(`^[a-z0-9]{1,10}$`)
	styleName     = regexp.MustCompile(`^[a-z][a-z0-9_]{0,30}$`)
)

// reservedFields are what entities have besides their fields: a form could not
// tell them apart.
var reservedFields = []string{"id", "type", "bundle", "lang", "title", "path", "parent", "state", "access", "view_roles",
	"out_of_answers", "weight", "date", "menu", "menu_title", "menu_parent", "section_index", "message", "based_on", "author", "fields"}

// Kind implements [Object].
func (ContentType) Kind() string { return "content_type" }

func (t ContentType) check(c *check) {
	if t.Entity != EntityNode && t.Entity != EntityMedia {
		c.refuse("entity", "must be %s or %s", EntityNode, EntityMedia)
	}
	t.checkParts(c)
}

// Kind implements [Object].
func (Vocabulary) Kind() string { return "vocabulary" }

func (v Vocabulary) check(c *check) { v.AsType().checkParts(c) }

// checkParts checks what content types and vocabularies have in common. Fields
// are named in complaints by their place, "fields.2.type", counted from 0.
func (t ContentType) checkParts(c *check) {
	c.required("label", t.Label, labelLimit)
	c.byLanguage("labels", t.Labels)
	c.text("description", t.Description, textLimit)
	if len(t.Fields) > maxFields {
		c.refuse("fields", "must be %d at most", maxFields)
	}
	seen := map[string]bool{}
	for i, f := range t.Fields {
		at := fmt.Sprintf("fields.%d.", i)
		switch {
		case !objectName.MatchString(f.Name):
			c.refuse(at+"name", "must start with a letter and have only small letters, digits and underscores, 63 at most")
		case slices.Contains(reservedFields, f.Name):
			c.refuse(at+"name", "is taken: all content has a part called %s", f.Name)
		case seen[f.Name]:
			c.refuse(at+"name", "is used twice")
		}
		seen[f.Name] = true
		f.check(c, at)
	}
	t.checkForm(c)
	t.checkViews(c)
}

func (f Field) check(c *check, at string) {
	c.required(at+"label", f.Label, labelLimit)
	c.byLanguage(at+"labels", f.Labels)
	c.text(at+"help", f.Help, textLimit)
	if !slices.Contains(FieldTypes(), f.Type) {
		c.refuse(at+"type", "is not a type of field")
		return
	}
	if f.Cardinality < Unlimited || f.Cardinality > 1000 {
		c.refuse(at+"cardinality", "must be from 1 to 1000, or %d for any number", Unlimited)
	}
	if f.Multiple() && (f.Type == FieldComponents || f.Type == FieldBoolean) {
		c.refuse(at+"cardinality", "must be 1: this type of field is one value")
	}
	f.Settings.check(c, at+"settings.", f.Type)
}

func (s FieldSettings) check(c *check, at string, t FieldType) {
	if s.MaxLength < 0 || s.MaxLength > 1_000_000 {
		c.refuse(at+"max_length", "must be from 1 to 1000000, or 0")
	}
	for _, name := range s.Formats {
		if !c.exists(TextFormat{}.Kind(), name) {
			c.refuse(at+"formats", "has %q, which is not a text format", name)
		}
	}
	if s.Min != nil && s.Max != nil && *s.Min > *s.Max {
		c.refuse(at+"max", "must not be less than the minimum")
	}
	if s.Scale < 0 || s.Scale > 10 {
		c.refuse(at+"scale", "must be from 0 to 10")
	}
	if t == FieldList && len(s.Choices) == 0 {
		c.refuse(at+"choices", "must not be empty: a list needs values to choose from")
	}
	if len(s.Choices) > 500 {
		c.refuse(at+"choices", "must be 500 at most")
	}
	seen := map[string]bool{}
	for _, choice := range s.Choices {
		if !choiceValue.MatchString(choice.Value) {
			c.refuse(at+"choices", "has the value %q: values have only small letters, digits and - _ .", choice.Value)
		}
		if seen[choice.Value] {
			c.refuse(at+"choices", "has the value %q twice", choice.Value)
		}
		seen[choice.Value] = true
		c.required(at+"choices", choice.Label, labelLimit)
		c.byLanguage(at+"choices", choice.Labels)
	}
	if !slices.Contains([]string{"", EntityNode, EntityMedia, EntityTerm}, s.Target) {
		c.refuse(at+"target", "must be %s, %s or %s", EntityNode, EntityMedia, EntityTerm)
	}
	for _, bundle := range s.Bundles {
		if !objectName.MatchString(bundle) {
			c.refuse(at+"bundles", "has %q, which is not the name of a type", bundle)
		}
	}
	for _, ext := range s.Extensions {
		if !fileExtension.MatchString(ext) {
			c.refuse(at+"extensions", "has %q: write endings without the dot, such as pdf", ext)
		}
	}
	if s.MaxBytes < 0 {
		c.refuse(at+"max_bytes", "must not be negative")
	}
}

func (t ContentType) checkForm(c *check) {
	seen := map[string]bool{}
	for _, i := range t.Form {
		f, ok := t.Field(i.Field)
		switch {
		case !ok:
			c.refuse("form", "has %q, which is not a field of this type", i.Field)
		case seen[i.Field]:
			c.refuse("form", "has %q twice", i.Field)
		case i.Widget == Hidden && f.Required:
			c.refuse("form", "hides %q, which is required", i.Field)
		case i.Widget != Hidden && !slices.Contains(Widgets(f.Type), i.Widget):
			c.refuse("form", "edits %q with %q, which cannot edit this type of field", i.Field, i.Widget)
		}
		seen[i.Field] = true
	}
}

func (t ContentType) checkViews(c *check) {
	for _, mode := range slices.Sorted(maps.Keys(t.Views)) {
		at := "views." + mode
		if !slices.Contains(ViewModes(), mode) {
			c.refuse(at, "is not a view mode")
		}
		seen := map[string]bool{}
		for _, i := range t.Views[mode] {
			f, ok := t.Field(i.Field)
			switch {
			case !ok:
				c.refuse(at, "has %q, which is not a field of this type", i.Field)
			case seen[i.Field]:
				c.refuse(at, "has %q twice", i.Field)
			case !slices.Contains(Formatters(f.Type), i.Formatter):
				c.refuse(at, "shows %q with %q, which cannot show this type of field", i.Field, i.Formatter)
			case !slices.Contains(LabelPositions(), i.Label):
				c.refuse(at, "has %q with a label in no known place", i.Field)
			case i.Style != "" && !styleName.MatchString(i.Style):
				c.refuse(at, "has %q with an image style that has no valid name", i.Field)
			case i.Mode != "" && !slices.Contains(ViewModes(), i.Mode):
				c.refuse(at, "has %q in no known view mode", i.Field)
			case i.Limit < 0 || i.Limit > 100_000:
				c.refuse(at, "has %q cut at a length out of range", i.Field)
			}
			seen[i.Field] = true
		}
	}
}

// Kind implements [Object].
func (TextFormat) Kind() string { return "text_format" }

func (f TextFormat) check(c *check) {
	c.required("label", f.Label, labelLimit)
	c.text("help", f.Help, textLimit)
	if !slices.Contains(TextFilters(), f.Filter) {
		c.refuse("filter", "is not a way to make HTML of text")
	}
	c.within("weight", f.Weight, -1000, 1000)
}

// formatUser names a type that lets editors write in a format.
func (s *snapshot) formatUser(format string) (label string, used bool) {
	uses := func(fields []Field) bool {
		return slices.ContainsFunc(fields, func(f Field) bool { return slices.Contains(f.Settings.Formats, format) })
	}
	for _, o := range s.objects[ContentType{}.Kind()] {
		if t, ok := o.value.(ContentType); ok && uses(t.Fields) {
			return t.Label, true
		}
	}
	for _, o := range s.objects[Vocabulary{}.Kind()] {
		if v, ok := o.value.(Vocabulary); ok && uses(v.Fields) {
			return v.Label, true
		}
	}
	return "", false
}
