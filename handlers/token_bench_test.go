package handlers

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"docent/internal/benchtest"
	"docent/internal/llm"
	"docent/internal/llm/llmtest"
)

// roundTrip is a model server in memory.
type roundTrip func() io.Reader

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(f()), Request: r}, nil
}

// TestBenchToken measures what happens between the bytes of the model and those of
// the browser when every token is shown: decoding, rendering, and making the event.
func TestBenchToken(t *testing.T) {
	benchtest.Only(t)
	h, ctx := testHandlers(t)
	answer := strings.Join(llmtest.Stream(benchtest.Tokens(benchtest.Answer(12<<10))...).Pieces, "")
	model, err := llm.NewOpenAI(llm.OpenAIOptions{BaseURL: "http://model.example", Model: "fake",
		Client: &http.Client{Transport: roundTrip(func() io.Reader { return strings.NewReader(answer) })}})
	if err != nil {
		t.Fatal(err)
	}
	var all []time.Duration
	m := benchtest.Alternate(func() float64 {
		var times []time.Duration
		turn := playTurn()
		watch := &turnWatch{h: h, page: answersBlock{ID: "ai-answers-answer-site", Lang: "en", Agent: "site"}}
		var event bytes.Buffer
		began := time.Now()
		for ev, err := range model.Generate(ctx, llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "When?"}}}) {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Text == "" {
				continue
			}
			turn.stream.Write(ev.Text)
			f, err := watch.frame(ctx, turn.state(false))
			if err != nil {
				t.Fatal(err)
			}
			event.Reset()
			writeEvent(&event, watch.have.String(), f.name, f.data)
			now := time.Now()
			times = append(times, now.Sub(began))
			began = now
		}
		all = append(all, times...)
		return float64(benchtest.Median(times).Nanoseconds()) / 1e3
	})
	benchtest.Gate{ID: "B15", What: "a token from the model's bytes to the event's, p50 in us", AtMost: 150, Stretch: 40}.
		Check(t, m[0], "p99 %d us", benchtest.Quantile(all, 0.99).Microseconds())
}
