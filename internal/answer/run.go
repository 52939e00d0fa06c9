package answer

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/llm"
	"docent/internal/markdown"
)

// Pacing of what watchers get to see: the first text at once, then no more often
// than every minPause, and rendering may cost a twentieth of one core at most.
const (
	minPause = 33 * time.Millisecond
	maxPause = 250 * time.Millisecond
)

// pause is the time from a rendering that took so long to the next one.
func pause(cost time.Duration) time.Duration { return min(max(minPause, 20*cost), maxPause) }

// A run answers one turn. Its own goroutine alone touches it, except for text.
type run struct {
	s         *Service
	model     llm.Generator
	turn      Turn
	agentName string
	agent     config.Agent
	index     config.Index
	who       account.Account
	cancel    context.CancelCauseFunc

	earlier []Turn
	before  []string // keys on the running list before this turn
	trial   bool

	phase     Phase
	retrieved bool
	stream    *markdown.Stream
	next      time.Time // earliest time of the next rendering
	pending   bool      // text came that no state shows yet
	published bool      // text is on the page
	grounds   grounder
	shown     map[string]Citations // of sources whose card is on the page
	proposal  *proposal            // of follow-up questions; nil until it is asked for

	// For the record.
	started   time.Time
	firstText int // milliseconds; 0: none came
	rounds    int
	steps     []*Step
	found     []Source // all of the turn's sources at its end

	mu   sync.Mutex
	text string // as of the last rendering; the lease keeper stores it
}

func newRun(s *Service, t Turn, p plan, earlier []Turn, who account.Account) *run {
	r := &run{s: s, model: p.model, turn: t, agentName: p.name, agent: p.agent, index: p.index, trial: p.trial, who: who, earlier: earlier,
		phase: Searching, started: t.CreatedAt, shown: map[string]Citations{}, grounds: grounder{lang: t.Lang}}
	r.before = s.numberedBy(earlier)
	r.stream = markdown.NewStream(s.markdownOptions(&r.turn, r.before))
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
	timed, cancel := context.WithTimeout(ctx, RunTimeout)
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
		"ms", r.since()}
	if err != nil {
		attrs = append(attrs, "err", err)
	}
	level("turn ended", attrs...)
}

// answer retrieves, then lets the model write, in as many rounds of tool calls
// as the agent allows.
func (r *run) answer(ctx context.Context) (llm.Finish, error) {
	if err := r.gather(ctx); err != nil {
		return "", err
	}
	tools := r.tools()
	specs := make([]llm.ToolSpec, len(tools))
	for i, t := range tools {
		specs[i] = t.Spec()
	}
	var history []llm.Message // of this turn: calls and their results
	for r.rounds = 1; ; r.rounds++ {
		r.setPhase(Reading)
		req := llm.Request{Messages: append(r.prompt(ctx), history...), Temperature: r.agent.Temperature, MaxTokens: r.agent.MaxTokens}
		if r.rounds < r.agent.Rounds && !r.goesOn() {
			req.Tools = specs
		}
		said, calls, finish, err := r.generate(ctx, req)
		if err != nil || len(calls) == 0 || len(req.Tools) == 0 {
			return finish, err
		}
		history = append(history, llm.Message{Role: llm.RoleAssistant, Text: said, ToolCalls: calls})
		for _, c := range calls {
			history = append(history, llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, Name: c.Name, Text: r.call(ctx, tools, c)})
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if said != "" {
			r.write("\n\n")
		}
		if err := r.keepSources(ctx); err != nil {
			return "", err
		}
	}
}

// gather gets the sources that the model starts with: a first question is always
// searched for; a follow-up holds the last turn's, and is searched for when it is
// on another subject, or one that was offered, whose passages nobody has read yet.
// The rest of an answer comes from the sources that it began with.
func (r *run) gather(ctx context.Context) error {
	if len(r.earlier) == 0 {
		if _, err := r.retrieve(ctx, r.turn.Question, ""); err != nil {
			return err
		}
		return r.keepSources(ctx)
	}
	if err := r.hold(ctx); err != nil {
		return err
	}
	if !r.goesOn() && (r.suggested() || r.agent.TopicDrift && r.drifts()) {
		if _, err := r.retrieve(ctx, r.turn.Question, r.earlier[len(r.earlier)-1].Question); err != nil {
			return err
		}
	}
	return r.keepSources(ctx)
}

func (r *run) keepSources(ctx context.Context) error {
	if err := saveSources(ctx, r.s.DB, r.turn.ID, r.turn.Sources); err != nil {
		return fmt.Errorf("store sources: %w", err)
	}
	return nil
}

type arrival struct {
	event llm.Event
	err   error
}

// generate makes one model call and shows its text as it comes.
func (r *run) generate(ctx context.Context, req llm.Request) (said string, calls []llm.ToolCall, finish llm.Finish, err error) {
	step := r.begin(StepModel, r.model.Name(), "")
	for _, m := range req.Messages {
		step.Messages = append(step.Messages, StepMessage{m.Role, clip(m.Text)})
	}
	defer func() {
		step.Output, step.Finish = said, string(finish)
		for _, c := range calls {
			step.Calls = append(step.Calls, c.Name)
		}
		if err != nil {
			step.Error = err.Error()
		}
		step.end()
	}()
	whole := ctx // what is started beside this call may outlast it
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// The reader never waits for a rendering longer than one takes, so the
	// channel is only there to let a timer show what the last rendering left out.
	steps := make(chan arrival)
	go func() {
		defer close(steps)
		send := func(a arrival) bool {
			select {
			case steps <- a:
				return true
			case <-ctx.Done():
				return false
			}
		}
		defer func() { // a fault of one provider must not end the whole process
			if p := recover(); p != nil {
				send(arrival{err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())})
			}
		}()
		for ev, err := range r.model.Generate(ctx, req) {
			if !send(arrival{ev, err}) {
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
				if r.firstText == 0 {
					r.firstText = max(r.since(), 1)
				}
				text.WriteString(ev.Text)
				r.write(ev.Text)
				if wait := time.Until(r.next); wait > 0 {
					timer.Reset(wait)
				} else {
					r.show(false)
				}
				r.propose(whole) // a reader's first word does not wait for it
			case ev.ToolCall != nil:
				calls = append(calls, *ev.ToolCall)
			case ev.Usage != nil:
				step.PromptTokens += ev.Usage.PromptTokens
				step.CompletionTokens += ev.Usage.CompletionTokens
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
	r.publish(r.render(false))
}

// render renders all that came, and keeps its text beside it.
func (r *run) render(final bool) markdown.Blocks {
	blocks := r.stream.Render(final)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = r.stream.Text()
	return blocks
}

// show renders what came and publishes it. Of an answer asked for whole, text that
// no source supports is held back: the no-answer message will stand in its place.
func (r *run) show(final bool) markdown.Blocks {
	if !final && (!r.pending || r.unsupported()) {
		return markdown.Blocks{}
	}
	before := time.Now()
	blocks := r.render(final)
	r.pending = false
	r.next = before.Add(pause(time.Since(before)))
	if blocks.Len() > 0 {
		r.phase = Writing
	}
	if !final {
		r.published = r.published || blocks.Len() > 0
		r.publish(blocks)
	}
	return blocks
}

// unsupported reports whether what the model writes may not be seen yet.
func (r *run) unsupported() bool { return len(r.turn.Sources) == 0 && r.turn.Delivery != Stream }

func (r *run) publish(blocks markdown.Blocks) {
	r.s.hub.Publish(r.turn.ID, r.snapshot(blocks))
}

func (r *run) snapshot(blocks markdown.Blocks) State {
	t := r.turn
	t.Sources = numberSources(r.turn.Sources, r.stream.Cited(), r.before)
	t.Text = r.soFar()
	if r.unsupported() {
		blocks, t.Text = markdown.Blocks{}, ""
	}
	r.groundCards(t.Sources)
	return State{Turn: t, Phase: r.phase, Retrieved: r.retrieved, Blocks: blocks}
}
