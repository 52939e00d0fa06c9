package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"docent/db"
)

const (
	sessionLife = 14 * 24 * time.Hour // since it was last used
	LinkLife    = 24 * time.Hour
	touchEvery  = time.Minute
)

// A Session is one place where an account is signed in.
type Session struct {
	ID         string // names it in lists; it cannot be turned into the token
	AccountID  string
	CSRFToken  string
	UserAgent  string
	Address    string
	CreatedAt  time.Time
	LastSeenAt time.Time
	ExpiresAt  time.Time
}

// newSecret returns 256 random bits.
func newSecret() string {
	b := make([]byte, 32)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// hashToken is what is stored of a secret, so that a copy of the database opens nothing.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// NewSession signs an account in and returns the token that proves it. A blocked
// account is [ErrBlocked].
func (s *Service) NewSession(ctx context.Context, accountID, userAgent, address string) (token string, err error) {
	token = newSecret()
	now := s.now()
	created, err := insertSession(ctx, s.db, Session{
		ID: hashToken(token), AccountID: accountID, CSRFToken: newSecret(),
		UserAgent: cut(userAgent, 300), Address: cut(address, 64),
		CreatedAt: now, LastSeenAt: now, ExpiresAt: now.Add(sessionLife),
	})
	if err != nil {
		return "", fmt.Errorf("new session: %w", err)
	}
	if !created {
		return "", ErrBlocked
	}
	return token, nil
}

// Lookup returns the session and the account that a token proves, and puts off the
// session's end. Unknown, ended and blocked ones are [ErrNoSession].
func (s *Service) Lookup(ctx context.Context, token string) (Session, Account, error) {
	if token == "" {
		return Session{}, Account{}, ErrNoSession
	}
	now := s.now()
	session, r, err := selectSession(ctx, s.db, hashToken(token), now)
	if errors.Is(err, db.ErrNotFound) {
		return Session{}, Account{}, ErrNoSession
	}
	if err != nil {
		return Session{}, Account{}, fmt.Errorf("look up session: %w", err)
	}
	a, err := s.resolve(ctx, r)
	if errors.Is(err, ErrBlocked) {
		return Session{}, Account{}, ErrNoSession
	}
	if err != nil {
		return Session{}, Account{}, err
	}
	if now.Sub(session.LastSeenAt) >= touchEvery {
		if err := touchSession(ctx, s.db, session, now, now.Add(sessionLife)); err != nil {
			return Session{}, Account{}, fmt.Errorf("touch session: %w", err)
		}
	}
	return session, a, nil
}

// Sessions returns where an account is signed in, the latest used first.
func (s *Service) Sessions(ctx context.Context, accountID string) ([]Session, error) {
	return selectSessions(ctx, s.db, accountID, s.now())
}

// Revoke ends one session of an account; [ErrNoSession] when it has no such one.
func (s *Service) Revoke(ctx context.Context, accountID, sessionID string) error {
	n, err := deleteSession(ctx, s.db, accountID, sessionID)
	if err != nil {
		return fmt.Errorf("revoke session: %w", err)
	}
	if n == 0 {
		return ErrNoSession
	}
	return nil
}

// RevokeOthers ends the sessions of an account, all but keep.
func (s *Service) RevokeOthers(ctx context.Context, accountID, keep string) error {
	return deleteSessions(ctx, s.db, accountID, keep)
}

// CreateLink returns the token of a link that signs an account in once, within 24
// hours. Earlier links of the account stop working. The creator is an account's id,
// or empty for the program itself.
func (s *Service) CreateLink(ctx context.Context, accountID, by string) (token string, err error) {
	token = newSecret()
	now := s.now()
	err = s.db.InTx(ctx, func(tx *db.DB) error {
		if err := deleteLinks(ctx, tx, accountID); err != nil {
			return err
		}
		created, err := insertLink(ctx, tx, hashToken(token), accountID, by, now, now.Add(LinkLife))
		if err == nil && !created {
			return ErrBlocked
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("create sign-in link: %w", err)
	}
	return token, nil
}

// PeekLink tells whom a link would sign in, without using it; [ErrLink] for one
// that cannot be used.
func (s *Service) PeekLink(ctx context.Context, token string) (Record, error) {
	r, err := selectLink(ctx, s.db, hashToken(token), s.now())
	if errors.Is(err, db.ErrNotFound) {
		return Record{}, ErrLink
	}
	return r, err
}

// UseLink spends a link and returns the account that it signs in. Only one of many
// callers succeeds; the others get [ErrLink].
func (s *Service) UseLink(ctx context.Context, token string) (Account, error) {
	var r Record
	err := s.db.InTx(ctx, func(tx *db.DB) error {
		var err error
		if r, err = selectLink(ctx, tx, hashToken(token), s.now()); err != nil {
			return err
		}
		used, err := spendLink(ctx, tx, hashToken(token), s.now())
		if err == nil && !used {
			return ErrLink
		}
		return err
	})
	if errors.Is(err, db.ErrNotFound) {
		return Account{}, ErrLink
	}
	if err != nil {
		return Account{}, fmt.Errorf("use sign-in link: %w", err)
	}
	return s.resolve(ctx, r)
}

// cut shortens what a client sent to n bytes of valid text.
func cut(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return cleanText(s)
}
