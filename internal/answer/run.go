package answer

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/llm"
	"docent/internal/markdown"
	"docent/internal/tool"
)

// Pacing of what watchers get to see: the first text at once, then no more often
// than every minPause, and rendering may cost a twentieth of one core at most.
const (
	minPause = 33 * time.Millisecond
	maxPause = 250 * time.Millisecond
)

// A run answers one turn. Its own goroutine alone touches it, except for text.
type run struct {
	s         *Service
	turn      Turn
	agentName string
	agent     config.Agent
	index     config.Index
	who       account.Account
	cancel    context.CancelCauseFunc

	earlier  []Turn
	numbered []string // keys on the running list before this turn

	phase     Phase
	retrieved bool
	stream    *markdown.Stream
	next      time.Time // earliest time of the next rendering
	pending   bool      // text came that no state shows yet

	mu   sync.Mutex
	text string // as of the last rendering; the lease keeper stores it
}

func newRun(s *Service, t Turn, name string, agent config.Agent, index config.Index, earlier []Turn, who account.Account) *run {
	r := &run{s: s, turn: t, agentName: name, agent: agent, index: index, who: who, earlier: earlier, phase: Searching}
	for _, st := range s.states(earlier) {
		r.numbered = appendNumbered(r.numbered, st.Sources)
	}
	r.stream = markdown.NewStream(s.markdownOptions(&r.turn, r.numbered))
	return r
}

func (r *run) soFar() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text
}

// do runs the turn to its end and stores it. It never panics: a turn must not
// stay running for ever.
func (r *run) do(ctx context.Context) {
	started := time.Now()
	timed, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	finish, err := func() (f llm.Finish, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		return r.answer(timed)
	}()
	r.end(timed, finish, err)
	level := r.s.Log.Info
	if err != nil && r.turn.Status == Failed {
		level = r.s.Log.Error
	}
	attrs := []any{"turn", r.turn.ID[:8], "agent", r.agentName, "model", r.turn.Model, "status", string(r.turn.Status),
		"refused", r.turn.Refused, "sources", len(r.turn.Sources), "cited", len(r.turn.Cited()),
		"dropped_markers", r.stream.Dropped(), "tokens_in", r.turn.PromptTokens, "tokens_out", r.turn.CompletionTokens,
		"ms", time.Since(started).Milliseconds()}
	if err != nil {
		attrs = append(attrs, "err", err)
	}
	level("turn ended", attrs...)
}

// answer retrieves, then lets the model write, in as many rounds of tool calls
// as the agent allows.
func (r *run) answer(ctx context.Context) (llm.Finish, error) {
	if r.turn.Number == 1 {
		if _, err := r.retrieve(ctx, r.turn.Question); err != nil {
			return "", err
		}
	} else if err := r.hold(ctx); err != nil {
		return "", err
	}
	if err := saveSources(ctx, r.s.DB, r.turn.ID, r.turn.Sources); err != nil {
		return "", fmt.Errorf("store sources: %w", err)
	}
	search := r.searchTool()
	var history []llm.Message // of this turn: calls and their results
	for round := 1; ; round++ {
		r.setPhase(Reading)
		req := llm.Request{Messages: append(r.prompt(ctx), history...)}
		if round < r.agent.Rounds {
			req.Tools = []llm.ToolSpec{search.Spec()}
		}
		said, calls, finish, err := r.generate(ctx, req)
		if err != nil || len(calls) == 0 || len(req.Tools) == 0 {
			return finish, err
		}
		history = append(history, llm.Message{Role: llm.RoleAssistant, Text: said, ToolCalls: calls})
		for _, c := range calls {
			history = append(history, llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, Name: c.Name, Text: r.call(ctx, search, c)})
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if said != "" {
			r.write("\n\n")
		}
		if err := saveSources(ctx, r.s.DB, r.turn.ID, r.turn.Sources); err != nil {
			return "", fmt.Errorf("store sources: %w", err)
		}
	}
}

// call runs one tool call. What goes wrong is told to the model, which may try again.
func (r *run) call(ctx context.Context, search tool.Tool, c llm.ToolCall) string {
	if c.Name != search.Name {
		return "Error: there is no tool named " + c.Name + ". Use " + search.Name + "."
	}
	res, err := search.Run(ctx, c.Arguments)
	if bad, ok := errors.AsType[*tool.ArgumentError](err); ok {
		return "Error: " + bad.Error()
	}
	if err != nil {
		if ctx.Err() == nil {
			r.s.Log.Error("search for a model", "turn", r.turn.ID[:8], "err", err)
		}
		return "Error: the search did not work."
	}
	return res.Text
}

type step struct {
	event llm.Event
	err   error
}

// generate makes one model call and shows its text as it comes.
func (r *run) generate(ctx context.Context, req llm.Request) (said string, calls []llm.ToolCall, finish llm.Finish, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// The reader never waits for a rendering longer than one takes, so the
	// channel is only there to let a timer show what the last rendering left out.
	steps := make(chan step)
	go func() {
		defer close(steps)
		for ev, err := range r.s.Model.Generate(ctx, req) {
			select {
			case steps <- step{ev, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() {
		stop()
		for range steps { // the reader has ended when this returns
		}
	}()
	var text strings.Builder
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return text.String(), calls, "", ctx.Err()
		case <-timer.C:
			r.show(false)
		case st, ok := <-steps:
			if !ok {
				if err := ctx.Err(); err != nil {
					return text.String(), calls, "", err
				}
				return text.String(), calls, finish, nil
			}
			switch ev := st.event; {
			case st.err != nil:
				return text.String(), calls, "", st.err
			case ev.Text != "":
				text.WriteString(ev.Text)
				r.write(ev.Text)
				if wait := time.Until(r.next); wait > 0 {
					timer.Reset(wait)
				} else {
					r.show(false)
				}
			case ev.ToolCall != nil:
				calls = append(calls, *ev.ToolCall)
			case ev.Usage != nil:
				r.turn.PromptTokens += ev.Usage.PromptTokens
				r.turn.CompletionTokens += ev.Usage.CompletionTokens
			case ev.Finish != "":
				finish = ev.Finish
			}
		}
	}
}

func (r *run) write(text string) {
	r.stream.Write(text)
	r.pending = true
}

func (r *run) setPhase(p Phase) {
	if r.phase == p {
		return
	}
	r.phase = p
	r.publish(r.stream.Render(false))
}

// show renders what came and publishes it. Text of a turn that has no source at
// all is held back: nothing could support it, and the no-answer message will
// stand in its place.
func (r *run) show(final bool) []markdown.Block {
	if !final && (!r.pending || len(r.turn.Sources) == 0) {
		return nil
	}
	before := time.Now()
	blocks := r.stream.Render(final)
	r.pending = false
	r.next = before.Add(min(max(minPause, 20*time.Since(before)), maxPause))
	if len(blocks) > 0 {
		r.phase = Writing
	}
	r.mu.Lock()
	r.text = r.stream.Text()
	r.mu.Unlock()
	if !final {
		r.publish(blocks)
	}
	return blocks
}

func (r *run) publish(blocks []markdown.Block) {
	r.s.hub.Publish(r.turn.ID, r.snapshot(blocks))
}

func (r *run) snapshot(blocks []markdown.Block) State {
	t := r.turn
	t.Sources = numberSources(r.turn.Sources, r.stream.Cited(), r.numbered)
	t.Text = r.soFar()
	if len(t.Sources) == 0 {
		blocks, t.Text = nil, ""
	}
	return State{Turn: t, Phase: r.phase, Retrieved: r.retrieved, Blocks: blocks}
}

// end decides how the turn ended, stores it and publishes its last state.
func (r *run) end(ctx context.Context, finish llm.Finish, err error) {
	now := db.Now()
	blocks := r.show(true)
	t := &r.turn
	t.FinishedAt = &now
	t.Text = r.soFar()
	t.Status = Done
	t.CutOff = finish == llm.FinishLength
	if err != nil {
		t.Status, t.Failure = ending(context.Cause(ctx), err)
	}
	unsupported := len(t.Sources) == 0 || strings.TrimSpace(t.Text) == ""
	if t.Status == Done && finish == llm.FinishEmpty && len(t.Sources) > 0 && r.s.Model.Name() != llm.OfflineName {
		// A model that thought until its budget ran out and said nothing has not
		// refused: asking again can help.
		t.Status, t.Failure = Failed, FailUnavailable
	}
	switch {
	case t.Status == Done && unsupported:
		t.Refused, t.CutOff = true, false
		t.Text = r.noAnswer()
		t.FinalText, t.Sources = t.Text, nil
		blocks, _ = markdown.Render(t.Text, r.s.markdownOptions(t, r.numbered))
	case len(t.Sources) == 0: // stopped or failed before anything supported the text
		t.Text, blocks = "", nil
	default:
		t.Sources = numberSources(t.Sources, r.stream.Cited(), r.numbered)
		t.FinalText = markdown.Renumber(t.Text, r.s.markdownOptions(t, r.numbered))
	}
	r.phase, r.retrieved = Writing, true
	last := State{Turn: *t, Phase: r.phase, Retrieved: true, Blocks: blocks}

	// The end must be stored even when what ended the run was a stop or a shutdown.
	store, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second+finishGrace)
	defer cancel()
	ended, storeErr := finishTurn(store, r.s.DB, *t, r.s.owner)
	if storeErr != nil {
		r.s.Log.Error("store the end of a turn", "turn", t.ID[:8], "err", storeErr)
		last.Status, last.Failure = Failed, FailInternal
	} else if !ended {
		// Somebody else ended it: the conversation was deleted or the lease lost.
		last.Status = Interrupted
	}
	r.s.hub.Finish(t.ID, last)
}

// ending maps the cause of a run's end to what is stored and shown.
func ending(cause, err error) (Status, Failure) {
	switch {
	case errors.Is(cause, errStopped):
		return Stopped, ""
	case errors.Is(cause, errShutdown), errors.Is(cause, errLost):
		return Interrupted, ""
	case errors.Is(cause, context.DeadlineExceeded):
		return Failed, FailTimeout
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		switch e.Kind {
		case llm.KindRateLimited, llm.KindQuota:
			return Failed, FailBusy
		case llm.KindUnauthorized:
			return Failed, FailKey
		case llm.KindTooLong:
			return Failed, FailTooLong
		case llm.KindUnavailable, llm.KindInvalid, llm.KindCanceled:
			return Failed, FailUnavailable
		}
	}
	return Failed, FailInternal
}

func (r *run) noAnswer() string {
	if msg := r.agent.NoAnswer[r.turn.Lang]; msg != "" {
		return msg
	}
	return r.s.Texts.NoAnswer(r.turn.Lang)
}
