// Package editing keeps what editors type into forms until they save it.
package editing

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"docent/db"
)

// Life is how long a form that nobody comes back to is kept.
const Life = 60 * 24 * time.Hour

// Bounds of what is kept of one form, and of how many forms of one account that
// belong to no content yet.
const (
	maxData = 4 << 20 // bytes
	maxNew  = 50
)

// ErrTooLarge means that a form holds more than is ever kept.
var ErrTooLarge = errors.New("the form holds more than 4 MB")

// A Form is what somebody has typed into an edit form and not saved.
type Form struct {
	AccountID string
	ID        string // [FormID] of what is edited, or an id of its own for new content
	EntityID  string // empty: new content
	Bundle    string
	Lang      string
	BasedOn   string // the revision that the form was opened with
	Title     string
	Values    url.Values
	UpdatedAt time.Time
}

// FormID names the form in which one language of an entity is edited.
func FormID(entityID, lang string) string { return entityID + "." + lang }

// A Store keeps forms in a database.
type Store struct{ d *db.DB }

// New returns a store over a migrated database.
func New(d *db.DB) *Store { return &Store{d} }

// Keep stores a form in place of what was kept of it before and returns when.
func (s *Store) Keep(ctx context.Context, f Form) (time.Time, error) {
	data := f.Values.Encode()
	if len(data) > maxData {
		return time.Time{}, ErrTooLarge
	}
	now := db.Now()
	err := s.d.InTx(ctx, func(tx *db.DB) error {
		if err := upsert(ctx, tx, f, data, now); err != nil {
			return err
		}
		if f.EntityID != "" {
			return nil
		}
		return trimNew(ctx, tx, f.AccountID, maxNew)
	})
	return now, err
}

// Form returns what is kept of a form, or [db.ErrNotFound].
func (s *Store) Form(ctx context.Context, accountID, id string) (Form, error) {
	r, err := one(ctx, s.d, accountID, id)
	if err != nil {
		return Form{}, err
	}
	return r.form()
}

// Begun lists new content that an account has begun and not saved, the latest
// first, without what was typed.
func (s *Store) Begun(ctx context.Context, accountID string) ([]Form, error) {
	rows, err := begun(ctx, s.d, accountID, maxNew)
	if err != nil {
		return nil, err
	}
	forms := make([]Form, len(rows))
	for i, r := range rows {
		if forms[i], err = r.form(); err != nil {
			return nil, err
		}
	}
	return forms, nil
}

// Forget drops what is kept of a form; nothing is as good.
func (s *Store) Forget(ctx context.Context, accountID, id string) error {
	return remove(ctx, s.d, accountID, id)
}

// Purge drops forms that nobody came back to.
func (s *Store) Purge(ctx context.Context) error {
	return removeBefore(ctx, s.d, db.Now().Add(-Life))
}

func (r row) form() (Form, error) {
	values, err := url.ParseQuery(r.Data)
	if err != nil {
		return Form{}, fmt.Errorf("kept form %s: %w", r.ID, err)
	}
	return Form{
		AccountID: r.AccountID, ID: r.ID, EntityID: r.EntityID.String, Bundle: r.Bundle, Lang: r.Lang,
		BasedOn: r.BasedOn, Title: r.Title, Values: values, UpdatedAt: r.UpdatedAt.UTC(),
	}, nil
}
