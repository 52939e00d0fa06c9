package db

import (
	"context"
	"sync/atomic"
)

type countKey struct{}

// Counting returns a context that counts the statements run with it: for tests
// that a page does not ask the database once for every row it shows.
func Counting(ctx context.Context) (context.Context, *atomic.Int64) {
	n := &atomic.Int64{}
	return context.WithValue(ctx, countKey{}, n), n
}

// counted notes that a statement is run.
func counted(ctx context.Context) {
	if n, ok := ctx.Value(countKey{}).(*atomic.Int64); ok {
		n.Add(1)
	}
}
