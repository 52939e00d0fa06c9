package handlers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"docent/components"
	"docent/db/dbtest"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/internal/markdown"
)

const framesText = "The wheel turns on *four* days [3], always on the ebb [1].\n\n## Days\n\n| Day | Turns |\n|---|---|\n| Sat | 12:05 |\n| Sun | 12:50 [2] |\n\n" +
	"- one [3]\n- two `x[1]`\n\n```go\nfunc main() {}\n```\n\nAsk & see <b>us</b> [5], or [4].\n"

// statesOf plays a text into states as a run publishes them. Cards are numbered
// after those that earlier turns left.
func statesOf(r *rand.Rand, earlier []string) []answer.State {
	sources := make([]answer.Source, 5)
	for i := range sources {
		key := fmt.Sprintf("node:%d", i+1)
		sources[i] = answer.Source{Number: i + 1, Key: key, Ref: content.Ref{Type: "node", ID: key}, Title: "Page <" + key + ">", Path: "/p/", Passage: "Some passage."}
	}
	turn := answer.Turn{ID: "0123456789abcdef", ConversationID: "c", Number: 2, Question: "When?", Lang: "en", Page: "/visit/", Status: answer.Running}
	stream := markdown.NewStream(markdown.Options{
		Source: func(n int) (string, bool) {
			if n < 1 || n > len(sources) {
				return "", false
			}
			return sources[n-1].Key, true
		},
		Numbered: earlier,
		BlockID:  func(i int) string { return fmt.Sprintf("%s-b%d", answer.DOMID(turn.ID), i) },
	})
	snapshot := func(final bool) answer.State {
		st := answer.State{Turn: turn, Phase: answer.Writing, Retrieved: true, Blocks: stream.Render(final)}
		st.Sources = slices.Clone(sources)
		running := slices.Clone(earlier)
		for i, key := range stream.Cited() {
			at := slices.Index(running, key)
			if at < 0 {
				at = len(running)
				running = append(running, key)
			}
			for j := range st.Sources {
				if st.Sources[j].Key == key {
					st.Sources[j].Final, st.Sources[j].Running = i+1, at+1
				}
			}
		}
		return st
	}
	states := []answer.State{{Turn: turn, Phase: answer.Searching}}
	for rest := framesText; rest != ""; {
		n := min(1+r.IntN(25), len(rest))
		stream.Write(rest[:n])
		rest = rest[n:]
		states = append(states, snapshot(false))
	}
	last := snapshot(true)
	last.Status = answer.Done
	return append(states, last)
}

func testHandlers(t *testing.T) (*Handlers, context.Context) {
	t.Helper()
	return &Handlers{}, i18n.WithLanguage(t.Context(), "en")
}

// A testPage is a browser's page as far as frames change it.
type testPage struct {
	t   *testing.T
	doc *goquery.Document
}

func newTestPage(t *testing.T, ctx context.Context, parts ...templ.Component) *testPage {
	t.Helper()
	var b strings.Builder
	if err := templ.Join(parts...).Render(ctx, &b); err != nil {
		t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return &testPage{t: t, doc: doc}
}

// apply does to the page what htmx does with a frame.
func (p *testPage) apply(f frame) {
	p.t.Helper()
	if err := swapFrame(p.doc, p.turn(), f); err != nil {
		p.t.Fatal(err)
	}
}

// turn is the id of the turn that the page shows.
func (p *testPage) turn() string { return p.doc.Find("[data-docent-turn]").Last().AttrOr("id", "") }

func (p *testPage) html(selector string) string {
	p.t.Helper()
	h, err := p.doc.Find(selector).Html()
	if err != nil {
		p.t.Fatal(err)
	}
	return h
}

// Whatever a watcher missed and however often it came back, its page ends as the
// page that is rendered whole, nothing is applied twice, and a block that was
// settled keeps its element.
func TestFramesEndInTheWholePage(t *testing.T) {
	h, ctx := testHandlers(t)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var earlier []string
		if r.IntN(2) == 0 {
			earlier = []string{"node:9", "node:1"}
		}
		states := statesOf(r, earlier)
		block := answersBlock{ID: config.SiteAnswerID, Lang: "en", Agent: "site", followUp: true, carded: map[string]bool{}}
		var cards []components.SourceProps
		for i, key := range earlier {
			block.carded[key] = true
			cards = append(cards, components.SourceProps{Number: i + 1, Key: key, Title: key})
		}
		at := r.IntN(len(states) - 1) // the page may be loaded in mid-answer
		first := states[at]
		shown := slices.Clone(cards)
		for _, s := range newCards(first, len(earlier)) {
			shown = append(shown, h.sourceProps(s))
		}
		page := newTestPage(t, ctx,
			components.Answer(components.AnswerProps{ID: block.ID, Turns: []components.TurnProps{h.turnProps(ctx, first, block)}}),
			components.SourceList(components.SourceListProps{ID: "list", AnswerID: block.ID, Cited: shown, Waiting: waitingSources(h, first, block.carded), Running: true}),
			components.SourceList(components.SourceListProps{ID: "second", AnswerID: block.ID, Cited: shown, Waiting: waitingSources(h, first, block.carded), Running: true}),
			components.SourceList(components.SourceListProps{ID: "elsewhere", AnswerID: "another"}))
		watch := &turnWatch{h: h, page: block, have: seenIn(first, block)}
		tags := map[string]string{}
		for i := at; i < len(states); i++ {
			switch r.IntN(6) {
			case 0:
				continue // the watcher was slow and missed one
			case 1: // the connection broke; what the page has is told by the last event's id
				have, ok := parseSeen(watch.have.String())
				if !ok {
					t.Fatalf("cannot read back %v", watch.have)
				}
				watch = &turnWatch{h: h, page: block, have: have}
			}
			frame, err := watch.frame(ctx, states[i])
			if err != nil {
				t.Fatal(err)
			}
			page.apply(frame)
			for j := range states[i].Blocks.Len() {
				id := fmt.Sprintf("%s-b%d", answer.DOMID(first.ID), j)
				el := page.doc.Find("#" + id)
				if el.Length() != 1 {
					t.Fatalf("seed %d: block %d is there %d times", seed, j, el.Length())
				}
				if tag, ok := tags[id]; ok {
					if got, _ := el.Attr("data-tag"); got != tag {
						t.Fatalf("seed %d: settled block %d was replaced", seed, j)
					}
				} else if j < len(states[i].Blocks.Settled) {
					tags[id] = fmt.Sprint(seed, j)
					el.SetAttr("data-tag", tags[id])
				}
			}
		}
		last := states[len(states)-1]
		if watch.last == nil || watch.last.IsRunning() {
			frame, err := watch.frame(ctx, last)
			if err != nil {
				t.Fatal(err)
			}
			page.apply(frame)
		}
		for _, s := range newCards(last, len(earlier)) {
			cards = append(cards, h.sourceProps(s))
		}
		whole := newTestPage(t, ctx,
			components.Answer(components.AnswerProps{ID: block.ID, Turns: []components.TurnProps{h.turnProps(ctx, last, block)}, FollowUp: h.followUpProps(last, block)}),
			components.SourceList(components.SourceListProps{ID: "list", AnswerID: block.ID, Cited: cards}))
		page.doc.Find("[data-tag]").RemoveAttr("data-tag")
		for _, part := range []string{"-body", "-status", "-end"} {
			selector := "#" + answer.DOMID(last.ID) + part
			if got, want := page.html(selector), whole.html(selector); got != want {
				t.Fatalf("seed %d: %s is\n%s\nwant\n%s", seed, selector, got, want)
			}
		}
		if got, want := page.html("#"+block.ID+"-follow"), whole.html("#"+block.ID+"-follow"); got != want {
			t.Fatalf("seed %d: the follow-up is\n%s\nwant\n%s", seed, got, want)
		}
		for _, list := range []string{"#list ", "#second "} {
			for _, part := range []string{citedList, waitingList, citedCount} {
				if got, want := page.html(list+part), whole.html("#list "+part); got != want {
					t.Fatalf("seed %d: %s is\n%s\nwant\n%s", seed, list+part, got, want)
				}
			}
		}
		if n := page.doc.Find("#elsewhere li").Length(); n != 0 {
			t.Fatalf("seed %d: %d sources in a list of another answer", seed, n)
		}
		if n := page.doc.Find("[data-docent-stream]").Length(); n != 0 {
			t.Fatalf("seed %d: %d elements still stream", seed, n)
		}
	}
}

// A watcher that has more than there is, because the process that wrote it died
// before it could store the last words, is brought back to what there is.
func TestFramesAfterALoss(t *testing.T) {
	h, ctx := newTestSite(t, dbtest.SQLite(t)).Handlers, i18n.WithLanguage(t.Context(), "en")
	states := statesOf(rand.New(rand.NewPCG(7, 7)), nil)
	block := answersBlock{ID: config.SiteAnswerID, Lang: "en", Agent: "site", followUp: true}
	rich, poor := states[len(states)-2], states[len(states)/3]
	poor.Status = answer.Interrupted
	var cards []components.SourceProps
	for _, s := range newCards(rich, 0) {
		cards = append(cards, h.sourceProps(s))
	}
	page := newTestPage(t, ctx,
		components.Answer(components.AnswerProps{ID: block.ID, Turns: []components.TurnProps{h.turnProps(ctx, rich, block)}}),
		components.SourceList(components.SourceListProps{ID: "list", AnswerID: block.ID, Cited: cards, Running: true}))
	watch := &turnWatch{h: h, page: block, have: seenIn(rich, block)}
	frame, err := watch.frame(ctx, poor)
	if err != nil {
		t.Fatal(err)
	}
	page.apply(frame)
	if got, want := page.doc.Find(".d-turn__body > *").Length(), poor.Blocks.Len(); got != want {
		t.Errorf("%d blocks are shown, want %d", got, want)
	}
	if got, want := page.doc.Find("#list [data-docent-source]").Length(), len(newCards(poor, 0)); got != want {
		t.Errorf("%d cards are shown, want %d", got, want)
	}
	if page.doc.Find(".d-turn__end form[action='"+questionURL+"']").Length() != 1 {
		t.Error("an interrupted turn does not offer to ask again")
	}
}

// A process that knows less of a running turn than the page shows, because another
// one writes it, changes nothing until it knows as much.
func TestFramesOfAnOlderState(t *testing.T) {
	h, ctx := newTestSite(t, dbtest.SQLite(t)).Handlers, i18n.WithLanguage(t.Context(), "en")
	states := statesOf(rand.New(rand.NewPCG(5, 5)), nil)
	for i := range states {
		states[i].Text = framesText[:min(len(framesText), 20*i)]
	}
	block := answersBlock{ID: config.SiteAnswerID, Lang: "en", Agent: "site", followUp: true}
	shown := states[len(states)/2]
	watch := &turnWatch{h: h, page: block, have: seenIn(shown, block)}
	for i, st := range states[1:] {
		frame, err := watch.frame(ctx, st)
		if err != nil {
			t.Fatal(err)
		}
		if older := len(st.Text) < len(shown.Text); older != (frame.data == "") {
			t.Errorf("state %d of %d, with %d of the page's %d bytes, gives %q", i+1, len(states), len(st.Text), len(shown.Text), frame)
		}
		shown = st
		if frame.data == "" {
			shown = states[len(states)/2]
		}
	}
	// When nothing more will come, the page shows what there is.
	poor := states[2]
	poor.Status = answer.Interrupted
	frame, err := (&turnWatch{h: h, page: block, have: seenIn(states[len(states)-2], block)}).frame(ctx, poor)
	if err != nil || frame.data == "" {
		t.Errorf("the end of a turn that lost its last words: %q, %v", frame, err)
	}
}

// Connecting again does not touch the cards that the page has.
func TestFramesKeepCardsOnReconnection(t *testing.T) {
	h, ctx := testHandlers(t)
	states := statesOf(rand.New(rand.NewPCG(9, 9)), nil)
	block := answersBlock{ID: config.SiteAnswerID, Lang: "en", Agent: "site", followUp: true}
	for _, st := range states {
		frame, err := (&turnWatch{h: h, page: block, have: seenIn(st, block)}).frame(ctx, st)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(frame.data, "[data-docent-source=") {
			t.Fatalf("cards are sent again: %s", frame)
		}
		other := seenIn(st, block)
		other.List++
		frame, err = (&turnWatch{h: h, page: block, have: other}).frame(ctx, st)
		if err != nil {
			t.Fatal(err)
		}
		if n := cardsOf(st, block); strings.Count(frame.data, "[data-docent-source=") != n {
			t.Fatalf("%d cards that may be others are not sent again: %s", n, frame)
		}
	}
}

// What a card's claim rests on is certain only in the end: it changes inside the
// card, which stays open and keeps the focus.
func TestFrameOfTheFinalGround(t *testing.T) {
	h, ctx := testHandlers(t)
	states := statesOf(rand.New(rand.NewPCG(2, 2)), nil)
	before, last := states[len(states)-2], states[len(states)-1]
	block := answersBlock{ID: config.SiteAnswerID, Lang: "en", Agent: "site", followUp: true}
	for i := range last.Sources {
		last.Sources[i].Citations = answer.Citations{{Quote: "At the end.", Passage: "At the end.", URL: "/p/#end"}}
	}
	watch := &turnWatch{h: h, page: block, have: seenIn(before, block), last: &before}
	frame, err := watch.frame(ctx, last)
	if err != nil {
		t.Fatal(err)
	}
	changes, _, err := partialsOf(frame.data)
	if err != nil {
		t.Fatal(err)
	}
	inside := 0
	for _, c := range changes {
		if !strings.Contains(c.target, "[data-docent-source=") {
			continue
		}
		if c.swap != "innerMorph" || !strings.HasSuffix(c.target, components.SourceWhyPlace) || !strings.Contains(c.html, "At the end.") {
			t.Errorf("a card changes by %v", c)
		}
		inside++
	}
	if n := cardsOf(before, block); inside != n || n == 0 {
		t.Errorf("%d of %d cards change", inside, n)
	}
}

// A refusal is shown once, below the text and with a way on, and leaves no cards.
func TestFrameOfARefusal(t *testing.T) {
	h, ctx := newTestSite(t, dbtest.SQLite(t)).Handlers, i18n.WithLanguage(t.Context(), "en")
	first := answer.State{Turn: answer.Turn{ID: "0123456789abcdef", ConversationID: "c", Number: 1, Question: "Why?", Lang: "en", Status: answer.Running}}
	block := answersBlock{ID: config.SiteAnswerID, Lang: "en", Agent: "site", followUp: true}
	page := newTestPage(t, ctx,
		components.Answer(components.AnswerProps{ID: block.ID, Turns: []components.TurnProps{h.turnProps(ctx, first, block)}}),
		components.SourceList(components.SourceListProps{ID: "list", AnswerID: block.ID, Running: true}))
	last := first
	last.Status, last.Refused, last.Text, last.FinalText = answer.Done, true, "Found nothing.", "Found nothing."
	last.Blocks.Settled, _ = markdown.Render(last.Text, markdown.Options{})
	frame, err := (&turnWatch{h: h, page: block}).frame(ctx, last)
	if err != nil {
		t.Fatal(err)
	}
	page.apply(frame)
	if n := strings.Count(page.doc.Text(), "Found nothing."); n != 1 {
		t.Errorf("the refusal is shown %d times", n)
	}
	if page.doc.Find(".d-refusal a[href^='/search?q=']").Length() != 1 || page.doc.Find("[data-docent-state=refused]").Length() != 1 {
		t.Errorf("no way on: %s", page.html(".d-turn"))
	}
}

// A position that no page can have costs no more than one that has nothing.
func TestFramesOfAMadeUpPosition(t *testing.T) {
	h, ctx := testHandlers(t)
	states := statesOf(rand.New(rand.NewPCG(3, 3)), nil)
	last := states[len(states)-1]
	block := answersBlock{ID: config.SiteAnswerID, Lang: "en", Agent: "site", followUp: true}
	fair, err := (&turnWatch{h: h, page: block}).frame(ctx, last)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"0.2000000000.0.0.0", "2000000000.2000000000.0.0.0", "0.0.2000000000.0.0", "1.5.2000000000.0.0", "0.0.0.zik0zj.0"} {
		have, ok := parseSeen(id)
		if !ok {
			t.Fatalf("%s is not read", id)
		}
		frame, err := (&turnWatch{h: h, page: block, have: have}).frame(ctx, last)
		if err != nil {
			t.Fatal(err)
		}
		if len(frame.data) > 2*len(fair.data)+maxTurnCards*250 {
			t.Errorf("position %s gives a frame of %d bytes, an empty one %d", id, len(frame.data), len(fair.data))
		}
	}
}

// An id that String did not write is a watcher that has nothing.
func TestParseSeenTakesNothingOdd(t *testing.T) {
	for _, id := range []string{"", "1", "1.2.3", "1.2.3.4.5.6", "-1.2.3.4.5", "3.2.1.4.5", "a.b.c.d.e", "99999999999999999999.1.1.1.1", "1.1.1.1.zzzzzzzzzzzzz", "1.2.\n3.4.5", " 1.2.3.4.5"} {
		if s, ok := parseSeen(id); ok {
			t.Errorf("parseSeen(%q) = %v", id, s)
		}
	}
}
