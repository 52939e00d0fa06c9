package content

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"docent/db"
)

var (
	// ErrForbidden means that something exists, published, but not for this account.
	ErrForbidden = errors.New("not for this account")
	// ErrConflict means that somebody else saved a newer revision in between.
	ErrConflict = errors.New("changed by somebody else in the meantime")
)

// A Redirect is the error that says where an address leads to by now.
type Redirect struct {
	To string // path with language prefix
}

func (r *Redirect) Error() string { return "moved to " + r.To }

// An InvalidError says which fields were refused and why, in words for the person
// who sent them.
type InvalidError struct {
	Fields map[string]string
}

func (e *InvalidError) Error() string {
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(e.Fields)) {
		parts = append(parts, field+" "+e.Fields[field])
	}
	return "invalid content: " + strings.Join(parts, "; ")
}

func invalid(field, message string) error {
	return &InvalidError{Fields: map[string]string{field: message}}
}

// Options are what a [Store] asks the site about. The zero value works.
type Options struct {
	// Languages of the site, the default first; nil: English alone.
	Languages func() []string
	// TypeOutOfAnswers reports whether answers leave out a whole content type.
	TypeOutOfAnswers func(bundle string) bool
	// Reserved are first path segments that the program itself serves.
	Reserved []string
	// OnChange is called inside of every transaction that changes what visitors
	// may read of these entities, or whether they may.
	OnChange func(ctx context.Context, tx *db.DB, entityIDs []string) error
	// FilesDir holds the files that content shows; see [Store.PutImage].
	FilesDir string
}

// A Store keeps content in a database.
type Store struct {
	d    *db.DB
	opts Options
}

// New returns a store over a migrated database.
func New(d *db.DB, opts Options) *Store {
	if opts.Languages == nil {
		opts.Languages = func() []string { return []string{"en"} }
	}
	if opts.TypeOutOfAnswers == nil {
		opts.TypeOutOfAnswers = func(string) bool { return false }
	}
	if opts.OnChange == nil {
		opts.OnChange = func(context.Context, *db.DB, []string) error { return nil }
	}
	return &Store{d: d, opts: opts}
}

// In returns the store as it works inside of a transaction.
func (s *Store) In(tx *db.DB) *Store { return &Store{d: tx, opts: s.opts} }

// Languages of the site, the default first.
func (s *Store) Languages() []string {
	if l := s.opts.Languages(); len(l) > 0 {
		return l
	}
	return []string{"en"}
}

// DefaultLanguage is the language whose addresses have no prefix.
func (s *Store) DefaultLanguage() string { return s.Languages()[0] }

// PublicPath is a stored path as visitors see it, with the language's prefix.
func (s *Store) PublicPath(lang, path string) string {
	if lang == "" || lang == s.DefaultLanguage() {
		return path
	}
	return "/" + lang + path
}

// barePath undoes [Store.PublicPath].
func (s *Store) barePath(lang, path string) string {
	if lang == "" || lang == s.DefaultLanguage() {
		return path
	}
	if rest, ok := strings.CutPrefix(path, "/"+lang+"/"); ok {
		return "/" + rest
	}
	return path
}
