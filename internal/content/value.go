package content

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"docent/internal/config"
)

// Limits of values, in characters unless said otherwise.
const (
	textLimit       = 1000 // of a text field that has no limit of its own
	longTextLimit   = 1_000_000
	addressLimit    = 2000 // bytes
	valuesLimit     = 1000 // of one field
	componentsLimit = 200
	settingsLimit   = 64 << 10 // bytes of a block's settings
)

// values brings the values of an input into the shape in which they are kept, and
// collects what is wrong with them and what they refer to.
type values struct {
	types  *Types
	before Fields                   // what the author started from: that may stay as it is
	writes func(format string) bool // whether the author may write in a text format
	bad    map[string]string
	labels map[string]string
	refs   []reference
}

// A reference is something that must exist for a value to be kept.
type reference struct {
	field   string
	target  string // entity type, "" for a file
	bundles []string
	id      string
}

// fields checks all fields against a type.
func (v *values) fields(ct config.ContentType, in Fields) Fields {
	out := Fields{}
	for name, value := range in {
		if _, known := ct.Field(name); known || empty(value) {
			continue
		}
		if _, was := v.before[name]; !was { // a field that the type no longer has goes quietly
			v.bad[name] = "is not a field of this type"
		}
	}
	for _, f := range ct.Fields {
		value, err := v.field(f, in[f.Name])
		switch {
		case err != nil:
			v.refuse(f, err.Error())
		case value == nil && f.Required:
			v.refuse(f, "is missing")
		case value != nil:
			out[f.Name] = value
		}
	}
	return out
}

func (v *values) refuse(f config.Field, message string) {
	v.bad[f.Name], v.labels[f.Name] = message, f.Label
}

// field checks all values of a field; nil means that there is none.
func (v *values) field(f config.Field, value any) (any, error) {
	if empty(value) {
		return nil, nil
	}
	list, isList := value.([]any)
	if f.Type == config.FieldComponents {
		return v.components(f, value)
	}
	if !isList {
		list = []any{value}
	}
	limit := valuesLimit
	if f.Cardinality >= 0 {
		limit = max(f.Cardinality, 1)
	}
	var out []any
	for _, one := range list {
		if empty(one) {
			continue
		}
		x, err := v.value(f, one)
		if err != nil {
			if len(list) > 1 {
				err = fmt.Errorf("%w (value %d)", err, len(out)+1)
			}
			return nil, err
		}
		if f.Multiple() && slices.ContainsFunc(out, func(y any) bool { return reflect.DeepEqual(x, y) }) {
			continue
		}
		out = append(out, x)
	}
	switch {
	case len(out) == 0:
		return nil, nil
	case len(out) > limit && limit == 1:
		return nil, fmt.Errorf("holds one value only, not %d", len(out))
	case len(out) > limit:
		return nil, fmt.Errorf("holds %d values at most, not %d", limit, len(out))
	case !f.Multiple():
		return out[0], nil
	}
	return out, nil
}

// empty reports whether a value says nothing.
func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return !slices.ContainsFunc(v, func(x any) bool { return !empty(x) })
	case map[string]any:
		for key, x := range v {
			if key != "format" && key != "type" && !empty(x) {
				return false
			}
		}
		return true
	}
	return false
}

// value checks one value of a field.
func (v *values) value(f config.Field, value any) (any, error) {
	switch f.Type {
	case config.FieldText:
		return text(value, orDefault(f.Settings.MaxLength, textLimit))
	case config.FieldLongText:
		return v.longText(f, value)
	case config.FieldBoolean:
		return boolean(value)
	case config.FieldInteger:
		return integer(f.Settings, value)
	case config.FieldDecimal:
		return decimal(f.Settings, value)
	case config.FieldDate:
		return date(f.Settings, value)
	case config.FieldDateRange:
		return dateRange(f.Settings, value)
	case config.FieldEmail:
		return email(value)
	case config.FieldLink:
		return link(f.Settings, value)
	case config.FieldList:
		return choice(f.Settings, value)
	case config.FieldImage:
		return v.file(f, value, "alt")
	case config.FieldFile:
		return v.file(f, value, "title")
	case config.FieldReference:
		return v.reference(f, value)
	}
	return nil, fmt.Errorf("is of the unknown type %q", f.Type)
}

func orDefault(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// longText keeps Markdown as a plain string and every other format with its name.
func (v *values) longText(f config.Field, value any) (any, error) {
	s, format := longText(value)
	if m, ok := value.(map[string]any); ok {
		if err := onlyKeys(m, "value", "format"); err != nil {
			return nil, err
		}
		if format == "" {
			format = formatNames(f)[0]
		}
	} else if _, ok := value.(string); !ok {
		return nil, fmt.Errorf("must be text")
	}
	s, err := v.formatted(f, s, format, v.before[f.Name])
	if err != nil {
		return nil, err
	}
	if format == config.FormatMarkdown {
		return s, nil
	}
	return map[string]any{"value": s, "format": format}, nil
}

// formatted checks a long text and its format. What the author did not change may
// be in a format that is not theirs to write.
func (v *values) formatted(f config.Field, s, format string, before any) (string, error) {
	if _, known := v.types.Format(format); !known {
		return "", fmt.Errorf("has the unknown text format %q", format)
	}
	if unchanged(s, format, before) {
		return s, nil
	}
	if !slices.Contains(formatNames(f), format) {
		return "", fmt.Errorf("must not be in the text format %q", format)
	}
	if !v.writes(format) {
		return "", fmt.Errorf("is in the text format %q, which you may not write", format)
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	switch {
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return "", fmt.Errorf("holds characters that are no text")
	case utf8.RuneCountInString(s) > orDefault(f.Settings.MaxLength, longTextLimit):
		return "", fmt.Errorf("is longer than %d characters", orDefault(f.Settings.MaxLength, longTextLimit))
	}
	return s, nil
}

// unchanged reports whether a text stands in a value, itself or in one of a list's.
func unchanged(s, format string, before any) bool {
	if list, ok := before.([]any); ok {
		return slices.ContainsFunc(list, func(one any) bool { return unchanged(s, format, one) })
	}
	if before == nil {
		return false
	}
	was, wasFormat := longText(before)
	return was == s && wasFormat == format
}

// file checks a value that shows a file, with a text beside it.
func (v *values) file(f config.Field, value any, beside string) (any, error) {
	out := map[string]any{}
	switch x := value.(type) {
	case string:
		out["file"] = x
	case map[string]any:
		if err := onlyKeys(x, "file", beside); err != nil {
			return nil, err
		}
		out["file"] = x["file"]
		if !empty(x[beside]) {
			t, err := text(x[beside], 500)
			if err != nil {
				return nil, err
			}
			out[beside] = t
		}
	}
	id, _ := out["file"].(string)
	if id == "" {
		return nil, fmt.Errorf("must name a file")
	}
	if f.Settings.AltRequired && out["alt"] == nil {
		return nil, fmt.Errorf("needs a text for people who cannot see it")
	}
	v.refs = append(v.refs, reference{field: f.Name, id: id})
	return out, nil
}

func (v *values) reference(f config.Field, value any) (any, error) {
	id, ok := value.(string)
	if !ok || id != strings.TrimSpace(id) || len(id) > 100 {
		return nil, fmt.Errorf("must name something that exists")
	}
	target := f.Settings.Target
	if target == "" {
		target = TypeNode
	}
	v.refs = append(v.refs, reference{field: f.Name, target: target, bundles: f.Settings.Bundles, id: id})
	return id, nil
}

// onlyKeys refuses parts of a value that nothing would read.
func onlyKeys(m map[string]any, keys ...string) error {
	for key := range m {
		if !slices.Contains(keys, key) {
			return fmt.Errorf("has an unknown part %q", truncate(strings.ToValidUTF8(key, "?"), 40))
		}
	}
	return nil
}
