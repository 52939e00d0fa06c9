package answer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/db"
)

const turnColumns = `id, conversation_id, number, question, lang, page, delivery, log_id, trace_id, status, refused, cut_off,
	nearest, suggestions, text, final_text, failure, model, prompt_tokens, completion_tokens, created_at, finished_at,
	(select c.agent from conversations c where c.id = turns.conversation_id) as agent,
	coalesce((select f.rating from answer_feedback f where f.turn_id = turns.id), '') as rating,
	exists (select 1 from answer_feedback f where f.turn_id = turns.id and (f.reasons <> '[]' or f.comment <> '')) as explained`

func findConversation(ctx context.Context, d *db.DB, id string) (Conversation, error) {
	var c Conversation
	err := d.Get(ctx, &c, `select id, agent, account_id, created_at, expires_at from conversations
		where id = ? and expires_at > ?`, id, db.Now())
	return c, err
}

func insertConversation(ctx context.Context, d *db.DB, c Conversation) error {
	_, err := d.Exec(ctx, `insert into conversations (id, agent, account_id, created_at, expires_at)
		values (?, ?, ?, ?, ?)`, c.ID, c.Agent, c.AccountID, c.CreatedAt, c.ExpiresAt)
	return err
}

// renewConversation puts the end of a conversation off. It reports whether the
// conversation is still there.
func renewConversation(ctx context.Context, d *db.DB, id string, expires time.Time) (bool, error) {
	n, err := d.Exec(ctx, "update conversations set expires_at = ? where id = ?", expires, id)
	return n == 1, err
}

func deleteConversation(ctx context.Context, d *db.DB, id string) error {
	_, err := d.Exec(ctx, "delete from conversations where id = ?", id)
	return err
}

// purge deletes conversations whose time is over, except those being answered.
func purge(ctx context.Context, d *db.DB) (int64, error) {
	return d.Exec(ctx, `delete from conversations where expires_at < ?
		and not exists (select 1 from turns where conversation_id = conversations.id and status = 'running')`, db.Now())
}

// insertTurn stores a running turn under the conversation's next number. A
// conversation that already has a running turn refuses with a unique violation.
func insertTurn(ctx context.Context, d *db.DB, t *Turn, idempotency, owner string, lease time.Time) error {
	var key sql.NullString
	if idempotency != "" {
		key = sql.NullString{String: idempotency, Valid: true}
	}
	if err := d.Get(ctx, &t.Number, "select coalesce(max(number), 0) + 1 from turns where conversation_id = ?", t.ConversationID); err != nil {
		return err
	}
	_, err := d.Exec(ctx, `insert into turns (id, conversation_id, number, question, lang, page, delivery, log_id, trace_id,
			status, model, idempotency_key, owner, lease_until, created_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?)`,
		t.ID, t.ConversationID, t.Number, t.Question, t.Lang, t.Page, t.Delivery, t.LogID, t.TraceID, t.Model, key, owner, lease, t.CreatedAt)
	return err
}

func findTurn(ctx context.Context, d *db.DB, id string) (Turn, error) {
	return oneTurn(ctx, d, "id", id)
}

func findTurnByIdempotency(ctx context.Context, d *db.DB, key string) (Turn, error) {
	return oneTurn(ctx, d, "idempotency_key", key)
}

func oneTurn(ctx context.Context, d *db.DB, column, value string) (Turn, error) {
	var t Turn
	if err := d.Get(ctx, &t, "select "+turnColumns+" from turns where "+column+" = ?", value); err != nil {
		return Turn{}, err
	}
	turns := []Turn{t}
	err := loadMore(ctx, d, turns)
	return turns[0], err
}

// turnsOf returns a conversation's turns by number.
func turnsOf(ctx context.Context, d *db.DB, conversationID string) ([]Turn, error) {
	var turns []Turn
	err := d.Select(ctx, &turns, "select "+turnColumns+" from turns where conversation_id = ? order by number", conversationID)
	if err != nil {
		return nil, err
	}
	return turns, loadMore(ctx, d, turns)
}

// turnsBefore returns the turns that precede one in its conversation.
func turnsBefore(ctx context.Context, d *db.DB, t Turn) ([]Turn, error) {
	if t.Number == 1 {
		return nil, nil
	}
	turns, err := turnsOf(ctx, d, t.ConversationID)
	return slices.DeleteFunc(turns, func(o Turn) bool { return o.Number >= t.Number }), err
}

// loadMore completes turns by what other tables say of them.
func loadMore(ctx context.Context, d *db.DB, turns []Turn) error {
	if err := loadSources(ctx, d, turns); err != nil {
		return err
	}
	return loadShares(ctx, d, turns)
}

func loadSources(ctx context.Context, d *db.DB, turns []Turn) error {
	if len(turns) == 0 {
		return nil
	}
	ids := make([]string, len(turns))
	byID := map[string]*Turn{}
	for i := range turns {
		ids[i] = turns[i].ID
		byID[turns[i].ID] = &turns[i]
	}
	query, args, err := db.In(`select turn_id, number, key, entity_type, entity_id, lang, title, path, location, external,
			anchor, date, passage, passages, found_lang, found_path, citations, score, final, running
		from turn_sources where turn_id in (?) order by turn_id, number`, ids)
	if err != nil {
		return err
	}
	var rows []struct {
		TurnID     string `db:"turn_id"`
		EntityType string `db:"entity_type"`
		EntityID   string `db:"entity_id"`
		Source
	}
	if err := d.Select(ctx, &rows, query, args...); err != nil {
		return fmt.Errorf("load sources: %w", err)
	}
	for _, r := range rows {
		r.Source.Ref.Type, r.Source.Ref.ID = r.EntityType, r.EntityID
		t := byID[r.TurnID]
		t.Sources = append(t.Sources, r.Source)
	}
	return nil
}

func loadShares(ctx context.Context, d *db.DB, turns []Turn) error {
	if len(turns) == 0 {
		return nil
	}
	ids := make([]string, len(turns))
	for i, t := range turns {
		ids[i] = t.ID
	}
	links, err := findShares(ctx, d, ids, db.Now())
	if err != nil {
		return fmt.Errorf("load shares: %w", err)
	}
	for i, t := range turns {
		turns[i].Shared = links[t.ID]
	}
	return nil
}

// saveSources replaces a turn's sources.
func saveSources(ctx context.Context, d *db.DB, turnID string, sources []Source) error {
	return d.InTx(ctx, func(tx *db.DB) error {
		if _, err := tx.Exec(ctx, "delete from turn_sources where turn_id = ?", turnID); err != nil {
			return err
		}
		if len(sources) == 0 {
			return nil
		}
		var args []any
		for _, s := range sources {
			args = append(args, turnID, s.Number, s.Key, s.Ref.Type, s.Ref.ID, s.Lang, s.Title, s.Path, s.Where, s.External,
				s.Anchor, s.Date, s.Passage, s.Passages, s.FoundLang, s.FoundPath, s.Citations, s.Score, s.Final, s.Running)
		}
		row := "(" + strings.Repeat("?, ", 19) + "?)"
		_, err := tx.Exec(ctx, `insert into turn_sources (turn_id, number, key, entity_type, entity_id, lang, title, path, location,
			external, anchor, date, passage, passages, found_lang, found_path, citations, score, final, running) values `+strings.Repeat(row+", ", len(sources)-1)+row, args...)
		return err
	})
}

// saveProgress keeps the text so far and renews the lease. It reports whether the
// turn is still this owner's to write and whether somebody asked to stop it. A turn
// that was taken for interrupted, because its owner could not reach the database
// for a while, runs on unless the conversation has gone on without it.
func saveProgress(ctx context.Context, d *db.DB, turnID, owner, text string, lease time.Time) (ours, stop bool, err error) {
	err = d.Get(ctx, &stop, `update turns set text = ?, lease_until = ?, status = 'running', finished_at = null
		where id = ? and owner = ? and `+stillOpen+` returning stop_requested`, text, lease, turnID, owner)
	if errors.Is(err, db.ErrNotFound) || db.IsUnique(err) { // unique: the next turn began in this moment
		return false, false, nil
	}
	return err == nil, stop, err
}

// stillOpen finds turns that their owner may write: those that run, and those taken
// for interrupted that no other turn has followed. A follower has built its numbers
// on what was there.
const stillOpen = `(status = 'running' or status = 'interrupted' and not exists (select 1 from turns later
		where later.conversation_id = turns.conversation_id and later.number > turns.number))`

// requestStop marks a running turn, wherever it runs.
func requestStop(ctx context.Context, d *db.DB, turnID string) error {
	_, err := d.Exec(ctx, "update turns set stop_requested = true where id = ? and status = 'running'", turnID)
	return err
}

// finishTurn stores the end of a turn, unless it has ended already.
func finishTurn(ctx context.Context, d *db.DB, t Turn, owner string) (bool, error) {
	ended := false
	err := d.InTx(ctx, func(tx *db.DB) error {
		n, err := tx.Exec(ctx, `update turns set status = ?, refused = ?, cut_off = ?, nearest = ?, suggestions = ?, text = ?, final_text = ?, failure = ?,
				prompt_tokens = ?, completion_tokens = ?, finished_at = ?, lease_until = null
			where id = ? and owner = ? and `+stillOpen,
			t.Status, t.Refused, t.CutOff, t.Nearest, t.Suggestions, t.Text, t.FinalText, t.Failure,
			t.PromptTokens, t.CompletionTokens, t.FinishedAt, t.ID, owner)
		if err != nil || n == 0 {
			return err
		}
		ended = true
		return saveSources(ctx, tx, t.ID, t.Sources)
	})
	return ended, err
}

// runningOwners lists who runs turns.
func runningOwners(ctx context.Context, d *db.DB) ([]string, error) {
	var owners []string
	err := d.Select(ctx, &owners, "select distinct owner from turns where status = 'running'")
	return owners, err
}

// interruptOf ends the turns of an owner that is gone.
func interruptOf(ctx context.Context, d *db.DB, owner string) (int64, error) {
	return d.Exec(ctx, `update turns set status = 'interrupted', finished_at = ?, lease_until = null
		where status = 'running' and owner = ?`, db.Now(), owner)
}

// interruptExpired ends the turns of other owners whose lease ended before now.
func interruptExpired(ctx context.Context, d *db.DB, owner string, now time.Time) (int64, error) {
	return d.Exec(ctx, `update turns set status = 'interrupted', finished_at = ?, lease_until = null
		where status = 'running' and owner <> ? and lease_until < ?`, now, owner, now)
}
