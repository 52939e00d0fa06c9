package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"sync"
)

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

// isFree reports whether nothing runs in a conversation that is there. A last turn
// that was taken for dead may come back at any moment.
func (w *world) isFree(conv string) (bool, error) {
	var n int
	err := w.site.DB.Get(context.Background(), &n, "select count(*) from turns where conversation_id = ? and (status = 'running' or status = 'interrupted' and number = (select max(number) from turns where conversation_id = ?))", conv, conv)
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
	if t.doc.Find("[data-docent-stream]").Length() != 0 || t.missesTurns() {
		return nil // this tab has not seen the end of the turn before: it shows the new one when it is loaded again
	}
	if err := swapAnswer(t.doc, body, "#"+worldBlock+"-transcript", "beforeend"); err != nil {
		return err
	}
	return t.watch(p)
}

// missesTurns reports whether other tabs asked in between.
func (t *tab) missesTurns() bool {
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
