package job_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/job"
)

type greet struct {
	Name string `json:"name"`
}

func (greet) Kind() string { return "greet" }

func TestJobsComeWithTheirTransaction(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		q := job.New(d, slog.New(slog.DiscardHandler))
		done := make(chan string, 10)
		job.Handle(q, func(ctx context.Context, args greet) error {
			done <- args.Name
			return nil
		})
		undo := errors.New("undo")
		err := d.InTx(ctx, func(tx *db.DB) error {
			if err := q.Add(ctx, tx, greet{"rolled back"}); err != nil {
				return err
			}
			return undo
		})
		if !errors.Is(err, undo) {
			t.Fatal(err)
		}
		if err := d.InTx(ctx, func(tx *db.DB) error { return q.Add(ctx, tx, greet{"Ada"}) }); err != nil {
			t.Fatal(err)
		}
		if err := q.Add(ctx, d, greet{"outside"}); err == nil {
			t.Error("Add without a transaction succeeded")
		}
		if err := q.Start(ctx); err != nil {
			t.Fatal(err)
		}
		select {
		case name := <-done:
			if name != "Ada" {
				t.Errorf("worked %q, want Ada", name)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the job was not worked")
		}
		if err := q.Stop(ctx); err != nil {
			t.Error(err)
		}
		if n := len(done); n != 0 {
			t.Errorf("%d more jobs were worked", n)
		}
	})
}
