package handlers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"docent/components"
	"docent/internal/config"
	"docent/internal/i18n"
)

// A tab is a browser's page with an Answer block and two lists of its sources.
type tab struct {
	w *world
	n int

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when something below has changed
	doc     *goquery.Document
	conv    string
	stream  *stream
	turn    string // whose events it watches, or watched last
	events  string // their address
	last    string // id of the last event
	tags    map[string]bool
	cards   []string // keys by running number, once shown
	kept    []moment
	count   int // events
	err     error
}

// A moment is a page as it was, such as a browser restores it.
type moment struct {
	doc          *goquery.Document
	turn, conv   string
	events, last string
	tags         map[string]bool
	cards        []string
}

// A stream is one connection of a tab's.
type stream struct {
	proc   *process
	cancel context.CancelFunc
	left   int // bytes until it breaks; negative: it does not
	ends   int // end events
	over   bool
	failed bool // ended by an error event
}

const worldBlock = config.SiteAnswerID

// emptyPage is the page as a cache has it.
func emptyPage() (*goquery.Document, error) {
	var b strings.Builder
	ctx := i18n.WithLanguage(context.Background(), "en")
	err := templ.Join(
		components.Answer(components.AnswerProps{ID: worldBlock, Action: questionURL, Agent: "site", Lang: "en", Label: "Answer", Empty: "Ask."}),
		components.SourceList(components.SourceListProps{ID: "list", AnswerID: worldBlock}),
		components.SourceList(components.SourceListProps{ID: "second", AnswerID: worldBlock}),
		components.SourceList(components.SourceListProps{ID: "elsewhere", AnswerID: "another"}),
	).Render(ctx, &b)
	if err != nil {
		return nil, err
	}
	return goquery.NewDocumentFromReader(strings.NewReader(b.String()))
}

func (t *tab) notify() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// await waits until a condition on the tab holds.
func (t *tab) await(what string, ok func() bool) error {
	late := time.After(patience)
	for {
		t.mu.Lock()
		err, good, changed := t.err, ok(), t.changed
		t.mu.Unlock()
		if err != nil || good {
			return err
		}
		select {
		case <-changed:
		case <-late:
			return fmt.Errorf("tab %d never came to %s", t.n, what)
		}
	}
}

// open shows a conversation in the tab, as a page does that was loaded anew.
func (t *tab) open(p *process, conv string) error {
	t.disconnect()
	res, body, err := p.send(t.w.jar, "GET", conversationsURL+conv+"?lang=en&block="+worldBlock, nil)
	if err != nil {
		return err
	}
	doc, err := emptyPage()
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.doc, t.conv, t.turn, t.tags, t.cards, t.kept = doc, "", "", map[string]bool{}, nil, nil
	t.mu.Unlock()
	if t.w.deleted[conv] {
		if res.StatusCode != http.StatusNotFound {
			return fmt.Errorf("a deleted conversation: %d", res.StatusCode)
		}
		return nil
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("conversation: %d %s", res.StatusCode, body)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := swapAnswer(doc, body, "#"+worldBlock+"-transcript", "innerHTML"); err != nil {
		return fmt.Errorf("fragment of a conversation: %w", err)
	}
	t.conv = conv
	return t.watch(p)
}

// watch checks a page that has just got a turn and connects to the events that the
// turn names, if it names some. The caller holds the lock.
func (t *tab) watch(p *process) error {
	t.turn = ""
	have := seen{}.String()
	for _, el := range t.doc.Find("[data-docent-stream]").EachIter() {
		t.events = el.AttrOr("hx-sse:connect", "")
		t.turn = strings.TrimPrefix(strings.TrimSuffix(strings.Split(t.events, "?")[0], "/events"), turnsURL)
		t.last = ""
		t.connect(p)
		address, err := url.Parse(t.events)
		if err != nil {
			return err
		}
		have = address.Query().Get("seen")
	}
	return t.check(have)
}

// connect opens the stream that the tab's page wants.
func (t *tab) connect(p *process) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stream{proc: p, cancel: cancel, left: -1}
	t.stream = s
	go t.read(ctx, s, t.events, t.last)
}

func (t *tab) disconnect() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stream != nil {
		t.stream.cancel()
		t.stream = nil
		t.notify()
	}
}

// read takes the events of one connection until it ends.
func (t *tab) read(ctx context.Context, s *stream, path, last string) {
	defer s.cancel()
	err := t.receive(ctx, s, path, last)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stream == s {
		t.stream = nil
		if err != nil && t.err == nil {
			t.err = err
		}
	}
	s.over = true
	t.notify()
}

func (t *tab) receive(ctx context.Context, s *stream, path, last string) error {
	res, err := s.proc.request(ctx, t.w.jar, "GET", path, nil, "Last-Event-ID", last)
	if err != nil {
		return nil // the process is gone, or the tab does not want it any more
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusNotFound {
		s.failed = true
		return nil
	}
	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(res.Body)
		return fmt.Errorf("events: %d %s", res.StatusCode, b)
	}
	in := bufio.NewReader(res.Body)
	var id, name string
	var data []string
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil
		}
		t.mu.Lock()
		if s.left >= 0 {
			if s.left -= len(line); s.left < 0 {
				s.left = 0
				t.mu.Unlock()
				return nil // broken in the middle of an event
			}
		}
		t.mu.Unlock()
		line = strings.TrimSuffix(line, "\n")
		field, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && (name != "" || data != nil):
			if stop, err := t.take(s, id, name, strings.Join(data, "\n")); stop || err != nil {
				return err
			}
			id, name, data = "", "", nil
		case field == "id":
			id = value
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
		}
	}
}

// take handles one whole event.
func (t *tab) take(s *stream, id, name, data string) (stop bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stream != s {
		return true, nil
	}
	defer t.notify()
	switch {
	case name == "done":
		s.ends++
		t.stream = nil // htmx closes it
		return true, nil
	case name == "error":
		s.failed = true
		return true, nil
	case name != "" && name != wordsEvent || id == "":
		return true, fmt.Errorf("event %q with id %q", name, id)
	}
	if t.count++; t.count%3 == 0 { // a moment that the browser may come back to
		t.kept = append(t.kept, moment{goquery.CloneDocument(t.doc), t.turn, t.conv, t.events, t.last, maps.Clone(t.tags), slices.Clone(t.cards)})
	}
	if err := swapFrame(t.doc, t.doc.Find("[data-docent-turn]").Last().AttrOr("id", ""), frame{name, data}); err != nil {
		return true, fmt.Errorf("tab %d after %s: %w", t.n, t.last, err)
	}
	t.last = id
	return false, t.check(id)
}
