package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"docent/db"
	"docent/internal/answer"
)

func (w *world) tab(i int) *tab      { return w.tabs[i%len(w.tabs)] }
func (w *world) proc(i int) *process { return w.procs[i%len(w.procs)] }

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
	if stream == nil || turn == "" || stream.left >= 0 || w.lossy[t.conv] {
		return nil // what is stored of a turn taken for dead is not what its process has
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

// handOver goes on watching through the other process, which may know less.
func (w *world) handOver(s step) error {
	t := w.tab(s.a)
	t.mu.Lock()
	stream := t.stream
	t.mu.Unlock()
	if stream == nil {
		return nil
	}
	other := w.proc(stream.proc.n + 1)
	t.disconnect()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.connect(other)
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
