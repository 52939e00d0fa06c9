package config

import (
	"context"
	"fmt"

	"docent/db"
)

// UpdateAll changes several objects of a kind together, as all of them are at that
// moment, which nobody else changes meanwhile, and records who did it. The change
// gets them in order of their names and returns those to store; it must not write
// into their maps and slices. Its error is returned and nothing stored; otherwise
// the errors are those of [Put], and [db.ErrNotFound] for an object that is not
// there: what somebody deleted does not come back.
func UpdateAll[T Object](ctx context.Context, s *Store, by string, change func([]Named[T]) ([]Named[T], error)) error {
	var zero T
	kind := zero.Kind()
	err := s.change(ctx, func(tx *db.DB, current *snapshot) error {
		changed, err := change(named[T](current))
		if err != nil {
			return err
		}
		for _, n := range changed {
			if _, err := current.get(kind, n.Name); err != nil {
				return err
			}
			if err := current.replace(ctx, tx, n.Name, n.Value, by); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("update every %s: %w", kind, err)
	}
	return nil
}
