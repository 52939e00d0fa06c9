package config

import "context"

// Check returns the [*InvalidError] that [Put] would refuse an object with, and
// stores nothing.
func Check[T Object](ctx context.Context, s *Store, name string, value T) error {
	current, err := s.load(ctx)
	if err != nil {
		return err
	}
	return current.check(name, value)
}

func (s *snapshot) check(name string, value Object) error {
	c := &check{objects: s, self: name, fields: map[string]string{}}
	c.name(value.Kind(), name)
	value.check(c)
	if len(c.fields) > 0 {
		return &InvalidError{Fields: c.fields}
	}
	return nil
}
