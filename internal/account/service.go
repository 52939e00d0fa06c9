package account

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"docent/db"
)

var (
	// ErrCredentials means that name and password do not belong together,
	// without saying which of them is wrong.
	ErrCredentials = errors.New("the name or the password is not right")
	// ErrBlocked means that an account may not be used.
	ErrBlocked = errors.New("this account is blocked")
	// ErrNoSession means that a session does not exist, or no longer.
	ErrNoSession = errors.New("no such session")
	// ErrLink means that a sign-in link is unknown, used or too old.
	ErrLink = errors.New("this sign-in link is not valid, or no longer")
	// ErrBeyondOwn means that somebody tried to give or manage rights that they
	// do not have themselves.
	ErrBeyondOwn = errors.New("this needs permissions that your own account does not have")
	// ErrLastAdministrator means that nobody would be left to administer the site.
	ErrLastAdministrator = errors.New("this is the last administrator who can sign in")
)

// A ThrottledError means that there were too many attempts to sign in.
type ThrottledError struct {
	RetryAfter time.Duration
}

func (e *ThrottledError) Error() string {
	return fmt.Sprintf("too many attempts to sign in: try again in %d minutes", int(e.RetryAfter.Minutes())+1)
}

// An InvalidError says which fields were refused and why, in words for the person
// who sent them.
type InvalidError struct {
	Fields map[string]string
}

func (e *InvalidError) Error() string {
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(e.Fields)) {
		parts = append(parts, field+" "+e.Fields[field])
	}
	return "invalid account: " + strings.Join(parts, "; ")
}

func invalid(field, message string) error {
	return &InvalidError{Fields: map[string]string{field: message}}
}

// PermissionsFunc tells what roles grant together. The map is shared and read only.
type PermissionsFunc func(ctx context.Context, roles []string) (map[Permission]bool, error)

// Service is the accounts kept in a database. It may be used concurrently.
type Service struct {
	db          *db.DB
	permissions PermissionsFunc
	hashing     chan struct{} // bounds the memory that password hashing takes
	now         func() time.Time
}

// New returns the accounts of a database; permissions decides what their roles grant.
func New(d *db.DB, permissions PermissionsFunc) *Service {
	return &Service{db: d, permissions: permissions, hashing: make(chan struct{}, 4), now: db.Now}
}

// Anonymous returns the visitor who is not signed in.
func (s *Service) Anonymous(ctx context.Context) (Account, error) {
	return s.withPermissions(ctx, Account{Roles: []string{RoleAnonymous}})
}

// Resolve returns an account with what it may do now. Unknown accounts are
// [db.ErrNotFound], blocked ones [ErrBlocked].
func (s *Service) Resolve(ctx context.Context, id string) (Account, error) {
	r, err := s.ByID(ctx, id)
	if err != nil {
		return Account{}, err
	}
	return s.resolve(ctx, r)
}

func (s *Service) resolve(ctx context.Context, r Record) (Account, error) {
	if r.Blocked {
		return Account{}, ErrBlocked
	}
	return s.withPermissions(ctx, Account{ID: r.ID, Name: r.Name, Roles: append([]string{RoleAuthenticated}, r.Roles...)})
}

func (s *Service) withPermissions(ctx context.Context, a Account) (Account, error) {
	granted, err := s.permissions(ctx, a.Roles)
	if err != nil {
		return Account{}, fmt.Errorf("permissions of account %q: %w", a.ID, err)
	}
	a.Permissions = granted
	return a, nil
}
