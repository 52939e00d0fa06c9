package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/secure/precis"
)

// Bounds of a password: characters at least, bytes at most.
const (
	PasswordLeast = 10
	PasswordMost  = 256
)

// argonParams are the costs of hashing a password.
type argonParams struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
}

// current is OWASP's smallest recommended memory with two passes.
var current = argonParams{memory: 19 * 1024, passes: 2, threads: 1}

const (
	saltBytes = 16
	keyBytes  = 32
)

// common are passwords of sufficient length that are guessed first.
var common = []string{
	"1234567890", "12345678910", "123456789a", "0123456789", "0987654321", "1q2w3e4r5t", "1qaz2wsx3edc",
	"qwertyuiop", "qwerty1234", "qwerty12345", "asdfghjkl;", "password12", "password123", "password1234",
	"passw0rd123", "iloveyou12", "letmein123", "welcome123", "welcome1234", "administrator", "admin12345",
	"admin123456", "changeme123", "football123", "princess12", "sunshine123",
}

// PasswordFault says in plain words why an account of that name may not choose a
// password, or nothing.
func PasswordFault(password, name string) string {
	switch {
	case utf8.RuneCountInString(password) < PasswordLeast:
		return fmt.Sprintf("must have %d characters or more", PasswordLeast)
	case len(password) > PasswordMost:
		return fmt.Sprintf("must have %d bytes at most", PasswordMost)
	}
	prepared, err := prepare(password)
	if err != nil {
		return "has characters that a password cannot have"
	}
	lower := strings.ToLower(prepared)
	first, _ := utf8.DecodeRuneInString(lower)
	switch {
	case nameKey(password) != "" && nameKey(password) == nameKey(name):
		return "must not be the name of the account"
	case slices.Contains(common, lower), strings.Trim(lower, string(first)) == "":
		return "is too easy to guess"
	}
	return ""
}

// prepare gives a password the same bytes on every keyboard and system.
func prepare(password string) (string, error) {
	return precis.OpaqueString.String(password)
}

// hash returns a salted argon2id hash in the PHC string format.
func (s *Service) hash(ctx context.Context, password string) (string, error) {
	prepared, err := prepare(password)
	if err != nil {
		return "", invalid("password", "has characters that a password cannot have")
	}
	salt := make([]byte, saltBytes)
	rand.Read(salt)
	key, err := s.derive(ctx, prepared, salt, current, keyBytes)
	if err != nil {
		return "", err
	}
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, current.memory, current.passes, current.threads, b64(salt), b64(key)), nil
}

// derive waits until few enough others are hashing, since each needs its memory.
func (s *Service) derive(ctx context.Context, password string, salt []byte, p argonParams, length uint32) ([]byte, error) {
	select {
	case s.hashing <- struct{}{}:
		defer func() { <-s.hashing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return argon2.IDKey([]byte(password), salt, p.passes, p.memory, p.threads, length), nil
}

// decoy is compared with when there is no hash, so that an unknown name takes as
// long as a wrong password.
var decoy = parsedHash{params: current, salt: make([]byte, saltBytes), key: make([]byte, keyBytes)}

// verify reports whether a password fits a hash, and whether the hash should be
// made anew with today's costs. An empty hash and an impossible password fit
// nothing, and take as long.
func (s *Service) verify(ctx context.Context, hash, password string) (fits, outdated bool, err error) {
	want := decoy
	if hash != "" {
		if want, err = parseHash(hash); err != nil {
			return false, false, err
		}
	}
	prepared := ""
	if len(password) <= PasswordMost {
		prepared, _ = prepare(password)
	}
	if prepared == "" {
		hash = ""
	}
	key, err := s.derive(ctx, prepared, want.salt, want.params, uint32(len(want.key)))
	if err != nil {
		return false, false, err
	}
	fits = subtle.ConstantTimeCompare(key, want.key) == 1 && hash != ""
	return fits, fits && want.params != current, nil
}

type parsedHash struct {
	params    argonParams
	salt, key []byte
}

// parseHash reads the PHC string format. Costs far beyond ours are refused: they
// would let one stored row take all memory.
func parseHash(hash string) (parsedHash, error) {
	var h parsedHash
	bad := errors.New("stored password hash cannot be read")
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return h, bad
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.params.memory, &h.params.passes, &h.params.threads); n != 3 || err != nil {
		return h, bad
	}
	var err error
	if h.salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return h, bad
	}
	if h.key, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil {
		return h, bad
	}
	if h.params.memory > 1<<20 || h.params.passes < 1 || h.params.passes > 64 || h.params.threads < 1 ||
		len(h.salt) < 8 || len(h.key) < 16 || len(h.key) > 128 {
		return h, bad
	}
	return h, nil
}
