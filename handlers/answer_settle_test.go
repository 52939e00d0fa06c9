package handlers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/PuerkitoBio/goquery"

	"docent/internal/answer"
)

// settle lets everything come to its end and looks at what is left.
func (w *world) settle() error {
	for _, p := range w.plays {
		for p.said < len(p.gates) {
			p.next()
		}
	}
	for _, t := range w.tabs {
		if err := t.watchToTheEnd(); err != nil {
			return err
		}
	}
	if err := w.waitForRuns(); err != nil {
		return err
	}
	if err := w.checkTurns(); err != nil {
		return err
	}
	for _, t := range w.tabs {
		if t.doc == nil || t.conv == "" || w.deleted[t.conv] {
			continue
		}
		whole, err := t.compareWhole()
		if err != nil {
			return err
		}
		if err := w.checkWhole(t.conv, whole); err != nil {
			return err
		}
		if err := t.watchAgain(); err != nil {
			return err
		}
	}
	return w.checkDeleted()
}

// compareWhole compares the tab's page with the whole conversation. A turn that was
// taken for dead may be shown as interrupted and go on after all: then the page is
// that of a tab loaded again.
func (t *tab) compareWhole() (*goquery.Document, error) {
	late := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		whole, err := t.w.whole(t.conv)
		if err != nil {
			return nil, err
		}
		if err = t.compare(whole); err == nil || !t.w.lossy[t.conv] {
			return whole, err
		}
		select {
		case <-tick.C:
		case <-late:
			return nil, err
		}
		if err := t.open(t.w.procs[0], t.conv); err != nil {
			return nil, err
		}
		if err := t.watchToTheEnd(); err != nil {
			return nil, err
		}
	}
}

// watchToTheEnd connects the tab again until it has seen the end of its turn.
func (t *tab) watchToTheEnd() error {
	for try := 0; ; try++ {
		t.mu.Lock()
		if t.stream != nil {
			t.stream.left = -1
		} else if t.doc == nil || t.turn == "" || t.doc.Find("[data-docent-stream]").Length() == 0 || try > 0 && t.w.deleted[t.conv] {
			err := t.err
			t.mu.Unlock()
			return err
		} else {
			t.connect(t.w.procs[(t.n+try)%2])
		}
		t.mu.Unlock()
		if try > 5 {
			return fmt.Errorf("tab %d does not see the end of its turn", t.n)
		}
		if err := t.await("the end of its stream", func() bool { return t.stream == nil }); err != nil {
			return err
		}
	}
}

// watchAgain asks once more for a turn that has ended: the end comes at once, and
// changes nothing.
func (t *tab) watchAgain() error {
	if t.turn == "" {
		return nil
	}
	whole, err := t.w.whole(t.conv)
	if err != nil {
		return err
	}
	for i, last := range []string{t.last, ""} {
		_, body, err := t.w.proc(t.n+i).send(t.w.jar, "GET", t.events, nil, "Last-Event-ID", last)
		if err != nil {
			return err
		}
		if n := strings.Count(body, "event: done\n"); n != 1 || !strings.HasSuffix(body, "event: done\ndata: done\n\n") || strings.Count(body, "\nid: ") != 1 {
			return fmt.Errorf("a turn that has ended sends %d ends, in\n%s", n, body)
		}
		if last == "" {
			continue // the page is further than its first events
		}
		var partials strings.Builder
		for line := range strings.Lines(body) {
			if data, ok := strings.CutPrefix(line, "data: "); ok && strings.HasPrefix(data, "<") {
				partials.WriteString(data)
			}
		}
		t.mu.Lock()
		if err = swapFrame(t.doc, "", frame{data: partials.String()}); err == nil {
			err = t.check(last)
		}
		t.mu.Unlock()
		if err != nil {
			return fmt.Errorf("tab %d, again: %w", t.n, err)
		}
		if err := t.compare(whole); err != nil {
			return fmt.Errorf("again: %w", err)
		}
	}
	return nil
}

// whole is the page of a conversation as the server renders it now.
func (w *world) whole(conv string) (*goquery.Document, error) {
	page, err := emptyPage()
	if err != nil {
		return nil, err
	}
	res, body, err := w.procs[0].send(w.jar, "GET", conversationsURL+conv+"?lang=en&block="+worldBlock, nil)
	if err != nil || res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the whole conversation: %v %v", res, err)
	}
	return page, swapAnswer(page, body, "#"+worldBlock+"-transcript", "innerHTML")
}

// waitForRuns waits until nothing of this world runs any more.
func (w *world) waitForRuns() error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for {
		var n int
		err := w.site.DB.Get(context.Background(), &n, "select count(*) from turns where status = 'running' and question like ?", "%"+w.name+"-%")
		if err != nil || n == 0 {
			return err
		}
		select {
		case <-tick.C:
		case <-late:
			return fmt.Errorf("%d turns never end", n)
		}
	}
}

// checkTurns finds one turn for each question that was taken, and none for others.
func (w *world) checkTurns() error {
	for question, conv := range w.asked {
		want := len(w.accepted[question])
		if w.deleted[conv] {
			want = 0
		}
		var ids []string
		if err := w.site.DB.Select(context.Background(), &ids, "select id from turns where question = ?", question); err != nil {
			return err
		}
		if len(ids) != want {
			return fmt.Errorf("%q has %d turns, want %d", question, len(ids), want)
		}
		for _, id := range ids {
			if !w.accepted[question][id] {
				return fmt.Errorf("%q has a turn that nobody was told of", question)
			}
		}
	}
	return nil
}

// checkWhole finds that a conversation kept its texts, and the visitor's votes.
func (w *world) checkWhole(conv string, whole *goquery.Document) error {
	_, turns, err := w.procs[1].h.Answers.Conversation(context.Background(), conv, w.who)
	if err != nil {
		return err
	}
	next := 1
	for i, turn := range turns {
		if turn.Number != i+1 {
			return fmt.Errorf("turn %d has the number %d", i+1, turn.Number)
		}
		if p := w.playOf(turn.Question); p != nil && !turn.Refused && !strings.HasPrefix(strings.Join(p.pieces, ""), turn.Text) {
			return fmt.Errorf("the answer to %q is %q and not a part of %q", turn.Question, turn.Text, p.pieces)
		}
		var numbers []int
		for _, s := range turn.Sources {
			if s.Running >= next {
				numbers = append(numbers, s.Running)
			}
		}
		slices.Sort(numbers)
		for _, n := range numbers {
			if n != next {
				return fmt.Errorf("turn %d gives the number %d, the next is %d", i+1, n, next)
			}
			next++
		}
	}
	_, body, err := w.procs[0].send(w.jar, "GET", conversationsURL+conv+"?lang=en&block="+worldBlock, nil, "HX-Request", "")
	if err != nil {
		return err
	}
	page, err := goquery.NewDocumentFromReader(strings.NewReader(body))
	if err != nil {
		return err
	}
	if n := whole.Find("[data-docent-turn]").Length(); n != len(turns) || page.Find("[data-docent-turn]").Length() != n {
		return fmt.Errorf("%d turns in the fragment of %d", n, len(turns))
	}
	for _, part := range []string{"-status", "-body"} {
		for _, turn := range turns {
			selector := "#" + answer.DOMID(turn.ID) + part
			if got, want := outer(page.Find(selector)), outer(whole.Find(selector)); got != want && !w.lossy[conv] {
				return fmt.Errorf("the page of the conversation is %s", difference(got, want))
			}
		}
	}
	for i, turn := range turns {
		rating := w.votes[fmt.Sprint(conv, " ", i+1)]
		if rating == "" {
			continue
		}
		if got := map[string]string{"positive": "up", "negative": "down"}[string(turn.Rating)]; got != rating {
			return fmt.Errorf("turn %d was voted %s, and has %q", i+1, rating, turn.Rating)
		}
	}
	return nil
}

// checkDeleted finds nothing of the conversations that were deleted.
func (w *world) checkDeleted() error {
	for conv := range w.deleted {
		var n int
		if err := w.site.DB.Get(context.Background(), &n, "select count(*) from turns where conversation_id = ?", conv); err != nil || n != 0 {
			return fmt.Errorf("%d turns of a deleted conversation are left, %v", n, err)
		}
		for question, of := range w.asked {
			if of != conv {
				continue
			}
			if err := w.site.DB.Get(context.Background(), &n, "select count(*) from answer_log where question = ?", question); err != nil || n != 0 {
				return fmt.Errorf("%d records of a deleted conversation are left, %v", n, err)
			}
		}
		if res, _, err := w.procs[0].send(w.jar, "GET", conversationsURL+conv, nil); err != nil || res.StatusCode != http.StatusNotFound {
			return fmt.Errorf("a deleted conversation: %v %v", res, err)
		}
	}
	return nil
}

// sameHTML compares HTML as a browser keeps it with some that it has not read yet.
func sameHTML(kept, text string) bool {
	doc, err := goquery.NewDocumentFromReader(strings.NewReader("<div>" + text + "</div>"))
	if err != nil {
		return false
	}
	read, _ := doc.Find("body > div").Html()
	return kept == read
}
