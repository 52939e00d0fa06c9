package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"docent/components"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
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

	// For each marker of the source: the words it rests on, and the address that
	// opens the page there.
	Citations []citation `json:"citations"`
}

type citation struct {
	Quote   string `json:"quote"`
	Passage string `json:"passage"`
	URL     string `json:"url"`
}

// answerJSON is the whole answer, asked for without a stream.
type answerJSON struct {
	ConversationID string     `json:"conversation_id"`
	Turn           int        `json:"turn"`
	TurnID         string     `json:"turn_id"`
	Question       string     `json:"question"`
	Status         string     `json:"status"` // done, refused, or why the text is not whole: cutoff, stopped, interrupted, failed
	Answer         answerText `json:"answer"`
	Suggestions    []string   `json:"suggestions,omitempty"` // follow-up questions
	LogID          string     `json:"log_id,omitempty"`
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
		Status         string      `json:"status"`
		Text           string      `json:"text"`
		References     []reference `json:"references"`
		Suggestions    []string    `json:"suggestions,omitempty"`
		LogID          string      `json:"log_id,omitempty"`
		TraceID        string      `json:"trace_id,omitempty"`
	}
	errorEvent struct {
		Message string `json:"message"`
	}
)

// references renders sources in the agent's view mode, under the numbers that
// number gives them.
func (h *Handlers) references(ctx context.Context, who account.Account, st answer.State, sources []answer.Source, number func(answer.Source) int) ([]reference, error) {
	shown := h.inViewMode(ctx, who, h.viewMode(ctx, st.Agent), sources)
	out := make([]reference, len(sources))
	for i, s := range sources {
		props := h.sourceProps(s)
		entity := shown[inLanguage{s.Ref, s.Lang}]
		props.Summary, props.Fields = entity.summary, entity.fields()
		var b bytes.Buffer
		if err := components.ReferenceCard(props).Render(ctx, &b); err != nil {
			return nil, err
		}
		out[i] = reference{Index: number(s), EntityType: s.Ref.Type, EntityID: s.Ref.ID, Label: s.Title, URL: s.Path, Score: s.Score, Rendered: b.String(),
			Citations: []citation{}}
		for _, c := range s.Citations {
			out[i].Citations = append(out[i].Citations, citation{c.Quote, c.Passage, c.URL})
		}
	}
	return out, nil
}

// inLanguage is an entity in the language that a source shows it in.
type inLanguage struct {
	content.Ref
	lang string
}

// inViewMode renders the fields of sources as the asking account may see them. A
// source that cannot be rendered is shown by its passage instead.
func (h *Handlers) inViewMode(ctx context.Context, who account.Account, mode string, sources []answer.Source) map[inLanguage]shownItem {
	byLang := map[string][]content.Ref{}
	for _, s := range sources {
		byLang[s.Lang] = append(byLang[s.Lang], s.Ref)
	}
	out := map[inLanguage]shownItem{}
	for lang, refs := range byLang {
		found, err := h.Content.LoadMany(ctx, who, refs, lang)
		var fields [][]content.RenderedField
		items := slices.Collect(maps.Values(found))
		if err == nil {
			fields, err = h.Content.RenderMany(ctx, who, items, mode)
		}
		if err != nil {
			h.Log.Warn("render references", "err", err)
			continue
		}
		for i, it := range items {
			out[inLanguage{it.Ref, lang}] = shownFields(ctx, fields[i], h.zone(ctx), nil)
		}
	}
	return out
}

// viewMode is how an agent shows its sources.
func (h *Handlers) viewMode(ctx context.Context, agent string) string {
	if a, err := config.Get[config.Agent](ctx, h.Config, agent); err == nil && a.ViewMode != "" {
		return a.ViewMode
	}
	return config.ViewTeaser
}

func finalNumber(s answer.Source) int { return s.Final }
func modelNumber(s answer.Source) int { return s.Number }

// traces are the ids of a turn's record and trace, for those who may see them.
func traces(who account.Account, st answer.State) (logID, traceID string) {
	if !who.Can(account.ViewAnswersTraces) {
		return "", ""
	}
	return st.LogID, st.TraceID
}

func (h *Handlers) answerJSON(ctx context.Context, who account.Account, st answer.State) (answerJSON, error) {
	refs, err := h.references(ctx, who, st, st.Cited(), finalNumber)
	logID, traceID := traces(who, st)
	return answerJSON{
		ConversationID: st.ConversationID, Turn: st.Number, TurnID: st.ID, Question: st.Question, Status: string(turnState(st)),
		Answer:      answerText{Text: finalText(st), References: refs},
		Suggestions: st.Suggestions, LogID: logID, TraceID: traceID,
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
		refs, err := w.h.references(ctx, w.who, st, st.Sources, modelNumber)
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
	refs, err := w.h.references(ctx, w.who, st, st.Cited(), finalNumber)
	if err != nil {
		return err
	}
	logID, traceID := traces(w.who, st)
	return event("", "done", doneEvent{st.ConversationID, st.Number, st.ID, string(turnState(st)), finalText(st), refs, st.Suggestions, logID, traceID})
}
