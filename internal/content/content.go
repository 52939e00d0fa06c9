// Package content keeps what a site is made of: entities with fields, revisions,
// translations, states, paths and access.
package content

import (
	"encoding/json"
	"slices"
	"time"

	"docent/internal/account"
)

// Entity types.
const (
	TypeNode = "node"
	TypeTerm = "term"
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

// Names of the fields that every shipped content type has.
const (
	FieldSummary = "summary" // one or two sentences of plain text
	FieldBody    = "body"    // Markdown
	FieldTopics  = "topics"  // ids of term entities
	FieldSource  = "source_url"
)

// Text returns a field's value as text, "" when it is absent or of another kind.
func (f Fields) Text(name string) string {
	s, _ := f[name].(string)
	return s
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
	Date           time.Time
	CreatedAt      time.Time
	UpdatedAt      time.Time // when the revision shown was made, or what its author says
	Languages      []string  // all languages with a published revision
	ParentPath     string    // nearest path above that has a page, without language prefix: "/visit/"; empty at the root
	IsSectionIndex bool      // it introduces the pages below its path
}

// CanView is the one place that decides whether an account may see an item.
func CanView(a account.Account, it Item) bool {
	if !it.Published || it.State != Published {
		return a.Can(account.ViewUnpublished)
	}
	if !a.Can(account.AccessContent) {
		return false
	}
	return CanViewRoles(a, it.ViewRoles)
}

// CanViewRoles reports whether an account passes an entity's list of roles.
func CanViewRoles(a account.Account, viewRoles []string) bool {
	if len(viewRoles) == 0 || a.HasRole(account.RoleAdministrator) {
		return true
	}
	return slices.ContainsFunc(viewRoles, a.HasRole)
}

func (f Fields) marshal() ([]byte, error) {
	if f == nil {
		f = Fields{}
	}
	return json.Marshal(map[string]any(f))
}
