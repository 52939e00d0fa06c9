package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// linger is how long a finished stream may still bring its token counts.
const linger = 2 * time.Second

// maxArguments bounds the arguments of all calls of one answer, in bytes.
const maxArguments = 1 << 20

var (
	errCutStream = errors.New("the stream ended before the answer did")
	errHugeCall  = errors.New("the arguments of the tool calls exceed 1 MiB")
)

// chatStream turns the payloads of one response into events.
type chatStream struct {
	model   *OpenAI
	res     *http.Response
	idle    *time.Timer
	yield   func(Event, error) bool
	opening opening
	calls   callBuilder
	reason  string
	out     attempt
}

// read consumes the body. An error without a kind is a broken connection.
func (s *chatStream) read(body io.Reader) attempt {
	patience := s.model.first
	events := newEventReader(body, func() { s.idle.Reset(patience) })
	for {
		s.idle.Reset(patience)
		payload, err := events.next()
		s.idle.Stop()
		switch {
		case err == nil:
			if !s.payload(payload) {
				return s.out
			}
		case s.reason != "" || events.done:
			s.end()
			return s.out
		case err == io.EOF:
			s.out.err = &Error{Err: errCutStream}
			return s.out
		default:
			s.out.err = &Error{Err: err}
			return s.out
		}
		patience = s.model.idle
		if s.reason != "" {
			patience = min(linger, patience)
		}
	}
}

// payload handles one chunk and tells whether to go on.
func (s *chatStream) payload(data []byte) bool {
	if data[0] == '[' { // Gemini's endpoint wraps errors in a list
		var list []json.RawMessage
		if json.Unmarshal(data, &list) == nil && len(list) > 0 {
			data = list[0]
		}
	}
	var c wireChunk
	if err := json.Unmarshal(data, &c); err != nil {
		s.out.err = &Error{Err: errBadChunk}
		return false
	}
	if c.Object == "error" && isNull(c.Error) {
		c.Error = data
	}
	if !isNull(c.Error) {
		s.out.err = s.model.providerError(s.res, c.Error, 0)
		return false
	}
	if u := c.Usage; u != nil {
		s.out.usage = &Usage{u.PromptTokens, u.CompletionTokens}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, d := range []*wireDelta{choice.Delta, choice.Message} {
			if d == nil {
				continue
			}
			if !s.say(s.opening.pass(string(d.Content) + string(d.Refusal))) {
				return false
			}
			for _, f := range d.ToolCalls {
				s.calls.add(f)
			}
			if s.calls.size() > maxArguments {
				s.out.err = &Error{Kind: KindInvalid, Err: errHugeCall}
				return false
			}
		}
		if choice.FinishReason != "" {
			s.reason = choice.FinishReason
		}
	}
	return true
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

func (s *chatStream) say(text string) bool {
	if text == "" {
		return true
	}
	s.out.emitted = true
	if !s.yield(Event{Text: text}, nil) {
		s.out.left = true
	}
	return !s.out.left
}

// end emits what was held back and decides how the answer finished.
func (s *chatStream) end() {
	if !s.say(s.opening.rest()) {
		return
	}
	switch s.reason {
	case "error": // the error object itself is missing
		s.out.err = &Error{Kind: KindUnavailable, Err: errCutStream}
		return
	case "content_filter", "SAFETY":
		s.out.finish = FinishContentFilter
		return
	case "length", "max_tokens":
		s.out.finish = FinishLength
		if !s.out.emitted && len(s.calls.calls) == 0 {
			s.out.finish = FinishEmpty
		}
		return
	}
	calls := s.calls.finished()
	if len(calls) < len(s.calls.calls) {
		s.model.log.Warn("model called a tool without naming it", "model", s.model.model)
	}
	for _, c := range calls {
		s.out.emitted = true
		if !s.yield(Event{ToolCall: &c}, nil) {
			s.out.left = true
			return
		}
	}
	switch {
	case len(calls) > 0:
		s.out.finish = FinishToolCalls
	case s.out.emitted:
		s.out.finish = FinishStop
	default:
		s.out.finish = FinishEmpty
	}
}

const (
	thinkStart = "<think>"
	thinkEnd   = "</think>"
)

// opening holds back the start of an answer until it is known to be one: white
// space is dropped, and so is reasoning that local servers leave in the text.
type opening struct {
	held     string
	thinking bool
	done     bool
}

func (o *opening) pass(text string) string {
	if o.done {
		return text
	}
	o.held += text
	for {
		if o.thinking {
			_, after, ok := strings.Cut(o.held, thinkEnd)
			if !ok {
				o.held = o.held[max(0, len(o.held)-len(thinkEnd)+1):]
				return ""
			}
			o.held, o.thinking = after, false
		}
		o.held = strings.TrimLeft(o.held, " \t\r\n")
		after, ok := strings.CutPrefix(o.held, thinkStart)
		switch {
		case ok:
			o.held, o.thinking = after, true
		case strings.HasPrefix(thinkStart, o.held):
			return ""
		default:
			o.done = true
			return o.held
		}
	}
}

// rest is what pass still holds at the end of the answer.
func (o *opening) rest() string {
	if o.done || o.thinking {
		return ""
	}
	return o.held
}
