// Package answer turns a question into a cited answer: it stores the turn, runs it
// in the background and lets anybody who may watch its newest state.
package answer

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/live"
	"docent/internal/llm"
	"docent/internal/markdown"
	"docent/internal/search"
	"docent/internal/tool"
)

// RunTimeout is how long one turn may take, with all its rounds.
const RunTimeout = 5 * time.Minute

// Limits of the process.
const (
	maxRunning  = 256 // turns at once
	leaseTime   = 8 * time.Second
	leaseRenew  = time.Second // also how much text a crash can lose
	finishGrace = 2 * time.Second
)

// Options are what a [Service] works with. Those before Log are required.
type Options struct {
	DB      *db.DB
	Config  *config.Store
	Content *content.Store
	Search  *search.Engine
	Model   llm.Generator
	SiteURL *url.URL // links to its host are the site's own
	Log     *slog.Logger
	Texts   Texts

	// What follows is optional.

	// ModelNamed returns another model of the same server, for agents that name one.
	ModelNamed func(name string) (llm.Generator, error)
	// SourceTools are listing tools besides the shipped one.
	SourceTools func(who account.Account, lang string) []tool.Tool
	Rerank      *Reranker
	Scores      *Scores
	Spans       *Spans
}

// Texts are the few words of the interface that end up inside answers.
type Texts struct {
	NoAnswer  func(lang string) string
	CiteLabel func(lang string, number int) string
	Labels    func(lang string) markdown.Labels
	// AboutHeading asks what a page says under a heading; without a page the
	// conversation says which is meant.
	AboutHeading func(lang, page, heading string) string
	// GoesOn reports whether a question is the interface's own, in any language,
	// that asks for the rest of an answer that was cut off.
	GoesOn func(question string) bool
}

// A Service answers questions. It owns a goroutine for each running turn and one
// that keeps their leases; [Service.Close] waits for all of them.
type Service struct {
	Options
	owner string
	hub   live.Hub[State]

	// Runs outlive the request that asked, so they derive from a context of the
	// service's own, which Close cancels.
	base   context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	closing bool
	places  int             // taken by turns that run or are about to
	runs    map[string]*run // by turn
	wg      sync.WaitGroup  // of runs
	keeper  sync.WaitGroup
}

// Causes for which a run is cancelled.
var (
	errStopped  = errors.New("stopped by the visitor")
	errShutdown = errors.New("the server is stopping")
	errLost     = errors.New("the turn's lease was lost")
)

// New starts a service. It first marks the turns of processes that are gone as
// interrupted.
func New(ctx context.Context, o Options) (*Service, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{Options: o, owner: newOwner(), runs: map[string]*run{}}
	s.base, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := s.recover(ctx); err != nil {
		return nil, fmt.Errorf("recover turns: %w", err)
	}
	s.keeper.Go(s.keepLeases)
	return s, nil
}

// Close takes no more questions and waits for the running turns. Those that are
// not finished when ctx ends are marked interrupted; their text so far is kept.
func (s *Service) Close(ctx context.Context) {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
	s.cancel(errShutdown)
	<-done
	s.keeper.Wait()
	if s.Scores != nil {
		s.Scores.Close(ctx)
	}
	if s.Spans != nil {
		s.Spans.Close(ctx)
	}
}

// A Question is what a visitor asks.
type Question struct {
	Agent          string // of a new conversation; a follow-up stays with its conversation's
	Text           string
	ConversationID string // empty: a new conversation
	IdempotencyKey string // the same key with the same question gives the same turn
	Lang           string
	Page           string   // path of the page it is asked on, if that is known
	Delivery       Delivery // [Whole] when empty
	Who            account.Account
	Visitor        string // a secret that only this visitor's browser has; empty: none is known
	// Trial answers with these settings instead of the agent's stored ones, enabled
	// or not. Whoever sets it has checked that Who may.
	Trial *config.Agent
}

// Ask stores a question as a running turn and starts to answer it. Errors:
// [*InvalidError], [ErrNotFound], [*UnusableError], [ErrBusy], [*LimitError].
func (s *Service) Ask(ctx context.Context, q Question) (State, error) {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(q.Text, "\x00", ""), "\uFFFD")), " ")
	if text == "" {
		return State{}, &InvalidError{Reason: QuestionEmpty}
	}
	if len(q.IdempotencyKey) > 200 {
		return State{}, &InvalidError{Reason: KeyTooLong, Limit: 200}
	}
	q.Text = text

	var conv Conversation
	var earlier []Turn
	if q.ConversationID != "" {
		var err error
		if conv, err = s.conversation(ctx, q.ConversationID, q.Who); err != nil {
			return State{}, err
		}
	} else {
		conv = Conversation{ID: newSecret(), Agent: q.Agent, AccountID: q.Who.ID, CreatedAt: db.Now()}
	}
	p, err := s.plan(ctx, conv.Agent, q.Trial)
	if err != nil {
		return State{}, err
	}
	if utf8.RuneCountInString(text) > p.agent.QuestionLimit {
		return State{}, &InvalidError{Reason: QuestionTooLong, Limit: p.agent.QuestionLimit}
	}
	conv.ExpiresAt = db.Now().Add(time.Duration(p.agent.ConversationTTL) * time.Second)

	key := q.idempotency()
	if key != "" {
		if t, err := findTurnByIdempotency(ctx, s.DB, key); err == nil {
			return s.state(ctx, t)
		} else if !errors.Is(err, db.ErrNotFound) {
			return State{}, err
		}
	}
	t := Turn{ID: newSecret(), ConversationID: conv.ID, Agent: conv.Agent, Question: text, Lang: q.Lang, Page: pagePath(q.Page), Delivery: q.Delivery, Status: Running,
		Model: p.model.Name(), LogID: newRunID(), TraceID: newTraceID(), CreatedAt: db.Now()}
	if t.Delivery == "" {
		t.Delivery = Whole
	}
	settings, zone := s.settings(ctx), s.zone(ctx)

	if !s.reserve() {
		return State{}, &LimitError{RetryAfter: 10 * time.Second}
	}
	started := false
	defer func() {
		if !started {
			s.release()
		}
	}()
	err = s.DB.InTx(ctx, func(tx *db.DB) error {
		if q.ConversationID == "" {
			if err := insertConversation(ctx, tx, conv); err != nil {
				return err
			}
		} else if there, err := renewConversation(ctx, tx, conv.ID, conv.ExpiresAt); err != nil {
			return err
		} else if !there {
			return ErrNotFound
		}
		now, err := tx.Clock(ctx)
		if err != nil {
			return err
		}
		if err := insertTurn(ctx, tx, &t, key, s.owner, now.Add(leaseTime)); err != nil {
			return err
		}
		// From now on what came before stays as it is: see stillOpen.
		if earlier, err = turnsBefore(ctx, tx, t); err != nil {
			return err
		}
		if err := countTurn(ctx, tx, conv.Agent, p, t.CreatedAt.In(zone)); err != nil {
			return err
		}
		if settings.RetentionDays == 0 && !p.trial {
			return nil
		}
		return insertRecord(ctx, tx, s.record(t, conv.Agent, q, settings.MaskPersonal))
	})
	if db.IsUnique(err) {
		if key != "" { // the same request came twice at once
			if same, findErr := findTurnByIdempotency(ctx, s.DB, key); findErr == nil {
				return s.state(ctx, same)
			}
		}
		return State{}, ErrBusy
	}
	if limit, ok := errors.AsType[*LimitError](err); ok {
		return State{}, limit
	}
	if err != nil {
		return State{}, fmt.Errorf("store turn: %w", err)
	}
	st := State{Turn: t, Phase: Searching}
	s.hub.Publish(t.ID, st)
	s.start(t, p, earlier, q.Who)
	started = true
	return st, nil
}

// reserve takes the place of one running turn, unless there is none or the service
// is closing. Whoever got it starts a run or calls release.
func (s *Service) reserve() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || s.places == maxRunning {
		return false
	}
	s.places++
	s.wg.Add(1)
	return true
}

func (s *Service) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places--
	s.wg.Done()
}

// start runs a turn in the background, in a place that was reserved for it.
func (s *Service) start(t Turn, p plan, earlier []Turn, who account.Account) {
	ctx, cancel := context.WithCancelCause(s.base)
	r := newRun(s, t, p, earlier, who)
	r.cancel = cancel
	s.mu.Lock()
	s.runs[t.ID] = r
	s.mu.Unlock()
	go func() {
		defer s.release()
		defer cancel(nil)
		defer func() {
			s.mu.Lock()
			delete(s.runs, t.ID)
			s.mu.Unlock()
		}()
		r.do(ctx)
	}()
}

// conversation applies the owner rule: an anonymous visitor's conversation
// belongs to whoever knows its id, an account's to that account.
func (s *Service) conversation(ctx context.Context, id string, who account.Account) (Conversation, error) {
	c, err := findConversation(ctx, s.DB, id)
	if errors.Is(err, db.ErrNotFound) || err == nil && c.AccountID != "" && c.AccountID != who.ID {
		return Conversation{}, ErrNotFound
	}
	return c, err
}

// Conversation returns a conversation with the states of its turns, in order.
func (s *Service) Conversation(ctx context.Context, id string, who account.Account) (Conversation, []State, error) {
	c, err := s.conversation(ctx, id, who)
	if err != nil {
		return c, nil, err
	}
	turns, err := turnsOf(ctx, s.DB, id)
	if err != nil {
		return c, nil, err
	}
	return c, s.states(turns), nil
}

// Turn returns the newest state of one turn.
func (s *Service) Turn(ctx context.Context, id string, who account.Account) (State, error) {
	t, err := s.turn(ctx, id, who)
	if err != nil {
		return State{}, err
	}
	return s.state(ctx, t)
}

func (s *Service) turn(ctx context.Context, id string, who account.Account) (Turn, error) {
	t, err := findTurn(ctx, s.DB, id)
	if errors.Is(err, db.ErrNotFound) {
		return t, ErrNotFound
	}
	if err != nil {
		return t, err
	}
	_, err = s.conversation(ctx, t.ConversationID, who)
	return t, err
}

// Delete removes a conversation with everything in it, also the records of its
// runs and the links to its answers, after stopping its running turn.
func (s *Service) Delete(ctx context.Context, id string, who account.Account) error {
	c, err := s.conversation(ctx, id, who)
	if err != nil {
		return err
	}
	s.mu.Lock()
	for _, r := range s.runs {
		if r.turn.ConversationID == c.ID {
			r.cancel(errStopped)
		}
	}
	s.mu.Unlock()
	return s.DB.InTx(ctx, func(tx *db.DB) error {
		if err := deleteRecordsOf(ctx, tx, c.ID); err != nil {
			return err
		}
		if err := deleteConversation(ctx, tx, c.ID); err != nil {
			return err
		}
		return deleteSharesOf(ctx, tx, c.ID)
	})
}

// Purge deletes the conversations and the links to answers whose time is over, and
// the records that were kept long enough.
func (s *Service) Purge(ctx context.Context) error {
	n, err := purge(ctx, s.DB)
	if err != nil {
		return err
	}
	if n > 0 {
		s.Log.Info("old conversations deleted", "count", n)
	}
	if n, err = deleteExpiredShares(ctx, s.DB); err != nil {
		return fmt.Errorf("delete links to answers: %w", err)
	}
	if n > 0 {
		s.Log.Info("ended links to answers deleted", "count", n)
	}
	if err := endLostRecords(ctx, s.DB, db.Now().Add(-RunTimeout-leaseTime)); err != nil {
		return fmt.Errorf("end lost records: %w", err)
	}
	if err := deleteDays(ctx, s.DB, time.Now().AddDate(0, 0, -7).Format(time.DateOnly)); err != nil {
		return fmt.Errorf("delete counts of old days: %w", err)
	}
	return s.purgeRecords(ctx)
}

// idempotency binds a client's key to who sent it and to the request it came with,
// so that knowing or guessing a key opens nobody else's answer. Of visitors about
// whom nothing is known keys are not heeded.
func (q Question) idempotency() string {
	if q.IdempotencyKey == "" || q.Who.ID == "" && q.Visitor == "" {
		return ""
	}
	h := sha256.New()
	for _, part := range []string{q.IdempotencyKey, q.Who.ID, q.Visitor, q.ConversationID, q.Agent, q.Lang, q.Text} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// newSecret returns 128 random bits, for ids that open what they name.
func newSecret() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
