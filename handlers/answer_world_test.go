package handlers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"docent/components"
	"docent/db"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/internal/llm"
	"docent/internal/llm/llmtest"
	"docent/internal/markdown"

	"github.com/a-h/templ"
)

// patience is how long something that must happen may take.
const patience = 20 * time.Second

// A world is one visitor's conversations as several tabs and two processes of the
// site see them, with a model that writes when it is told to.
type world struct {
	site  *stage
	name  string // in every question of this world
	r     *rand.Rand
	model *llmtest.Script
	plays []*play
	procs [2]*process
	jar   http.CookieJar
	who   account.Account
	tabs  []*tab

	asked    map[string]string          // question -> conversation it went to
	accepted map[string]map[string]bool // question -> ids of its turns
	deleted  map[string]bool            // conversations
	lossy    map[string]bool            // conversations whose process lost a turn
	votes    map[string]string          // turn -> last vote
}

// A play is what the model says in answer to one question, one piece a gate.
type play struct {
	pieces  []string
	gates   []chan struct{}
	said    int
	started chan struct{}
}

func (p *play) running() bool {
	select {
	case <-p.started:
		return p.said < len(p.gates)
	default:
		return false
	}
}

// next lets the model say one piece more.
func (p *play) next() {
	close(p.gates[p.said])
	p.said++
}

// certain is the length of the text so far without its last block, whose end may
// be held back.
func (p *play) certain() int {
	return max(0, strings.LastIndex(strings.Join(p.pieces[:p.said], ""), "\n\n"))
}

// A stage is what all worlds of a test share: a database with pages and an account.
type stage struct {
	*testSite
	ada     account.Account
	cookies []*http.Cookie // of hers
}

func newStage(t *testing.T, d *db.DB) *stage {
	t.Helper()
	s := &stage{testSite: newTestSite(t, d)}
	s.ada.ID = s.person("ada").ID
	s.cookies = s.browser().login("ada").cookies()
	if err := config.Put(t.Context(), s.Config, config.SiteName, config.AnswerSettings{RetentionDays: 30}, ""); err != nil {
		t.Fatal(err)
	}
	agent := config.DefaultAgent()
	agent.MinScore = 0
	if err := config.Put(t.Context(), s.Config, config.SiteName, agent, ""); err != nil {
		t.Fatal(err)
	}
	for i, title := range []string{"Opening hours", "Prices", "The garden", "Getting here", "The café"} {
		s.save(t, content.Input{Title: title, Path: fmt.Sprintf("/visit/w%d/", i),
			Fields: content.Fields{"body": "The garden in winter: hours, prices, paths. " + title + " of the garden in winter.\n\n## More\n\nMore of " + title + "."}})
	}
	return s
}

func newWorld(site *stage, name string, r *rand.Rand) (*world, error) {
	w := &world{site: site, name: name, r: r, asked: map[string]string{}, accepted: map[string]map[string]bool{},
		deleted: map[string]bool{}, lossy: map[string]bool{}, votes: map[string]string{}}
	var turns []llmtest.Turn
	for range 40 {
		p := &play{started: make(chan struct{})}
		turn := llmtest.Turn{llmtest.Reach(p.started)}
		for _, piece := range cutText(r, inventedAnswer(r), 2+r.IntN(7)) {
			gate := make(chan struct{})
			p.pieces, p.gates = append(p.pieces, piece), append(p.gates, gate)
			turn = append(turn, llmtest.Wait(gate), llmtest.Text(piece))
		}
		switch r.IntN(8) {
		case 0:
			turn = append(turn, llmtest.Fail(&llm.Error{Kind: llm.KindUnavailable, Err: errors.New("gone")}))
		case 1:
			turn = append(turn, llmtest.End(llm.FinishLength))
		}
		w.plays, turns = append(w.plays, p), append(turns, turn)
	}
	w.model = llmtest.NewScript(turns...)
	w.jar, _ = cookiejar.New(nil)
	for i := range w.procs {
		w.procs[i] = &process{w: w, n: i}
		if err := w.procs[i].start(); err != nil {
			return nil, err
		}
	}
	for i := range 3 {
		w.tabs = append(w.tabs, &tab{w: w, n: i, changed: make(chan struct{})})
	}
	if r.IntN(2) == 0 { // the visitor has an account
		w.who = site.ada
		w.jar.SetCookies(&url.URL{Scheme: "http", Host: "127.0.0.1", Path: "/"}, site.cookies)
	}
	return w, nil
}

// A process is one running copy of the site on the shared database.
type process struct {
	w      *world
	n      int
	h      *Handlers
	server *httptest.Server
	log    *syncBuffer
}

func (p *process) start() error {
	deps := p.w.site.Deps
	p.log = &syncBuffer{}
	deps.Log = slog.New(slog.NewTextHandler(p.log, nil))
	var err error
	deps.Answers, err = answer.New(context.Background(), answer.Options{DB: deps.DB, Config: deps.Config, Content: deps.Content, Search: deps.Search,
		Model: p.w.model, SiteURL: deps.BaseURL, Log: deps.Log,
		Texts: madeUpTexts()})
	if err != nil {
		return err
	}
	if p.h, err = New(context.Background(), deps); err != nil {
		return err
	}
	p.server = httptest.NewServer(p.h.Echo())
	return nil
}

// stop ends the process: its turns are interrupted, or finished when they may.
func (p *process) stop(ctx context.Context) {
	p.h.Answers.Close(ctx)
	closed := make(chan struct{})
	go func() {
		p.server.Close()
		close(closed)
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		p.server.CloseClientConnections() // also those that came in at the last moment
		select {
		case <-closed:
			return
		case <-tick.C:
		}
	}
}

func (p *process) restart() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p.stop(ctx)
	if err := p.leftovers(); err != nil {
		return err
	}
	return p.start()
}

// leftovers reports what a process that was stopped still keeps of its turns.
func (p *process) leftovers() error {
	service := reflect.ValueOf(p.h.Answers).Elem()
	for _, name := range []string{"topics"} {
		if n := service.FieldByName("hub").FieldByName(name).Len(); n != 0 {
			return fmt.Errorf("%d live turns are left in a process that was stopped", n)
		}
	}
	if n := service.FieldByName("runs").Len(); n != 0 {
		return fmt.Errorf("%d runs are left in a process that was stopped", n)
	}
	if log := p.log.String(); strings.Contains(log, "level=ERROR") && !onlyFailedTurns(log) {
		return fmt.Errorf("the log says %s", log)
	}
	return nil
}

// onlyFailedTurns reports whether all errors in a log are those of the model's.
func onlyFailedTurns(log string) bool {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "level=ERROR") && !(strings.Contains(line, `msg="turn ended"`) && strings.Contains(line, "status=failed") && strings.Contains(line, "gone")) {
			return false
		}
	}
	return true
}

// request sends what a page sends. The caller closes the body.
func (p *process) request(ctx context.Context, jar http.CookieJar, method, path string, form url.Values, header ...string) (*http.Response, error) {
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(ctx, method, p.server.URL+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("HX-Request", "true")
	req.Header.Set("Accept", "text/html")
	if form != nil {
		req.Header.Set("Content-Type", formType)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for pair := range slices.Chunk(header, 2) {
		if pair[1] == "" {
			req.Header.Del(pair[0])
			continue
		}
		req.Header.Set(pair[0], pair[1])
	}
	client := http.Client{Transport: p.server.Client().Transport, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return client.Do(req)
}

func (p *process) send(jar http.CookieJar, method, path string, form url.Values, header ...string) (*http.Response, string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res, err := p.request(ctx, jar, method, path, form, header...)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res, string(b), err
}

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
	case name != "" || id == "":
		return true, fmt.Errorf("event %q with id %q", name, id)
	}
	if t.count++; t.count%3 == 0 { // a moment that the browser may come back to
		t.kept = append(t.kept, moment{goquery.CloneDocument(t.doc), t.turn, t.conv, t.events, t.last, maps.Clone(t.tags), slices.Clone(t.cards)})
	}
	if err := swapFrame(t.doc, data); err != nil {
		return true, fmt.Errorf("tab %d after %s: %w", t.n, t.last, err)
	}
	t.last = id
	return false, t.check(id)
}

// inventedAnswer makes up an answer with citations, of blocks of every kind.
func inventedAnswer(r *rand.Rand) string {
	cite := func() string { return fmt.Sprintf(" [%d]", 1+r.IntN(5)) }
	var b strings.Builder
	for range 2 + r.IntN(5) {
		switch r.IntN(7) {
		case 0:
			b.WriteString("## Part & parcel\n\n")
		case 1:
			b.WriteString("- one" + cite() + "\n- *two*" + cite() + cite() + "\n- three\n\n")
		case 2:
			b.WriteString("| Day | Hours |\n|---|---|\n| Sat | ten" + cite() + " |\n| Sun | never <b>ever</b> |\n\n")
		case 3:
			b.WriteString("```go\nfunc main() {}\n```\n\n")
		case 4:
			b.WriteString("> Ask **at the gate**" + cite() + "\n\n")
		default:
			b.WriteString("The garden opens at *ten* on most days" + cite() + ", and closes" + cite() + " at “dusk” — 冬は四時に閉まる。\n\n")
		}
	}
	return b.String()
}

// cutText cuts a text into so many pieces at most, anywhere between characters.
func cutText(r *rand.Rand, text string, n int) (pieces []string) {
	runes := []rune(text)
	for ; n > 1 && len(runes) > 1; n-- {
		at := 1 + r.IntN(min(len(runes)-1, 2*len(runes)/n))
		pieces, runes = append(pieces, string(runes[:at])), runes[at:]
	}
	return append(pieces, string(runes))
}

// madeUpTexts are the words of the interface that end up inside answers.
func madeUpTexts() answer.Texts {
	return answer.Texts{
		NoAnswer:     func(string) string { return "Nothing found." },
		CiteLabel:    func(_ string, n int) string { return fmt.Sprint("Source ", n) },
		Labels:       func(string) markdown.Labels { return markdown.Labels{Code: func(string) string { return "Code" }} },
		AboutHeading: func(_, _, heading string) string { return "What about " + heading + "?" },
	}
}
