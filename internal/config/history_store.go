package config

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A Change is one recorded change of an object.
type Change struct {
	By     string // an account's id; empty: the program itself
	At     time.Time
	Before string // JSON; empty: the object was created
	After  string // JSON; empty: the object was deleted
}

// Changes returns the last changes of an object, the newest first.
func Changes[T Object](ctx context.Context, s *Store, name string, limit int) ([]Change, error) {
	var zero T
	var rows []struct {
		By     string    `db:"account_id"`
		At     time.Time `db:"at"`
		Before string    `db:"before"`
		After  string    `db:"after"`
	}
	err := s.db.Select(ctx, &rows, `select account_id, at, coalesce(before, '') as before, coalesce(after, '') as after
		from config_changes where kind = ? and name = ? order by at desc, id desc limit ?`, zero.Kind(), name, limit)
	if err != nil {
		return nil, fmt.Errorf("changes of %s %q: %w", zero.Kind(), name, err)
	}
	changes := make([]Change, len(rows))
	for i, r := range rows {
		changes[i] = Change{By: r.By, At: r.At.UTC(), Before: r.Before, After: r.After}
	}
	return changes, nil
}

// Fields names the settings that a change touched, sorted.
func (c Change) Fields() []string {
	var before, after map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Before), &before) != nil || json.Unmarshal([]byte(c.After), &after) != nil {
		return nil
	}
	touched := map[string]bool{}
	for name, value := range after {
		if string(before[name]) != string(value) {
			touched[name] = true
		}
	}
	for name := range before {
		if _, kept := after[name]; !kept {
			touched[name] = true
		}
	}
	return slices.Sorted(maps.Keys(touched))
}
