// Package content keeps what a site is made of: entities with fields, revisions,
// translations, states, paths and access.
package content

import (
	"encoding/json"
	"time"

	"docent/internal/config"
)

// Entity types.
const (
	TypeNode     = "node"
	TypeMedia    = "media"
	TypeTerm     = "term"
	TypeMenuLink = "menu_link"
	TypeRedirect = "redirect"
)

// State of a translation or revision.
type State string

// The states of the workflow.
const (
	Draft     State = "draft"
	Published State = "published"
	Archived  State = "archived"
)

// Fields are the values of one revision in one language, by field name.
type Fields map[string]any

// OriginExternal starts the origin of nodes that are copies of pages elsewhere.
const OriginExternal = "external:"

// Names of the fields that every shipped content type has.
const (
	FieldSummary = "summary" // one or two sentences of plain text
	FieldBody    = "body"    // Markdown, or another format: see [Fields.LongText]
	FieldTopics  = "topics"  // ids of term entities
	FieldSource  = "source_url"
)

// Text returns a field's value as text: of a long text what its author wrote, of
// a link the address. It is "" when the value is absent or of another kind.
func (f Fields) Text(name string) string {
	switch v := f[name].(type) {
	case string:
		return v
	case map[string]any:
		for _, key := range []string{"value", "url"} {
			if s, ok := v[key].(string); ok {
				return s
			}
		}
	}
	return ""
}

// LongText returns a long text with the name of its format.
func (f Fields) LongText(name string) (value, format string) { return longText(f[name]) }

func longText(v any) (value, format string) {
	switch v := v.(type) {
	case string:
		return v, config.FormatMarkdown
	case map[string]any:
		value, _ = v["value"].(string)
		format, _ = v["format"].(string)
	}
	return value, format
}

// Strings returns a field's values as texts; other kinds among them are left out.
func (f Fields) Strings(name string) []string {
	var out []string
	switch v := f[name].(type) {
	case []string:
		return v
	case []any:
		for _, x := range v {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// A Ref points at an entity.
type Ref struct {
	Type string `json:"entity_type"`
	ID   string `json:"entity_id"`
}

// An Item is one translation of an entity, with the field values of one of its
// revisions: the published one for visitors, unless said otherwise.
type Item struct {
	Ref
	Bundle         string // content type or vocabulary
	Lang           string
	Title          string
	Path           string // as visitors see it, with the language prefix: "/es/visitas/horario/"
	Origin         string // the file it was imported from, "import:guides/dap.md"; empty: made here
	AuthorID       string // account that made the entity
	RevisedBy      string // account that made the revision shown
	Fields         Fields
	State          State    // of the revision shown
	LatestState    State    // of the latest revision: [Draft] beside a published one when changes wait
	Published      bool     // a published revision exists in this language
	RevisionID     string   // of the revision shown
	LatestID       string   // of the latest revision: [Input.BasedOn] of the next save
	ViewRoles      []string // who may view; empty: everybody who may access content
	OutOfAnswers   bool     // left out of answers, by the entity or by its type
	Weight         int      // order among siblings
	Menu           string   // the menu it stands in, if any
	MenuTitle      string   // its label there; empty: the title
	MenuParent     string   // entity of the entry above it there
	Date           time.Time
	CreatedAt      time.Time
	UpdatedAt      time.Time // when the revision shown was made, or what its author says
	Languages      []string  // all languages with a published revision
	ParentPath     string    // nearest path above that has a page, without language prefix: "/visit/"; empty at the root
	IsSectionIndex bool      // it introduces the pages below its path
	Merged         bool      // by [Store.Save]: somebody else's newer changes were kept beside those saved
}

func (f Fields) marshal() ([]byte, error) {
	if f == nil {
		f = Fields{}
	}
	return json.Marshal(map[string]any(f))
}
