package job

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
)

type stuck struct{}

func (stuck) Kind() string { return "stuck" }

func TestState(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		q := New(d, slog.New(slog.DiscardHandler))
		Handle(q, func(context.Context, stuck) error { return errors.New("no") })
		if s, err := q.State(t.Context()); err != nil || s.Waiting != 0 || !s.Oldest.IsZero() {
			t.Errorf("nothing to do: %+v, %v", s, err)
		}
		before := time.Now()
		err := d.InTx(t.Context(), func(tx *db.DB) error { return q.Add(t.Context(), tx, stuck{}, stuck{}) })
		if err != nil {
			t.Fatal(err)
		}
		s, err := q.State(t.Context())
		if err != nil || s.Waiting != 2 || s.ByKind["stuck"] != 2 || s.Oldest.Before(before.Add(-time.Minute)) || s.Oldest.After(before.Add(time.Minute)) {
			t.Errorf("%+v, %v", s, err)
		}
	})
}
