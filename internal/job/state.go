package job

import (
	"context"
	"time"
)

// A State is how far the work has come.
type State struct {
	Waiting  int            // to be done, or later
	Running  int            //
	Retrying int            // failed before and will be tried again
	Failed   int            // given up within the last day
	ByKind   map[string]int // those not finished
	Oldest   time.Time      // when the job that waits longest could have begun; zero: none waits
}

// State counts the jobs of all processes.
func (q *Queue) State(ctx context.Context) (State, error) { return readState(ctx, q.db, time.Now()) }
