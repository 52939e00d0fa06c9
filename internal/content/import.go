package content

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"docent/db"
)

// An Imported is one translation as a file describes it; without a type it is one
// of a node. Media has no path.
type Imported struct {
	Input
	Key         string // names the entity among all imports, the same for every language
	Origin      string // the file: "import:es/guides/a.md"
	Hash        string // of everything that it was made from
	ParentPath  string
	HasChildren bool // other pages of the import lie below it
	Aliases     []string
	Topics      []Term
	Updated     time.Time // as the author tells it; zero: now
}

// A Known is a translation that was imported before.
type Known struct {
	Hash   string
	Edited bool // somebody saved a revision on the site since
}

// A PathConflict is an imported page that could not have its path.
type PathConflict struct {
	Origin string
	Path   string // given instead
}

// CheckFields brings the values of a file that is to be imported into the shape in
// which they are kept, and tells by field why it leaves out others. Whether what
// they refer to exists is for the importer to know. Values of a bundle without a
// type stay as they are.
func (t *Types) CheckFields(entity, bundle string, fields Fields) (good Fields, refused map[string]string) {
	ct, known := t.Type(entity, bundle)
	read, err := canonical(fields)
	if err != nil {
		return Fields{}, map[string]string{"fields": err.Error()}
	}
	if !known {
		return read, nil
	}
	v := values{types: t, bad: map[string]string{}, labels: map[string]string{}, writes: func(string) bool { return true }}
	good = v.fields(ct, read)
	for name := range v.bad {
		if read[name] == nil { // required, but files need not have it
			delete(v.bad, name)
		}
	}
	return good, v.bad
}

// PutImported writes pages, all languages of an entity together, in one
// transaction. index is called within it with the published ones; for what else
// changed, and for everything when index is nil, [Options.OnChange] is. Nobody's
// permission is asked. Paths must be normal and distinct among each other. Values
// that [Types.CheckFields] refuses are left out.
func (s *Store) PutImported(ctx context.Context, pages []Imported, index func(context.Context, *db.DB, []Item) error) ([]PathConflict, error) {
	types, err := s.Types(ctx)
	if err != nil {
		return nil, err
	}
	var conflicts []PathConflict
	err = s.d.InTx(ctx, func(tx *db.DB) error {
		b := bulk{s: s.In(tx), tx: tx, now: db.Now(), types: types, pages: pages}
		var err error
		if conflicts, err = b.write(ctx); err != nil {
			return err
		}
		items, others := b.published, b.others
		if index == nil {
			for _, it := range items {
				others = append(others, it.ID)
			}
		} else if len(items) > 0 {
			if err := index(ctx, tx, items); err != nil {
				return fmt.Errorf("index: %w", err)
			}
		}
		if len(others) == 0 {
			return nil
		}
		return s.opts.OnChange(ctx, tx, others)
	})
	return conflicts, err
}

// RemoveImported deletes the translations that were made from files, and
// entities that have none left.
func (s *Store) RemoveImported(ctx context.Context, origins []string) error {
	return s.d.InTx(ctx, func(tx *db.DB) error {
		for _, origin := range origins {
			if err := s.removeByOrigin(ctx, tx, origin); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) removeByOrigin(ctx context.Context, tx *db.DB, origin string) error {
	id, path, left, err := deleteTranslation(ctx, tx, origin)
	if err != nil || id == "" {
		return err
	}
	if left == 0 {
		if err := deleteEntity(ctx, tx, id); err != nil {
			return err
		}
	}
	if path != "" {
		if err := orphan(ctx, tx, path); err != nil {
			return err
		}
	}
	return s.opts.OnChange(ctx, tx, []string{id})
}

// bulk is one batch of an import on its way into the database.
type bulk struct {
	s         *Store
	tx        *db.DB
	now       time.Time
	types     *Types
	pages     []Imported
	published []Item
	others    []string // ids of entities that changed and are not in published
}

func (b *bulk) write(ctx context.Context) ([]PathConflict, error) {
	known, err := b.identify(ctx)
	if err != nil {
		return nil, err
	}
	conflicts, err := b.settlePaths(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.assignTopics(ctx); err != nil {
		return nil, err
	}
	if err := b.insert(ctx, known); err != nil {
		return nil, err
	}
	return conflicts, b.collect(ctx, known)
}

// assignTopics makes sure of all terms and puts their ids into the pages' fields.
func (b *bulk) assignTopics(ctx context.Context) error {
	byLang := map[string][]Term{}
	for _, p := range b.pages {
		byLang[p.Lang] = append(byLang[p.Lang], p.Topics...)
	}
	ids := map[string]string{}
	for lang, terms := range byLang {
		found, err := b.s.ensureTerms(ctx, b.tx, terms, lang)
		if err != nil {
			return err
		}
		for origin, id := range found {
			ids[origin] = id
		}
	}
	for i := range b.pages {
		p := &b.pages[i]
		var topics []string
		for _, t := range p.Topics {
			topics = append(topics, ids[t.origin()])
		}
		if len(topics) > 0 {
			p.Fields[FieldTopics] = topics
		}
		// A page at a term's address names the term.
		if slug, ok := strings.CutPrefix(p.Path, "/"+FieldTopics+"/"); ok && strings.Count(slug, "/") == 1 {
			if err := relabel(ctx, b.tx, termOrigin+FieldTopics+"/"+strings.TrimSuffix(slug, "/"), p.Lang, p.Title); err != nil {
				return err
			}
		}
	}
	return nil
}

// settlePaths finds who has the paths the pages want: other imported pages give
// way, since their own files decide about theirs; pages made on the site do not.
func (b *bulk) settlePaths(ctx context.Context) ([]PathConflict, error) {
	var conflicts []PathConflict
	holders, err := pathHolders(ctx, b.tx, b.pages)
	if err != nil {
		return nil, err
	}
	for i := range b.pages {
		p := &b.pages[i]
		h, taken := holders[p.Lang+p.Path]
		switch {
		case !taken || h.ID == p.ID || p.Path == "":
		case h.Imported:
			if err := releasePath(ctx, b.tx, p.Lang, p.Path); err != nil {
				return nil, err
			}
		default:
			base := strings.TrimSuffix(p.Path, "/")
			for n := 2; ; n++ {
				p.Path = fmt.Sprintf("%s-%d/", base, n)
				other, err := pathHolder(ctx, b.tx, p.Lang, p.Path)
				if err != nil {
					return nil, err
				}
				if other == "" || other == p.ID {
					break
				}
			}
			conflicts = append(conflicts, PathConflict{Origin: p.Origin, Path: p.Path})
		}
	}
	return conflicts, nil
}

// collect makes the items of what was written, without reading it again.
func (b *bulk) collect(ctx context.Context, known map[string]knownTranslation) error {
	ids := make([]string, len(b.pages))
	for i, p := range b.pages {
		ids[i] = p.ID
	}
	languages, err := b.s.languagesOf(ctx, ids)
	if err != nil {
		return err
	}
	for _, p := range b.pages {
		k := known[p.ID+p.Lang]
		if p.State != Published {
			if k.PublishedID.Valid {
				b.others = append(b.others, p.ID)
			}
			continue
		}
		if p.Type != TypeNode {
			b.others = append(b.others, p.ID)
			continue
		}
		b.published = append(b.published, b.s.indexed(b.types, Item{
			Ref: p.Ref, Bundle: p.Bundle, Lang: p.Lang, Title: p.Title, Path: b.s.PublicPath(p.Lang, p.Path),
			Origin: p.Origin, Fields: p.Fields, State: Published, LatestState: Published, Published: true,
			RevisionID: p.BasedOn, LatestID: p.BasedOn, ViewRoles: p.Access.ViewRoles,
			OutOfAnswers: p.Access.OutOfAnswers || b.s.opts.TypeOutOfAnswers(p.Bundle),
			Weight:       p.Weight, Menu: p.Menu, MenuTitle: p.MenuTitle, Date: p.Date,
			CreatedAt: k.created(b.now), UpdatedAt: p.Updated,
			Languages: languages[p.ID], ParentPath: p.ParentPath, IsSectionIndex: p.SectionIndex,
		}))
	}
	return nil
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }
