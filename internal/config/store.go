package config

import (
	"context"

	"docent/db"

	"github.com/google/uuid"
)

type objectRow struct {
	Kind string `db:"kind"`
	Name string `db:"name"`
	Data string `db:"data"`
}

// readVersion counts the recorded changes. A count is right whatever the clocks
// of several processes say, because changes are never removed.
func readVersion(ctx context.Context, d *db.DB) (int64, error) {
	var n int64
	err := d.Get(ctx, &n, "select count(*) from config_changes")
	return n, err
}

func selectObjects(ctx context.Context, d *db.DB) ([]objectRow, error) {
	var rows []objectRow
	err := d.Select(ctx, &rows, "select kind, name, data from config_objects")
	return rows, err
}

// lockObjects lets one writer in at a time, so that what an object refers to is
// still there when it is stored. SQLite's transactions do that by themselves.
func lockObjects(ctx context.Context, tx *db.DB) error {
	if tx.Dialect() != db.Postgres {
		return nil
	}
	_, err := tx.Exec(ctx, "lock table config_objects in share row exclusive mode")
	return err
}

func upsertObject(ctx context.Context, tx *db.DB, kind, name, data string) error {
	_, err := tx.Exec(ctx, `insert into config_objects (kind, name, data, updated_at) values (?, ?, ?, ?)
		on conflict (kind, name) do update set data = excluded.data, updated_at = excluded.updated_at`,
		kind, name, data, db.Now())
	return err
}

func deleteObject(ctx context.Context, tx *db.DB, kind, name string) error {
	_, err := tx.Exec(ctx, "delete from config_objects where kind = ? and name = ?", kind, name)
	return err
}

// wasEverStored reports whether an object exists or once existed.
func wasEverStored(ctx context.Context, tx *db.DB, kind, name string) (bool, error) {
	var n int
	err := tx.Get(ctx, &n, "select count(*) from config_changes where kind = ? and name = ?", kind, name)
	return n > 0, err
}

// recordChange notes a change; an empty before or after means that there was or
// is no object.
func recordChange(ctx context.Context, tx *db.DB, kind, name, before, after, by string) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into config_changes (id, kind, name, before, after, account_id, at)
		values (?, ?, ?, nullif(?, ''), nullif(?, ''), ?, ?)`,
		id.String(), kind, name, before, after, by, db.Now())
	return err
}
