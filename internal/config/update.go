package config

import (
	"context"
	"errors"
	"fmt"

	"docent/db"
)

// ErrExists is returned for creating an object that is there already.
var ErrExists = errors.New("there is an object of this name")

// Create is [Put] for an object that is not there yet; otherwise the error is
// [ErrExists].
func Create[T Object](ctx context.Context, s *Store, name string, value T, by string) error {
	err := s.change(ctx, func(tx *db.DB, current *snapshot) error {
		if _, exists := current.objects[value.Kind()][name]; exists {
			return ErrExists
		}
		return current.replace(ctx, tx, name, value, by)
	})
	if err != nil {
		return fmt.Errorf("create %s %q: %w", value.Kind(), name, err)
	}
	return nil
}

// Update changes an object as it is at that moment, which nobody else changes
// meanwhile, and records who did it. The change must not write into the maps and
// slices of the value it gets. Its error is returned and nothing stored; otherwise
// the errors are those of [Put], and [db.ErrNotFound] without such an object.
func Update[T Object](ctx context.Context, s *Store, name, by string, change func(T) (T, error)) error {
	var zero T
	kind := zero.Kind()
	err := s.change(ctx, func(tx *db.DB, current *snapshot) error {
		old, err := current.get(kind, name)
		if err != nil {
			return err
		}
		value, err := change(old.(T))
		if err != nil {
			return err
		}
		return current.replace(ctx, tx, name, value, by)
	})
	if err != nil {
		return fmt.Errorf("update %s %q: %w", kind, name, err)
	}
	return nil
}
