package handlers

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/internal/answer"
	"docent/internal/benchtest"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/markdown"
)

// A playedTurn makes the states that a run publishes while a model writes a text.
type playedTurn struct {
	turn    answer.Turn
	sources []answer.Source
	stream  *markdown.Stream
}

func playTurn() *playedTurn {
	p := &playedTurn{turn: answer.Turn{ID: "0123456789abcdef", ConversationID: "c", Number: 1, Question: "When?", Lang: "en", Page: "/visit/", Status: answer.Running,
		Suggestions: answer.Suggestions{"What about “Guided walks”?", "What about “Concessions”?", "What about “Wind and ice”?"}}}
	passage := strings.Repeat("The library opens at nine on weekdays, and members may borrow ten books for three weeks. ", 4)[:310]
	for n := 1; n <= 9; n++ {
		key := fmt.Sprintf("node:%d", n)
		p.sources = append(p.sources, answer.Source{Number: n, Key: key, Ref: content.Ref{Type: "node", ID: key}, Title: "Opening hours", Path: "/visit/",
			Where: "Visit / Opening hours", Passage: passage, Citations: answer.Citations{{Quote: passage[:90], Passage: passage, Mark: [2]int{0, 90}, URL: "/visit/#:~:text=The%20library%20opens"}}})
	}
	p.stream = markdown.NewStream(markdown.Options{
		Source: func(n int) (string, bool) {
			if n < 1 || n > len(p.sources) {
				return "", false
			}
			return p.sources[n-1].Key, true
		},
		BlockID: func(i int) string { return fmt.Sprintf("%s-b%d", answer.DOMID(p.turn.ID), i) },
	})
	return p
}

// state is the newest state; with final the last one.
func (p *playedTurn) state(final bool) answer.State {
	st := answer.State{Turn: p.turn, Phase: answer.Writing, Retrieved: true, Blocks: p.stream.Render(final)}
	st.Text = p.stream.Text()
	st.Sources = slices.Clone(p.sources)
	for i, key := range p.stream.Cited() {
		at := slices.IndexFunc(st.Sources, func(s answer.Source) bool { return s.Key == key })
		st.Sources[at].Final, st.Sources[at].Running = i+1, i+1
	}
	if final {
		st.Status = answer.Done
	}
	return st
}

// paced yields the states that watchers see of a text whose tokens arrive every
// interval, when no two states are less than a pause apart.
func paced(text string, interval, pause time.Duration, yield func(answer.State)) {
	p := playTurn()
	yield(p.state(false))
	var now, next time.Duration
	pending := false
	for _, token := range benchtest.Tokens(text) {
		if pending && next <= now { // the timer was faster than the token
			yield(p.state(false))
			pending, next = false, next+pause
		}
		p.stream.Write(token)
		pending = true
		if now >= next {
			yield(p.state(false))
			pending, next = false, now+pause
		}
		now += interval
	}
	yield(p.state(true))
}

// wire is what a browser gets of one answer, in bytes.
type wire struct {
	final  int // the answer's HTML as it stays
	html   int // of the answer, in all frames
	whole  int // the same, if each changed block were sent whole
	all    int // everything, down to the chunks of HTTP
	events int
}

func wireOf(t testing.TB, h *Handlers, ctx context.Context, text string, interval, pause time.Duration) (sum wire) {
	t.Helper()
	watch := &turnWatch{h: h, page: answersBlock{ID: config.SiteAnswerID, Lang: "en", Agent: "site", feedback: true, followUp: true, limit: 2000}}
	var before markdown.Blocks
	paced(text, interval, pause, func(st answer.State) {
		f, err := watch.frame(ctx, st)
		if err != nil {
			t.Fatal(err)
		}
		if f.data == "" {
			return
		}
		var event bytes.Buffer
		writeEvent(&event, watch.have.String(), f.name, f.data)
		sum.events++
		sum.all += event.Len() + len(fmt.Sprintf("%x\r\n\r\n", event.Len()))
		if f.name == wordsEvent {
			added, err := changesOf("turn", f.data)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range added {
				sum.html += len(w.html)
			}
		}
		for partial := range strings.SplitSeq(f.data, "</hx-partial>") {
			open, body, _ := strings.Cut(partial, ">")
			if strings.Contains(open, answer.DOMID(st.ID)+"-b") {
				sum.html += len(body)
			}
		}
		sum.final = 0
		for i := range st.Blocks.Len() {
			b := st.Blocks.At(i)
			sum.final += len(b.HTML)
			if i >= before.Len() || before.At(i).HTML != b.HTML {
				sum.whole += len(b.HTML)
			}
		}
		before = st.Blocks
	})
	return sum
}

// What arrives of an answer is not much more than the answer: a growing block is
// not sent again and again.
func TestBytesOfAnAnswer(t *testing.T) {
	h, ctx := testHandlers(t)
	n := wireOf(t, h, ctx, benchtest.Answer(12<<10), 10*time.Millisecond, 33*time.Millisecond)
	t.Logf("12 KB at 100 tokens/s: %+v", n)
	if n.html > 2*n.final {
		t.Errorf("%d bytes of HTML for an answer of %d", n.html, n.final)
	}
	if n.all > 6*n.final {
		t.Errorf("%d bytes in all for an answer of %d", n.all, n.final)
	}
	for kind, text := range benchtest.Hostile(60 << 10) {
		n := wireOf(t, h, ctx, text, 10*time.Millisecond, 250*time.Millisecond)
		t.Logf("one %s: %+v", kind, n)
		if n.html > 3*n.final {
			t.Errorf("one %s: %d bytes of HTML for an answer of %d", kind, n.html, n.final)
		}
	}
}

func TestBenchBytes(t *testing.T) {
	benchtest.Only(t)
	h, ctx := testHandlers(t)
	text := benchtest.Answer(12 << 10)
	every := wireOf(t, h, ctx, text, 10*time.Millisecond, 0)
	benchtest.Gate{ID: "B7", What: "12 KB, every token: HTML of whole changed blocks / of our frames", AtLeast: 15, Stretch: 25}.
		Check(t, float64(every.whole)/float64(every.html), "%d and %d KB in %d events", every.whole>>10, every.html>>10, every.events)
	paced := wireOf(t, h, ctx, text, 10*time.Millisecond, 33*time.Millisecond)
	benchtest.Gate{ID: "B8", What: "12 KB at 100 tokens/s: HTML of our frames / final HTML", AtMost: 2, Stretch: 1.5}.
		Check(t, float64(paced.html)/float64(paced.final), "%d and %d KB in %d events", paced.html>>10, paced.final>>10, paced.events)
	benchtest.Gate{ID: "B8 all", What: "the same: every byte / final HTML", AtMost: 6, Stretch: 4}.
		Check(t, float64(paced.all)/float64(paced.final), "%d KB", paced.all>>10)
}
