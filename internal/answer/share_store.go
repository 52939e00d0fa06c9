package answer

import (
	"context"
	"time"

	"docent/db"
)

// insertShare stores a shared answer, unless its turn has one whose time is not
// over, and returns the link that holds. The conversation's row is locked first:
// deleting a conversation deletes its shares behind it, so none can slip through.
func insertShare(ctx context.Context, d *db.DB, s Shared) (SharedLink, error) {
	var link SharedLink
	err := d.InTx(ctx, func(tx *db.DB) error {
		n, err := tx.Exec(ctx, "update conversations set expires_at = expires_at where id = ?", s.ConversationID)
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrNotFound
		}
		if _, err := tx.Exec(ctx, `insert into answer_shares (token, turn_id, conversation_id, account_id, agent, agent_label, question, lang, text,
				sources, behind, answered_at, created_at, expires_at)
			values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			on conflict (turn_id) do update set token = excluded.token, agent_label = excluded.agent_label, sources = excluded.sources,
				behind = excluded.behind, created_at = excluded.created_at, expires_at = excluded.expires_at
			where answer_shares.expires_at <= excluded.created_at`,
			s.Token, s.TurnID, s.ConversationID, s.AccountID, s.Agent, s.AgentLabel, s.Question, s.Lang, s.Text,
			s.Copies, s.Behind, s.AnsweredAt, s.CreatedAt, s.ExpiresAt); err != nil {
			return err
		}
		held, err := findShares(ctx, tx, []string{s.TurnID}, s.CreatedAt)
		link = held[s.TurnID]
		return err
	})
	return link, err
}

func findShare(ctx context.Context, d *db.DB, token string) (Shared, error) {
	var s Shared
	err := d.Get(ctx, &s, `select token, turn_id, conversation_id, account_id, agent, agent_label, question, lang, text, sources, behind,
		answered_at, created_at, expires_at from answer_shares where token = ?`, token)
	s.AnsweredAt, s.CreatedAt, s.ExpiresAt = s.AnsweredAt.UTC(), s.CreatedAt.UTC(), s.ExpiresAt.UTC()
	return s, err
}

// findShares returns the links to turns that hold at a time, by turn.
func findShares(ctx context.Context, d *db.DB, turnIDs []string, at time.Time) (map[string]SharedLink, error) {
	query, args, err := db.In("select turn_id, token, expires_at from answer_shares where turn_id in (?) and expires_at > ?", turnIDs, at)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		TurnID    string    `db:"turn_id"`
		Token     string    `db:"token"`
		ExpiresAt time.Time `db:"expires_at"`
	}
	if err := d.Select(ctx, &rows, query, args...); err != nil {
		return nil, err
	}
	links := make(map[string]SharedLink, len(rows))
	for _, r := range rows {
		links[r.TurnID] = SharedLink{r.Token, r.ExpiresAt.UTC()}
	}
	return links, nil
}

// deleteShare ends the link to a turn that belongs to an account, or to whoever
// knows the turn's id.
func deleteShare(ctx context.Context, d *db.DB, turnID, accountID string) (bool, error) {
	n, err := d.Exec(ctx, "delete from answer_shares where turn_id = ? and account_id in ('', ?)", turnID, accountID)
	return n == 1, err
}

func deleteSharesOf(ctx context.Context, tx *db.DB, conversationID string) error {
	_, err := tx.Exec(ctx, "delete from answer_shares where conversation_id = ?", conversationID)
	return err
}

func deleteExpiredShares(ctx context.Context, d *db.DB) (int64, error) {
	return d.Exec(ctx, "delete from answer_shares where expires_at <= ?", db.Now())
}
