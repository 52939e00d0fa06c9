package handlers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/answer"
)

var oneSchedule = flag.Uint64("schedule", 0, "run the schedule of this seed only")

// A step is one thing that happens; a and b choose to what.
type step struct {
	do   string
	a, b int
}

func (s step) String() string { return fmt.Sprintf("%s(%d,%d)", s.do, s.a, s.b) }

var doings = map[string]struct {
	weight int
	do     func(w *world, s step) error
}{
	"ask":         {3, (*world).ask},
	"follow up":   {4, (*world).followUp},
	"click twice": {2, (*world).clickTwice},
	"say":         {12, (*world).say},
	"say all":     {2, (*world).sayAll},
	"look":        {5, (*world).look},
	"stop":        {2, (*world).stopTurn},
	"break":       {3, (*world).breakOff},
	"cut":         {3, (*world).cutOff},
	"come back":   {5, (*world).comeBack},
	"go back":     {2, (*world).goBack},
	"make up":     {1, (*world).makeUp},
	"open":        {4, (*world).open},
	"vote":        {2, (*world).vote},
	"delete":      {1, (*world).delete},
	"restart":     {1, (*world).restart},
	"lose":        {1, (*world).lose},
	"stranger":    {1, (*world).stranger},
}

// scheduleOf makes up what happens in one world, from a seed.
func scheduleOf(seed uint64) []step {
	r := rand.New(rand.NewPCG(seed, 2))
	var names []string
	for name, d := range doings {
		for range d.weight {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	steps := []step{{"ask", r.IntN(3), r.IntN(2)}}
	for range 8 + r.IntN(22) {
		steps = append(steps, step{names[r.IntN(len(names))], r.IntN(6), r.IntN(6)})
	}
	return steps
}

// Whatever happens, in whatever order: one turn for each question that was taken,
// never two at once in a conversation, and every page ends as the server renders
// the conversation, with its settled blocks untouched and its numbers kept.
func TestSchedules(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { schedules(t, dbtest.SQLite(t), 24, 8*time.Second) })
	t.Run("postgres", func(t *testing.T) { schedules(t, dbtest.Postgres(t), 8, 3*time.Second) })
}

// schedules runs so many worlds at least, and more while there is time.
func schedules(t *testing.T, d *db.DB, least int, time_ time.Duration) {
	site := newStage(t, d)
	if *oneSchedule != 0 {
		if err := runSchedule(site, *oneSchedule, scheduleOf(*oneSchedule)); err != nil {
			t.Fatalf("%v: %v", scheduleOf(*oneSchedule), err)
		}
		return
	}
	start := time.Now()
	seeds := make(chan uint64)
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			for seed := range seeds {
				steps := scheduleOf(seed)
				if err := runSchedule(site, seed, steps); err != nil {
					steps, err = shrink(site, seed, steps, err)
					t.Errorf("seed %d, %v: %v", seed, steps, err)
				}
			}
		})
	}
	n := 0
	for ; (n < least || time.Since(start) < time_) && !t.Failed(); n++ {
		seeds <- uint64(n + 1)
	}
	close(seeds)
	wg.Wait()
	t.Logf("%d schedules in %v", n, time.Since(start).Round(time.Millisecond))
	noneLeft(t)
}

// noneLeft looks for goroutines of answers and streams after everything has ended.
func noneLeft(t *testing.T) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		buf := make([]byte, 4<<20)
		var left []string
		for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "answer.(*run)") || strings.Contains(g, "handlers.(*eventStream)") || strings.Contains(g, "handlers.(*Handlers).turnEvents") {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Errorf("%d goroutines are left, such as\n%s", len(left), left[0])
			return
		}
	}
}

// shrink leaves out steps for as long as the rest still fails, and not for ever.
func shrink(site *stage, seed uint64, steps []step, err error) ([]step, error) {
	until := time.Now().Add(15 * time.Second)
	for i := len(steps) - 1; i >= 0 && time.Now().Before(until); i-- {
		fewer := slices.Delete(slices.Clone(steps), i, i+1)
		if e := runSchedule(site, seed, fewer); e != nil {
			steps, err = fewer, e
		}
	}
	return steps, err
}

var worlds struct {
	sync.Mutex
	n int
}

func runSchedule(site *stage, seed uint64, steps []step) (err error) {
	worlds.Lock()
	worlds.n++
	name := fmt.Sprintf("w%d", worlds.n)
	worlds.Unlock()
	w, err := newWorld(site, name, rand.New(rand.NewPCG(seed, 3)))
	if err != nil {
		return err
	}
	stopped := false
	defer func() {
		if !stopped {
			w.close()
		}
	}()
	for i, s := range steps {
		if err := doings[s.do].do(w, s); err != nil {
			return fmt.Errorf("step %d, %v: %w", i, s, err)
		}
		if err := w.oneAtATime(); err != nil {
			return fmt.Errorf("after step %d, %v: %w", i, s, err)
		}
	}
	if err := w.settle(); err != nil {
		return fmt.Errorf("in the end: %w", err)
	}
	stopped = true
	return w.close()
}

func (w *world) close() error {
	for _, t := range w.tabs {
		t.disconnect()
	}
	var err error
	for _, p := range w.procs {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		p.stop(ctx)
		if e := p.leftovers(); err == nil {
			err = e
		}
	}
	return err
}

func (w *world) tab(i int) *tab      { return w.tabs[i%len(w.tabs)] }
func (w *world) proc(i int) *process { return w.procs[i%len(w.procs)] }
func (w *world) question(conv string) string {
	q := fmt.Sprintf("The garden in winter, %s-%d?", w.name, len(w.asked)+1)
	w.asked[q], w.accepted[q] = conv, map[string]bool{}
	return q
}

var turnPath = regexp.MustCompile(`^/ai-answers/turns/([0-9a-f]+)/events$`)

// post sends a question and notes what became of it.
func (w *world) post(p *process, question, conv, key string) (status int, body string, err error) {
	form := url.Values{"question": {question}, "agent": {"site"}, "block": {worldBlock}, "lang": {"en"}}
	if conv != "" {
		form.Set("conversation_id", conv)
	}
	if key != "" {
		form.Set("idempotency_key", key)
	}
	res, body, err := p.send(w.jar, "POST", questionURL, form)
	if err != nil {
		return 0, "", err
	}
	if res.StatusCode == http.StatusInternalServerError {
		return 0, "", errors.New(p.log.String())
	}
	if res.StatusCode == http.StatusOK {
		m := turnPath.FindStringSubmatch(res.Header.Get("Content-Location"))
		if m == nil {
			return 0, "", fmt.Errorf("the turn is at %q", res.Header.Get("Content-Location"))
		}
		w.accepted[question][m[1]] = true
	}
	return res.StatusCode, body, nil
}

func (w *world) ask(s step) error {
	t, p := w.tab(s.a), w.proc(s.b)
	q := w.question("")
	status, body, err := w.post(p, q, "", "")
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("a question: %d %s %v", status, body, err)
	}
	t.disconnect()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.doc == nil {
		if t.doc, err = emptyPage(); err != nil {
			return err
		}
	}
	t.tags, t.cards, t.kept = map[string]bool{}, nil, nil
	if err := swapAnswer(t.doc, body, "#"+worldBlock+"-transcript", "innerHTML"); err != nil {
		return err
	}
	t.conv = t.doc.Find("[data-docent-turn]").AttrOr("data-docent-conversation", "")
	w.asked[q] = t.conv
	return t.watch(p)
}

func (w *world) followUp(s step) error {
	t, p := w.tab(s.a), w.proc(s.b)
	if t.conv == "" {
		return nil
	}
	free, err := w.isFree(t.conv)
	if err != nil {
		return err
	}
	status, body, err := w.post(p, w.question(t.conv), t.conv, "")
	if err != nil {
		return err
	}
	return t.appended(p, status, body, free)
}

// isFree reports whether nothing runs in a conversation that is there.
func (w *world) isFree(conv string) (bool, error) {
	var n int
	err := w.site.DB.Get(context.Background(), &n, "select count(*) from turns where conversation_id = ? and status = 'running'", conv)
	return n == 0 && !w.deleted[conv], err
}

// appended puts the answer to a follow-up on the page. free says that it had to be taken.
func (t *tab) appended(p *process, status int, body string, free bool) error {
	switch {
	case t.w.deleted[t.conv]:
		if status != http.StatusNotFound {
			return fmt.Errorf("a follow-up to a deleted conversation: %d", status)
		}
		return nil
	case status == http.StatusConflict && !free:
		return nil
	case status != http.StatusOK:
		return fmt.Errorf("a follow-up: %d %s", status, body)
	}
	t.disconnect()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = nil
	if t.doc.Find("[data-docent-stream]").Length() != 0 || t.missesTurns(body) {
		return nil // this tab has not seen the end of the turn before: it shows the new one when it is loaded again
	}
	if err := swapAnswer(t.doc, body, "#"+worldBlock+"-transcript", "beforeend"); err != nil {
		return err
	}
	return t.watch(p)
}

// missesTurns reports whether other tabs asked in between.
func (t *tab) missesTurns(string) bool {
	_, turns, err := t.w.procs[0].h.Answers.Conversation(context.Background(), t.conv, t.w.who)
	return err != nil || len(turns) != t.doc.Find("[data-docent-turn]").Length()+1
}

// clickTwice sends one follow-up two times at once: one of them is taken, or with
// a key both are the same.
func (w *world) clickTwice(s step) error {
	t := w.tab(s.a)
	if t.conv == "" || w.deleted[t.conv] {
		return nil
	}
	free, err := w.isFree(t.conv)
	if err != nil {
		return err
	}
	key := ""
	if s.b%2 == 0 && !w.who.IsAnonymous() {
		key = fmt.Sprint("key", len(w.asked))
	}
	q := w.question(t.conv)
	type outcome struct {
		status int
		body   string
		err    error
	}
	var out [2]outcome
	var mu sync.Mutex
	var wg sync.WaitGroup
	taken := map[string]bool{}
	for i := range out {
		wg.Go(func() {
			form := url.Values{"question": {q}, "agent": {"site"}, "block": {worldBlock}, "lang": {"en"}, "conversation_id": {t.conv}, "idempotency_key": {key}}
			res, body, err := w.proc(s.b+i).send(w.jar, "POST", questionURL, form)
			if err != nil {
				out[i].err = err
				return
			}
			out[i] = outcome{res.StatusCode, body, nil}
			if m := turnPath.FindStringSubmatch(res.Header.Get("Content-Location")); m != nil && res.StatusCode == http.StatusOK {
				mu.Lock()
				taken[m[1]] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	w.accepted[q] = taken
	first := -1
	for i, o := range out {
		if o.err != nil {
			return o.err
		}
		if o.status == http.StatusOK {
			first = i
		} else if o.status != http.StatusConflict {
			return fmt.Errorf("clicked twice: %d %s", o.status, o.body)
		}
	}
	if len(taken) > 1 || free && first < 0 || key != "" && free && out[0].status != out[1].status {
		return fmt.Errorf("clicked twice (free: %v, key %q): %d and %d, %d turns", free, key, out[0].status, out[1].status, len(taken))
	}
	if first < 0 {
		return nil
	}
	return t.appended(w.proc(s.b+first), http.StatusOK, out[first].body, free)
}

func (w *world) speaking() []*play {
	var out []*play
	for _, p := range w.plays {
		if p.running() {
			out = append(out, p)
		}
	}
	return out
}

func (w *world) say(s step) error {
	if now := w.speaking(); len(now) > 0 {
		now[s.a%len(now)].next()
	}
	return nil
}

func (w *world) sayAll(s step) error {
	if now := w.speaking(); len(now) > 0 {
		for p := now[s.a%len(now)]; p.said < len(p.gates); {
			p.next()
		}
	}
	return nil
}

// look waits until a tab shows what its turn has come to, and compares.
func (w *world) look(s step) error {
	t := w.tab(s.a)
	t.mu.Lock()
	stream, turn := t.stream, t.turn
	t.mu.Unlock()
	if stream == nil || turn == "" || stream.left >= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	states, err := stream.proc.h.Answers.Watch(ctx, turn, w.who)
	if err != nil {
		return nil // deleted
	}
	for st, err := range states {
		if err != nil {
			return nil
		}
		if p := w.playOf(st.Question); p == nil || len(st.Text) >= p.certain() {
			break
		}
	}
	return t.await("what its turn is at", func() bool {
		if t.stream != stream {
			return true
		}
		st, err := stream.proc.h.Answers.Turn(ctx, turn, w.who)
		if err != nil {
			return true
		}
		body := t.doc.Find("#" + answer.DOMID(turn) + "-body").Clone()
		body.Find("[data-tag]").RemoveAttr("data-tag")
		got, _ := body.Html()
		return sameHTML(got, joinBlocks(st, 0))
	})
}

// playOf is what the model plays for a question, nil before it was asked.
func (w *world) playOf(question string) *play {
	for i, r := range w.model.Requests() {
		if i < len(w.plays) && len(r.Messages) > 0 && strings.Contains(r.Messages[len(r.Messages)-1].Text, question) {
			return w.plays[i]
		}
	}
	return nil
}

func (w *world) stopTurn(s step) error {
	t, p := w.tab(s.a), w.proc(s.b)
	if t.turn == "" {
		return nil
	}
	res, body, err := p.send(w.jar, "POST", turnsURL+t.turn+"/stop", url.Values{})
	if err != nil {
		return err
	}
	if want := map[bool]int{true: http.StatusNotFound, false: http.StatusNoContent}[w.deleted[t.conv]]; res.StatusCode != want {
		return fmt.Errorf("stop: %d %s", res.StatusCode, body)
	}
	return nil
}

func (w *world) breakOff(s step) error {
	w.tab(s.a).disconnect()
	return nil
}

// cutOff breaks the connection somewhere in an event to come.
func (w *world) cutOff(s step) error {
	t := w.tab(s.a)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stream != nil {
		t.stream.left = 1 + 150*s.b
	}
	return nil
}

func (w *world) comeBack(s step) error {
	t := w.tab(s.a)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.doc != nil && t.turn != "" && t.stream == nil && t.doc.Find("[data-docent-stream]").Length() > 0 {
		t.connect(w.proc(s.b))
	}
	return nil
}

// goBack shows a page as the browser kept it, which then goes on from there.
func (w *world) goBack(s step) error {
	t := w.tab(s.a)
	t.disconnect()
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kept) > 0 {
		m := t.kept[s.b%len(t.kept)]
		t.kept = nil
		t.doc, t.turn, t.conv, t.events, t.last, t.tags, t.cards = m.doc, m.turn, m.conv, m.events, m.last, m.tags, m.cards
	}
	if t.turn != "" && t.doc.Find("[data-docent-stream]").Length() > 0 {
		t.connect(w.proc(s.b))
	}
	return nil
}

// makeUp watches with positions that no page has: whatever comes, it is bounded.
func (w *world) makeUp(s step) error {
	t := w.tab(s.a)
	if t.turn == "" {
		return nil
	}
	ids := []string{"9999.99999.99999.999999", "0.7.3.0", "x", "1.1.1.1", "0.0.2000000000.0", "-1"}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	res, err := w.proc(s.b).request(ctx, w.jar, "GET", t.events, nil, "Last-Event-ID", ids[s.b%len(ids)])
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	if want := w.deleted[t.conv]; want != (res.StatusCode == http.StatusNotFound) {
		return fmt.Errorf("a made up position: %d", res.StatusCode)
	}
	return nil
}

func (w *world) open(s step) error {
	t := w.tab(s.a)
	conv := w.tab(s.a + s.b).conv
	if conv == "" {
		return nil
	}
	return t.open(w.proc(s.b), conv)
}

func (w *world) vote(s step) error {
	t := w.tab(s.a)
	if t.conv == "" {
		return nil
	}
	rating := []string{"up", "down"}[s.b%2]
	t.mu.Lock()
	number := t.doc.Find("[data-docent-turn]").Length()
	t.mu.Unlock()
	res, body, err := w.proc(s.b).send(w.jar, "POST", feedbackURL, url.Values{"conversation_id": {t.conv}, "turn": {fmt.Sprint(number)}, "rating": {rating}})
	if err != nil {
		return err
	}
	switch {
	case w.deleted[t.conv]:
		if res.StatusCode != http.StatusNotFound {
			return fmt.Errorf("a vote on what is deleted: %d", res.StatusCode)
		}
	case res.StatusCode == http.StatusOK:
		w.votes[fmt.Sprint(t.conv, " ", number)] = rating
	case res.StatusCode != http.StatusConflict && res.StatusCode != http.StatusBadRequest:
		return fmt.Errorf("a vote: %d %s", res.StatusCode, body)
	}
	return nil
}

func (w *world) delete(s step) error {
	t := w.tab(s.a)
	if t.conv == "" {
		return nil
	}
	was := w.deleted[t.conv]
	w.deleted[t.conv] = true
	res, body, err := w.proc(s.b).send(w.jar, "POST", conversationsURL+t.conv+"/delete", url.Values{}, "HX-Request", "")
	if err != nil {
		return err
	}
	if want := map[bool]int{true: http.StatusNotFound, false: http.StatusSeeOther}[was]; res.StatusCode != want {
		return fmt.Errorf("delete: %d %s", res.StatusCode, body)
	}
	return nil
}

func (w *world) restart(s step) error { return w.proc(s.b).restart() }

// lose takes a running turn for dead, as another process does when the one that
// runs it was out of reach of the database until its lease had run out.
func (w *world) lose(s step) error {
	t := w.tab(s.a)
	if t.conv == "" || t.turn == "" {
		return nil
	}
	for _, other := range w.tabs {
		other.mu.Lock()
		defer other.mu.Unlock()
	}
	n, err := w.site.DB.Exec(context.Background(), "update turns set status = 'interrupted', finished_at = ?, lease_until = null where id = ? and status = 'running'", db.Now(), t.turn)
	if n > 0 {
		w.lossy[t.conv] = true
	}
	return err
}

// stranger finds that nothing of the visitor's conversations is there for others.
func (w *world) stranger(s step) error {
	t, p := w.tab(s.a), w.proc(s.b)
	if t.conv == "" || t.turn == "" || w.who.IsAnonymous() {
		return nil
	}
	other, _ := cookiejar.New(nil)
	for _, try := range []struct {
		method, path string
		form         url.Values
	}{
		{"GET", conversationsURL + t.conv, nil},
		{"GET", turnsURL + t.turn + "/events", nil},
		{"POST", turnsURL + t.turn + "/stop", url.Values{}},
		{"POST", conversationsURL + t.conv + "/delete", url.Values{}},
		{"POST", feedbackURL, url.Values{"conversation_id": {t.conv}, "turn": {"1"}, "rating": {"up"}}},
		{"POST", questionURL, url.Values{"conversation_id": {t.conv}, "question": {"And?"}, "agent": {"site"}}},
	} {
		res, body, err := p.send(other, try.method, try.path, try.form)
		if err != nil {
			return err
		}
		if res.StatusCode != http.StatusNotFound || strings.Contains(body, w.name) {
			return fmt.Errorf("a stranger's %s %s: %d %s", try.method, try.path, res.StatusCode, body)
		}
	}
	return nil
}

// oneAtATime finds that no conversation has two running turns.
func (w *world) oneAtATime() error {
	var n int
	err := w.site.DB.Get(context.Background(), &n, "select count(*) from (select conversation_id from turns where status = 'running' group by conversation_id having count(*) > 1) as many")
	if err == nil && n > 0 {
		err = fmt.Errorf("%d conversations have two running turns", n)
	}
	for _, t := range w.tabs {
		t.mu.Lock()
		if err == nil {
			err = t.err
		}
		t.mu.Unlock()
	}
	return err
}
