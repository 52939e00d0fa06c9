// Package llmtest holds stand-ins for models: a scripted one and a server that
// speaks the OpenAI protocol over real HTTP.
package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync"

	"docent/internal/llm"
)

// Step is one thing a [Script] does: emit an event, wait, or fail. Build it with
// [Text], [Call], [Used], [End], [Fail], [Wait] or [Reach].
type Step struct {
	event llm.Event
	err   error
	wait  <-chan struct{}
	reach chan<- struct{}
}

// Text emits a piece of the answer.
func Text(s string) Step { return Step{event: llm.Event{Text: s}} }

// Call emits a tool call with a fresh id. Arguments must be valid JSON.
func Call(name, arguments string) Step {
	return Step{event: llm.Event{ToolCall: &llm.ToolCall{Name: name, Arguments: json.RawMessage(arguments)}}}
}

// Used emits token counts.
func Used(prompt, completion int) Step {
	return Step{event: llm.Event{Usage: &llm.Usage{PromptTokens: prompt, CompletionTokens: completion}}}
}

// End emits a finish. A turn without End or Fail ends with "tool_calls" when it
// made calls, else with "stop".
func End(f llm.Finish) Step { return Step{event: llm.Event{Finish: f}} }

// Fail ends the turn with err.
func Fail(err error) Step { return Step{err: err} }

// Wait pauses until ch is closed or the caller gives up.
func Wait(ch <-chan struct{}) Step { return Step{wait: ch} }

// Reach closes ch when the script arrives here. It works once.
func Reach(ch chan<- struct{}) Step { return Step{reach: ch} }

// Turn is what the model does in one call of Generate.
type Turn []Step

// Script is a model that does what it was told, turn by turn, and keeps the
// requests it got. It is safe for concurrent use; concurrent generations take
// the turns in the order they start.
type Script struct {
	mu       sync.Mutex
	turns    []Turn
	requests []llm.Request
}

// NewScript returns a model that plays turns, one a generation.
func NewScript(turns ...Turn) *Script { return &Script{turns: turns} }

// Name is "script".
func (s *Script) Name() string { return "script" }

// Requests returns the requests so far.
func (s *Script) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]llm.Request(nil), s.requests...)
}

// Generate plays the next turn. When none is left it fails.
func (s *Script) Generate(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		turn, err := s.next(r)
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		finish := llm.FinishStop
		for _, step := range turn {
			if ctx.Err() != nil {
				yield(llm.Event{}, canceled(ctx))
				return
			}
			switch {
			case step.err != nil:
				yield(llm.Event{}, step.err)
				return
			case step.reach != nil:
				close(step.reach)
				continue
			case step.wait != nil:
				select {
				case <-step.wait:
				case <-ctx.Done():
					yield(llm.Event{}, canceled(ctx))
					return
				}
				continue
			case step.event.ToolCall != nil:
				call := *step.event.ToolCall
				call.ID = llm.NewCallID()
				step.event.ToolCall = &call
				finish = llm.FinishToolCalls
			}
			if !yield(step.event, nil) || step.event.Finish != "" {
				return
			}
		}
		yield(llm.Event{Finish: finish}, nil)
	}
}

func (s *Script) next(r llm.Request) (Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if len(s.requests) > len(s.turns) {
		return nil, &llm.Error{Kind: llm.KindInvalid, Err: errors.New("the script has no more turns")}
	}
	return s.turns[len(s.requests)-1], nil
}

func canceled(ctx context.Context) error {
	return &llm.Error{Kind: llm.KindCanceled, Err: ctx.Err()}
}
