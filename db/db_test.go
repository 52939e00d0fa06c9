package db_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
)

func TestTransactionsComposeAndRollBack(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		put := func(d *db.DB, name string) error {
			_, err := d.Exec(ctx, "insert into config_objects (kind, name, data, updated_at) values ('k', ?, '{}', ?)", name, db.Now())
			return err
		}
		boom := errors.New("boom")
		err := d.InTx(ctx, func(tx *db.DB) error {
			if err := put(tx, "a"); err != nil {
				return err
			}
			// A nested transaction is the same one: its work goes with the outer one.
			if err := tx.InTx(ctx, func(tx *db.DB) error { return put(tx, "b") }); err != nil {
				return err
			}
			return boom
		})
		if !errors.Is(err, boom) {
			t.Fatalf("InTx = %v, want boom", err)
		}
		var n int
		if err := d.Get(ctx, &n, "select count(*) from config_objects"); err != nil || n != 0 {
			t.Fatalf("after rollback: %d rows, %v; want none", n, err)
		}
		if err := put(d, "a"); err != nil {
			t.Fatal(err)
		}
		if err := put(d, "a"); !db.IsUnique(err) {
			t.Errorf("second insert: %v, want a unique violation", err)
		}
		var data string
		if err := d.Get(ctx, &data, "select data from config_objects where name = ?", "zzz"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("missing row: %v, want ErrNotFound", err)
		}
	})
}

func TestTimesKeepMicrosecondsInUTC(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := db.Now()
		if _, err := d.Exec(t.Context(), "insert into config_objects (kind, name, data, updated_at) values ('k', 'n', '{}', ?)", now); err != nil {
			t.Fatal(err)
		}
		var row struct {
			UpdatedAt time.Time `db:"updated_at"`
		}
		if err := d.Get(t.Context(), &row, "select updated_at from config_objects where updated_at = ?", now); err != nil {
			t.Fatal(err)
		}
		if !row.UpdatedAt.Equal(now) {
			t.Errorf("read %v, wrote %v", row.UpdatedAt, now)
		}
	})
}

func TestMigrateTogether(t *testing.T) {
	open := map[string]func() (*db.DB, error){}
	dir := t.TempDir()
	open["sqlite"] = func() (*db.DB, error) { return db.Open(context.Background(), "", dir) }
	for name, open := range open {
		t.Run(name, func(t *testing.T) {
			var wg sync.WaitGroup
			errs := make([]error, 4)
			for i := range errs {
				wg.Go(func() {
					d, err := open()
					if err != nil {
						errs[i] = err
						return
					}
					defer d.Close()
					errs[i] = db.Migrate(context.Background(), d)
				})
			}
			wg.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
		})
	}
}
