package content

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
)

// An Order of lists.
type Order string

// The orders besides "": by weight, then title.
const (
	ByTitle   Order = "title"
	ByDate    Order = "date"    // newest first, undated last
	ByChanged Order = "changed" // last saved first
	ByCreated Order = "created" // newest entities first
)

// A Filter narrows a list; zero values do not.
type Filter struct {
	Type       string
	Bundle     string
	Bundles    []string // any of these
	Author     string   // account that made the entity
	Lang       string   // "" lists every translation
	ParentPath string   // without language prefix
	TermID     string
	Menu       string
	State      State   // Published: has a published revision; others: state of the latest
	States     []State // any of these is the state of the latest revision
	NewerDraft bool    // a published revision has a newer draft beside it
	Text       string  // part of title or path
	Limit      int     // 50 when it is not positive
	Offset     int
	Order      Order
	Reverse    bool
}

// A Revision is an entry of a translation's history.
type Revision struct {
	ID        string    `db:"id"`
	Title     string    `db:"title"`
	State     State     `db:"state"`
	AuthorID  string    `db:"author_id"`
	Message   string    `db:"message"`
	CreatedAt time.Time `db:"created_at"`
}

// ByPath returns what an address shows: path is without language prefix. It
// returns [db.ErrNotFound], [ErrForbidden] for published content that is not for
// this account, or a [*Redirect] when the content has another address by now, or
// when path is not spelt as [NormalizePath] would.
func (s *Store) ByPath(ctx context.Context, who account.Account, lang, path string) (Item, error) {
	p, err := NormalizePath(path)
	if err != nil {
		return Item{}, db.ErrNotFound
	}
	items, err := s.byPath(ctx, lang, p)
	if err != nil {
		return Item{}, err
	}
	if len(items) > 0 {
		it, err := choose(who, items, []string{lang})
		if err == nil && it.Type == TypeRedirect {
			if !it.Published { // it leads nowhere yet
				return Item{}, db.ErrNotFound
			}
			temporary, _ := it.Fields[FieldTemporary].(bool)
			return Item{}, &Redirect{To: it.Fields.Text(FieldTo), Temporary: temporary}
		}
		if err == nil && p != path {
			return Item{}, &Redirect{To: it.Path}
		}
		return it, err
	}
	for _, prefix := range []string{nodePrefix, mediaPrefix} { // the addresses of what has no other
		id, ok := strings.CutPrefix(p, prefix)
		if !ok || strings.Count(id, "/") != 1 {
			continue
		}
		it, err := s.Load(ctx, who, Ref{ID: strings.TrimSuffix(id, "/")}, lang)
		if errors.Is(err, db.ErrNotFound) && prefix == mediaPrefix {
			continue // it may be a former address of a page
		}
		if err == nil && it.Path != s.PublicPath(lang, p) {
			return Item{}, &Redirect{To: it.Path}
		}
		return it, err
	}
	id, err := s.aliasTarget(ctx, lang, p)
	if errors.Is(err, db.ErrNotFound) {
		id, err = s.byOrigin(ctx, termOrigin+strings.Trim(p, "/"))
	}
	if err != nil {
		return Item{}, err
	}
	it, err := s.Load(ctx, who, Ref{ID: id}, lang)
	if err == nil && it.Path != s.PublicPath(lang, path) {
		return Item{}, &Redirect{To: it.Path}
	}
	return it, err
}

// Load returns an entity in the language preferred, else in the site's default,
// else in any that the account may see. A ref without type means any type.
func (s *Store) Load(ctx context.Context, who account.Account, ref Ref, lang string) (Item, error) {
	items, err := s.byEntities(ctx, []string{ref.ID})
	if err != nil {
		return Item{}, err
	}
	items = slices.DeleteFunc(items, func(it Item) bool { return ref.Type != "" && it.Type != ref.Type })
	return choose(who, items, s.preference(lang))
}

// LoadMany is [Store.Load] for many; what the account may not see is left out.
func (s *Store) LoadMany(ctx context.Context, who account.Account, refs []Ref, lang string) (map[Ref]Item, error) {
	ids := make([]string, 0, len(refs))
	for _, r := range refs {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	items, err := s.byEntities(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	translations := make(map[Ref][]Item, len(refs))
	for _, it := range items {
		translations[it.Ref] = append(translations[it.Ref], it)
	}
	out := make(map[Ref]Item, len(refs))
	preference := s.preference(lang)
	for _, ref := range refs {
		if it, err := choose(who, translations[ref], preference); err == nil {
			out[ref] = it
		}
	}
	return out, nil
}

// Latest returns the latest revision of exactly one translation, for accounts
// that may see unpublished content: what an editor goes on from.
func (s *Store) Latest(ctx context.Context, who account.Account, ref Ref, lang string) (Item, error) {
	r, err := s.latest(ctx, ref.ID, lang)
	if err != nil {
		return Item{}, err
	}
	return s.unpublished(ctx, who, ref, r)
}

// Revision returns a translation as one of its revisions has it, with the
// settings that came with it, for accounts that may see unpublished content.
func (s *Store) Revision(ctx context.Context, who account.Account, ref Ref, lang, revisionID string) (Item, error) {
	r, err := s.revision(ctx, ref.ID, lang, revisionID)
	if err != nil {
		return Item{}, err
	}
	return s.unpublished(ctx, who, ref, r)
}

// unpublished makes an item of a revision for whoever may see it.
func (s *Store) unpublished(ctx context.Context, who account.Account, ref Ref, r row) (Item, error) {
	if ref.Type != "" && r.Type != ref.Type {
		return Item{}, db.ErrNotFound
	}
	if err := s.mayReadHistory(who, r); err != nil {
		return Item{}, err
	}
	return s.latestItem(ctx, r)
}

// mayReadHistory refuses accounts that may not see all revisions of an entity.
func (s *Store) mayReadHistory(who account.Account, r row) error {
	it, err := s.item(r)
	if err != nil {
		return err
	}
	return s.May(who, config.OpViewUnpublished, it)
}

// History lists the revisions of a translation, newest first, for accounts that
// may see unpublished content.
func (s *Store) History(ctx context.Context, who account.Account, ref Ref, lang string) ([]Revision, error) {
	r, err := s.latest(ctx, ref.ID, lang)
	if err != nil {
		return nil, err
	}
	if err := s.mayReadHistory(who, r); err != nil {
		return nil, err
	}
	return s.revisions(ctx, ref.ID, lang)
}

// TranslationsFor returns all languages of an entity as their latest revisions
// have them, for accounts that may see unpublished content: to others only what
// is published.
func (s *Store) TranslationsFor(ctx context.Context, who account.Account, ref Ref) ([]Item, error) {
	rows, err := s.allLatest(ctx, ref.ID)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || ref.Type != "" && rows[0].Type != ref.Type {
		return nil, db.ErrNotFound
	}
	if err := s.mayReadHistory(who, rows[0]); err != nil {
		items, err := s.byEntities(ctx, []string{ref.ID})
		return slices.DeleteFunc(items, func(it Item) bool { return !CanView(who, it) }), err
	}
	items := make([]Item, len(rows))
	for i, r := range rows {
		if items[i], err = s.latestItem(ctx, r); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// Ancestors returns the pages above an item that the account may see, the front
// page first, in the item's language where there are such.
func (s *Store) Ancestors(ctx context.Context, who account.Account, item Item) ([]Item, error) {
	paths := Parents(s.barePath(item.Lang, item.Path))
	if len(paths) == 0 {
		return nil, nil
	}
	byPath := make(map[string]Item, len(paths))
	for _, lang := range slices.Compact([]string{item.Lang, s.DefaultLanguage()}) {
		items, err := s.byPaths(ctx, lang, paths)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			bare := s.barePath(lang, it.Path)
			if _, ok := byPath[bare]; !ok && CanView(who, it) {
				byPath[bare] = it
			}
		}
	}
	var out []Item
	for _, p := range slices.Backward(paths) {
		if it, ok := byPath[p]; ok {
			out = append(out, it)
		}
	}
	return out, nil
}

// Published hands every published translation of every page, and of media whose
// documents were read, to yield, whoever may see it, and stops at the first error:
// for building an index. Items carry what decides about access; a document's text
// is the body of its media.
func (s *Store) Published(ctx context.Context, yield func(Item) error) error {
	const batch = 200
	var id, lang string
	for {
		items, err := s.publishedAfter(ctx, id, lang, batch)
		if err != nil {
			return err
		}
		n := len(items)
		if n > 0 {
			id, lang = items[n-1].ID, items[n-1].Lang
		}
		if items, err = s.searchable(ctx, items); err != nil {
			return err
		}
		for _, it := range items {
			if err := yield(it); err != nil {
				return err
			}
		}
		if n < batch {
			return nil
		}
	}
}

// Translations returns the published translations of a page, or of media as
// [Store.Published] does, whoever may see them, and none when it is neither, not
// published, or gone: for bringing an index up to date.
func (s *Store) Translations(ctx context.Context, entityID string) ([]Item, error) {
	items, err := s.byEntities(ctx, []string{entityID})
	if err != nil {
		return nil, err
	}
	return s.searchable(ctx, slices.DeleteFunc(items, func(it Item) bool { return !it.Published }))
}

// preference lists languages from most to least wanted; the first two are the
// one asked for and the default.
func (s *Store) preference(lang string) []string {
	return append([]string{lang, s.DefaultLanguage()}, s.Languages()...)
}

// choose picks the translation to show: published ones first, then by language.
func choose(who account.Account, items []Item, preference []string) (Item, error) {
	refusal := db.ErrNotFound
	var best Item
	rank := func(it Item) int {
		r := slices.Index(preference, it.Lang)
		if r < 0 {
			r = len(preference)
		}
		if !it.Published {
			r += len(preference) + 1
		}
		return r
	}
	found := false
	for _, it := range items {
		if !CanView(who, it) {
			if it.Published {
				refusal = ErrForbidden
			}
			continue
		}
		if !found || rank(it) < rank(best) {
			best, found = it, true
		}
	}
	if !found {
		return Item{}, refusal
	}
	return best, nil
}

// nodePrefix starts the address of pages that have no other.
const nodePrefix = "/node/"

// item makes an Item of the revision that a row holds.
func (s *Store) item(r row) (Item, error) {
	it := Item{
		Ref: Ref{Type: r.Type, ID: r.ID}, Bundle: r.Bundle, Lang: r.Lang, Title: r.Title, Origin: r.Origin.String,
		State: State(r.State), LatestState: State(r.LatestState), Published: r.PublishedID.Valid,
		RevisionID: r.RevisionID, LatestID: r.LatestID,
		OutOfAnswers: r.OutOfAnswers || s.opts.TypeOutOfAnswers(r.Bundle),
		AuthorID:     r.AuthorID, RevisedBy: r.RevisedBy,
		Weight: r.Weight, Menu: r.Menu, MenuTitle: r.MenuTitle, MenuParent: r.MenuParent,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.ChangedAt.UTC(),
		ParentPath: r.ParentPath, IsSectionIndex: r.SectionIndex,
	}
	if r.Date.Valid {
		it.Date = r.Date.Time.UTC()
	}
	switch {
	case r.Path.Valid:
		it.Path = s.PublicPath(r.Lang, r.Path.String)
	case r.Type == TypeTerm && r.EntityOrigin.Valid: // a page that stands at its address speaks for it
		it.Path = s.PublicPath(r.Lang, "/"+strings.TrimPrefix(r.EntityOrigin.String, termOrigin)+"/")
	case r.Type == TypeMedia:
		it.Path = s.PublicPath(r.Lang, mediaPrefix+r.ID+"/")
	default:
		it.Path = s.PublicPath(r.Lang, nodePrefix+r.ID+"/")
	}
	if err := json.Unmarshal([]byte(r.Fields), &it.Fields); err != nil {
		return Item{}, fmt.Errorf("fields of revision %s: %w", r.RevisionID, err)
	}
	if err := json.Unmarshal([]byte(r.ViewRoles), &it.ViewRoles); err != nil {
		return Item{}, fmt.Errorf("roles of entity %s: %w", r.ID, err)
	}
	return it, nil
}

// latestItem makes an Item of a latest revision, with the settings that it would
// bring when it is published.
func (s *Store) latestItem(ctx context.Context, r row) (Item, error) {
	items, err := s.items(ctx, []row{r})
	if err != nil {
		return Item{}, err
	}
	it := items[0]
	it.Title = r.RevTitle
	it.UpdatedAt = r.RevisedAt.UTC()
	set, err := settingsOf(r)
	if err != nil {
		return Item{}, err
	}
	if set.Path != "" {
		it.Path = s.PublicPath(r.Lang, set.Path)
	}
	it.Weight, it.Date, it.Menu, it.MenuTitle, it.MenuParent = set.Weight, set.Date, set.Menu, set.MenuTitle, set.MenuParent
	it.IsSectionIndex, it.ViewRoles = set.SectionIndex, set.ViewRoles
	it.OutOfAnswers = set.OutOfAnswers // its own, so that saving it again does not fix its type's
	return it, nil
}
