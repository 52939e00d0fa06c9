package account

import (
	"context"
	"fmt"
	"net/mail"
	"slices"

	"docent/db"
)

// A Filter chooses accounts. Zero fields choose all.
type Filter struct {
	Text string // part of the name or of the e-mail address
	Role string // a role that was given
}

// Find returns the accounts that a filter chooses in order of their names, from
// offset, and how many there are in all.
func (s *Service) Find(ctx context.Context, f Filter, offset, limit int) ([]Record, int, error) {
	return selectFiltered(ctx, s.db, f, offset, limit)
}

// Names returns the names of accounts by their ids; unknown ids are left out.
func (s *Service) Names(ctx context.Context, ids []string) (map[string]string, error) {
	return selectNames(ctx, s.db, ids)
}

// Edit replaces the e-mail address and the roles of an account, both or none; an
// empty address removes it.
func (s *Service) Edit(ctx context.Context, id, email string, roles []string) error {
	if !validEmail(email) {
		return invalid("email", "must be an e-mail address, such as ada@example.org")
	}
	return s.db.InTx(ctx, func(tx *db.DB) error {
		if err := s.in(tx).SetRoles(ctx, id, roles); err != nil {
			return err
		}
		return updateEmail(ctx, tx, id, email, s.now())
	})
}

// in is s on a transaction.
func (s *Service) in(tx *db.DB) *Service {
	inside := *s
	inside.db = tx
	return &inside
}

func validEmail(email string) bool {
	if email == "" {
		return true
	}
	a, err := mail.ParseAddress(email)
	return err == nil && a.Address == email && len(email) <= emailLimit
}

// ResetPassword takes the password from an account and ends its sessions: the way
// back in is a sign-in link, after which a new password can be set.
func (s *Service) ResetPassword(ctx context.Context, id string) error {
	return s.change(ctx, id, func(tx *db.DB, r Record) error {
		if _, err := updatePassword(ctx, tx, id, r.passwordHash, "", s.now()); err != nil {
			return err
		}
		if err := deleteSessions(ctx, tx, id, ""); err != nil {
			return err
		}
		return deleteLinks(ctx, tx, id)
	})
}

// TakeRole takes a role from every account that has it, so that a later role of
// the same name is given to nobody.
func (s *Service) TakeRole(ctx context.Context, role string) error {
	return s.db.InTx(ctx, func(tx *db.DB) error {
		if err := lockAccounts(ctx, tx); err != nil {
			return err
		}
		records, _, err := selectFiltered(ctx, tx, Filter{Role: role}, 0, -1)
		if err != nil {
			return err
		}
		for _, r := range records {
			left := slices.DeleteFunc(slices.Clone(r.Roles), func(have string) bool { return have == role })
			if err := updateRoles(ctx, tx, r.ID, left, s.now()); err != nil {
				return fmt.Errorf("take role %q: %w", role, err)
			}
		}
		return nil
	})
}
