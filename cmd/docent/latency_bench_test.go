package main

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"docent/internal/benchtest"
	"docent/internal/llm/llmtest"
)

const (
	firstWord   = "Zebras"
	answersEach = 20 // in each round, of either side
)

// A gatedModel answers the first request after it was armed when the test says so;
// what else it is asked meanwhile, such as for follow-up questions, it answers at
// once and with nothing.
type gatedModel struct {
	*httptest.Server
	armed atomic.Bool
	asked chan struct{}
	gate  chan struct{}
	sent  chan time.Time // when the first word left
}

func newGatedModel() *gatedModel {
	m := &gatedModel{asked: make(chan struct{}, 1), gate: make(chan struct{}), sent: make(chan time.Time, 1)}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		pieces := llmtest.Stream(firstWord, " eat grass [1].").Pieces
		if !m.armed.Swap(false) {
			pieces = llmtest.Stream().Pieces
		} else {
			io.WriteString(w, pieces[0])
			flush.Flush()
			m.asked <- struct{}{}
			select {
			case <-m.gate:
			case <-r.Context().Done():
				return
			}
			m.sent <- time.Now()
			io.WriteString(w, pieces[1])
			flush.Flush()
			pieces = pieces[2:]
			select {
			case <-m.gate:
			case <-r.Context().Done():
				return
			}
		}
		io.WriteString(w, strings.Join(pieces, ""))
	}))
	return m
}

var eventsAddress = regexp.MustCompile(`hx-sse:connect="([^"]+)"`)

// TestBenchFirstToken measures what the site adds to the time from the model's
// first token to the reader: a browser's stream of the whole program against a
// connection to the model itself. Everything is one process on loopback.
func TestBenchFirstToken(t *testing.T) {
	benchtest.Only(t)
	model := newGatedModel()
	defer model.Close()
	s := serveSite(t, map[string]string{"DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake", "DOCENT_TRUSTED_PROXIES": "127.0.0.1"})
	// first lets the model go on and returns when the first word has arrived.
	first := func(body io.Reader) time.Duration {
		arrived := make(chan time.Time, 1)
		go func() {
			defer close(arrived)
			for lines := bufio.NewScanner(body); lines.Scan(); {
				if strings.Contains(lines.Text(), firstWord) {
					arrived <- time.Now()
					return
				}
			}
		}()
		<-model.asked
		time.Sleep(5 * time.Millisecond) // everybody listens
		model.gate <- struct{}{}
		at, ok := <-arrived
		if !ok {
			t.Fatal("the stream ended without the word")
		}
		model.gate <- struct{}{}
		return at.Sub(<-model.sent)
	}
	c := client(t)
	open := func(ctx context.Context, method, address, body string, header ...string) *http.Response {
		req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d", address, res.StatusCode)
		}
		return res
	}
	asked := 0
	all := map[string][]time.Duration{}
	round := func(name string, one func(context.Context) time.Duration) benchtest.Side {
		return func() float64 {
			var times []time.Duration
			for range answersEach {
				ctx, cancel := context.WithCancel(t.Context())
				times = append(times, one(ctx))
				cancel()
			}
			all[name] = append(all[name], times...)
			return float64(benchtest.Median(times).Microseconds())
		}
	}
	m := benchtest.Alternate(
		round("site", func(ctx context.Context) time.Duration {
			asked++
			visitor := fmt.Sprintf("10.0.%d.%d", asked/250, asked%250+1) // one visitor may not ask that often
			model.armed.Store(true)
			_, body := s.do(c, "POST", "/ai-answers/question", url.Values{"agent": {"site"}, "question": {"When is the garden open in winter?"}}.Encode(),
				"Content-Type", "application/x-www-form-urlencoded", "HX-Request", "true", "Sec-Fetch-Site", "same-origin", "X-Forwarded-For", visitor)
			address := eventsAddress.FindStringSubmatch(body)
			if address == nil {
				t.Fatalf("no stream in %s", body)
			}
			res := open(ctx, "GET", s.url+html.UnescapeString(address[1]), "", "HX-Request", "true", "X-Forwarded-For", visitor)
			defer res.Body.Close()
			took := first(res.Body)
			io.Copy(io.Discard, res.Body)
			return took
		}),
		round("direct", func(ctx context.Context) time.Duration {
			model.armed.Store(true)
			res := open(ctx, "POST", model.URL+"/v1/chat/completions", `{"model":"fake","stream":true,"messages":[{"role":"user","content":"When?"}]}`, "Content-Type", "application/json")
			defer res.Body.Close()
			took := first(res.Body)
			io.Copy(io.Discard, res.Body)
			return took
		}))
	p99 := func(name string) int64 { return benchtest.Quantile(all[name], 0.99).Microseconds() }
	benchtest.Gate{ID: "B14", What: "first token: added by the site to a direct connection, p50 in us", AtMost: 300, Stretch: 100}.
		Check(t, m[0]-m[1], "%.0f and %.0f us; p99 %d and %d us", m[0], m[1], p99("site"), p99("direct"))
}
