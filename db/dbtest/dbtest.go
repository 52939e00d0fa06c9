// Package dbtest runs a test on every database Docent supports.
package dbtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"docent/db"
)

// Each runs f once on a fresh SQLite file and once on a fresh PostgreSQL database
// on the server named by TEST_DATABASE_URL. Without a server the second run is
// skipped, or fails when CI is set.
func Each(t *testing.T, f func(t *testing.T, d *db.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { f(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { f(t, Postgres(t)) })
}

// sqliteTemplate is a migrated, empty database file; copying it is much faster
// than migrating again.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "docent-dbtest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	d, err := db.Open(ctx, "", dir)
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx, d); err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil { // closing folds the write-ahead log into the file
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, "docent.db"))
})

// SQLite opens a fresh, migrated SQLite database that the test's end closes.
func SQLite(t testing.TB) *db.DB {
	t.Helper()
	template, err := sqliteTemplate()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "docent.db"), template, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(context.Background(), "", dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

var databases atomic.Int64

// postgresTemplate creates and migrates a database that the others are copied from.
var postgresTemplate = sync.OnceValues(func() (string, error) {
	name := fmt.Sprintf("docent_template_%d", os.Getpid())
	ctx := context.Background()
	if err := onServer(ctx, "drop database if exists "+name, "create database "+name); err != nil {
		return "", err
	}
	d, err := db.Open(ctx, addressOf(name), "")
	if err != nil {
		return "", err
	}
	defer d.Close()
	return name, db.Migrate(ctx, d)
})

// PostgresURL creates a fresh, migrated database that the test's end drops, and
// returns its address. It skips the test when there is no server.
func PostgresURL(t testing.TB) string {
	t.Helper()
	if os.Getenv("TEST_DATABASE_URL") == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("CI must set TEST_DATABASE_URL")
		}
		t.Skip("no PostgreSQL: set TEST_DATABASE_URL, or run `make test` where its programs are installed")
	}
	template, err := postgresTemplate()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	name := fmt.Sprintf("docent_test_%d_%d", os.Getpid(), databases.Add(1))
	if err := onServer(ctx, "create database "+name+" template "+template); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := onServer(ctx, "drop database "+name+" with (force)"); err != nil {
			t.Error(err)
		}
	})
	return addressOf(name)
}

// Postgres opens a fresh, migrated PostgreSQL database; see [PostgresURL].
func Postgres(t testing.TB) *db.DB {
	t.Helper()
	d, err := db.Open(context.Background(), PostgresURL(t), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func addressOf(database string) string {
	u, err := url.Parse(os.Getenv("TEST_DATABASE_URL"))
	if err != nil {
		panic("TEST_DATABASE_URL: " + err.Error())
	}
	u.Path = "/" + database
	return u.String()
}

func onServer(ctx context.Context, statements ...string) error {
	d, err := db.Open(ctx, os.Getenv("TEST_DATABASE_URL"), "")
	if err != nil {
		return err
	}
	defer d.Close()
	for _, s := range statements {
		if _, err := d.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}
