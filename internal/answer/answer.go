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
	"docent/internal/search"
)

// Limits of the process.
const (
	maxRunning  = 64              // turns at once
	runTimeout  = 5 * time.Minute // of one turn, all rounds together
	leaseTime   = 8 * time.Second
	leaseRenew  = time.Second // also how much text a crash can lose
	finishGrace = 2 * time.Second
)

// Options are what a [Service] works with. All but Log and Texts are required.
type Options struct {
	DB      *db.DB
	Config  *config.Store
	Content *content.Store
	Search  *search.Engine
	Model   llm.Generator
	SiteURL *url.URL // links to its host are the site's own
	Log     *slog.Logger
	Texts   Texts
}

// Texts are the few words of the interface that end up inside answers.
type Texts struct {
	NoAnswer   func(lang string) string
	CiteLabel  func(lang string, number int) string
	TableLabel func(lang string) string
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
}

// A Question is what a visitor asks.
type Question struct {
	Agent          string // of a new conversation; a follow-up stays with its conversation's
	Text           string
	ConversationID string // empty: a new conversation
	IdempotencyKey string // the same key with the same question gives the same turn
	Lang           string
	Who            account.Account
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
		if earlier, err = turnsOf(ctx, s.DB, conv.ID); err != nil {
			return State{}, err
		}
	} else {
		conv = Conversation{ID: newSecret(), Agent: q.Agent, AccountID: q.Who.ID, CreatedAt: db.Now()}
	}
	agent, index, err := s.usable(ctx, conv.Agent)
	if err != nil {
		return State{}, err
	}
	if utf8.RuneCountInString(text) > agent.QuestionLimit {
		return State{}, &InvalidError{Reason: QuestionTooLong, Limit: agent.QuestionLimit}
	}
	conv.ExpiresAt = db.Now().Add(time.Duration(agent.ConversationTTL) * time.Second)

	key := q.idempotency()
	if key != "" {
		if t, err := findTurnByIdempotency(ctx, s.DB, key); err == nil {
			return s.state(ctx, t)
		} else if !errors.Is(err, db.ErrNotFound) {
			return State{}, err
		}
	}
	t := Turn{ID: newSecret(), ConversationID: conv.ID, Question: text, Lang: q.Lang, Status: Running,
		Model: s.Model.Name(), CreatedAt: db.Now()}

	s.mu.Lock()
	defer s.mu.Unlock() // a turn must not start between the last one and Close
	if s.closing || len(s.runs) >= maxRunning {
		return State{}, &LimitError{RetryAfter: 10 * time.Second}
	}
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
		return insertTurn(ctx, tx, &t, key, s.owner, db.Now().Add(leaseTime))
	})
	if db.IsUnique(err) {
		if key != "" { // the same request came twice at once
			if same, findErr := findTurnByIdempotency(ctx, s.DB, key); findErr == nil {
				return s.state(ctx, same)
			}
		}
		return State{}, ErrBusy
	}
	if err != nil {
		return State{}, fmt.Errorf("store turn: %w", err)
	}
	st := State{Turn: t, Phase: Searching}
	s.hub.Publish(t.ID, st)
	s.start(t, conv.Agent, agent, index, earlier, q.Who)
	return st, nil
}

// start runs a turn in the background. The caller holds s.mu.
func (s *Service) start(t Turn, name string, agent config.Agent, index config.Index, earlier []Turn, who account.Account) {
	ctx, cancel := context.WithCancelCause(s.base)
	r := newRun(s, t, name, agent, index, earlier, who)
	r.cancel = cancel
	s.runs[t.ID] = r
	s.wg.Go(func() {
		defer cancel(nil)
		defer func() {
			s.mu.Lock()
			delete(s.runs, t.ID)
			s.mu.Unlock()
		}()
		r.do(ctx)
	})
}

// usable returns an agent that can answer, with the index it is bound to.
func (s *Service) usable(ctx context.Context, name string) (config.Agent, config.Index, error) {
	agent, err := config.Get[config.Agent](ctx, s.Config, name)
	if errors.Is(err, db.ErrNotFound) {
		return agent, config.Index{}, &InvalidError{Reason: AgentUnknown}
	}
	if err != nil {
		return agent, config.Index{}, err
	}
	if !agent.Enabled {
		return agent, config.Index{}, &UnusableError{name, "it is not enabled for answers"}
	}
	if agent.Index == "" {
		return agent, config.Index{}, &UnusableError{name, "it has no index to search"}
	}
	index, err := config.Get[config.Index](ctx, s.Config, agent.Index)
	if errors.Is(err, db.ErrNotFound) {
		return agent, index, &UnusableError{name, "its index " + agent.Index + " does not exist"}
	}
	return agent, index, err
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

// Delete removes a conversation with everything in it, after stopping its running turn.
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
	return deleteConversation(ctx, s.DB, c.ID)
}

// Purge deletes the conversations whose time is over.
func (s *Service) Purge(ctx context.Context) error {
	n, err := purge(ctx, s.DB)
	if err == nil && n > 0 {
		s.Log.Info("old conversations deleted", "count", n)
	}
	return err
}

// idempotency binds a client's key to the request it came with, so that knowing
// or guessing a key opens nobody else's answer.
func (q Question) idempotency() string {
	if q.IdempotencyKey == "" {
		return ""
	}
	h := sha256.New()
	for _, part := range []string{q.IdempotencyKey, q.Who.ID, q.ConversationID, q.Agent, q.Lang, q.Text} {
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
