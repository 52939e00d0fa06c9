package answer

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
)

// A Passage is a piece of a source's page as the index holds it.
type Passage struct {
	Text    string `json:"text"` // Markdown
	Heading string `json:"heading,omitempty"`
	Anchor  string `json:"anchor,omitempty"` // id of the heading on the page
	Start   int    `json:"start"`            // where it lies in the page's text
}

// Passages are kept as JSON with their source.
type Passages []Passage

// Scan implements [database/sql.Scanner].
func (p *Passages) Scan(v any) error { return scanJSON(v, p) }

// Value implements [driver.Valuer].
func (p Passages) Value() (driver.Value, error) { return valueJSON([]Passage(p)) }

// A Citation is one marker's ground: the words of the source that come nearest to
// what the answer says there.
type Citation struct {
	Quote   string `json:"quote"`   // plain text, as on the page; "" when nothing comes near
	Passage string `json:"passage"` // what stands around it
	Mark    [2]int `json:"mark"`    // where the quote lies in Passage, as byte offsets
	URL     string `json:"url"`     // opens the page at the quote
}

// Citations are kept as JSON with their source.
type Citations []Citation

// Scan implements [database/sql.Scanner].
func (c *Citations) Scan(v any) error { return scanJSON(v, c) }

// Value implements [driver.Valuer].
func (c Citations) Value() (driver.Value, error) { return valueJSON([]Citation(c)) }

// A Link leads to a page.
type Link struct {
	Title string `json:"title"`
	Path  string `json:"path"`
	Where string `json:"where,omitempty"`
}

// Links are kept as JSON with their turn.
type Links []Link

// Scan implements [database/sql.Scanner].
func (l *Links) Scan(v any) error { return scanJSON(v, l) }

// Value implements [driver.Valuer].
func (l Links) Value() (driver.Value, error) { return valueJSON([]Link(l)) }

func scanJSON(v, dest any) error {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(v), dest)
	case []byte:
		return json.Unmarshal(v, dest)
	}
	return fmt.Errorf("JSON column holds a %T", v)
}

func valueJSON[T any](list []T) (driver.Value, error) {
	if list == nil {
		list = []T{}
	}
	b, err := json.Marshal(list)
	return string(b), err
}

// Body is the source's passages as the model reads them, as one text.
func (s Source) Body() string {
	var b strings.Builder
	for _, p := range s.Passages {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		if p.Heading != "" && p.Heading != s.Title {
			b.WriteString("## " + p.Heading + "\n\n")
		}
		b.WriteString(p.Text)
	}
	return b.String()
}
