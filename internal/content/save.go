package content

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/db"
	"docent/internal/account"
)

// Access says who may view an entity, in all of its languages.
type Access struct {
	ViewRoles    []string // empty: everybody who may access content
	OutOfAnswers bool
}

// An Input is what somebody saves: one language of an entity. [InputOf] starts
// from what is there.
type Input struct {
	Ref                 // without ID a new entity; without type a node
	Bundle       string // of a new entity
	Lang         string
	Title        string
	Path         string // "": as it is, or made of the title below Parent
	Parent       string // path of the section that a new entity goes into
	Fields       Fields
	State        State   // Draft beside a published revision leaves that one as it is
	Access       *Access // nil: as it is
	Weight       int
	Date         time.Time
	Menu         string
	MenuTitle    string
	SectionIndex bool
	Message      string // for the history
	BasedOn      string // the latest revision the author saw; "" overwrites whatever is there
}

// InputOf is the input that changes nothing of an item but makes it a draft.
func InputOf(it Item) Input {
	return Input{
		Ref: it.Ref, Bundle: it.Bundle, Lang: it.Lang, Title: it.Title, Fields: it.Fields, State: Draft,
		Weight: it.Weight, Date: it.Date, Menu: it.Menu, MenuTitle: it.MenuTitle,
		SectionIndex: it.IsSectionIndex, BasedOn: it.LatestID,
	}
}

// settings are what a revision brings besides its fields, once it is published.
type settings struct {
	Path         string    `json:"path"`
	ViewRoles    []string  `json:"view_roles"`
	OutOfAnswers bool      `json:"out_of_answers"`
	Weight       int       `json:"weight"`
	Date         time.Time `json:"date"`
	Menu         string    `json:"menu"`
	MenuTitle    string    `json:"menu_title"`
	SectionIndex bool      `json:"section_index"`
}

// settingsOf reads a latest revision's settings, which imported ones leave to
// the translation.
func settingsOf(r row) (settings, error) {
	var set settings
	if r.Settings != "" {
		err := json.Unmarshal([]byte(r.Settings), &set)
		return set, err
	}
	set = settings{
		Path: r.Path.String, OutOfAnswers: r.OutOfAnswers, Weight: r.Weight, Date: r.Date.Time.UTC(),
		Menu: r.Menu, MenuTitle: r.MenuTitle, SectionIndex: r.SectionIndex,
	}
	if !r.Date.Valid {
		set.Date = time.Time{}
	}
	err := json.Unmarshal([]byte(r.ViewRoles), &set.ViewRoles)
	return set, err
}

// Save stores a revision and returns the item with it. It returns
// [*InvalidError] for input that cannot be stored, [ErrConflict] when the latest
// revision is not the one the author saw, [ErrForbidden] without the permission
// to edit and [db.ErrNotFound] when the entity is gone.
func (s *Store) Save(ctx context.Context, author account.Account, in Input) (Item, error) {
	if !author.Can(account.EditContent) {
		return Item{}, ErrForbidden
	}
	fields, err := s.check(&in)
	if err != nil {
		return Item{}, err
	}
	var saved Item
	err = s.d.InTx(ctx, func(tx *db.DB) error {
		now := db.Now()
		cur, err := s.current(ctx, tx, in, author, now)
		if err != nil {
			return err
		}
		set, err := s.settingsFor(ctx, tx, cur, in)
		if err != nil {
			return err
		}
		next := cur
		next.RevTitle, next.Fields, next.State = in.Title, fields, string(in.State)
		saved, err = s.write(ctx, tx, revision{
			row: next, set: set, author: author.ID, message: in.Message, at: now, beside: in.State == Draft,
		})
		return err
	})
	if db.IsUnique(err) {
		err = invalid("path", "is in use already")
	}
	return saved, err
}

// SetState publishes the latest revision of a translation, archives it, or makes
// it a draft that visitors no longer see. When basedOn is given and is not the
// latest revision, it returns [ErrConflict].
func (s *Store) SetState(ctx context.Context, author account.Account, ref Ref, lang string, state State, basedOn string) (Item, error) {
	if !author.Can(account.EditContent) {
		return Item{}, ErrForbidden
	}
	if !slices.Contains([]State{Draft, Published, Archived}, state) {
		return Item{}, invalid("state", "is unknown")
	}
	var saved Item
	err := s.d.InTx(ctx, func(tx *db.DB) error {
		now := db.Now()
		if err := touchEntity(ctx, tx, ref.ID, now); err != nil {
			return err
		}
		cur, err := s.In(tx).latest(ctx, ref.ID, lang)
		if err != nil {
			return err
		}
		if ref.Type != "" && cur.Type != ref.Type {
			return db.ErrNotFound
		}
		if basedOn != "" && basedOn != cur.LatestID {
			return ErrConflict
		}
		if cur.State == string(state) && cur.PublishedID.Valid == (state == Published) {
			saved, err = s.In(tx).latestItem(ctx, cur)
			return err
		}
		set, err := settingsOf(cur)
		if err != nil {
			return err
		}
		next := cur
		next.State = string(state)
		saved, err = s.write(ctx, tx, revision{row: next, set: set, author: author.ID, at: now})
		return err
	})
	if db.IsUnique(err) {
		err = invalid("path", "is in use already")
	}
	return saved, err
}

// Delete removes an entity with all its languages and revisions.
func (s *Store) Delete(ctx context.Context, author account.Account, ref Ref) error {
	if !author.Can(account.EditContent) {
		return ErrForbidden
	}
	return s.d.InTx(ctx, func(tx *db.DB) error { return s.remove(ctx, tx, ref.ID) })
}

func (s *Store) remove(ctx context.Context, tx *db.DB, id string) error {
	paths, err := pathsOf(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := deleteEntity(ctx, tx, id); err != nil {
		return err
	}
	for _, p := range paths {
		if err := orphan(ctx, tx, p); err != nil {
			return err
		}
	}
	return s.opts.OnChange(ctx, tx, []string{id})
}

// current reads what an input goes on from; for a new entity or a new language
// the row holds what is known of it.
func (s *Store) current(ctx context.Context, tx *db.DB, in Input, author account.Account, now time.Time) (row, error) {
	if in.ID == "" {
		it := Item{Ref: Ref{Type: in.Type, ID: newID()}, Bundle: in.Bundle}
		if in.Access != nil {
			it.ViewRoles, it.OutOfAnswers = in.Access.ViewRoles, in.Access.OutOfAnswers
		}
		r := row{
			ID: it.ID, Type: it.Type, Bundle: it.Bundle, Lang: in.Lang,
			ViewRoles: rolesJSON(it.ViewRoles), OutOfAnswers: it.OutOfAnswers,
		}
		return r, insertEntity(ctx, tx, it, nil, author.ID, now)
	}
	if err := touchEntity(ctx, tx, in.ID, now); err != nil {
		return row{}, err
	}
	cur, err := s.In(tx).latest(ctx, in.ID, in.Lang)
	if errors.Is(err, db.ErrNotFound) {
		if in.BasedOn != "" {
			return row{}, ErrConflict
		}
		cur, err = entityRow(ctx, tx, in.ID)
		cur.Lang = in.Lang
	}
	switch {
	case err != nil:
		return row{}, err
	case in.Type != cur.Type:
		return row{}, db.ErrNotFound
	case in.BasedOn != "" && in.BasedOn != cur.LatestID:
		return row{}, ErrConflict
	}
	return cur, nil
}

// settingsFor finds the settings an input means, given what is there.
func (s *Store) settingsFor(ctx context.Context, tx *db.DB, cur row, in Input) (settings, error) {
	set, err := settingsOf(cur)
	if err != nil {
		return set, err
	}
	set.Weight, set.Date, set.Menu, set.MenuTitle, set.SectionIndex = in.Weight, in.Date, in.Menu, in.MenuTitle, in.SectionIndex
	if in.Access != nil {
		set.ViewRoles, set.OutOfAnswers = in.Access.ViewRoles, in.Access.OutOfAnswers
	}
	switch {
	case cur.Type != TypeNode: // reached by other means: see [Item.Path]
		set.Path = ""
	case in.Path != "":
		set.Path = in.Path
	case set.Path == "":
		set.Path, err = s.freePath(ctx, tx, in, cur.ID)
	}
	return set, err
}

// freePath makes an address of a title that nobody has yet.
func (s *Store) freePath(ctx context.Context, tx *db.DB, in Input, id string) (string, error) {
	slug := Slug(in.Title)
	if slug == "" {
		slug = id
	}
	base := strings.TrimSuffix(in.Parent, "/") + "/" + slug
	for n := 1; ; n++ {
		p := base + "/"
		if n > 1 {
			p = fmt.Sprintf("%s-%d/", base, n)
		}
		if s.reserved(in.Lang, p) {
			continue
		}
		if holder, err := pathHolder(ctx, tx, in.Lang, p); err != nil || holder == "" {
			return p, err
		}
	}
}

// A revision is what [Store.write] writes.
type revision struct {
	row             // of what is there, with title, fields and state of the new revision
	set             settings
	author, message string
	at              time.Time
	beside          bool // a draft beside the published revision, if there is one
}

// write adds a revision and, unless it is a draft beside a published one, makes
// the translation show it.
func (s *Store) write(ctx context.Context, tx *db.DB, rev revision) (Item, error) {
	r := rev.row
	settingsJSON, err := json.Marshal(rev.set)
	if err != nil {
		return Item{}, err
	}
	r.Settings, r.RevisedAt, r.RevisionID = string(settingsJSON), rev.at, newID()
	if err := insertRevision(ctx, tx, r, rev.author, rev.message); err != nil {
		return Item{}, err
	}
	if rev.set.Path != "" {
		holder, err := pathHolder(ctx, tx, r.Lang, rev.set.Path)
		if err != nil {
			return Item{}, err
		}
		if holder != "" && holder != r.ID {
			return Item{}, invalid("path", "is in use already")
		}
	}
	if rev.beside && r.PublishedID.Valid {
		err = addDraft(ctx, tx, r)
	} else {
		err = s.show(ctx, tx, r, rev.set)
	}
	if err != nil {
		return Item{}, err
	}
	written, err := s.In(tx).latest(ctx, r.ID, r.Lang)
	if err != nil {
		return Item{}, err
	}
	return s.In(tx).latestItem(ctx, written)
}

// show makes a revision the one that the translation shows.
func (s *Store) show(ctx context.Context, tx *db.DB, r row, set settings) error {
	old := r.Path
	r.LatestID, r.LatestState, r.Title, r.ChangedAt = r.RevisionID, r.State, r.RevTitle, r.RevisedAt
	r.PublishedID = sql.NullString{String: r.RevisionID, Valid: State(r.State) == Published}
	r.Path = sql.NullString{String: set.Path, Valid: set.Path != ""}
	r.Weight, r.Menu, r.MenuTitle, r.SectionIndex = set.Weight, set.Menu, set.MenuTitle, set.SectionIndex
	r.Date = sql.NullTime{Time: set.Date.UTC(), Valid: !set.Date.IsZero()}
	if r.Path.Valid {
		parent, err := parentOf(ctx, tx, set.Path)
		if err != nil {
			return err
		}
		r.ParentPath = parent
		if err := deleteAlias(ctx, tx, r.Lang, set.Path); err != nil {
			return err
		}
	}
	if err := upsertTranslation(ctx, tx, r); err != nil {
		return err
	}
	if r.Path.Valid {
		if err := adopt(ctx, tx, set.Path); err != nil {
			return err
		}
	}
	if old.Valid && old != r.Path {
		if err := insertAlias(ctx, tx, r.Lang, old.String, r.ID); err != nil {
			return err
		}
		if err := orphan(ctx, tx, old.String); err != nil {
			return err
		}
	}
	var fields Fields
	if err := json.Unmarshal([]byte(r.Fields), &fields); err != nil {
		return err
	}
	if err := setTerms(ctx, tx, r.ID, r.Lang, fields.Strings(FieldTopics)); err != nil {
		return err
	}
	if n, err := publishedCount(ctx, tx, r.ID); err != nil {
		return err
	} else if State(r.State) == Published || n == 0 {
		if err := updateAccess(ctx, tx, r.ID, set.ViewRoles, set.OutOfAnswers); err != nil {
			return err
		}
	}
	return s.opts.OnChange(ctx, tx, []string{r.ID})
}
