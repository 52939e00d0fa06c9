// Package job is the background work: a queue in the database, with retries and
// schedules, that one process or many work off.
package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"docent/db"
)

// Args describe a kind of job and carry its arguments as JSON. Kind names must
// never change: jobs stored under the old one would find no worker.
type Args = river.JobArgs

// A Queue takes jobs in transactions and works them.
type Queue struct {
	db        *db.DB
	log       *slog.Logger
	workers   *river.Workers
	schedules []*river.PeriodicJob
	client    *river.Client[*sql.Tx]
}

// New returns a queue on d's database. Register every kind with [Handle] and
// [Every] before the first [Queue.Add].
func New(d *db.DB, log *slog.Logger) *Queue {
	return &Queue{db: d, log: log, workers: river.NewWorkers()}
}

type worker[T Args] struct {
	river.WorkerDefaults[T]
	do func(ctx context.Context, args T) error
}

func (w *worker[T]) Work(ctx context.Context, j *river.Job[T]) error { return w.do(ctx, j.Args) }

// Handle has do work off the jobs of a kind. An error has the job tried again
// later, ever more rarely, 25 times at most.
func Handle[T Args](q *Queue, do func(ctx context.Context, args T) error) {
	river.AddWorker(q.workers, &worker[T]{do: do})
}

// Every adds a job at a fixed interval, and one at start.
func Every[T Args](q *Queue, interval time.Duration, args T) {
	q.schedules = append(q.schedules, river.NewPeriodicJob(river.PeriodicInterval(interval),
		func() (river.JobArgs, *river.InsertOpts) { return args, nil },
		&river.PeriodicJobOpts{RunOnStart: true}))
}

// ready makes the client, once, when everything is registered.
func (q *Queue) ready() error {
	if q.client != nil {
		return nil
	}
	var driver riverdriver.Driver[*sql.Tx] = riversqlite.New(q.db.Pool())
	if q.db.Dialect() == db.Postgres {
		driver = riverdatabasesql.New(q.db.Pool())
	}
	client, err := river.NewClient(driver, &river.Config{
		Logger:            slog.New(levelled{q.log.Handler()}),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2}},
		Workers:           q.workers,
		PeriodicJobs:      q.schedules,
		FetchPollInterval: 250 * time.Millisecond,
		FetchCooldown:     100 * time.Millisecond,
		JobTimeout:        5 * time.Minute,
	})
	if err != nil {
		return fmt.Errorf("job queue: %w", err)
	}
	q.client = client
	return nil
}

// Add stores jobs with the transaction tx: they exist when it commits.
func (q *Queue) Add(ctx context.Context, tx *db.DB, jobs ...Args) error {
	if err := q.ready(); err != nil {
		return err
	}
	sqlTx := tx.Tx()
	if sqlTx == nil {
		return errors.New("job queue: Add needs a transaction")
	}
	params := make([]river.InsertManyParams, len(jobs))
	for i, j := range jobs {
		params[i].Args = j
	}
	if _, err := q.client.InsertManyTx(ctx, sqlTx, params); err != nil {
		return fmt.Errorf("add job: %w", err)
	}
	return nil
}

// Start works jobs in the background until [Queue.Stop].
func (q *Queue) Start(ctx context.Context) error {
	if err := q.ready(); err != nil {
		return err
	}
	// The client lives until Stop, not until the caller's context ends: that would
	// cut running jobs off instead of letting them finish.
	return q.client.Start(context.WithoutCancel(ctx))
}

// Stop takes no more jobs and waits for the running ones; when ctx ends first
// they are cancelled, and tried again after the next start.
func (q *Queue) Stop(ctx context.Context) error {
	if err := q.client.Stop(ctx); err == nil {
		return nil
	}
	hard, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	return q.client.StopAndCancel(hard)
}

// levelled drops what the library tells below warnings.
type levelled struct{ slog.Handler }

func (l levelled) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && l.Handler.Enabled(ctx, level)
}

func (l levelled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return levelled{l.Handler.WithAttrs(attrs)}
}

func (l levelled) WithGroup(name string) slog.Handler { return levelled{l.Handler.WithGroup(name)} }
