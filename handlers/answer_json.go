package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"docent/components"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/i18n"
)

// reference is a cited source as API clients get it.
type reference struct {
	Index      int     `json:"index"`
	EntityType string  `json:"entity_type"`
	EntityID   string  `json:"entity_id"`
	Label      string  `json:"label"`
	URL        string  `json:"url"`
	Score      float64 `json:"score"`
	Rendered   string  `json:"rendered"`
}

// answerJSON is the whole answer, asked for without a stream.
type answerJSON struct {
	ConversationID string     `json:"conversation_id"`
	Turn           int        `json:"turn"`
	TurnID         string     `json:"turn_id"`
	Answer         answerText `json:"answer"`
	TraceID        string     `json:"trace_id,omitempty"`
}

type answerText struct {
	Text       string      `json:"text"`
	References []reference `json:"references"`
}

// The data of the JSON events.
type (
	referencesEvent struct {
		Turn       int         `json:"turn"`
		TurnID     string      `json:"turn_id"`
		References []reference `json:"references"`
	}
	tokenEvent struct {
		Text string `json:"text"`
	}
	doneEvent struct {
		ConversationID string      `json:"conversation_id"`
		Turn           int         `json:"turn"`
		TurnID         string      `json:"turn_id"`
		Text           string      `json:"text"`
		References     []reference `json:"references"`
		TraceID        string      `json:"trace_id,omitempty"`
	}
	errorEvent struct {
		Message string `json:"message"`
	}
)

// references renders sources under the numbers that number gives them.
func (h *Handlers) references(ctx context.Context, sources []answer.Source, number func(answer.Source) int) ([]reference, error) {
	out := make([]reference, len(sources))
	for i, s := range sources {
		var b bytes.Buffer
		if err := components.Reference(h.sourceProps(s)).Render(ctx, &b); err != nil {
			return nil, err
		}
		out[i] = reference{Index: number(s), EntityType: s.Ref.Type, EntityID: s.Ref.ID, Label: s.Title, URL: s.Path, Score: s.Score, Rendered: b.String()}
	}
	return out, nil
}

func finalNumber(s answer.Source) int { return s.Final }
func modelNumber(s answer.Source) int { return s.Number }

// traceID is the turn's id in logs, for those who may see it.
func traceID(who account.Account, st answer.State) string {
	if !who.Can(account.ViewAnswersTraces) {
		return ""
	}
	return st.ID[:8]
}

func (h *Handlers) answerJSON(ctx context.Context, who account.Account, st answer.State) (answerJSON, error) {
	refs, err := h.references(ctx, st.Cited(), finalNumber)
	return answerJSON{
		ConversationID: st.ConversationID, Turn: st.Number, TurnID: st.ID,
		Answer:  answerText{Text: finalText(st), References: refs},
		TraceID: traceID(who, st),
	}, err
}

func finalText(st answer.State) string {
	if st.FinalText != "" {
		return st.FinalText
	}
	return st.Text // interrupted: nobody made a final one
}

// A jsonWatch turns the states of one turn into JSON events. Its position, the id
// of the last event, tells whether the sources were sent and how many bytes of
// the model's text.
type jsonWatch struct {
	h       *Handlers
	who     account.Account
	sources int
	sent    int
}

func (w *jsonWatch) position() string {
	return "j" + strconv.Itoa(w.sources) + "." + strconv.Itoa(w.sent)
}

// resume takes a position up again; anything else starts from the beginning.
func (w *jsonWatch) resume(id string) {
	sources, sent, ok := strings.Cut(strings.TrimPrefix(id, "j"), ".")
	a, errA := strconv.ParseUint(sources, 10, 31)
	b, errB := strconv.ParseUint(sent, 10, 31)
	if ok && strings.HasPrefix(id, "j") && errA == nil && errB == nil {
		w.sources, w.sent = int(a), int(b)
	}
}

// send writes the events that bring the client up to st.
func (w *jsonWatch) send(ctx context.Context, s *eventStream, st answer.State) error {
	event := func(id, name string, data any) error {
		text, err := json.Marshal(data)
		if err != nil {
			return err
		}
		return s.send(id, name, string(text))
	}
	if len(st.Sources) > w.sources {
		refs, err := w.h.references(ctx, st.Sources, modelNumber)
		if err != nil {
			return err
		}
		w.sources = len(st.Sources)
		if err := event(w.position(), "references", referencesEvent{st.Number, st.ID, refs}); err != nil {
			return err
		}
	}
	if !st.Refused && len(st.Text) > w.sent {
		text := st.Text[w.sent:]
		w.sent = len(st.Text)
		if err := event(w.position(), "token", tokenEvent{text}); err != nil {
			return err
		}
	}
	switch st.Status {
	case answer.Running:
		return nil
	case answer.Failed:
		return event("", "error", errorEvent{failureText(ctx, st.Failure)})
	case answer.Interrupted:
		return event("", "error", errorEvent{i18n.T(ctx, "end.interrupted")})
	}
	refs, err := w.h.references(ctx, st.Cited(), finalNumber)
	if err != nil {
		return err
	}
	return event("", "done", doneEvent{st.ConversationID, st.Number, st.ID, finalText(st), refs, traceID(w.who, st)})
}
