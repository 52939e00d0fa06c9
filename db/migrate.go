package db

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

//go:embed migrations
var migrations embed.FS

// startLock is the key of the advisory lock that processes starting together
// queue on; any number that nobody else uses.
const startLock = 0x646f63656e74

// Exclusive runs fn while no other process is inside of Exclusive on the same
// database: for what only one of several that start together may do.
func Exclusive(ctx context.Context, d *DB, fn func() error) error {
	unlock, err := lock(ctx, d)
	if err != nil {
		return fmt.Errorf("wait for other processes: %w", err)
	}
	defer unlock()
	return fn()
}

// Migrate brings the schema up to date: ours with goose, then the job queue's own.
// Processes that start together take turns.
func Migrate(ctx context.Context, d *DB) error {
	return Exclusive(ctx, d, func() error { return up(ctx, d) })
}

func up(ctx context.Context, d *DB) error {
	dialect := goose.DialectSQLite3
	if d.dialect == Postgres {
		dialect = goose.DialectPostgres
	}
	dir, err := fs.Sub(migrations, "migrations/"+string(d.dialect))
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(dialect, d.pool.DB, dir)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if err := migrateQueue(ctx, d); err != nil {
		return fmt.Errorf("migrate job queue: %w", err)
	}
	return nil
}

func migrateQueue(ctx context.Context, d *DB) error {
	if d.dialect == Postgres {
		return migrateRiver(ctx, riverdatabasesql.New(d.pool.DB))
	}
	return migrateRiver(ctx, riversqlite.New(d.pool.DB))
}

func migrateRiver(ctx context.Context, driver riverdriver.Driver[*sql.Tx]) error {
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// lock blocks until no other process holds it.
func lock(ctx context.Context, d *DB) (unlock func(), err error) {
	if d.dialect == SQLite {
		l := flock.New(d.path + ".lock")
		if _, err := l.TryLockContext(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
		return func() { l.Unlock() }, nil
	}
	// Session locks belong to a connection: hold one for the whole migration.
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "select pg_advisory_lock($1)", int64(startLock)); err != nil {
		conn.Close()
		return nil, err
	}
	return func() {
		conn.ExecContext(context.WithoutCancel(ctx), "select pg_advisory_unlock($1)", int64(startLock))
		conn.Close()
	}, nil
}
