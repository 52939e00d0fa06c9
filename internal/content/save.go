package content

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
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
	MenuParent   string // entity of the entry above it in the menu
	SectionIndex bool
	Message      string // for the history
	BasedOn      string // the latest revision the author saw; "" overwrites whatever is there; see [NothingYet]

	former bool // a former revision comes back: what no longer exists is left out
}

// NothingYet is what a new language is based on: if somebody else was faster, that
// is a [Conflict] and not overwritten.
const NothingYet = "nothing yet"

// InputOf is the input that changes nothing of an item but makes it a draft.
func InputOf(it Item) Input {
	return Input{
		Ref: it.Ref, Bundle: it.Bundle, Lang: it.Lang, Title: it.Title, Fields: it.Fields, State: Draft,
		Weight: it.Weight, Date: it.Date, Menu: it.Menu, MenuTitle: it.MenuTitle, MenuParent: it.MenuParent,
		SectionIndex: it.IsSectionIndex, BasedOn: it.LatestID,
	}
}

// Save stores a revision and returns the item with it. Content of types without a
// workflow is public at once. When somebody saved a newer revision than the one
// the author saw, changes to different parts are brought together, which
// [Item.Merged] tells. It returns [*InvalidError] for input that cannot be
// stored, [*Conflict] when both changed the same, [ErrForbidden] without the
// permission to do this and [db.ErrNotFound] when the entity is gone.
func (s *Store) Save(ctx context.Context, author account.Account, in Input) (Item, error) {
	types, err := s.Types(ctx)
	if err != nil {
		return Item{}, err
	}
	var saved Item
	err = s.d.InTx(ctx, func(tx *db.DB) error {
		w := writer{s: s.In(tx), tx: tx, types: types, author: author, now: db.Now()}
		saved, err = w.save(ctx, in)
		return err
	})
	if db.IsUnique(err) {
		err = invalid("path", "is in use already")
	}
	return saved, err
}

// A writer changes content for somebody within a transaction.
type writer struct {
	s      *Store
	tx     *db.DB
	types  *Types
	author account.Account
	now    time.Time
}

func (w *writer) save(ctx context.Context, in Input) (Item, error) {
	bad := w.s.checkShape(&in)
	if bad["type"] != "" {
		return Item{}, &InvalidError{Fields: bad}
	}
	cur, err := w.current(ctx, in)
	if err != nil {
		return Item{}, err
	}
	if in.BasedOn == NothingYet && cur.LatestID == "" {
		in.BasedOn = ""
	}
	known, err := w.s.item(cur)
	if err != nil {
		return Item{}, err
	}
	op := OpEdit
	if in.ID == "" {
		op = config.OpCreate
	}
	in.Bundle = cur.Bundle
	if err := w.s.May(w.author, op, known); err != nil {
		return Item{}, err
	}
	if err := ownContent(cur); err != nil {
		return Item{}, err
	}
	base, err := w.base(ctx, cur, &in)
	if err != nil {
		return Item{}, err
	}
	if err := w.check(ctx, cur, base, &in, bad); err != nil {
		return Item{}, err
	}
	merged := false
	if in.BasedOn != "" && in.BasedOn != cur.LatestID {
		if in, err = w.merge(ctx, cur, base, in); err != nil {
			return Item{}, err
		}
		merged = true
	}
	state, err := w.nextState(cur, known, in.State)
	if err != nil {
		return Item{}, err
	}
	set, err := w.settingsFor(ctx, cur, in)
	if err != nil {
		return Item{}, err
	}
	if in.ID == "" {
		if err := w.create(ctx, &cur, in); err != nil {
			return Item{}, err
		}
	}
	saved, err := w.write(ctx, revision{row: cur, title: in.Title, fields: in.Fields, state: state, set: set, message: in.Message, beside: state == Draft})
	saved.Merged = merged
	return saved, err
}

// current reads what an input goes on from, and makes other writers of the entity
// wait; for a new entity or a new language the row holds what is known of it.
func (w *writer) current(ctx context.Context, in Input) (row, error) {
	if in.ID == "" {
		return row{ID: newID(), Type: in.Type, Bundle: in.Bundle, Lang: in.Lang, ViewRoles: "[]", AuthorID: w.author.ID, Fields: "{}", State: string(Draft)}, nil
	}
	if err := touchEntity(ctx, w.tx, in.ID, w.now); err != nil {
		return row{}, err
	}
	cur, err := w.s.latest(ctx, in.ID, in.Lang)
	if errors.Is(err, db.ErrNotFound) {
		if in.BasedOn != "" && in.BasedOn != NothingYet {
			return row{}, ErrConflict
		}
		cur, err = entityRow(ctx, w.tx, in.ID)
		cur.Lang, cur.Fields, cur.State = in.Lang, "{}", string(Draft)
	}
	switch {
	case err != nil:
		return row{}, err
	case in.Type != cur.Type:
		return row{}, db.ErrNotFound
	}
	return cur, nil
}

// ownContent refuses to change a copy of a page elsewhere.
func ownContent(cur row) error {
	if strings.HasPrefix(cur.Origin.String, OriginExternal) || strings.HasPrefix(cur.EntityOrigin.String, OriginExternal) {
		return invalid("title", "is a copy of a page elsewhere: it is changed there")
	}
	return nil
}

// base finds the revision that the author saw: the latest one, or an older one, or
// for a new language the one it is translated from. A new language takes over the
// values that all languages share.
func (w *writer) base(ctx context.Context, cur row, in *Input) (row, error) {
	switch {
	case in.ID == "":
		return cur, nil
	case cur.LatestID == "":
		others, err := w.s.allLatest(ctx, in.ID)
		if err != nil || len(others) == 0 {
			return cur, err
		}
		from := max(slices.IndexFunc(others, func(r row) bool { return r.Lang == w.s.DefaultLanguage() }), 0)
		fields, err := unmarshalFields(others[from].Fields)
		if err != nil {
			return row{}, err
		}
		shared := Fields{}
		for name, value := range in.Fields {
			shared[name] = value
		}
		for _, name := range w.sharedFields(cur) {
			if _, given := shared[name]; !given && fields[name] != nil {
				shared[name] = fields[name]
			}
		}
		in.Fields = shared
		return others[from], nil
	case in.BasedOn == "" || in.BasedOn == cur.LatestID:
		return cur, nil
	}
	base, err := w.s.revision(ctx, in.ID, in.Lang, in.BasedOn)
	if errors.Is(err, db.ErrNotFound) {
		return row{Fields: "{}"}, nil
	}
	return base, err
}

// create inserts a new entity.
func (w *writer) create(ctx context.Context, cur *row, in Input) error {
	it := Item{Ref: Ref{Type: cur.Type, ID: cur.ID}, Bundle: cur.Bundle}
	if in.Access != nil {
		it.ViewRoles, it.OutOfAnswers = in.Access.ViewRoles, in.Access.OutOfAnswers
	}
	cur.ViewRoles, cur.OutOfAnswers = rolesJSON(it.ViewRoles), it.OutOfAnswers
	var origin *string
	if cur.Type == TypeTerm {
		if t := TermOf(cur.Bundle, in.Title); t.Slug != "" {
			name := t.origin()
			if _, err := w.s.byOrigin(ctx, name); err == nil {
				return invalid("title", "is the name of another term already")
			} else if !errors.Is(err, db.ErrNotFound) {
				return err
			}
			origin = &name
			cur.EntityOrigin = sql.NullString{String: name, Valid: true}
		}
	}
	return insertEntity(ctx, w.tx, it, origin, w.author.ID, w.now)
}

// nextState decides which state a revision gets, going by the workflow of its
// type and what the author may do.
func (w *writer) nextState(cur row, known Item, wanted State) (State, error) {
	if !w.types.hasWorkflow(cur.Type, cur.Bundle) {
		if wanted == Draft && cur.State == string(Archived) && cur.LatestID != "" {
			return Archived, nil
		}
		if wanted == Draft {
			return Published, nil
		}
		return wanted, nil
	}
	from := State(cur.State)
	var op config.Operation
	switch {
	case wanted == Published:
		op = config.OpPublish
	case wanted == Archived && from != Archived:
		op = config.OpArchive
	case wanted == Draft && from == Archived:
		op = config.OpRestore
	default:
		return wanted, nil
	}
	return wanted, w.s.May(w.author, op, known)
}

// SetState publishes the latest revision of a translation, archives it, or makes
// it a draft that visitors no longer see, for accounts that may take the
// transition. When basedOn is given and is not the latest revision, it returns
// [ErrConflict].
func (s *Store) SetState(ctx context.Context, author account.Account, ref Ref, lang string, state State, basedOn string) (Item, error) {
	if !slices.Contains([]State{Draft, Published, Archived}, state) {
		return Item{}, invalid("state", "is unknown")
	}
	types, err := s.Types(ctx)
	if err != nil {
		return Item{}, err
	}
	var saved Item
	err = s.d.InTx(ctx, func(tx *db.DB) error {
		w := writer{s: s.In(tx), tx: tx, types: types, author: author, now: db.Now()}
		saved, err = w.setState(ctx, ref, lang, state, basedOn)
		return err
	})
	if db.IsUnique(err) {
		err = invalid("path", "is in use already")
	}
	return saved, err
}

func (w *writer) setState(ctx context.Context, ref Ref, lang string, state State, basedOn string) (Item, error) {
	if err := touchEntity(ctx, w.tx, ref.ID, w.now); err != nil {
		return Item{}, err
	}
	cur, err := w.s.latest(ctx, ref.ID, lang)
	if err != nil {
		return Item{}, err
	}
	if ref.Type != "" && cur.Type != ref.Type {
		return Item{}, db.ErrNotFound
	}
	it, err := w.s.item(cur)
	if err != nil {
		return Item{}, err
	}
	from := State(cur.State)
	if state == Draft && cur.PublishedID.Valid {
		from = Published
	}
	done := cur.State == string(state) && cur.PublishedID.Valid == (state == Published)
	i := slices.IndexFunc(transitions, func(t Transition) bool { return t.From == from && t.To == state })
	switch {
	case done && w.s.May(w.author, OpEdit, it) != nil:
		return Item{}, ErrForbidden
	case !done && (i < 0 || !w.s.mayMove(w.types, w.author, it, transitions[i])):
		return Item{}, ErrForbidden
	case basedOn != "" && basedOn != cur.LatestID:
		return Item{}, ErrConflict
	case done:
		return w.s.latestItem(ctx, cur)
	}
	if err := ownContent(cur); err != nil {
		return Item{}, err
	}
	set, err := settingsOf(cur)
	if err != nil {
		return Item{}, err
	}
	fields, err := unmarshalFields(cur.Fields)
	if err != nil {
		return Item{}, err
	}
	return w.write(ctx, revision{row: cur, title: cur.RevTitle, fields: fields, state: state, set: set})
}
