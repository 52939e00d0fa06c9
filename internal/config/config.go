// Package config keeps the structure of a site as named objects of known kinds,
// such as agents, indexes and roles, with validation and a record of every change.
package config

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"docent/db"
)

// SiteName is the name of the one [Settings] object, and of the agent and the
// index that a new site starts with.
const SiteName = "site"

// ErrRequired is returned for deleting an object that no site can do without.
var ErrRequired = errors.New("this object is needed and cannot be deleted")

// An InvalidError says which fields of an object were refused and why, in words
// for the person who sent them.
type InvalidError struct {
	Fields map[string]string // by JSON field name; "" concerns the whole object
}

func (e *InvalidError) Error() string {
	var b strings.Builder
	b.WriteString("invalid configuration")
	for i, field := range slices.Sorted(maps.Keys(e.Fields)) {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		if field != "" {
			b.WriteString(field + " ")
		}
		b.WriteString(e.Fields[field])
	}
	return b.String()
}

// An Object is a value of one of the kinds of configuration.
type Object interface {
	// Kind names the kind in the database and in files: "agent".
	Kind() string
	check(c *check)
}

// decoders lists every kind: a stored object is read as the type of its kind.
var decoders = map[string]func([]byte) (Object, error){
	Agent{}.Kind():          decode[Agent],
	SiteContext{}.Kind():    decode[SiteContext],
	AnswerSettings{}.Kind(): decode[AnswerSettings],
	Index{}.Kind():          decode[Index],
	Role{}.Kind():           decode[Role],
	Language{}.Kind():       decode[Language],
	Settings{}.Kind():       decode[Settings],
	ContentType{}.Kind():    decode[ContentType],
	Vocabulary{}.Kind():     decode[Vocabulary],
	TextFormat{}.Kind():     decode[TextFormat],
	ExternalSite{}.Kind():   decode[ExternalSite],
	Placement{}.Kind():      decode[Placement],
}

// decode reads a stored object. Fields it does not know are ignored, so that an
// older program can serve what a newer one wrote.
func decode[T Object](data []byte) (Object, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, err
	}
	return v, nil
}

// Named is an object with its name.
type Named[T Object] struct {
	Name  string
	Value T
}

// Get returns an object. The value is shared with all readers: replace its maps
// and slices in a copy of your own, never write into them. Without such an
// object the error is [db.ErrNotFound].
func Get[T Object](ctx context.Context, s *Store, name string) (T, error) {
	var zero T
	current, err := s.load(ctx)
	if err != nil {
		return zero, err
	}
	v, err := current.get(zero.Kind(), name)
	if err != nil {
		return zero, err
	}
	return v.(T), nil
}

// All returns the objects of a kind in order of their names. The values are
// shared, as those of [Get] are. Objects that cannot be read are left out.
func All[T Object](ctx context.Context, s *Store) ([]Named[T], error) {
	current, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	return named[T](current), nil
}

// named are the objects of a kind in order of their names.
func named[T Object](current *snapshot) []Named[T] {
	var zero T
	objects := current.objects[zero.Kind()]
	all := make([]Named[T], 0, len(objects))
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		if v, ok := objects[name].value.(T); ok {
			all = append(all, Named[T]{Name: name, Value: v})
		}
	}
	return all
}

// Languages returns the site's languages, the default first, then by weight.
func Languages(ctx context.Context, s *Store) ([]Named[Language], error) {
	all, err := All[Language](ctx, s)
	if err != nil {
		return nil, err
	}
	settings, err := Get[Settings](ctx, s, SiteName)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b Named[Language]) int {
		switch settings.DefaultLanguage {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return cmp.Compare(a.Value.Weight, b.Value.Weight)
	})
	return all, nil
}

// Put creates or replaces an object and records who did it, an account's id or
// "" for the program itself. A refused object is an [*InvalidError]; storing
// what is stored already changes nothing.
func Put[T Object](ctx context.Context, s *Store, name string, value T, by string) error {
	return s.put(ctx, name, value, by)
}

// PutJSON is [Put] for an object that arrives as JSON. Fields the kind does not
// have are refused.
func PutJSON[T Object](ctx context.Context, s *Store, name string, data []byte, by string) error {
	var v T
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return &InvalidError{Fields: jsonMessage(err)}
	}
	if d.More() {
		return &InvalidError{Fields: map[string]string{"": "must be one JSON object"}}
	}
	return Put(ctx, s, name, v, by)
}

// jsonMessage puts an error of encoding/json in plain words, beside its field.
func jsonMessage(err error) map[string]string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return map[string]string{e.Field: fmt.Sprintf("cannot be a JSON %s", e.Value)}
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return map[string]string{strings.Trim(field, `"`): "is not a known setting"}
	}
	return map[string]string{"": "is not valid JSON"}
}

// Delete removes an object and records who did it. Objects that no site can do
// without are [ErrRequired], those that others refer to an [*InvalidError], and
// unknown ones [db.ErrNotFound].
func Delete[T Object](ctx context.Context, s *Store, name, by string) error {
	var zero T
	return s.delete(ctx, zero.Kind(), name, by)
}

// change lets f change the objects as they are, which nobody else changes meanwhile.
func (s *Store) change(ctx context.Context, f func(tx *db.DB, current *snapshot) error) error {
	err := s.db.InTx(ctx, func(tx *db.DB) error {
		if err := lockObjects(ctx, tx); err != nil {
			return err
		}
		current, err := read(ctx, tx)
		if err != nil {
			return err
		}
		return f(tx, current)
	})
	s.forget()
	return err
}

func (s *Store) put(ctx context.Context, name string, value Object, by string) error {
	kind := value.Kind()
	err := s.change(ctx, func(tx *db.DB, current *snapshot) error {
		return current.replace(ctx, tx, name, value, by)
	})
	if err != nil {
		return fmt.Errorf("put %s %q: %w", kind, name, err)
	}
	return nil
}

// replace checks and stores an object, in a transaction that has read s.
func (s *snapshot) replace(ctx context.Context, tx *db.DB, name string, value Object, by string) error {
	kind := value.Kind()
	encoded, err := json.Marshal(value)
	if err != nil {
		return err
	}
	data := string(encoded)
	if err := s.check(name, value); err != nil {
		return err
	}
	before, exists := s.objects[kind][name]
	if exists && before.data == data {
		return nil
	}
	if err := upsertObject(ctx, tx, kind, name, data); err != nil {
		return err
	}
	return recordChange(ctx, tx, kind, name, before.data, data, by)
}

func (s *Store) delete(ctx context.Context, kind, name, by string) error {
	err := s.change(ctx, func(tx *db.DB, current *snapshot) error {
		before, exists := current.objects[kind][name]
		if !exists {
			return db.ErrNotFound
		}
		if err := current.mayDelete(kind, name); err != nil {
			return err
		}
		if err := deleteObject(ctx, tx, kind, name); err != nil {
			return err
		}
		return recordChange(ctx, tx, kind, name, before.data, "", by)
	})
	if err != nil {
		return fmt.Errorf("delete %s %q: %w", kind, name, err)
	}
	return nil
}
