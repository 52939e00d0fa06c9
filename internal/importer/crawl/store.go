package crawl

import (
	"context"
	"fmt"
	"time"

	"docent/db"
)

// A state is what is known of a page since it was read last.
type state struct {
	URL          string    `db:"url"`
	Host         string    `db:"host"`
	ETag         string    `db:"etag"`
	LastModified string    `db:"last_modified"`
	Hash         string    `db:"hash"` // of what was stored
	CheckedAt    time.Time `db:"checked_at"`
}

// states reads what is known of a host's pages, by address.
func states(ctx context.Context, d *db.DB, host string) (map[string]state, error) {
	var rows []state
	err := d.Select(ctx, &rows, "select url, host, etag, last_modified, hash, checked_at from external_pages where host = ?", host)
	if err != nil {
		return nil, fmt.Errorf("read external pages: %w", err)
	}
	out := make(map[string]state, len(rows))
	for _, s := range rows {
		out[s.URL] = s
	}
	return out, nil
}

func putState(ctx context.Context, d *db.DB, s state) error {
	_, err := d.Exec(ctx, `insert into external_pages (url, host, etag, last_modified, hash, checked_at) values (?, ?, ?, ?, ?, ?)
		on conflict (url) do update set etag = excluded.etag, last_modified = excluded.last_modified, hash = excluded.hash,
		checked_at = excluded.checked_at`, s.URL, s.Host, s.ETag, s.LastModified, s.Hash, s.CheckedAt)
	if err != nil {
		return fmt.Errorf("write external page: %w", err)
	}
	return nil
}

func deleteState(ctx context.Context, d *db.DB, url string) error {
	if _, err := d.Exec(ctx, "delete from external_pages where url = ?", url); err != nil {
		return fmt.Errorf("forget external page: %w", err)
	}
	return nil
}

// LastRead is when a page of a host was read last, zero if none ever was.
func LastRead(ctx context.Context, d *db.DB, host string) (time.Time, error) {
	var at []time.Time
	if err := d.Select(ctx, &at, "select checked_at from external_pages where host = ? order by checked_at desc limit 1", host); err != nil {
		return time.Time{}, fmt.Errorf("read external pages: %w", err)
	}
	if len(at) == 0 {
		return time.Time{}, nil
	}
	return at[0].UTC(), nil
}
