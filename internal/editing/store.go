package editing

import (
	"context"
	"database/sql"
	"time"

	"docent/db"
)

type row struct {
	AccountID string         `db:"account_id"`
	ID        string         `db:"id"`
	EntityID  sql.NullString `db:"entity_id"`
	Bundle    string         `db:"bundle"`
	Lang      string         `db:"lang"`
	BasedOn   string         `db:"based_on"`
	Title     string         `db:"title"`
	Data      string         `db:"data"`
	UpdatedAt time.Time      `db:"updated_at"`
}

func upsert(ctx context.Context, d *db.DB, f Form, data string, at time.Time) error {
	_, err := d.Exec(ctx, `insert into form_states (account_id, id, entity_id, bundle, lang, based_on, title, data, updated_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?)
		on conflict (account_id, id) do update set lang = excluded.lang, based_on = excluded.based_on,
			title = excluded.title, data = excluded.data, updated_at = excluded.updated_at`,
		f.AccountID, f.ID, sql.NullString{String: f.EntityID, Valid: f.EntityID != ""}, f.Bundle, f.Lang, f.BasedOn, f.Title, data, at)
	return err
}

func one(ctx context.Context, d *db.DB, accountID, id string) (r row, err error) {
	err = d.Get(ctx, &r, "select * from form_states where account_id = ? and id = ?", accountID, id)
	return r, err
}

func begun(ctx context.Context, d *db.DB, accountID string, limit int) (rows []row, err error) {
	err = d.Select(ctx, &rows, `select account_id, id, entity_id, bundle, lang, based_on, title, '' as data, updated_at
		from form_states where account_id = ? and entity_id is null order by updated_at desc, id limit ?`, accountID, limit)
	return rows, err
}

// trimNew drops the oldest forms of new content beyond the latest n.
func trimNew(ctx context.Context, d *db.DB, accountID string, n int) error {
	_, err := d.Exec(ctx, `delete from form_states where account_id = ? and entity_id is null and id not in
		(select id from form_states where account_id = ? and entity_id is null order by updated_at desc, id limit ?)`,
		accountID, accountID, n)
	return err
}

func remove(ctx context.Context, d *db.DB, accountID, id string) error {
	_, err := d.Exec(ctx, "delete from form_states where account_id = ? and id = ?", accountID, id)
	return err
}

func removeBefore(ctx context.Context, d *db.DB, before time.Time) error {
	_, err := d.Exec(ctx, "delete from form_states where updated_at < ?", before)
	return err
}
