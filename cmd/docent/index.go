package main

import (
	"context"
	"flag"
	"fmt"
	"time"

	"docent/db"
	"docent/internal/content"
)

// indexBatch is how many translations are indexed in one transaction.
const indexBatch = 200

// index builds the search index anew from what is published. The site may run
// meanwhile: every page stays findable.
func index(ctx context.Context, env environment, flags *flag.FlagSet, args []string) error {
	if _, err := env.parse(flags, args); err != nil {
		return err
	}
	a, err := open(ctx, env)
	if err != nil {
		return err
	}
	defer a.db.Close()
	started := time.Now()
	n, err := a.reindex(ctx)
	if err != nil {
		return err
	}
	stats, err := a.search.Stats(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.stdout, "Indexed %d pages in %s: %d passages.\n", n, time.Since(started).Round(time.Millisecond), stats.Chunks)
	return nil
}

func (a *app) reindex(ctx context.Context) (int, error) {
	var batch []content.Item
	n := 0
	put := func() error {
		err := a.db.InTx(ctx, func(tx *db.DB) error { return a.search.PutItems(ctx, tx, batch) })
		n += len(batch)
		batch = batch[:0]
		return err
	}
	err := a.content.Published(ctx, func(it content.Item) error {
		if batch = append(batch, it); len(batch) == indexBatch {
			return put()
		}
		return nil
	})
	if err != nil {
		return n, err
	}
	return n, put()
}
