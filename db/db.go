// Package db is the database itself: opening it, its two dialects, transactions
// and the whole schema in order.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrNotFound is what [DB.Get] returns when no row matches.
var ErrNotFound = errors.New("not found")

// Dialect names the kind of database behind a [DB].
type Dialect string

// The two dialects. Statements are written once, with "?" for parameters.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

func init() {
	// sqlx does not know modernc's driver name; say so instead of being right by luck.
	sqlx.BindDriver("sqlite", sqlx.QUESTION)
}

// A DB is a database or a transaction in one: the same methods serve both, so
// functions that take a DB compose inside [DB.InTx].
type DB struct {
	pool    *sqlx.DB
	tx      *sqlx.Tx
	dialect Dialect
	path    string // of the SQLite file
	writes  *atomic.Int64
}

// Open opens PostgreSQL when url is a postgres:// address, and otherwise, when
// url is empty, the SQLite file docent.db in dataDir, which it creates. The
// schema is not touched: see [Migrate].
func Open(ctx context.Context, url, dataDir string) (*DB, error) {
	d := &DB{writes: new(atomic.Int64)}
	switch {
	case strings.HasPrefix(url, "postgres://"), strings.HasPrefix(url, "postgresql://"):
		pool, err := sqlx.Open("postgres", url)
		if err != nil {
			return nil, errors.New("open postgres: the address is not valid")
		}
		pool.SetMaxOpenConns(24)
		pool.SetMaxIdleConns(8)
		pool.SetConnMaxIdleTime(5 * time.Minute)
		d.pool, d.dialect = pool, Postgres
	case url == "":
		if err := os.MkdirAll(dataDir, 0o750); err != nil {
			return nil, fmt.Errorf("data folder: %w", err)
		}
		d.path = filepath.Join(dataDir, "docent.db")
		// Immediate transactions take the write lock at once, so two writers
		// queue on the busy timeout instead of failing half way.
		dsn := "file:" + escapePath(d.path) + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)" +
			"&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)&_pragma=cache_size(-32768)" +
			"&_txlock=immediate&_time_format=sqlite"
		pool, err := sqlx.Open("sqlite", dsn)
		if err != nil {
			return nil, fmt.Errorf("open sqlite: %w", err)
		}
		pool.SetMaxOpenConns(9)
		pool.SetMaxIdleConns(9)
		d.pool, d.dialect = pool, SQLite
	default:
		return nil, errors.New("DATABASE_URL must be a postgres:// address, or empty for SQLite")
	}
	if err := d.pool.PingContext(ctx); err != nil {
		d.pool.Close()
		return nil, fmt.Errorf("reach database: %w", err)
	}
	return d, nil
}

// escapePath keeps a file name with "?", "#" or "%" from being read as part of
// the address.
func escapePath(p string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(p)
}

// Close closes the pool. Only the DB that [Open] returned may be closed.
func (d *DB) Close() error { return d.pool.Close() }

// Ping reports whether the database answers.
func (d *DB) Ping(ctx context.Context) error { return d.pool.PingContext(ctx) }

// Dialect tells which database this is.
func (d *DB) Dialect() Dialect { return d.dialect }

// Pool is the connection pool below, for libraries that bring their own SQL.
func (d *DB) Pool() *sql.DB { return d.pool.DB }

// Tx is the transaction below, for libraries that take part in it; nil outside
// of [DB.InTx].
func (d *DB) Tx() *sql.Tx {
	if d.tx == nil {
		return nil
	}
	return d.tx.Tx
}

func (d *DB) ext() sqlx.ExtContext {
	if d.tx != nil {
		return d.tx
	}
	return d.pool
}

// Exec runs a statement and returns how many rows it touched: the verdict of a
// conditional update.
func (d *DB) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	counted(ctx)
	res, err := d.ext().ExecContext(ctx, d.pool.Rebind(query), args...)
	if err != nil {
		return 0, err
	}
	d.writes.Add(1)
	return res.RowsAffected()
}

// Get reads one row into dest, a pointer to a struct with db tags or to a single
// value. Without a row it returns [ErrNotFound].
func (d *DB) Get(ctx context.Context, dest any, query string, args ...any) error {
	counted(ctx)
	err := sqlx.GetContext(ctx, d.ext(), dest, d.pool.Rebind(query), args...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// Select reads all rows into dest, a pointer to a slice.
func (d *DB) Select(ctx context.Context, dest any, query string, args ...any) error {
	counted(ctx)
	return sqlx.SelectContext(ctx, d.ext(), dest, d.pool.Rebind(query), args...)
}

// Query runs a query whose rows the caller walks and closes; for results too
// large to hold.
func (d *DB) Query(ctx context.Context, query string, args ...any) (*sqlx.Rows, error) {
	counted(ctx)
	return d.ext().QueryxContext(ctx, d.pool.Rebind(query), args...)
}

// In spreads slices among args over the "?" of "in (?)"; pass the result on to
// Get, Select or Exec.
func In(query string, args ...any) (string, []any, error) { return sqlx.In(query, args...) }

// InTx runs fn in a transaction, which commits when fn returns nil and is rolled
// back on an error or a panic. Inside of a transaction it joins that one.
func (d *DB) InTx(ctx context.Context, fn func(tx *DB) error) (err error) {
	if d.tx != nil {
		return fn(d)
	}
	tx, err := d.pool.BeginTxx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	committed := false
	defer func() {
		if !committed {
			if rbErr := tx.Rollback(); rbErr != nil && !errors.Is(rbErr, sql.ErrTxDone) {
				err = errors.Join(err, fmt.Errorf("roll back: %w", rbErr))
			}
		}
	}()
	if err := fn(&DB{pool: d.pool, tx: tx, dialect: d.dialect, path: d.path, writes: d.writes}); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	committed = true
	d.writes.Add(1)
	return nil
}

// Writes counts what this process has changed through d and its transactions: what
// was read before it moved may be out of date. It does not see other processes.
func (d *DB) Writes() int64 { return d.writes.Load() }

// IsUnique reports whether err is the violation of a unique or primary key.
func IsUnique(err error) bool {
	if e, ok := errors.AsType[*pq.Error](err); ok {
		return e.Code == "23505"
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return false
}

// Clock is the time by which several processes can agree on what is over:
// PostgreSQL's own, since its clients' clocks differ; with SQLite all of them are
// on one machine, whose clock it is.
func (d *DB) Clock(ctx context.Context) (time.Time, error) {
	if d.dialect == SQLite {
		return Now(), nil
	}
	var t time.Time
	err := d.Get(ctx, &t, "select clock_timestamp()")
	return t.UTC().Truncate(time.Microsecond), err
}

// Now is the time as both databases keep it: UTC, whole microseconds.
func Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
