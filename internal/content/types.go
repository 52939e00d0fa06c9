package content

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"docent/internal/account"
	"docent/internal/config"
)

// Types are the content types, vocabularies and text formats of a site at one
// moment. They are shared and only read.
type Types struct {
	types   map[bundleKey]config.ContentType
	formats map[string]config.TextFormat
}

type bundleKey struct{ entity, bundle string }

// NewTypes brings together what a site's configuration holds.
func NewTypes(types []config.Named[config.ContentType], vocabularies []config.Named[config.Vocabulary], formats []config.Named[config.TextFormat]) *Types {
	t := &Types{
		types:   make(map[bundleKey]config.ContentType, len(types)+len(vocabularies)),
		formats: make(map[string]config.TextFormat, len(formats)),
	}
	for _, n := range types {
		t.types[bundleKey{n.Value.Entity, n.Name}] = n.Value
	}
	for _, n := range vocabularies {
		t.types[bundleKey{TypeTerm, n.Name}] = n.Value.AsType()
	}
	for _, n := range formats {
		t.formats[n.Name] = n.Value
	}
	return t
}

// LoadTypes reads the types of a site's configuration.
func LoadTypes(ctx context.Context, c *config.Store) (*Types, error) {
	types, err := config.All[config.ContentType](ctx, c)
	if err != nil {
		return nil, err
	}
	vocabularies, err := config.All[config.Vocabulary](ctx, c)
	if err != nil {
		return nil, err
	}
	formats, err := config.All[config.TextFormat](ctx, c)
	if err != nil {
		return nil, err
	}
	return NewTypes(types, vocabularies, formats), nil
}

// ShippedTypes are the types of a new site.
var ShippedTypes = sync.OnceValue(func() *Types {
	return NewTypes(config.ShippedTypes(), config.ShippedVocabularies(), config.ShippedFormats())
})

// Types returns the types in force.
func (s *Store) Types(ctx context.Context) (*Types, error) { return s.opts.Types(ctx) }

// Type returns what an entity of a bundle is made of. Menu links and redirects
// are the same on every site, whatever their bundle.
func (t *Types) Type(entity, bundle string) (config.ContentType, bool) {
	switch entity {
	case TypeMenuLink:
		return menuLinkType(), true
	case TypeRedirect:
		return redirectType(), true
	}
	ct, ok := t.types[bundleKey{entity, bundle}]
	return ct, ok
}

// Bundles lists the types of an entity type by label.
func (t *Types) Bundles(entity string) []config.Named[config.ContentType] {
	var out []config.Named[config.ContentType]
	for key, ct := range t.types {
		if key.entity == entity {
			out = append(out, config.Named[config.ContentType]{Name: key.bundle, Value: ct})
		}
	}
	slices.SortFunc(out, func(a, b config.Named[config.ContentType]) int {
		return cmp.Or(cmp.Compare(a.Value.Label, b.Value.Label), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Format returns a text format.
func (t *Types) Format(name string) (config.TextFormat, bool) {
	f, ok := t.formats[name]
	return f, ok
}

// Formats lists the text formats of a field that an account may write in, the
// field's default first.
func (t *Types) Formats(who account.Account, f config.Field) []config.Named[config.TextFormat] {
	var out []config.Named[config.TextFormat]
	for _, name := range formatNames(f) {
		if format, ok := t.formats[name]; ok && who.Can(config.FormatPermission(name)) {
			out = append(out, config.Named[config.TextFormat]{Name: name, Value: format})
		}
	}
	return out
}

func formatNames(f config.Field) []string {
	if len(f.Settings.Formats) == 0 {
		return []string{config.FormatMarkdown}
	}
	return f.Settings.Formats
}

// Fields of redirects.
const (
	FieldTo        = "to"        // where to
	FieldTemporary = "temporary" // the old address will be used again
)

func menuLinkType() config.ContentType {
	return config.ContentType{Label: "Menu link", Entity: TypeMenuLink, Fields: []config.Field{
		{Name: FieldSource, Label: "Address", Type: config.FieldLink, Required: true, Translatable: true},
		{Name: FieldSummary, Label: "Description", Type: config.FieldText, Translatable: true, Settings: config.FieldSettings{MaxLength: 500}},
	}}
}

func redirectType() config.ContentType {
	return config.ContentType{Label: "Redirect", Entity: TypeRedirect, Fields: []config.Field{
		{Name: FieldTo, Label: "To", Type: config.FieldLink, Required: true, Translatable: true},
		{Name: FieldTemporary, Label: "Temporary", Type: config.FieldBoolean, Translatable: true},
	}}
}
