package handlers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"docent/db"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/llm"
	"docent/internal/llm/llmtest"
	"docent/internal/markdown"
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
	worlds  atomic.Int64
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
	p.server = httptest.NewUnstartedServer(p.h.Echo())
	p.server.Config.ConnContext = Connections
	p.server.Start()
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
		GoesOn:       GoesOn,
	}
}
