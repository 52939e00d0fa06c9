package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"docent/db"

	"github.com/google/uuid"
	"golang.org/x/text/secure/precis"
)

// A Record is an account as administrators see it.
type Record struct {
	ID          string
	Name        string
	Email       string
	Roles       []string // as given, without [RoleAuthenticated]
	Blocked     bool
	HasPassword bool // otherwise it signs in by link only
	CreatedAt   time.Time
	LastSeenAt  time.Time // zero: never signed in

	passwordHash string
}

// A NewAccount is what [Service.Create] needs.
type NewAccount struct {
	Name     string
	Email    string // optional
	Password string // empty: signs in by link only
	// AnyPassword takes a password that is easy to guess too: the choice of whoever
	// runs the site, who is told about it.
	AnyPassword bool
	Roles       []string
}

const (
	nameLimit  = 60
	emailLimit = 254
	rolesLimit = 32
)

var roleName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// nameKey is the form of a name in which "Ada" and " ada" are the same; empty for
// what cannot be a name.
func nameKey(name string) string {
	if len(name) > 4*nameLimit {
		return ""
	}
	key, err := precis.Nickname.CompareKey(name)
	if err != nil {
		return ""
	}
	return key
}

// Create adds an account. Refused values, a taken name among them, are an
// [*InvalidError].
func (s *Service) Create(ctx context.Context, n NewAccount) (Record, error) {
	fields := map[string]string{}
	name, err := precis.Nickname.String(n.Name)
	key := nameKey(n.Name)
	switch {
	case strings.TrimSpace(n.Name) == "":
		fields["name"] = "must not be empty"
	case utf8.RuneCountInString(n.Name) > nameLimit:
		fields["name"] = fmt.Sprintf("must have %d characters at most", nameLimit)
	case err != nil || key == "":
		fields["name"] = "has characters that a name cannot have"
	}
	if !validEmail(n.Email) {
		fields["email"] = "must be an e-mail address, such as ada@example.org"
	}
	if message := checkRoles(n.Roles); message != "" {
		fields["roles"] = message
	}
	if n.Password != "" && !n.AnyPassword {
		if message := PasswordFault(n.Password, n.Name); message != "" {
			fields["password"] = message
		}
	}
	if len(fields) > 0 {
		return Record{}, &InvalidError{Fields: fields}
	}
	hash := ""
	if n.Password != "" {
		if hash, err = s.hash(ctx, n.Password); err != nil {
			return Record{}, err
		}
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Record{}, err
	}
	r := Record{
		ID: id.String(), Name: name, Email: n.Email, Roles: sortedRoles(n.Roles),
		HasPassword: hash != "", CreatedAt: s.now(), passwordHash: hash,
	}
	created, err := insertAccount(ctx, s.db, r, key)
	if err != nil {
		return Record{}, fmt.Errorf("create account: %w", err)
	}
	if !created {
		return Record{}, invalid("name", "is taken by another account")
	}
	return r, nil
}

func checkRoles(roles []string) string {
	if len(roles) > rolesLimit {
		return fmt.Sprintf("must be %d at most", rolesLimit)
	}
	for _, role := range roles {
		if !roleName.MatchString(role) {
			return fmt.Sprintf("has %q, which is not a role", role)
		}
		if role == RoleAnonymous || role == RoleAuthenticated {
			return fmt.Sprintf("has %q, which cannot be given", role)
		}
	}
	return ""
}

func sortedRoles(roles []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(roles)))
}

// ByName finds an account by its name in any case; [db.ErrNotFound] when there is none.
func (s *Service) ByName(ctx context.Context, name string) (Record, error) {
	key := nameKey(name)
	if key == "" {
		return Record{}, fmt.Errorf("account by name: %w", db.ErrNotFound)
	}
	return selectAccount(ctx, s.db, "name_key", key)
}

// ByID finds an account; [db.ErrNotFound] when there is none.
func (s *Service) ByID(ctx context.Context, id string) (Record, error) {
	return selectAccount(ctx, s.db, "id", id)
}

// List returns accounts in order of their names, from offset, and how many there
// are in all.
func (s *Service) List(ctx context.Context, offset, limit int) ([]Record, int, error) {
	return selectAccounts(ctx, s.db, offset, limit)
}

// MayManage returns [ErrBeyondOwn] unless an account has every permission that the
// roles grant: nobody can hand out, or take over, more rights than their own.
func (s *Service) MayManage(ctx context.Context, by Account, roles []string) error {
	if by.HasRole(RoleAdministrator) {
		return nil
	}
	if slices.Contains(roles, RoleAdministrator) {
		return ErrBeyondOwn
	}
	granted, err := s.permissions(ctx, roles)
	if err != nil {
		return err
	}
	for p := range granted {
		if !by.Can(p) {
			return ErrBeyondOwn
		}
	}
	return nil
}

// SetBlocked blocks an account, which ends its sessions and voids its sign-in
// links, or lifts the block.
func (s *Service) SetBlocked(ctx context.Context, id string, blocked bool) error {
	return s.change(ctx, id, func(tx *db.DB, r Record) error {
		if !blocked {
			return updateBlocked(ctx, tx, id, false, s.now())
		}
		if err := s.keepAnAdministrator(ctx, tx, r); err != nil {
			return err
		}
		if err := updateBlocked(ctx, tx, id, true, s.now()); err != nil {
			return err
		}
		if err := deleteSessions(ctx, tx, id, ""); err != nil {
			return err
		}
		return deleteLinks(ctx, tx, id)
	})
}

// SetRoles replaces the roles of an account.
func (s *Service) SetRoles(ctx context.Context, id string, roles []string) error {
	if message := checkRoles(roles); message != "" {
		return invalid("roles", message)
	}
	return s.change(ctx, id, func(tx *db.DB, r Record) error {
		if !slices.Contains(roles, RoleAdministrator) {
			if err := s.keepAnAdministrator(ctx, tx, r); err != nil {
				return err
			}
		}
		return updateRoles(ctx, tx, id, sortedRoles(roles), s.now())
	})
}

// change runs fn in a transaction in which nobody else changes accounts' rights.
func (s *Service) change(ctx context.Context, id string, fn func(tx *db.DB, r Record) error) error {
	return s.db.InTx(ctx, func(tx *db.DB) error {
		if err := lockAccounts(ctx, tx); err != nil {
			return err
		}
		r, err := selectAccount(ctx, tx, "id", id)
		if err != nil {
			return err
		}
		return fn(tx, r)
	})
}

// keepAnAdministrator refuses to take the role from the only account that has it.
func (s *Service) keepAnAdministrator(ctx context.Context, tx *db.DB, r Record) error {
	if r.Blocked || !slices.Contains(r.Roles, RoleAdministrator) {
		return nil
	}
	n, err := countAdministrators(ctx, tx)
	if err != nil {
		return err
	}
	if n <= 1 {
		return ErrLastAdministrator
	}
	return nil
}

// EnsureAdmin makes sure that a site without any administrator gets one, named
// "admin". Any password is taken, see [PasswordFault]. Without one it returns the token of a sign-in link, once: when
// the account was made by this call.
func (s *Service) EnsureAdmin(ctx context.Context, password string) (token string, err error) {
	exists, err := hasAdministrator(ctx, s.db)
	if err != nil || exists {
		return "", err
	}
	r, err := s.Create(ctx, NewAccount{Name: "admin", Password: password, AnyPassword: true, Roles: []string{RoleAdministrator}})
	if err != nil {
		// Another process that starts now, or an account of that name, was there first.
		if _, lookup := s.ByName(ctx, "admin"); lookup == nil {
			return "", nil
		}
		return "", fmt.Errorf("create the first administrator: %w", err)
	}
	if password != "" {
		return "", nil
	}
	return s.CreateLink(ctx, r.ID, "")
}

// Cleanup removes what has expired: sessions, sign-in links, counted attempts.
func (s *Service) Cleanup(ctx context.Context) error {
	return deleteExpired(ctx, s.db, s.now())
}

func encodeRoles(roles []string) (string, error) {
	if len(roles) == 0 {
		return "[]", nil
	}
	data, err := json.Marshal(roles)
	return string(data), err
}

func decodeRoles(data string) ([]string, error) {
	var roles []string
	if err := json.Unmarshal([]byte(data), &roles); err != nil {
		return nil, errors.New("stored roles cannot be read")
	}
	return roles, nil
}
