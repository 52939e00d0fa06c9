package content

import (
	"context"
	"strings"

	"docent/db"
)

// termOrigin starts the name by which a term is found again: "term:topics/mobile".
const termOrigin = "term:"

// A Term names a term: its label is its slug made readable, unless it is given.
type Term struct {
	Vocabulary string
	Slug       string
	Label      string
}

// TermOf makes a term of a name as authors write it, "Open data" or "open-data".
// Its slug is empty when the name holds nothing that can be one.
func TermOf(vocabulary, name string) Term {
	name = strings.Join(strings.Fields(name), " ")
	t := Term{Vocabulary: vocabulary, Slug: Slug(name), Label: name}
	if name == t.Slug {
		t.Label = Humanize(name)
	}
	return t
}

// EnsureTerm returns the id of a vocabulary's term, which it creates published in
// a language when there is none by that name.
func (s *Store) EnsureTerm(ctx context.Context, tx *db.DB, vocabulary, name, lang string) (id string, err error) {
	t := TermOf(vocabulary, name)
	if t.Slug == "" {
		return "", invalid("name", "holds nothing that can name a term")
	}
	ids, err := s.ensureTerms(ctx, tx, []Term{t}, lang)
	return ids[t.origin()], err
}
