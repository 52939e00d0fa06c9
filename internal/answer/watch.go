package answer

import (
	"context"
	"iter"
	"slices"
	"time"

	"docent/internal/account"
	"docent/internal/markdown"
)

// pollElsewhere is how often a watcher looks for the end of a turn that another
// process runs.
const pollElsewhere = time.Second

// Watch yields the newest state of a turn at once and again whenever it changed,
// until it has ended. Watching never starts or ends any work.
func (s *Service) Watch(ctx context.Context, turnID string, who account.Account) (iter.Seq2[State, error], error) {
	t, err := s.turn(ctx, turnID, who)
	if err != nil {
		return nil, err
	}
	return func(yield func(State, error) bool) {
		for st := range s.hub.Watch(ctx, turnID) {
			if !yield(st, nil) || !st.IsRunning() {
				return
			}
		}
		// Not live here: it has ended, or another process runs it.
		tick := time.NewTicker(pollElsewhere)
		defer tick.Stop()
		for ctx.Err() == nil {
			if t, err = s.turn(ctx, turnID, who); err != nil {
				if ctx.Err() == nil {
					yield(State{}, err)
				}
				return
			}
			st, err := s.state(ctx, t)
			if !yield(st, err) || err != nil || !st.IsRunning() {
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}, nil
}

// Wait returns the turn's last state, or its newest one when ctx ends first.
func (s *Service) Wait(ctx context.Context, turnID string, who account.Account) (State, error) {
	states, err := s.Watch(ctx, turnID, who)
	if err != nil {
		return State{}, err
	}
	var last State
	for st, err := range states {
		if err != nil {
			return State{}, err
		}
		last = st
	}
	if last.ID == "" {
		return State{}, context.Cause(ctx)
	}
	return last, nil
}

// Stop ends a running turn; its text so far is kept. Stopping a turn that has
// ended changes nothing.
func (s *Service) Stop(ctx context.Context, turnID string, who account.Account) error {
	t, err := s.turn(ctx, turnID, who)
	if err != nil {
		return err
	}
	if err := requestStop(ctx, s.DB, t.ID); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.runs[t.ID]; r != nil {
		r.cancel(errStopped)
	}
	return nil
}

// state is the newest state of a stored turn.
func (s *Service) state(ctx context.Context, t Turn) (State, error) {
	if st, ok := s.live(t); ok {
		return st, nil
	}
	return s.stored(ctx, t)
}

// stored is the state of a turn as far as it is stored.
func (s *Service) stored(ctx context.Context, t Turn) (State, error) {
	turns, err := turnsOf(ctx, s.DB, t.ConversationID)
	if err != nil {
		return State{}, err
	}
	i := slices.IndexFunc(turns, func(o Turn) bool { return o.ID == t.ID })
	if i < 0 {
		return State{}, ErrNotFound
	}
	return s.rendered(turns[i], s.numberedBy(turns[:i])), nil
}

// newest is what is live of a turn here, or its stored state.
func (s *Service) newest(t Turn, numbered []string) State {
	if st, ok := s.live(t); ok {
		return st
	}
	return s.rendered(t, numbered)
}

// live is the newest state of a turn that runs here. Of one that is stored as ended
// what is stored counts, even while its run has not noticed: the conversation may
// have gone on from there.
func (s *Service) live(t Turn) (State, bool) {
	if t.Status != Running {
		return State{}, false
	}
	return s.hub.Newest(t.ID)
}

// states renders a conversation's stored turns, or takes what is live of them.
func (s *Service) states(turns []Turn) []State {
	out := make([]State, len(turns))
	var numbered []string
	for i, t := range turns {
		out[i] = s.newest(t, numbered)
		numbered = appendNumbered(numbered, out[i].Sources)
	}
	return out
}

// numberedBy are the keys on the running list after these turns. Only those whose
// numbers were not stored are rendered for it.
func (s *Service) numberedBy(turns []Turn) []string {
	var numbered []string
	for _, t := range turns {
		sources := t.Sources
		if !t.numbersStored() {
			sources = s.newest(t, numbered).Sources
		}
		numbered = appendNumbered(numbered, sources)
	}
	return numbered
}

// numbersStored reports whether the turn ended in the hands of its process, which
// then stored its numbers.
func (t Turn) numbersStored() bool { return t.Status != Running && t.Status != Interrupted }

// rendered is the state of a turn that is not live here.
func (s *Service) rendered(t Turn, numbered []string) State {
	st := State{Turn: t, Phase: Writing, Retrieved: true}
	// What another process is still writing is not final: its last block may grow,
	// and half a marker at its end is held back.
	stream := markdown.NewStream(s.markdownOptions(&t, numbered))
	stream.Write(t.Text)
	st.Blocks = stream.Render(t.Status != Running)
	if !t.numbersStored() {
		st.Sources = numberSources(t.Sources, stream.Cited(), numbered)
	}
	return st
}

// appendNumbered adds the keys of a turn's newly numbered sources to the running list.
func appendNumbered(numbered []string, sources []Source) []string {
	byNumber := map[int]string{}
	for _, src := range sources {
		if src.Running > len(numbered) {
			byNumber[src.Running] = src.Key
		}
	}
	for n := len(numbered) + 1; byNumber[n] != ""; n++ {
		numbered = append(numbered, byNumber[n])
	}
	return numbered
}

// numberSources returns the sources with the numbers that follow from cited, the
// keys in order of first citation in this turn.
func numberSources(sources []Source, cited, numbered []string) []Source {
	final, running := map[string]int{}, map[string]int{}
	for i, key := range numbered {
		running[key] = i + 1
	}
	for i, key := range cited {
		final[key] = i + 1
		if running[key] == 0 {
			running[key] = len(running) + 1
		}
	}
	out := slices.Clone(sources)
	for i := range out {
		out[i].Final, out[i].Running = final[out[i].Key], 0
		if out[i].Final > 0 {
			out[i].Running = running[out[i].Key]
		}
	}
	return out
}
