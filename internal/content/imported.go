package content

import (
	"context"
	"errors"

	"docent/db"
)

// ImportedID returns the id of the entity with an import's key, "" when there is none.
func (s *Store) ImportedID(ctx context.Context, key string) (string, error) {
	id, err := s.byOrigin(ctx, key)
	if errors.Is(err, db.ErrNotFound) {
		return "", nil
	}
	return id, err
}
