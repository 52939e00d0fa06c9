package job

import (
	"context"
	"errors"
	"time"

	"docent/db"
)

func readState(ctx context.Context, d *db.DB, now time.Time) (State, error) {
	var s State
	s.ByKind = map[string]int{}
	var counts []struct {
		Kind  string `db:"kind"`
		State string `db:"state"`
		N     int    `db:"n"`
	}
	err := d.Select(ctx, &counts, `select kind, state, count(*) as n from river_job
		where state in ('available', 'pending', 'scheduled', 'running', 'retryable')
			or state = 'discarded' and finalized_at > ? group by kind, state`, now.Add(-24*time.Hour).UTC())
	if err != nil {
		return s, err
	}
	for _, c := range counts {
		switch c.State {
		case "running":
			s.Running += c.N
		case "retryable":
			s.Retrying += c.N
		case "discarded":
			s.Failed += c.N
			continue
		default:
			s.Waiting += c.N
		}
		s.ByKind[c.Kind] += c.N
	}
	err = d.Get(ctx, &s.Oldest, "select scheduled_at from river_job where state = 'available' order by scheduled_at limit 1")
	if errors.Is(err, db.ErrNotFound) {
		err = nil
	}
	s.Oldest = s.Oldest.UTC()
	return s, err
}
