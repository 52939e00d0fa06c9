package content

import (
	"context"
	"errors"
	"maps"

	"docent/db"
	"docent/internal/account"
)

// Revert saves a former revision's title and fields anew: as a draft, or at once
// where the type has no workflow. What it referred to and is gone by now is left
// out; address, access and menu stay as they are. Errors are those of [Store.Save].
func (s *Store) Revert(ctx context.Context, author account.Account, ref Ref, lang, revisionID, basedOn string) (Item, error) {
	old, err := s.Revision(ctx, author, ref, lang, revisionID)
	if err != nil {
		return Item{}, err
	}
	now, err := s.Latest(ctx, author, ref, lang)
	if err != nil {
		return Item{}, err
	}
	if basedOn != "" && basedOn != now.LatestID {
		return Item{}, ErrConflict
	}
	in := InputOf(now)
	in.Title, in.Fields, in.former = old.Title, old.Fields, true
	in.Message = "Back to the revision of " + old.UpdatedAt.Format("2006-01-02 15:04") + " UTC"
	return s.Save(ctx, author, in)
}

// NewTranslation is the input to start a language of an entity with: the latest
// revision of another, without its address. It returns [ErrConflict] when the
// entity has that language already.
func (s *Store) NewTranslation(ctx context.Context, author account.Account, ref Ref, from, to string) (Input, error) {
	source, err := s.Latest(ctx, author, ref, from)
	if err != nil {
		return Input{}, err
	}
	if err := s.May(author, OpEdit, source); err != nil {
		return Input{}, err
	}
	if _, err := s.latest(ctx, ref.ID, to); err == nil {
		return Input{}, ErrConflict
	} else if !errors.Is(err, db.ErrNotFound) {
		return Input{}, err
	}
	in := InputOf(source)
	in.Lang, in.Fields, in.BasedOn, in.MenuTitle = to, maps.Clone(source.Fields), NothingYet, ""
	return in, nil
}
