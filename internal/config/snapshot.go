package config

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"docent/db"
	"docent/internal/account"
)

// refreshAfter is how long objects are served before the database is asked
// whether another process changed one.
const refreshAfter = time.Second

// A Store is the configuration kept in a database. It may be used concurrently.
type Store struct {
	db      *db.DB
	opened  time.Time
	loading sync.Mutex // held by whoever replaces the cached snapshot
	cached  atomic.Pointer[snapshot]
}

// Open returns the configuration in a database, after installing what is shipped
// with the program and was never installed there. What was deleted stays deleted.
func Open(ctx context.Context, d *db.DB) (*Store, error) {
	if err := install(ctx, d); err != nil {
		return nil, fmt.Errorf("install configuration: %w", err)
	}
	s := &Store{db: d, opened: time.Now()}
	if _, err := s.load(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Permissions returns what the roles grant together. The map is shared: it must
// not be changed. Unknown roles grant nothing.
func (s *Store) Permissions(ctx context.Context, roles []string) (map[account.Permission]bool, error) {
	current, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	if len(roles) == 1 {
		return current.granted[roles[0]], nil
	}
	all := map[account.Permission]bool{}
	for _, role := range roles {
		for p := range current.granted[role] {
			all[p] = true
		}
	}
	return all, nil
}

// forget makes the next reader look at the database. It waits for a reader that
// is under way and may have seen less.
func (s *Store) forget() {
	s.loading.Lock()
	defer s.loading.Unlock()
	s.cached.Store(nil)
}

// fresh returns the cached objects when they were checked within a second.
func (s *Store) fresh() *snapshot {
	current := s.cached.Load()
	if current == nil || time.Since(s.opened)-time.Duration(current.checked.Load()) >= refreshAfter {
		return nil
	}
	return current
}

// load returns the objects as they are, or were at most a second ago.
func (s *Store) load(ctx context.Context) (*snapshot, error) {
	if current := s.fresh(); current != nil {
		return current, nil
	}
	s.loading.Lock()
	defer s.loading.Unlock()
	if current := s.fresh(); current != nil {
		return current, nil
	}
	asked := time.Since(s.opened)
	current := s.cached.Load()
	if current != nil {
		version, err := readVersion(ctx, s.db)
		if err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
		if version == current.version {
			current.checked.Store(int64(asked))
			return current, nil
		}
	}
	current, err := read(ctx, s.db)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	current.checked.Store(int64(asked))
	s.cached.Store(current)
	return current, nil
}

// snapshot is every object at one moment. Only the time of its last check changes.
type snapshot struct {
	version int64 // how many changes were recorded
	objects map[string]map[string]object
	granted map[string]map[account.Permission]bool // by role
	checked atomic.Int64                           // since the store was opened, in nanoseconds
}

type object struct {
	data  string
	value Object // nil when data cannot be read
	err   error
}

func (s *snapshot) get(kind, name string) (Object, error) {
	o, ok := s.objects[kind][name]
	if !ok {
		return nil, fmt.Errorf("%s %q: %w", kind, name, db.ErrNotFound)
	}
	if o.err != nil {
		return nil, fmt.Errorf("%s %q: %w", kind, name, o.err)
	}
	return o.value, nil
}

// read reads all objects. The version is read first: a change in between makes
// the snapshot look older than it is, and it is read again.
func read(ctx context.Context, d *db.DB) (*snapshot, error) {
	version, err := readVersion(ctx, d)
	if err != nil {
		return nil, err
	}
	rows, err := selectObjects(ctx, d)
	if err != nil {
		return nil, err
	}
	s := &snapshot{
		version: version,
		objects: map[string]map[string]object{},
		granted: map[string]map[account.Permission]bool{},
	}
	for _, row := range rows {
		decode, known := decoders[row.Kind]
		if !known {
			continue
		}
		o := object{data: row.Data}
		o.value, o.err = decode([]byte(row.Data))
		if s.objects[row.Kind] == nil {
			s.objects[row.Kind] = map[string]object{}
		}
		s.objects[row.Kind][row.Name] = o
		if role, ok := o.value.(Role); ok {
			granted := make(map[account.Permission]bool, len(role.Permissions))
			for _, p := range role.Permissions {
				granted[p] = true
			}
			s.granted[row.Name] = granted
		}
	}
	return s, nil
}
