package answer

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"docent/db"
)

const recordColumns = `id, trace_id, agent, account_id, trial, lang, page, turn, question, answer, outcome, failure, model, rounds,
	prompt_tokens, completion_tokens, cost, currency, sources, cited, dropped, first_text_ms, total_ms,
	rating, reasons, comment, rated_at, created_at, finished_at`

func insertRecord(ctx context.Context, tx *db.DB, r Record) error {
	_, err := tx.Exec(ctx, `insert into answer_log (id, trace_id, agent, account_id, trial, lang, page, turn, question, outcome, model, created_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.TraceID, r.Agent, r.AccountID, r.Trial, r.Lang, r.Page, r.Turn, r.Question, r.Outcome, r.Model, r.CreatedAt)
	return err
}

func saveRecord(ctx context.Context, d *db.DB, r Record) error {
	sources, err := valueJSON([]SourceNote(r.Sources))
	if err != nil {
		return err
	}
	steps, err := json.Marshal(r.Steps)
	if err != nil {
		return err
	}
	_, err = d.Exec(ctx, `update answer_log set answer = ?, outcome = ?, failure = ?, model = ?, rounds = ?, prompt_tokens = ?, completion_tokens = ?,
			cost = ?, currency = ?, sources = ?, cited = ?, dropped = ?, steps = ?, first_text_ms = ?, total_ms = ?, finished_at = ?
		where id = ? and outcome = 'running'`,
		storable(r.Answer), r.Outcome, r.Failure, r.Model, r.Rounds, r.PromptTokens, r.CompletionTokens,
		r.Cost, r.Currency, sources, r.Cited, r.Dropped, storable(string(steps)), r.FirstTextMS, r.TotalMS, r.FinishedAt, r.ID)
	return err
}

// storable is text without what PostgreSQL cannot keep.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// rateRecord notes a vote with the run that it is about.
func rateRecord(ctx context.Context, tx *db.DB, id string, v Vote, at time.Time) error {
	reasons, err := valueJSON(v.Reasons)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "update answer_log set rating = ?, reasons = ?, comment = ?, rated_at = ? where id = ?",
		v.Rating, reasons, v.Comment, at, id)
	return err
}

// endLostRecords ends the records of runs whose turn has ended without them.
func endLostRecords(ctx context.Context, d *db.DB, before time.Time) error {
	_, err := d.Exec(ctx, `update answer_log set outcome = 'interrupted', finished_at = ? where outcome = 'running' and created_at < ?
		and not exists (select 1 from turns where turns.log_id = answer_log.id and turns.status = 'running')`, db.Now(), before)
	return err
}

func (f RecordFilter) where() (string, []any) {
	cond, args := "1 = 1", []any{}
	add := func(c string, a ...any) {
		cond += " and " + c
		args = append(args, a...)
	}
	if f.Agent != "" {
		add("agent = ?", f.Agent)
	}
	if f.Outcome != "" {
		add("outcome = ?", f.Outcome)
	}
	switch f.Rating {
	case "":
	case Unrated:
		add("rating = ''")
	default:
		add("rating = ?", f.Rating)
	}
	if f.Lang != "" {
		add("lang = ?", f.Lang)
	}
	if f.Uncited {
		add("outcome = 'answered' and cited = 0")
	}
	if text := strings.TrimSpace(f.Text); text != "" {
		pattern := "%" + likeEscape.Replace(strings.ToLower(storable(text))) + "%"
		add(`(lower(question) like ? escape '\' or lower(answer) like ? escape '\')`, pattern, pattern)
	}
	if !f.After.IsZero() {
		add("created_at >= ?", f.After.UTC())
	}
	if !f.Before.IsZero() {
		add("created_at < ?", f.Before.UTC())
	}
	return cond, args
}

var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

func listRecords(ctx context.Context, d *db.DB, f RecordFilter) (records []Record, total int, err error) {
	where, args := f.where()
	if err := d.Get(ctx, &total, "select count(*) from answer_log where "+where, args...); err != nil {
		return nil, 0, err
	}
	limit := f.Limit
	if limit <= 0 {
		limit = 50
	}
	err = d.Select(ctx, &records, "select "+recordColumns+" from answer_log where "+where+" order by id desc limit ? offset ?",
		append(args, limit, max(f.Offset, 0))...)
	for i := range records {
		records[i].utc()
	}
	return records, total, err
}

func findRecord(ctx context.Context, d *db.DB, id string) (Record, error) {
	var r Record
	err := d.Get(ctx, &r, "select "+recordColumns+", steps from answer_log where id = ?", id)
	r.utc()
	return r, err
}

func (r *Record) utc() {
	r.CreatedAt = r.CreatedAt.UTC()
	for _, t := range []*time.Time{r.FinishedAt, r.RatedAt} {
		if t != nil {
			*t = t.UTC()
		}
	}
}

func deleteRecords(ctx context.Context, d *db.DB, before time.Time) (int64, error) {
	return d.Exec(ctx, "delete from answer_log where created_at < ?", before)
}

// deleteRecordsOf deletes the records of a conversation's runs.
func deleteRecordsOf(ctx context.Context, tx *db.DB, conversationID string) error {
	_, err := tx.Exec(ctx, "delete from answer_log where id in (select log_id from turns where conversation_id = ?)", conversationID)
	return err
}

// countToday adds one to what an agent has answered on a day and returns the sum.
func countToday(ctx context.Context, tx *db.DB, agent, day string) (n int, err error) {
	err = tx.Get(ctx, &n, `insert into answer_days (agent, day, turns) values (?, ?, 1)
		on conflict (agent, day) do update set turns = answer_days.turns + 1 returning turns`, agent, day)
	return n, err
}

func deleteDays(ctx context.Context, d *db.DB, before string) error {
	_, err := d.Exec(ctx, "delete from answer_days where day < ?", before)
	return err
}

// saveVote stores the vote on a turn, in place of an earlier one.
func saveVote(ctx context.Context, tx *db.DB, turnID string, v Vote, at time.Time) error {
	reasons, err := valueJSON(v.Reasons)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into answer_feedback (turn_id, rating, reasons, comment, account_id, changed_at) values (?, ?, ?, ?, ?, ?)
		on conflict (turn_id) do update set rating = excluded.rating, reasons = excluded.reasons, comment = excluded.comment,
			account_id = excluded.account_id, changed_at = excluded.changed_at`,
		turnID, v.Rating, reasons, v.Comment, v.Who.ID, at)
	return err
}
