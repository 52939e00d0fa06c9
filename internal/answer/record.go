package answer

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"docent/internal/config"
	"docent/internal/llm"
	"docent/internal/search"
)

// Outcome says how a run ended.
type Outcome string

// The outcomes. A run is running until it has one of the others.
const (
	OutcomeRunning     Outcome = "running"
	OutcomeAnswered    Outcome = "answered"
	OutcomeRefused     Outcome = "refused" // the no-answer message stands
	OutcomeStopped     Outcome = "stopped"
	OutcomeInterrupted Outcome = "interrupted"
	OutcomeFailed      Outcome = "failed"
)

// Outcomes returns every outcome, in the order in which filters list them.
func Outcomes() []Outcome {
	return []Outcome{OutcomeAnswered, OutcomeRefused, OutcomeStopped, OutcomeInterrupted, OutcomeFailed, OutcomeRunning}
}

// A Record is what is kept of a run, with personal data masked.
type Record struct {
	ID               string      `db:"id"` // of the run, UUIDv7
	TraceID          string      `db:"trace_id"`
	Agent            string      `db:"agent"`
	AccountID        string      `db:"account_id"`
	Trial            bool        `db:"trial"` // an administrator tried settings out
	Lang             string      `db:"lang"`
	Page             string      `db:"page"`
	Turn             int         `db:"turn"` // number in its conversation
	Question         string      `db:"question"`
	Answer           string      `db:"answer"`
	Outcome          Outcome     `db:"outcome"`
	Failure          Failure     `db:"failure"`
	Model            string      `db:"model"`
	Rounds           int         `db:"rounds"`
	PromptTokens     int         `db:"prompt_tokens"`
	CompletionTokens int         `db:"completion_tokens"`
	Cost             float64     `db:"cost"`
	Currency         string      `db:"currency"`
	Sources          SourceNotes `db:"sources"`
	Cited            int         `db:"cited"`
	Dropped          int         `db:"dropped"` // markers that named no source
	Steps            Steps       `db:"steps"`
	FirstTextMS      int         `db:"first_text_ms"` // 0: no text came
	TotalMS          int         `db:"total_ms"`
	Rating           Rating      `db:"rating"`
	Reasons          ReasonList  `db:"reasons"`
	Comment          string      `db:"comment"`
	RatedAt          *time.Time  `db:"rated_at"`
	CreatedAt        time.Time   `db:"created_at"`
	FinishedAt       *time.Time  `db:"finished_at"`
}

// A SourceNote is a source as a record names it.
type SourceNote struct {
	Number int     `json:"number"`
	Final  int     `json:"final"` // 0: not cited
	Key    string  `json:"key"`
	Title  string  `json:"title"`
	Path   string  `json:"path"`
	Score  float64 `json:"score"`
}

// SourceNotes are kept as JSON with their record.
type SourceNotes []SourceNote

// Scan implements [database/sql.Scanner].
func (n *SourceNotes) Scan(v any) error { return scanJSON(v, n) }

// StepKind says what a step of a run was.
type StepKind string

// The kinds of steps.
const (
	StepSearch StepKind = "search"
	StepRerank StepKind = "rerank"
	StepTool   StepKind = "tool"
	StepModel  StepKind = "model"
)

// A Step is one thing that a run did. Times are milliseconds since its start.
type Step struct {
	Kind             StepKind      `json:"kind"`
	Name             string        `json:"name"`             // of the tool or model
	Input            string        `json:"input,omitempty"`  // query or arguments
	Output           string        `json:"output,omitempty"` // result, or what the model wrote
	Messages         []StepMessage `json:"messages,omitempty"`
	Hits             []StepHit     `json:"hits,omitempty"`
	Calls            []string      `json:"calls,omitempty"` // tools that the model called
	Finish           string        `json:"finish,omitempty"`
	PromptTokens     int           `json:"prompt_tokens,omitempty"`
	CompletionTokens int           `json:"completion_tokens,omitempty"`
	Error            string        `json:"error,omitempty"`
	At               int           `json:"at"`
	Took             int           `json:"took"`

	start time.Time
	run   *run
}

// A StepMessage is a message of a model call.
type StepMessage struct {
	Role llm.Role `json:"role"`
	Text string   `json:"text"`
}

// A StepHit is a passage that a search found.
type StepHit struct {
	Key     string  `json:"key"`
	Title   string  `json:"title"`
	Heading string  `json:"heading,omitempty"`
	Score   float64 `json:"score"`
	Text    string  `json:"text"`
	Number  int     `json:"number"` // of its source; 0: over the cap, or not for this visitor
}

// Steps are kept as JSON with their record.
type Steps []*Step

// Scan implements [database/sql.Scanner].
func (s *Steps) Scan(v any) error { return scanJSON(v, s) }

// stepText bounds each text of a step, in bytes.
const stepText = 32 << 10

func clip(text string) string {
	if len(text) <= stepText {
		return text
	}
	return strings.ToValidUTF8(text[:stepText], "") + "…"
}

func (r *run) begin(kind StepKind, name, input string) *Step {
	s := &Step{Kind: kind, Name: name, Input: clip(input), At: r.since(), start: time.Now(), run: r}
	r.steps = append(r.steps, s)
	return s
}

func (s *Step) end() {
	s.Took = int(time.Since(s.start).Milliseconds())
	s.Output = clip(s.Output)
}

func (r *run) since() int { return int(time.Since(r.started).Milliseconds()) }

func (r *run) stepHit(h search.Hit) StepHit {
	hit := StepHit{Key: keyOf(h.Ref), Title: h.Title, Heading: h.Heading, Score: h.Score}
	for _, s := range r.turn.Sources {
		if s.Key == hit.Key {
			hit.Number, hit.Text = s.Number, clip(h.Text)
		}
	}
	if hit.Number == 0 { // perhaps refused at the second check of access
		hit.Title, hit.Heading = "", ""
	}
	return hit
}

// settings are those common to all agents.
func (s *Service) settings(ctx context.Context) config.AnswerSettings {
	all, err := config.Get[config.AnswerSettings](ctx, s.Config, config.SiteName)
	if err != nil {
		return config.DefaultAnswerSettings()
	}
	return all
}

// record is what is kept of a turn that begins.
func (s *Service) record(t Turn, agent string, q Question, mask bool) Record {
	r := Record{ID: t.LogID, TraceID: t.TraceID, Agent: agent, AccountID: q.Who.ID, Trial: q.Trial != nil, Lang: t.Lang, Page: t.Page,
		Turn: t.Number, Question: t.Question, Outcome: OutcomeRunning, Model: t.Model, CreatedAt: t.CreatedAt}
	if mask {
		r.Question = Mask(r.Question, "")
	}
	return r
}

// finishRecord stores what a run did, before its end is published: whoever sees the
// end can read the record. One that cannot be stored costs no answer.
func (r *run) finishRecord(ctx context.Context) {
	settings := r.s.settings(ctx)
	t := r.turn
	rec := Record{ID: t.LogID, TraceID: t.TraceID, Agent: r.agentName, Answer: t.FinalText, Outcome: outcomeOf(t), Failure: t.Failure, Model: t.Model,
		Rounds: r.rounds, PromptTokens: t.PromptTokens, CompletionTokens: t.CompletionTokens, Currency: settings.Currency,
		Cost: settings.Cost(t.Model, t.PromptTokens, t.CompletionTokens), Dropped: r.stream.Dropped(), Steps: r.steps,
		FirstTextMS: r.firstText, TotalMS: r.since(), FinishedAt: t.FinishedAt, Turn: t.Number, Trial: r.trial, CreatedAt: t.CreatedAt}
	if rec.Answer == "" {
		rec.Answer = t.Text
	}
	for _, src := range r.found {
		rec.Sources = append(rec.Sources, SourceNote{src.Number, src.Final, src.Key, src.Title, src.Path, src.Score})
		if src.Final > 0 {
			rec.Cited++
		}
	}
	if settings.MaskPersonal {
		r.mask(&rec)
	}
	if settings.RetentionDays > 0 || r.trial {
		if err := saveRecord(ctx, r.s.DB, rec); err != nil {
			r.s.Log.Error("store the record of a run", "turn", t.ID[:8], "err", err)
		}
	}
	if r.s.Spans != nil {
		r.s.Spans.Add(rec)
	}
}

// mask takes personal data out of what came from visitors and models. What the
// sources say is public.
func (r *run) mask(rec *Record) {
	var public strings.Builder
	for _, s := range r.found {
		public.WriteString(s.Body() + "\n")
	}
	known := public.String()
	rec.Answer = Mask(rec.Answer, known)
	for _, s := range rec.Steps {
		s.Input = Mask(s.Input, known)
		if s.Kind == StepModel {
			s.Output = Mask(s.Output, known)
		}
		for i := range s.Messages {
			if role := s.Messages[i].Role; role == llm.RoleUser || role == llm.RoleAssistant {
				s.Messages[i].Text = Mask(s.Messages[i].Text, known)
			}
		}
	}
}

func outcomeOf(t Turn) Outcome {
	switch {
	case t.Status == Done && t.Refused:
		return OutcomeRefused
	case t.Status == Done:
		return OutcomeAnswered
	case t.Status == Stopped:
		return OutcomeStopped
	case t.Status == Interrupted:
		return OutcomeInterrupted
	case t.Status == Failed:
		return OutcomeFailed
	}
	return OutcomeRunning
}

// A RecordFilter narrows a list of records; zero values do not.
type RecordFilter struct {
	Agent   string
	Outcome Outcome
	Rating  Rating // [Unrated] for those without
	Lang    string
	Text    string // part of the question or the answer
	Uncited bool   // answered without citing a source
	After   time.Time
	Before  time.Time
	Limit   int // 50 when it is not positive
	Offset  int
}

// Records lists the runs that pass a filter, the newest first, without their
// steps, and counts all that pass.
func (s *Service) Records(ctx context.Context, f RecordFilter) ([]Record, int, error) {
	return listRecords(ctx, s.DB, f)
}

// Record returns one run with all that is kept of it.
func (s *Service) Record(ctx context.Context, id string) (Record, error) {
	return findRecord(ctx, s.DB, id)
}

// purgeRecords deletes the records that were kept long enough.
func (s *Service) purgeRecords(ctx context.Context) error {
	days := s.settings(ctx).RetentionDays
	n, err := deleteRecords(ctx, s.DB, time.Now().UTC().AddDate(0, 0, -days))
	if err != nil {
		return fmt.Errorf("delete old records: %w", err)
	}
	if n > 0 {
		s.Log.Info("old records of answers deleted", "count", n)
	}
	return nil
}

func newRunID() string { return uuid.Must(uuid.NewV7()).String() }

// newTraceID returns a W3C trace id.
func newTraceID() string {
	var b [16]byte
	rand.Read(b[:])
	b[0] |= 1 // all zeros means none
	return hex.EncodeToString(b[:])
}
