package account

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
)

// Secret returns a key of size random bytes, at most 64, that belongs to the site
// under a name. It is made when it is first asked for and the same for all
// processes from then on.
func (s *Service) Secret(ctx context.Context, name string, size int) ([]byte, error) {
	fresh := make([]byte, 64)
	rand.Read(fresh)
	stored, err := keepSecret(ctx, s.db, name, hex.EncodeToString(fresh), s.now())
	if err != nil {
		return nil, fmt.Errorf("secret %q: %w", name, err)
	}
	key, err := hex.DecodeString(stored)
	if err != nil || len(key) < size {
		return nil, fmt.Errorf("secret %q: %w", name, errors.New("what is stored cannot be used"))
	}
	return key[:size], nil
}
