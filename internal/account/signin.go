package account

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"docent/db"
)

// Failed attempts to sign in that are let through within the window.
const (
	throttleWindow     = 15 * time.Minute
	attemptsPerName    = 10
	attemptsPerAddress = 30 // more, because many people may share one
)

// Authenticate returns the account that name and password belong to. An e-mail
// address that only one account has will do as name. Wrong ones are
// [ErrCredentials], a blocked account is [ErrBlocked] to those who know its
// password, and too many attempts for a name or from an address are a
// [*ThrottledError].
func (s *Service) Authenticate(ctx context.Context, name, password, address string) (Account, error) {
	attempt, err := s.beginAttempt(ctx, attemptKeys(name, address))
	if err != nil {
		return Account{}, err
	}
	r, err := s.byLogin(ctx, name)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return Account{}, err
	}
	if err := s.checkAgainst(ctx, r, password); err != nil {
		return Account{}, err
	}
	if err := s.forgive(ctx, attempt); err != nil {
		return Account{}, err
	}
	return s.resolve(ctx, r)
}

// byLogin finds the account that somebody means who types a name or an e-mail
// address.
func (s *Service) byLogin(ctx context.Context, name string) (Record, error) {
	r, err := s.ByName(ctx, name)
	if !errors.Is(err, db.ErrNotFound) || !strings.Contains(name, "@") || nameKey(name) == "" {
		return r, err
	}
	return selectAccountByEmail(ctx, s.db, strings.TrimSpace(name))
}

// checkAgainst compares a password with a record's, and renews an outdated hash.
func (s *Service) checkAgainst(ctx context.Context, r Record, password string) error {
	fits, outdated, err := s.verify(ctx, r.passwordHash, password)
	if err != nil {
		return fmt.Errorf("check password of account %q: %w", r.ID, err)
	}
	if !fits {
		return ErrCredentials
	}
	if !outdated {
		return nil
	}
	hash, err := s.hash(ctx, password)
	if err != nil {
		return err
	}
	_, err = updatePassword(ctx, s.db, r.ID, r.passwordHash, hash, s.now())
	return err
}

// SetPassword sets a new password without asking for the old one, for operators,
// and ends all sessions of the account.
func (s *Service) SetPassword(ctx context.Context, id, new string) error {
	r, err := s.ByID(ctx, id)
	if err != nil {
		return err
	}
	if message := PasswordFault(new, r.Name); message != "" {
		return invalid("password", message)
	}
	return s.replacePassword(ctx, r, new)
}

// ChangePassword sets a new password and ends all sessions of the account. The old
// password is asked for unless the account has none; a wrong one is an
// [*InvalidError] about "old_password", and guessing it is throttled.
func (s *Service) ChangePassword(ctx context.Context, id, old, new string) error {
	r, err := s.ByID(ctx, id)
	if err != nil {
		return err
	}
	if message := PasswordFault(new, r.Name); message != "" {
		return invalid("password", message)
	}
	if r.HasPassword {
		attempt, err := s.beginAttempt(ctx, attemptKeys(r.Name, ""))
		if err != nil {
			return err
		}
		if err := s.checkAgainst(ctx, r, old); errors.Is(err, ErrCredentials) {
			return invalid("old_password", "is not right")
		} else if err != nil {
			return err
		}
		if err := s.forgive(ctx, attempt); err != nil {
			return err
		}
		if r, err = s.ByID(ctx, id); err != nil {
			return err
		}
	}
	return s.replacePassword(ctx, r, new)
}

// replacePassword stores a password in place of the one that r has, unless that
// was changed meanwhile.
func (s *Service) replacePassword(ctx context.Context, r Record, new string) error {
	hash, err := s.hash(ctx, new)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(tx *db.DB) error {
		changed, err := updatePassword(ctx, tx, r.ID, r.passwordHash, hash, s.now())
		if err != nil {
			return err
		}
		if !changed {
			return invalid("old_password", "was changed meanwhile")
		}
		return deleteSessions(ctx, tx, r.ID, "")
	})
}

// attempt is one try to sign in, counted under its keys.
type attempt struct {
	keys []attemptKey
	at   time.Time
}

type attemptKey struct {
	key   string
	limit int
}

func attemptKeys(name, address string) []attemptKey {
	var keys []attemptKey
	if key := nameKey(name); key != "" {
		keys = append(keys, attemptKey{"name:" + key, attemptsPerName})
	}
	if address != "" {
		keys = append(keys, attemptKey{"address:" + network(address), attemptsPerAddress})
	}
	return keys
}

// network is what one visitor can be taken to own: an IPv4 address, or the /64
// around an IPv6 one.
func network(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return a.String()
	}
	p, err := a.Prefix(64)
	if err != nil {
		return a.String()
	}
	return p.String()
}

// beginAttempt counts an attempt before its password is looked at, so that many at
// once cannot slip through together. One that is refused does not count.
func (s *Service) beginAttempt(ctx context.Context, keys []attemptKey) (attempt, error) {
	a := attempt{keys: keys, at: s.now()}
	if err := insertAttempts(ctx, s.db, a); err != nil {
		return a, fmt.Errorf("count attempt: %w", err)
	}
	for _, k := range keys {
		times, err := selectAttempts(ctx, s.db, k.key, a.at.Add(-throttleWindow))
		if err != nil {
			return a, fmt.Errorf("count attempts: %w", err)
		}
		if len(times) <= k.limit {
			continue
		}
		if err := deleteAttempts(ctx, s.db, a); err != nil {
			return a, err
		}
		// The oldest of the attempts that fill the limit has to leave the window.
		wait := times[len(times)-1-k.limit].Add(throttleWindow).Sub(a.at)
		return a, &ThrottledError{RetryAfter: max(wait, time.Second)}
	}
	return a, nil
}

// forgive takes back an attempt that succeeded, with all others for its name.
func (s *Service) forgive(ctx context.Context, a attempt) error {
	if err := deleteAttempts(ctx, s.db, a); err != nil {
		return err
	}
	return deleteAttemptsOf(ctx, s.db, a.keys[0].key)
}
