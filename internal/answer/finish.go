package answer

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"time"

	"docent/db"
	"docent/internal/llm"
	"docent/internal/markdown"
)

// end decides how the turn ended, stores it and publishes its last state.
func (r *run) end(ctx context.Context, finish llm.Finish, err error) {
	t := &r.turn
	blocks := r.conclude(ctx, finish, err)
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
		// Somebody else ended it: the conversation was deleted or has gone on. What
		// is kept of the turn counts, for those who watch it too.
		t.Status, t.Failure = Interrupted, ""
		last.Status, last.Failure = Interrupted, ""
		if kept, err := r.s.stored(store, *t); err == nil {
			last = kept
		}
	}
	r.finishRecord(store)
	r.s.hub.Finish(t.ID, last)
}

// conclude sets what is stored of the turn's end and returns its last blocks. Text
// that cannot be rendered is dropped: nobody could open its conversation.
func (r *run) conclude(ctx context.Context, finish llm.Finish, err error) (blocks markdown.Blocks) {
	now := db.Now()
	t := &r.turn
	t.FinishedAt = &now
	defer func() {
		if p := recover(); p != nil {
			r.s.Log.Error("conclude a turn", "turn", t.ID[:8], "panic", p, "stack", string(debug.Stack()))
			t.Status, t.Failure, t.Refused, t.CutOff = Failed, FailInternal, false, false
			t.Text, t.FinalText, t.Suggestions, blocks = "", "", nil, markdown.Blocks{}
		}
	}()
	proposed := r.endProposal()
	blocks = r.show(true)
	t.Text = r.soFar()
	t.Status = Done
	t.CutOff = finish == llm.FinishLength
	if err != nil {
		t.Status, t.Failure = ending(context.Cause(ctx), err)
	}
	if t.Status == Done && finish == llm.FinishEmpty && len(t.Sources) > 0 && r.model.Name() != llm.OfflineName {
		// A model that thought until its budget ran out and said nothing has not
		// refused: asking again can help.
		t.Status, t.Failure = Failed, FailUnavailable
	}
	options := r.s.markdownOptions(t, r.before)
	r.found = t.Sources
	switch {
	case t.Status == Done && !t.CutOff && !r.reachedClient() && (len(t.Sources) == 0 || strings.TrimSpace(t.Text) == ""):
		t.Refused = true
		t.Nearest = r.nearest(ctx)
		t.Text = r.noAnswer()
		t.FinalText, t.Sources = t.Text, nil
		blocks.Settled, _ = markdown.Render(t.Text, r.s.markdownOptions(t, r.before))
		blocks.Tail = nil
	case r.unsupported(): // stopped or failed before anything supported the text
		t.Text, blocks = "", markdown.Blocks{}
	default:
		t.Sources = numberSources(t.Sources, r.stream.Cited(), r.before)
		r.grounds.ground(t.Text, options, t.Sources, nil)
		t.FinalText = markdown.Renumber(t.Text, options)
		t.Suggestions = r.suggest(ctx, proposed)
		r.found = t.Sources
	}
	return blocks
}

// reachedClient reports whether somebody who watches the answer grow has seen text.
func (r *run) reachedClient() bool { return r.turn.Delivery == Stream && r.published }

// groundCards sets what the sources' cards show while the text grows: a card that
// is on the page does not change any more.
func (r *run) groundCards(sources []Source) {
	want := map[string]bool{}
	for _, s := range sources {
		if _, ok := r.shown[s.Key]; s.Final > 0 && !ok {
			want[s.Key] = true
		}
	}
	if len(want) > 0 {
		r.grounds.ground(r.stream.Text(), r.s.markdownOptions(&r.turn, r.before), sources, want)
	}
	for i, s := range sources {
		switch first, ok := r.shown[s.Key]; {
		case s.Final == 0:
			sources[i].Citations = nil
		case ok:
			sources[i].Citations = first
		case len(s.Citations) > 0:
			r.shown[s.Key] = s.Citations
		}
	}
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
