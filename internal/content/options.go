package content

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"docent/db"
	"docent/internal/markdown"
	"docent/internal/media"
)

var (
	// ErrForbidden means that something exists, published, but not for this account.
	ErrForbidden = errors.New("not for this account")
	// ErrConflict means that somebody else saved a newer revision in between.
	ErrConflict = errors.New("changed by somebody else in the meantime")
)

// A Redirect is the error that says where an address leads to by now.
type Redirect struct {
	To        string // path with language prefix, or an address elsewhere that an editor gave
	Temporary bool   // the address asked for may have its content again
}

func (r *Redirect) Error() string { return "moved to " + r.To }

// An InvalidError says which fields were refused and why, in words for the person
// who sent them.
type InvalidError struct {
	Fields map[string]string
	Labels map[string]string // of the fields refused that have one, as editors know them
}

func (e *InvalidError) Error() string {
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(e.Fields)) {
		parts = append(parts, cmp.Or(e.Labels[field], field)+" "+e.Fields[field])
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
	// Types are the content types in force; nil: those of a new site.
	Types func(ctx context.Context) (*Types, error)
	// Reserved are first path segments that the program itself serves.
	Reserved []string
	// OnChange is called inside of every transaction that changes what visitors
	// may read of these entities, or whether they may.
	OnChange func(ctx context.Context, tx *db.DB, entityIDs []string) error
	// FilesDir holds the files that content shows; see [Store.PutImage].
	FilesDir string
	// UploadLimit is how many bytes a file of a type may have; nil: 20 MB for images
	// and 50 MB for documents.
	UploadLimit func(mime string) int64
	// OnUpload is called inside of every transaction that takes in a document, for
	// reading what it says: see [Store.ReadText].
	OnUpload func(ctx context.Context, tx *db.DB, f File) error
	// Documents reads what documents say; nil: nobody does.
	Documents *media.Reader
	// DateText tells a date or a range of dates in words of a language, for the
	// index; nil: in numbers.
	DateText func(lang string, v RenderedValue) string
	// Labels are the words of a language that the HTML of Markdown needs besides
	// the text; nil: English ones.
	Labels func(lang string) markdown.Labels
	// PageLabel heads a page of a printed document in a language; nil: a number.
	PageLabel func(lang string, n int) string
}

// A Store keeps content in a database.
type Store struct {
	d     *db.DB
	opts  Options
	files *media.Storage
}

// New returns a store over a migrated database.
func New(d *db.DB, opts Options) *Store {
	if opts.Languages == nil {
		opts.Languages = func() []string { return []string{"en"} }
	}
	if opts.TypeOutOfAnswers == nil {
		opts.TypeOutOfAnswers = func(string) bool { return false }
	}
	if opts.Types == nil {
		opts.Types = func(context.Context) (*Types, error) { return ShippedTypes(), nil }
	}
	if opts.OnChange == nil {
		opts.OnChange = func(context.Context, *db.DB, []string) error { return nil }
	}
	if opts.UploadLimit == nil {
		opts.UploadLimit = DefaultUploadLimit
	}
	if opts.OnUpload == nil {
		opts.OnUpload = func(context.Context, *db.DB, File) error { return nil }
	}
	if opts.DateText == nil {
		opts.DateText = func(_ string, v RenderedValue) string { return v.Text }
	}
	if opts.Labels == nil {
		opts.Labels = func(string) markdown.Labels { return markdown.Labels{} }
	}
	if opts.PageLabel == nil {
		opts.PageLabel = func(_ string, n int) string { return strconv.Itoa(n) }
	}
	return &Store{d: d, opts: opts, files: media.NewStorage(opts.FilesDir)}
}

// In returns the store as it works inside of a transaction.
func (s *Store) In(tx *db.DB) *Store { return &Store{d: tx, opts: s.opts, files: s.files} }

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
