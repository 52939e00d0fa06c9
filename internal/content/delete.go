package content

import (
	"context"
	"slices"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
)

// Delete removes an entity with all its languages and revisions.
func (s *Store) Delete(ctx context.Context, author account.Account, ref Ref) error {
	return s.d.InTx(ctx, func(tx *db.DB) error {
		s := s.In(tx)
		if _, err := s.mayDelete(ctx, author, ref); err != nil {
			return err
		}
		return s.remove(ctx, tx, ref.ID)
	})
}

// DeleteTranslation removes one language of an entity with its revisions, and
// with the last one the entity.
func (s *Store) DeleteTranslation(ctx context.Context, author account.Account, ref Ref, lang string) error {
	return s.d.InTx(ctx, func(tx *db.DB) error {
		s := s.In(tx)
		rows, err := s.mayDelete(ctx, author, ref)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(rows, func(r row) bool { return r.Lang == lang })
		switch {
		case i < 0:
			return db.ErrNotFound
		case len(rows) == 1:
			return s.remove(ctx, tx, ref.ID)
		}
		return s.removeTranslation(ctx, tx, rows[i])
	})
}

// mayDelete reads all languages of an entity for somebody who may delete it.
func (s *Store) mayDelete(ctx context.Context, author account.Account, ref Ref) ([]row, error) {
	rows, err := s.allLatest(ctx, ref.ID)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || ref.Type != "" && rows[0].Type != ref.Type {
		return nil, db.ErrNotFound
	}
	for _, r := range rows {
		it, err := s.item(r)
		if err != nil {
			return nil, err
		}
		if err := s.May(author, config.OpDelete, it); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (s *Store) removeTranslation(ctx context.Context, tx *db.DB, r row) error {
	media, err := mediaTargets(ctx, tx, r.ID, r.Lang)
	if err != nil {
		return err
	}
	if err := deleteLanguage(ctx, tx, r.ID, r.Lang); err != nil {
		return err
	}
	if r.Path.Valid {
		if err := orphan(ctx, tx, r.Path.String); err != nil {
			return err
		}
	}
	return s.opts.OnChange(ctx, tx, append([]string{r.ID}, media...))
}

func (s *Store) remove(ctx context.Context, tx *db.DB, id string) error {
	paths, err := pathsOf(ctx, tx, id)
	if err != nil {
		return err
	}
	media, err := mediaTargets(ctx, tx, id, "")
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
	return s.opts.OnChange(ctx, tx, append([]string{id}, media...))
}
