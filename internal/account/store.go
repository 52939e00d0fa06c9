package account

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"docent/db"
)

const accountColumns = `accounts.id as id, accounts.name as name, accounts.email as email,
	accounts.password_hash as password_hash, accounts.roles as roles, accounts.blocked as blocked,
	accounts.created_at as account_created_at, accounts.last_seen_at as account_last_seen_at`

type accountRow struct {
	ID           string       `db:"id"`
	Name         string       `db:"name"`
	Email        string       `db:"email"`
	PasswordHash string       `db:"password_hash"`
	Roles        string       `db:"roles"`
	Blocked      bool         `db:"blocked"`
	CreatedAt    time.Time    `db:"account_created_at"`
	LastSeenAt   sql.NullTime `db:"account_last_seen_at"`
}

func (row accountRow) record() (Record, error) {
	roles, err := decodeRoles(row.Roles)
	if err != nil {
		return Record{}, fmt.Errorf("account %q: %w", row.ID, err)
	}
	r := Record{
		ID: row.ID, Name: row.Name, Email: row.Email, Roles: roles, Blocked: row.Blocked,
		HasPassword: row.PasswordHash != "", CreatedAt: row.CreatedAt.UTC(), passwordHash: row.PasswordHash,
	}
	if row.LastSeenAt.Valid {
		r.LastSeenAt = row.LastSeenAt.Time.UTC()
	}
	return r, nil
}

// insertAccount reports whether the name was free.
func insertAccount(ctx context.Context, d *db.DB, r Record, key string) (bool, error) {
	roles, err := encodeRoles(r.Roles)
	if err != nil {
		return false, err
	}
	n, err := d.Exec(ctx, `insert into accounts (id, name, name_key, email, password_hash, roles, blocked, created_at, updated_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (name_key) do nothing`,
		r.ID, r.Name, key, r.Email, r.passwordHash, roles, r.Blocked, r.CreatedAt, r.CreatedAt)
	return n == 1, err
}

// selectAccount finds an account by one of the columns "id" and "name_key".
func selectAccount(ctx context.Context, d *db.DB, column, value string) (Record, error) {
	query := "select " + accountColumns + " from accounts where id = ?"
	if column == "name_key" {
		query = "select " + accountColumns + " from accounts where name_key = ?"
	}
	var row accountRow
	if err := d.Get(ctx, &row, query, value); err != nil {
		return Record{}, fmt.Errorf("account by %s: %w", column, err)
	}
	return row.record()
}

// selectAccountByEmail finds the one account with an e-mail address, in any case of
// ASCII letters; one of several is not found.
func selectAccountByEmail(ctx context.Context, d *db.DB, email string) (Record, error) {
	var rows []accountRow
	err := d.Select(ctx, &rows, "select "+accountColumns+" from accounts where email <> '' and lower(email) = lower(?) limit 2", email)
	if err != nil {
		return Record{}, fmt.Errorf("account by email: %w", err)
	}
	if len(rows) != 1 {
		return Record{}, fmt.Errorf("account by email: %w", db.ErrNotFound)
	}
	return rows[0].record()
}

func selectAccounts(ctx context.Context, d *db.DB, offset, limit int) ([]Record, int, error) {
	var total int
	if err := d.Get(ctx, &total, "select count(*) from accounts"); err != nil {
		return nil, 0, fmt.Errorf("count accounts: %w", err)
	}
	var rows []accountRow
	err := d.Select(ctx, &rows, "select "+accountColumns+" from accounts order by name_key limit ? offset ?", limit, offset)
	if err != nil {
		return nil, 0, fmt.Errorf("list accounts: %w", err)
	}
	records := make([]Record, len(rows))
	for i, row := range rows {
		if records[i], err = row.record(); err != nil {
			return nil, 0, err
		}
	}
	return records, total, nil
}

// selectFiltered is selectAccounts for the accounts that a filter chooses; a
// negative limit is none.
func selectFiltered(ctx context.Context, d *db.DB, f Filter, offset, limit int) ([]Record, int, error) {
	where, args := "true", []any{}
	if text := strings.ToLower(strings.TrimSpace(cleanText(f.Text))); text != "" {
		where += ` and (name_key like ? escape '\' or lower(email) like ? escape '\')`
		pattern := "%" + likeText.Replace(text) + "%"
		args = append(args, pattern, pattern)
	}
	if f.Role != "" {
		where += ` and roles like ? escape '\'`
		args = append(args, `%"`+likeText.Replace(f.Role)+`"%`)
	}
	var total int
	if err := d.Get(ctx, &total, "select count(*) from accounts where "+where, args...); err != nil {
		return nil, 0, fmt.Errorf("count accounts: %w", err)
	}
	query := "select " + accountColumns + " from accounts where " + where + " order by name_key"
	if limit >= 0 {
		query += " limit ? offset ?"
		args = append(args, limit, offset)
	}
	var rows []accountRow
	if err := d.Select(ctx, &rows, query, args...); err != nil {
		return nil, 0, fmt.Errorf("find accounts: %w", err)
	}
	records := make([]Record, len(rows))
	for i, row := range rows {
		var err error
		if records[i], err = row.record(); err != nil {
			return nil, 0, err
		}
	}
	return records, total, nil
}

// likeText makes a text match itself in a pattern.
var likeText = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

func selectNames(ctx context.Context, d *db.DB, ids []string) (map[string]string, error) {
	names := map[string]string{}
	if len(ids) == 0 {
		return names, nil
	}
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	var rows []struct {
		ID   string `db:"id"`
		Name string `db:"name"`
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(ids)), ", ")
	if err := d.Select(ctx, &rows, "select id, name from accounts where id in ("+marks+")", args...); err != nil {
		return nil, fmt.Errorf("names of accounts: %w", err)
	}
	for _, r := range rows {
		names[r.ID] = r.Name
	}
	return names, nil
}

func updateEmail(ctx context.Context, d *db.DB, id, email string, now time.Time) error {
	_, err := d.Exec(ctx, "update accounts set email = ?, updated_at = ? where id = ?", email, now, id)
	return err
}

// lockAccounts lets one at a time change who has which rights. SQLite's
// transactions do that by themselves.
func lockAccounts(ctx context.Context, tx *db.DB) error {
	if tx.Dialect() != db.Postgres {
		return nil
	}
	_, err := tx.Exec(ctx, "lock table accounts in share row exclusive mode")
	return err
}

const isAdministrator = `roles like '%"` + RoleAdministrator + `"%'`

// countAdministrators counts those who can sign in.
func countAdministrators(ctx context.Context, d *db.DB) (int, error) {
	var n int
	err := d.Get(ctx, &n, "select count(*) from accounts where not blocked and "+isAdministrator)
	return n, err
}

func hasAdministrator(ctx context.Context, d *db.DB) (bool, error) {
	var n int
	err := d.Get(ctx, &n, "select count(*) from accounts where "+isAdministrator)
	return n > 0, err
}

func updateBlocked(ctx context.Context, d *db.DB, id string, blocked bool, now time.Time) error {
	_, err := d.Exec(ctx, "update accounts set blocked = ?, updated_at = ? where id = ?", blocked, now, id)
	return err
}

func updateRoles(ctx context.Context, d *db.DB, id string, roles []string, now time.Time) error {
	data, err := encodeRoles(roles)
	if err != nil {
		return err
	}
	_, err = d.Exec(ctx, "update accounts set roles = ?, updated_at = ? where id = ?", data, now, id)
	return err
}

// updatePassword replaces a hash and reports whether it still was the old one.
func updatePassword(ctx context.Context, d *db.DB, id, old, new string, now time.Time) (bool, error) {
	n, err := d.Exec(ctx, "update accounts set password_hash = ?, updated_at = ? where id = ? and password_hash = ?",
		new, now, id, old)
	return n == 1, err
}

func insertAttempts(ctx context.Context, d *db.DB, a attempt) error {
	return d.InTx(ctx, func(tx *db.DB) error {
		for _, k := range a.keys {
			if _, err := tx.Exec(ctx, "insert into login_attempts (key, at) values (?, ?)", k.key, a.at); err != nil {
				return err
			}
		}
		return nil
	})
}

// selectAttempts returns the times of attempts after since, the oldest first.
func selectAttempts(ctx context.Context, d *db.DB, key string, since time.Time) ([]time.Time, error) {
	var times []time.Time
	err := d.Select(ctx, &times, "select at from login_attempts where key = ? and at > ? order by at", key, since)
	return times, err
}

func deleteAttempts(ctx context.Context, d *db.DB, a attempt) error {
	for _, k := range a.keys {
		if _, err := d.Exec(ctx, "delete from login_attempts where key = ? and at = ?", k.key, a.at); err != nil {
			return fmt.Errorf("forget attempt: %w", err)
		}
	}
	return nil
}

func deleteAttemptsOf(ctx context.Context, d *db.DB, key string) error {
	_, err := d.Exec(ctx, "delete from login_attempts where key = ?", key)
	return err
}

const sessionColumns = `sessions.token_hash as token_hash, sessions.account_id as account_id,
	sessions.csrf_token as csrf_token, sessions.user_agent as user_agent, sessions.address as address,
	sessions.created_at as created_at, sessions.last_seen_at as last_seen_at, sessions.expires_at as expires_at`

type sessionRow struct {
	TokenHash  string    `db:"token_hash"`
	AccountID  string    `db:"account_id"`
	CSRFToken  string    `db:"csrf_token"`
	UserAgent  string    `db:"user_agent"`
	Address    string    `db:"address"`
	CreatedAt  time.Time `db:"created_at"`
	LastSeenAt time.Time `db:"last_seen_at"`
	ExpiresAt  time.Time `db:"expires_at"`
}

func (row sessionRow) session() Session {
	return Session{
		ID: row.TokenHash, AccountID: row.AccountID, CSRFToken: row.CSRFToken, UserAgent: row.UserAgent,
		Address: row.Address, CreatedAt: row.CreatedAt.UTC(), LastSeenAt: row.LastSeenAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(),
	}
}

// insertSession reports whether the account exists and is not blocked.
func insertSession(ctx context.Context, d *db.DB, s Session) (bool, error) {
	created := false
	err := d.InTx(ctx, func(tx *db.DB) error {
		n, err := tx.Exec(ctx, "update accounts set last_seen_at = ? where id = ? and not blocked", s.CreatedAt, s.AccountID)
		if err != nil || n == 0 {
			return err
		}
		created = true
		_, err = tx.Exec(ctx, `insert into sessions (token_hash, account_id, csrf_token, user_agent, address, created_at, last_seen_at, expires_at)
			values (?, ?, ?, ?, ?, ?, ?, ?)`,
			s.ID, s.AccountID, s.CSRFToken, s.UserAgent, s.Address, s.CreatedAt, s.LastSeenAt, s.ExpiresAt)
		return err
	})
	return created, err
}

func selectSession(ctx context.Context, d *db.DB, id string, now time.Time) (Session, Record, error) {
	var row struct {
		sessionRow
		accountRow
	}
	err := d.Get(ctx, &row, "select "+sessionColumns+", "+accountColumns+` from sessions
		join accounts on accounts.id = sessions.account_id
		where sessions.token_hash = ? and sessions.expires_at > ?`, id, now)
	if err != nil {
		return Session{}, Record{}, err
	}
	r, err := row.record()
	return row.session(), r, err
}

// touchSession notes that a session was used, unless somebody did so just now.
func touchSession(ctx context.Context, d *db.DB, s Session, now, expires time.Time) error {
	n, err := d.Exec(ctx, "update sessions set last_seen_at = ?, expires_at = ? where token_hash = ? and last_seen_at = ?",
		now, expires, s.ID, s.LastSeenAt)
	if err != nil || n == 0 {
		return err
	}
	_, err = d.Exec(ctx, "update accounts set last_seen_at = ? where id = ?", now, s.AccountID)
	return err
}

func selectSessions(ctx context.Context, d *db.DB, accountID string, now time.Time) ([]Session, error) {
	var rows []sessionRow
	err := d.Select(ctx, &rows, "select "+sessionColumns+` from sessions
		where account_id = ? and expires_at > ? order by last_seen_at desc, token_hash`, accountID, now)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	sessions := make([]Session, len(rows))
	for i, row := range rows {
		sessions[i] = row.session()
	}
	return sessions, nil
}

func deleteSession(ctx context.Context, d *db.DB, accountID, id string) (int64, error) {
	return d.Exec(ctx, "delete from sessions where account_id = ? and token_hash = ?", accountID, id)
}

// deleteSessions ends an account's sessions except for keep.
func deleteSessions(ctx context.Context, d *db.DB, accountID, keep string) error {
	_, err := d.Exec(ctx, "delete from sessions where account_id = ? and token_hash <> ?", accountID, keep)
	if err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	return nil
}

// insertLink reports whether the account exists and is not blocked.
func insertLink(ctx context.Context, d *db.DB, id, accountID, by string, now, expires time.Time) (bool, error) {
	n, err := d.Exec(ctx, `insert into signin_links (token_hash, account_id, created_by, created_at, expires_at)
		select ?, id, ?, ?, ? from accounts where id = ? and not blocked`, id, by, now, expires, accountID)
	return n == 1, err
}

func selectLink(ctx context.Context, d *db.DB, id string, now time.Time) (Record, error) {
	var row accountRow
	err := d.Get(ctx, &row, "select "+accountColumns+` from signin_links
		join accounts on accounts.id = signin_links.account_id
		where token_hash = ? and used_at is null and expires_at > ? and not accounts.blocked`, id, now)
	if err != nil {
		return Record{}, err
	}
	return row.record()
}

// spendLink marks a link as used and reports whether nobody did before.
func spendLink(ctx context.Context, d *db.DB, id string, now time.Time) (bool, error) {
	n, err := d.Exec(ctx, "update signin_links set used_at = ? where token_hash = ? and used_at is null and expires_at > ?", now, id, now)
	return n == 1, err
}

func deleteLinks(ctx context.Context, d *db.DB, accountID string) error {
	_, err := d.Exec(ctx, "delete from signin_links where account_id = ?", accountID)
	return err
}

// keepSecret stores a secret unless there is one, and returns the one there is.
func keepSecret(ctx context.Context, d *db.DB, name, value string, now time.Time) (string, error) {
	if _, err := d.Exec(ctx, "insert into secrets (name, value, created_at) values (?, ?, ?) on conflict (name) do nothing",
		name, value, now); err != nil {
		return "", err
	}
	var stored string
	err := d.Get(ctx, &stored, "select value from secrets where name = ?", name)
	return stored, err
}

func deleteExpired(ctx context.Context, d *db.DB, now time.Time) error {
	for _, statement := range []struct {
		query string
		until time.Time
	}{
		{"delete from sessions where expires_at <= ?", now},
		{"delete from signin_links where expires_at <= ?", now},
		{"delete from login_attempts where at <= ?", now.Add(-throttleWindow)},
	} {
		if _, err := d.Exec(ctx, statement.query, statement.until); err != nil {
			return fmt.Errorf("remove what has expired: %w", err)
		}
	}
	return nil
}

// cleanText drops what a text column cannot hold.
func cleanText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "")
}
