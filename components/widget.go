package components

import (
	"context"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"docent/internal/i18n"
)

// Icons of the controls of edit forms.
const (
	IconDrag        IconPath = "M7.2 4.6v.3M12.8 4.6v.3M7.2 9.9v.3M12.8 9.9v.3M7.2 15.2v.3M12.8 15.2v.3"
	IconInsertLink  IconPath = "M8 12l4-4M9 6l2-2a3.5 3.5 0 0 1 5 5l-2 2M11 14l-2 2a3.5 3.5 0 0 1-5-5l2-2"
	IconInsertTable IconPath = "M3 4h14v12H3zM3 8.2h14M3 12.1h14M8.6 4v12"
	IconMedium      IconPath = "M3 4h14v12H3zM3 13l4-4 4 4 2-2 4 3.5M12.7 7.4h.2"
	IconMoveDown    IconPath = "M10 4v12M5.2 11.2L10 16l4.8-4.8"
	IconMoveUp      IconPath = "M10 16V4M5.2 8.8L10 4l4.8 4.8"
)

// WidgetKind names the control that a field is edited with.
type WidgetKind string

// The kinds of widget.
const (
	WidgetLine       WidgetKind = "line"       // a line of text; also e-mail addresses
	WidgetLong       WidgetKind = "long"       // longer text without format
	WidgetMarkup     WidgetKind = "markup"     // longer text with a format
	WidgetCheck      WidgetKind = "check"      // yes or no
	WidgetNumber     WidgetKind = "number"     // whole and decimal numbers
	WidgetDate       WidgetKind = "date"       // a day, or a moment with Time set
	WidgetDateRange  WidgetKind = "date_range" // from, to
	WidgetLink       WidgetKind = "link"       // address and text
	WidgetSelect     WidgetKind = "select"     // one of the options
	WidgetRadios     WidgetKind = "radios"     // one of the options, all in sight
	WidgetChecks     WidgetKind = "checks"     // any of the options
	WidgetMedium     WidgetKind = "medium"     // an image, a file or a media entity
	WidgetReference  WidgetKind = "reference"  // another entity, searched as one types
	WidgetComponents WidgetKind = "components" // pieces of text and blocks, in order
)

// Widget is one field of an edit form. Its inputs are named "f.<name>", which is
// sent once a row and gives the order of their keys, and "f.<name>.<key>" with an
// ending for the parts of a value.
type Widget struct {
	Name       string
	Label      string
	Help       string
	Error      string // what is wrong with the field as a whole
	Kind       WidgetKind
	Type       string // of the input of a line: "email", "url"; empty is text
	Required   bool
	Multiple   bool // rows can be added, moved and removed
	More       bool // another row is allowed
	Time       bool // dates have a time of day
	Lang       string
	Shared     bool // the same value in every language
	Rows       []WidgetRow
	Options    []Option
	Formats    []Option // of markup, those the account may use
	Blocks     []Option // what can be added to components besides text
	MaxLength  int      // characters; 0 sets no limit
	Step       string   // between numbers; "any" allows all
	SuggestURL string   // answers what is typed into a reference, as JSON
	PickerURL  string   // where a medium is chosen
	Document   bool     // a medium that is not shown as an image
	Source     string   // what the language it is translated from says
	SourceLang string
}

// WidgetRow is one value of a field.
type WidgetRow struct {
	Key     string // unique in its field, kept while rows move
	Value   string
	End     string // of a date range; text of a link; label of a file
	Format  string // of markup
	Label   string // title of what a reference leads to; name of a file
	Detail  string // about a medium: size, type
	Image   string // address of a medium's small picture
	Alt     string // of an image
	HasAlt  bool   // the value has a text of its own in the picture's place
	Kind    string // of a component: "text", or the name of a block
	Checked []string
	Error   string
	Choices []Option // entities that the text typed may mean
	Closed  bool     // its format is not the account's to write: kept as it is
	// Settings are the controls of a block among components; nil: it is kept as it is.
	Settings templ.Component
}

func (w Widget) id() string { return "field-" + w.Name }

func (w Widget) input(r WidgetRow) string { return "f." + w.Name + "." + r.Key }

func (w Widget) inputID(r WidgetRow) string { return "f-" + w.Name + "-" + r.Key }

// firstID is where a complaint about the field leads to.
func (w Widget) firstID() string {
	for _, r := range w.Rows {
		if r.Error != "" {
			return w.inputID(r)
		}
	}
	if len(w.Rows) == 0 || w.Kind == WidgetRadios || w.Kind == WidgetChecks {
		return w.id()
	}
	return w.inputID(w.Rows[0])
}

// Failed reports whether something is wrong with the field or one of its values.
func (w Widget) Failed() bool {
	if w.Error != "" {
		return true
	}
	for _, r := range w.Rows {
		if r.Error != "" {
			return true
		}
	}
	return false
}

// Complaint is what is wrong with a field, for the summary above a form.
func (w Widget) Complaint() Link {
	text := w.Error // it names the field itself
	for _, r := range w.Rows {
		if text == "" && r.Error != "" {
			text = w.Label + ": " + r.Error
		}
	}
	return Link{Label: text, URL: "#" + w.firstID()}
}

// single reports whether the widget is one control with one label.
func (w Widget) single() bool {
	if w.Multiple || len(w.Rows) != 1 {
		return false
	}
	switch w.Kind {
	case WidgetLine, WidgetLong, WidgetMarkup, WidgetNumber, WidgetDate, WidgetSelect, WidgetReference:
		return true
	}
	return false
}

// attributes are those that every control of the widget has.
func (w Widget) attributes(ctx context.Context, r WidgetRow, i int) templ.Attributes {
	a := templ.Attributes{"id": w.inputID(r), "name": w.input(r)}
	if !w.single() {
		a["aria-label"] = w.Label
		if len(w.Rows) > 1 {
			a["aria-label"] = w.Label + " " + strconv.Itoa(i+1)
		}
	}
	if w.Required && i == 0 {
		a["aria-required"] = "true"
	}
	if w.MaxLength > 0 {
		a["maxlength"] = strconv.Itoa(w.MaxLength)
	}
	if w.Lang != "" && w.Lang != i18n.Language(ctx) {
		a["lang"] = w.Lang
	}
	var described []string
	switch {
	case w.Kind == WidgetMarkup, w.Kind == WidgetComponents:
		described = append(described, w.inputID(r)+"-help")
	case w.Help != "":
		described = append(described, w.id()+"-help")
	}
	if w.Error != "" {
		described = append(described, w.id()+"-error")
	}
	if r.Error != "" {
		described = append(described, w.inputID(r)+"-error")
	}
	if w.Error != "" && i == 0 || r.Error != "" {
		a["aria-invalid"] = "true"
	}
	if len(described) > 0 {
		a["aria-describedby"] = strings.Join(described, " ")
	}
	return a
}

// dateType is the type of a date's input.
func (w Widget) dateType() string {
	if w.Time {
		return "datetime-local"
	}
	return "date"
}

func contains(values []string, value string) bool {
	for _, v := range values {
		if v == value {
			return true
		}
	}
	return false
}

// kindLabel names a component.
func (w Widget) kindLabel(ctx context.Context, kind string) string {
	if kind == "text" || kind == "" {
		return i18n.T(ctx, "widget.kind_text")
	}
	for _, o := range w.Blocks {
		if o.Value == kind {
			return o.Label
		}
	}
	return kind
}
