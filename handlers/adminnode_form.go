package handlers

import (
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"docent/components"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
)

// A nodeForm is one translation of an entity in the hands of an editor: what is
// saved of it and what the form says. A value of a field is sent as
// "f.<field>.<key>"; "f.<field>" lists the keys in order.
type nodeForm struct {
	item    content.Item // what is saved; without LatestID a new translation, without ID new content
	typ     config.ContentType
	types   *content.Types
	who     account.Account
	lang    string        // of the translation
	id      string        // of what is kept of the form
	source  *content.Item // what a new translation is made from
	zone    *time.Location
	values  url.Values
	errors  map[string]string              // by field or setting
	bad     map[string]string              // by input
	choices map[string][]components.Option // by input: what the text typed may mean
	titles  map[content.Ref]content.Item   // what references lead to
	media   map[string]content.Medium      // by id of the entity or file
}

// Layouts of what browsers send for dates.
const (
	dayLayout    = time.DateOnly
	minuteLayout = "2006-01-02T15:04"
	secondLayout = "2006-01-02T15:04:05"
)

func input(field, key string) string { return "f." + field + "." + key }

// keys are the rows of a field in the order in which they were sent.
func (f *nodeForm) keys(field string) []string {
	var keys []string
	for _, key := range f.values["f."+field] {
		if key != "" && len(key) <= 20 && !strings.Contains(key, ".") && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

func (f *nodeForm) setKeys(field string, keys []string) {
	f.values["f."+field] = append([]string{""}, keys...)
}

// newKey is a key that no row of a field has.
func (f *nodeForm) newKey(field string) string {
	n := 0
	for _, key := range f.keys(field) {
		if i, err := strconv.Atoi(key); err == nil {
			n = max(n, i+1)
		}
	}
	return strconv.Itoa(n)
}

// load fills the form with what an input says.
func (f *nodeForm) load(in content.Input, access content.Access) {
	v := url.Values{}
	f.values = v
	v.Set(input("title", "0"), in.Title)
	v.Set("path", in.Path)
	v.Set("menu", in.Menu)
	v.Set("menu_title", in.MenuTitle)
	v.Set("menu_parent", in.MenuParent)
	v.Set("message", in.Message)
	v.Set("based_on", in.BasedOn)
	if in.Weight != 0 {
		v.Set("weight", strconv.Itoa(in.Weight))
	}
	v.Set("date", f.moment(in.Date))
	setFlag(v, "section_index", in.SectionIndex)
	setFlag(v, "out_of_answers", access.OutOfAnswers)
	if len(access.ViewRoles) > 0 {
		v.Set("view", "roles")
		v["roles"] = slices.Clone(access.ViewRoles)
	}
	for _, field := range f.typ.Fields {
		f.setField(field, in.Fields[field.Name])
	}
}

func setFlag(v url.Values, name string, on bool) {
	if on {
		v.Set(name, "1")
	}
}

// setField puts the values of a field into the form.
func (f *nodeForm) setField(field config.Field, value any) {
	for name := range f.values {
		if name == "f."+field.Name || strings.HasPrefix(name, "f."+field.Name+".") {
			f.values.Del(name)
		}
	}
	list, isList := value.([]any)
	switch {
	case value == nil:
		list = nil
	case !isList:
		list = []any{value}
	}
	if f.manyInOne(field) {
		for _, one := range list {
			f.values.Add(input(field.Name, "0"), asText(one))
		}
		f.setKeys(field.Name, []string{"0"})
		return
	}
	var keys []string
	for i, one := range list {
		key := strconv.Itoa(i)
		f.setValue(field, key, one)
		keys = append(keys, key)
	}
	f.setKeys(field.Name, keys)
}

func (f *nodeForm) setValue(field config.Field, key string, value any) {
	name := input(field.Name, key)
	m, _ := value.(map[string]any)
	part := func(part string) string { return asText(m[part]) }
	switch field.Type {
	case config.FieldLongText:
		text, format := content.Fields{field.Name: value}.LongText(field.Name)
		f.values.Set(name, text)
		f.values.Set(name+".format", format)
	case config.FieldBoolean:
		if on, _ := value.(bool); on {
			f.values.Set(name, "1")
		}
	case config.FieldDate:
		f.values.Set(name, f.localDate(field, asText(value)))
	case config.FieldDateRange:
		f.values.Set(name, f.localDate(field, part("from")))
		f.values.Set(name+".end", f.localDate(field, part("to")))
	case config.FieldLink:
		f.values.Set(name, asText(value))
		if m != nil {
			f.values.Set(name, part("url"))
			f.values.Set(name+".end", part("title"))
		}
	case config.FieldImage, config.FieldFile:
		f.values.Set(name, asText(value))
		if m != nil {
			f.values.Set(name, part("file"))
			f.values.Set(name+".alt", part(beside(field)))
		}
	case config.FieldReference:
		f.values.Set(name+".id", asText(value))
		f.values.Set(name, asText(value))
	case config.FieldComponents:
		f.values.Set(name+".kind", part("type"))
		f.values.Set(name, part("value"))
		f.values.Set(name+".format", part("format"))
		if part("type") == "block" {
			whole, _ := json.Marshal(m)
			f.values.Set(name, string(whole))
			f.values.Set(name+".kind", part("block"))
		}
	default:
		f.values.Set(name, asText(value))
	}
}

// beside is the part of an image's or file's value that stands beside the file.
func beside(field config.Field) string {
	if field.Type == config.FieldImage {
		return "alt"
	}
	return "title"
}

func asText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// widget is what the form edits a field with.
func (f *nodeForm) widget(field config.Field) string {
	for _, item := range f.typ.FormItems() {
		if item.Field == field.Name {
			return item.Widget
		}
	}
	return ""
}

// manyInOne reports whether all values of a field are ticked in one row.
func (f *nodeForm) manyInOne(field config.Field) bool {
	widget := f.widget(field)
	return widget == "checkboxes" || field.Multiple() && field.Type == config.FieldList && widget == "radios"
}

// moment writes a time as browsers do, in the site's zone.
func (f *nodeForm) moment(t time.Time) string {
	switch t = t.In(f.zone); {
	case t.IsZero():
		return ""
	case t.Second() != 0:
		return t.Format(secondLayout)
	default:
		return t.Format(minuteLayout)
	}
}

// localDate writes a stored date as browsers do.
func (f *nodeForm) localDate(field config.Field, stored string) string {
	if !field.Settings.Time {
		return stored
	}
	t, err := time.Parse(time.RFC3339, stored)
	if err != nil {
		return stored
	}
	return f.moment(t)
}

// storedDate reads what a browser sent; what it cannot read is left for the
// content to refuse.
func (f *nodeForm) storedDate(field config.Field, sent string) string {
	if !field.Settings.Time || sent == "" {
		return sent
	}
	t, err := f.parseMoment(sent)
	if err != nil {
		return sent
	}
	return t.Format(time.RFC3339)
}

func (f *nodeForm) parseMoment(sent string) (time.Time, error) {
	var err error
	for _, layout := range []string{minuteLayout, secondLayout, dayLayout} {
		var t time.Time
		if t, err = time.ParseInLocation(layout, sent, f.zone); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, err
}

// saysAs reports whether other values of the form mean the same as its own and go
// on from the same revision.
func (f *nodeForm) saysAs(values url.Values) bool {
	own, other := *f, *f
	own.errors, other.errors = map[string]string{}, map[string]string{}
	other.values = values
	return reflect.DeepEqual(own.read(), other.read()) && len(other.errors) == len(own.errors)
}

// apply does what a button of a row asks for and reports whether it did.
func (f *nodeForm) apply(op, name, key string) bool {
	field, ok := f.typ.Field(name)
	if !ok {
		return false
	}
	keys := f.keys(name)
	at := slices.Index(keys, key)
	switch op {
	case "add": // here key is the kind of a component
		next := f.newKey(name)
		if field.Type == config.FieldComponents {
			f.values.Set(input(name, next)+".kind", key)
			if isBlock(key) {
				f.values.Set(input(name, next), f.newBlockPart(key))
			}
		}
		f.setKeys(name, append(keys, next))
	case "up":
		if at > 0 {
			keys[at-1], keys[at] = keys[at], keys[at-1]
		}
		f.setKeys(name, keys)
	case "down":
		if at >= 0 && at < len(keys)-1 {
			keys[at+1], keys[at] = keys[at], keys[at+1]
		}
		f.setKeys(name, keys)
	case "remove":
		if at >= 0 {
			keys = slices.Delete(keys, at, at+1)
		}
		f.setKeys(name, keys)
	default:
		return false
	}
	return true
}

// choose puts a medium that was picked into a row, or into a new one.
func (f *nodeForm) choose(name, key, id string) {
	field, ok := f.typ.Field(name)
	if !ok {
		return
	}
	keys := f.keys(name)
	if !slices.Contains(keys, key) {
		key = f.newKey(name)
		if !field.Multiple() {
			keys = nil
		}
		keys = append(keys, key)
	}
	f.setKeys(name, keys)
	f.values.Set(input(name, key), id)
	f.values.Set(input(name, key)+".id", id)
}

// hidesEmpty reports whether a field without values shows no empty row.
func (f *nodeForm) hidesEmpty(field config.Field) bool {
	switch field.Type {
	case config.FieldComponents, config.FieldImage, config.FieldFile:
		return true
	}
	return f.widget(field) == "media_library"
}
