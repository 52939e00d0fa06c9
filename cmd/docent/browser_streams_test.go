package main

import (
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"docent/internal/config"
	"docent/internal/llm/llmtest"
)

// A cable is a line to a site that can be cut.
type cable struct {
	url string
	mu  sync.Mutex
	cut bool
	all map[net.Conn]bool
}

func newCable(t *testing.T, s *testSite) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := &cable{url: "http://" + l.Addr().String(), all: map[net.Conn]bool{}}
	site := strings.TrimPrefix(s.url, "http://")
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", site)
			if err != nil || !c.keep(near, far) {
				near.Close()
				continue
			}
			go pipe(near, far)
			go pipe(far, near)
		}
	}()
	return c
}

func pipe(to, from net.Conn) {
	io.Copy(to, from)
	to.Close()
	from.Close()
}

func (c *cable) keep(conns ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range conns {
		c.all[conn] = true
		if c.cut {
			conn.Close()
		}
	}
	return !c.cut
}

// set cuts the cable, with all that goes through it, or mends it.
func (c *cable) set(cut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
	if cut {
		for conn := range c.all {
			conn.Close()
		}
		clear(c.all)
	}
}

// While one answer grows, settled blocks keep their elements and what is selected
// in them, with one question sent and one stream opened; a cut connection shows
// itself and then goes on where it was.
func TestBrowserStream(t *testing.T) {
	gate := make(chan struct{})
	pieces := []string{"In winter the garden ", "opens at ten [1].\n\n", "## Tickets\n\n", "Ten euros [2].\n\n", "- boots\n", "- a coat\n\n", "| Day | Hour |\n", "| --- | --- |\n", "| Monday | ten |\n", "| Friday | two |\n\n", "That is all [1].\n\n", "Really."}
	reply := llmtest.Stream(pieces...)
	reply.Gate = gate
	s := answering(t, reply)
	line := newCable(t, s)
	ctx := browser(t, 1280, 900)
	on(t, ctx, line.url+"/answers")
	script[bool](t, ctx, `(() => { window.heard = 0; document.addEventListener('htmx:sse:after:message', () => heard++); return true })()`)
	put(t, ctx, "When is the garden open?")
	pass(t, gate, 4)
	until(t, ctx, "document.querySelectorAll('.d-turn__body > *').length >= 2")
	tag := func() int {
		return script[int](t, ctx, `(() => { const all = [...document.querySelectorAll('.d-turn__body > *')].slice(0, -1);
			all.forEach((b, i) => { b.docentTag ??= i }); return all.length })()`)
	}
	tag()
	script[bool](t, ctx, "(getSelection().selectAllChildren(document.querySelector('.d-turn__body > *')), true)")
	pass(t, gate, 3)
	until(t, ctx, "document.querySelectorAll('.d-turn__body li').length === 2")
	tagged := tag()
	requests := "performance.getEntriesByType('resource').filter(e => e.name.includes('/ai-answers/')).map(e => new URL(e.name).pathname.split('/')[2]).join()"
	if got := script[string](t, ctx, requests); got != "question" && got != "question,turns" { // a stream is listed when it ends
		t.Errorf("requests so far: %s", got)
	}

	line.set(true)
	until(t, ctx, "document.querySelector('[data-docent-connection]')")
	shot(t, ctx, "cut")
	pass(t, gate, 4) // written while nobody hears it
	line.set(false)
	until(t, ctx, "document.querySelectorAll('.d-turn__body tbody tr').length === 2 && !document.querySelector('[data-docent-connection]')")
	close(gate)
	until(t, ctx, allDone)
	if got := script[string](t, ctx, "[...document.querySelectorAll('.d-turn__body > *')].map(b => b.tagName.replace(/[0-9]/, '')).join()"); got != "P,H,P,UL,DIV,P,P" {
		t.Errorf("blocks %s: something is missing or there twice", got)
	}
	if n := script[int](t, ctx, "[...document.querySelectorAll('.d-turn__body > *')].filter((b, i) => b.docentTag === i).length"); n != tagged || n < 3 {
		t.Errorf("%d of %d settled blocks kept their elements", n, tagged)
	}
	if got := script[string](t, ctx, "getSelection().toString()"); !strings.HasPrefix(got, "In winter") {
		t.Errorf("selected is %q", got)
	}
	if got := script[int](t, ctx, "heard"); got > 2*len(pieces)+6 {
		t.Errorf("%d events for %d pieces of text", got, len(pieces))
	}
	// One question, and what was tried while the line was cut.
	if got := script[string](t, ctx, requests); strings.Count(got, "question") != 1 || strings.Contains(got, "conversations") {
		t.Errorf("requests: %s", got)
	}
}

// A page that is loaded again in the middle of an answer goes on with it, and so
// does a tab that was out of sight.
func TestBrowserReloadAndHide(t *testing.T) {
	gate := make(chan struct{})
	reply := llmtest.Stream("First [1].\n\n", "Second.\n\n", "Third.\n\n", "Fourth [2].\n\n", "Fifth.")
	reply.Gate = gate
	s := answering(t, reply)
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open?")
	pass(t, gate, 3)
	until(t, ctx, "document.querySelector('.d-turn__body')?.innerText.includes('Second')")
	do(t, ctx, chromedp.Reload())
	ready(t, ctx)
	until(t, ctx, "document.querySelector('.d-turn__body')?.innerText.includes('Second') && document.querySelector('[data-docent-stream]')")
	if !script[bool](t, ctx, "document.querySelector('"+questionButton+"').getAttribute('aria-disabled') === 'true'") {
		t.Error("a second question could be asked")
	}
	hide := func(hidden string) {
		script[bool](t, ctx, `(() => { Object.defineProperty(document, 'hidden', {configurable: true, value: `+hidden+`});
			document.dispatchEvent(new Event('visibilitychange')); return true })()`)
	}
	held := "navigator.locks.query().then(q => q.held.filter(l => l.name.startsWith('docent-stream')).length)"
	hide("true")
	eventually(t, "the hidden tab to give its connection back", func() bool { return promised[int](t, ctx, held) == 0 })
	pass(t, gate, 2)
	hide("false")
	until(t, ctx, "document.querySelector('.d-turn__body').innerText.includes('Third')")
	close(gate)
	until(t, ctx, allDone)
	if got := script[string](t, ctx, "[...document.querySelectorAll('.d-turn__body > *')].map(b => b.innerText.match(/[A-Za-z]+/)[0]).join()"); got != "First,Second,Third,Fourth,Fifth" {
		t.Errorf("blocks %s", got)
	}
}

// A browser without locks, as on an origin that is not secure, hears its stream to
// the end.
func TestBrowserWithoutLocks(t *testing.T) {
	gate := make(chan struct{})
	reply := llmtest.Stream("First [1].\n\n", "Second.\n\n", "Third.")
	reply.Gate = gate
	s := answering(t, reply)
	ctx := browser(t, 1280, 900)
	beforeScripts(t, ctx, "delete Navigator.prototype.locks")
	on(t, ctx, s.url+"/answers")
	if script[bool](t, ctx, "navigator.locks !== undefined") {
		t.Fatal("the browser has locks")
	}
	put(t, ctx, "When is the garden open?")
	pass(t, gate, 3)
	until(t, ctx, "document.querySelector('.d-turn__body')?.innerText.includes('Second')")
	// longer than a stream without a slot stays open
	promised[bool](t, ctx, "new Promise(done => setTimeout(done, 600, true))")
	if n := script[int](t, ctx, "performance.getEntriesByType('resource').filter(e => e.name.includes('/ai-answers/turns/')).length"); n != 0 { // listed when it ends
		t.Errorf("%d streams have ended in mid-answer", n)
	}
	close(gate)
	until(t, ctx, allDone)
	if n := script[int](t, ctx, "document.querySelectorAll('.d-turn__body > *').length"); n != 3 {
		t.Errorf("%d blocks, want 3", n)
	}
}

// What a theme animates is left alone: an animation of a settled block runs on while
// text grows below it, and blocks come in with an animation once.
func TestBrowserAnimations(t *testing.T) {
	gate := make(chan struct{})
	pieces := []string{"In winter the garden ", "opens at ten [1].\n\n", "## Tickets\n\n", "Ten euros **and ", "more** [2].\n\n", "- boots\n", "- a coat\n\n", "Really ", "all [1]."}
	reply := llmtest.Stream(pieces...)
	reply.Gate = gate
	s := answering(t, reply)
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	script[bool](t, ctx, `(() => {
		const theme = new CSSStyleSheet()
		theme.replaceSync("@keyframes enter { from { opacity: 0 } } .d-turn__body > * { animation: enter 10ms }")
		document.adoptedStyleSheets = [theme]
		window.entered = {}
		document.addEventListener("animationstart", ({animationName, target}) => {
			if (animationName === "enter") entered[target.id] = (entered[target.id] ?? 0) + 1
		})
		return true })()`)
	put(t, ctx, "When is the garden open?")
	pass(t, gate, 1)
	for i, word := range []string{"winter", "ten", "Tickets", "euros", "more", "boots", "coat", "Really", "all"} {
		pass(t, gate, 1)
		if i == len(pieces)-1 {
			close(gate) // the last words may wait for what follows them
		}
		until(t, ctx, "document.querySelector('.d-turn__body')?.innerText.includes('"+word+"')")
		promised[bool](t, ctx, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
		if word == "Tickets" {
			script[bool](t, ctx, "(window.running = document.querySelector('.d-turn__body > *').animate({opacity: [0.5, 1]}, {duration: 1000, iterations: Infinity}), true)")
		}
	}
	until(t, ctx, allDone)
	if !script[bool](t, ctx, "running.playState === 'running' && running.effect.target === document.querySelector('.d-turn__body > *') && running.effect.target.getAnimations().includes(running)") {
		t.Error("the animation of a settled block ended")
	}
	want := "1,1,1,1,1 of 5"
	counts := "[...document.querySelectorAll('.d-turn__body > *')].map(b => entered[b.id] ?? 0).join() + ' of ' + Object.keys(entered).length"
	if got := script[string](t, ctx, counts); got != want {
		t.Errorf("blocks came in %s times, want %s", got, want)
	}
}

// Seven tabs of one browser answer over HTTP/1.1, which gives a browser six
// connections: an eighth tab still opens pages while all of them are busy.
func TestBrowserSevenTabs(t *testing.T) {
	const tabs = 7
	gate := make(chan struct{})
	var replies []llmtest.Reply
	for range tabs {
		reply := llmtest.Stream("Open at ten [1].\n\n", "Closed on Monday [2].\n\n", "Bring boots.")
		reply.Gate = gate
		replies = append(replies, reply)
	}
	s := answering(t, replies...)
	s.answers(func(settings *config.AnswerSettings) { settings.PerMinute = 0 })
	first := browser(t, 1280, 900)
	all := []context.Context{first}
	for range tabs - 1 {
		ctx, cancel := chromedp.NewContext(first)
		t.Cleanup(cancel)
		all = append(all, ctx)
	}
	for _, ctx := range all {
		on(t, ctx, s.url+"/answers")
		put(t, ctx, "When is the garden open?")
		until(t, ctx, "document.querySelector('[data-docent-stream]')")
		if script[bool](t, ctx, "document.hidden") {
			t.Fatal("the tab is hidden: this shows nothing")
		}
	}
	held := "navigator.locks.query().then(q => q.held.filter(l => l.name.startsWith('docent-stream')).length)"
	eventually(t, "four streams to stay open", func() bool { return promised[int](t, first, held) == 4 })

	eighth, cancel := chromedp.NewContext(first)
	t.Cleanup(cancel)
	before := time.Now()
	on(t, eighth, s.url+"/visit/")
	if took := time.Since(before); took > 10*time.Second {
		t.Errorf("a page took %v", took)
	}
	close(gate)
	for i, ctx := range all {
		until(t, ctx, allDone)
		if n := script[int](t, ctx, "document.querySelectorAll('.d-turn__body > *').length"); n != 3 {
			t.Errorf("tab %d has %d blocks, want 3", i, n)
		}
	}
	eventually(t, "no stream to stay open", func() bool { return promised[int](t, first, held) == 0 })
}

// What a theme's own script asks arrives, once, and errors show where it was asked.
func TestBrowserThemeAsks(t *testing.T) {
	gate := make(chan struct{})
	reply := llmtest.Stream("Open at ten [1].")
	reply.Gate = gate
	s := answering(t, reply)
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	askBy := func(from, question string) {
		script[bool](t, ctx, "(document.querySelector('"+from+"').dispatchEvent(new CustomEvent('ai-answers:ask', {bubbles: true, detail: {question: "+question+"}})), true)")
	}
	askBy("body", "'never'")
	askBy("[data-docent-block=answer]", "7")
	askBy("[data-docent-block=answer]", "'   '")
	askBy("[data-docent-transcript]", "'When is the garden open?'")
	askBy("[data-docent-transcript]", "'A second one?'")
	until(t, ctx, "document.querySelector('[data-docent-busy]') && document.querySelector('[data-docent-stream]')")
	close(gate)
	until(t, ctx, allDone+" && !document.querySelector('[data-docent-busy]')")
	if got := script[string](t, ctx, "[...document.querySelectorAll('[data-docent-turn] h2')].map(h => h.innerText).join('|')"); got != "When is the garden open?" {
		t.Errorf("turns %q", got)
	}
	askBy("[data-docent-block=answer]", "'x'.repeat(9000)")
	until(t, ctx, "document.querySelector('[data-docent-block=answer] .d-question__notice .notice')")
	script[bool](t, ctx, "(document.querySelector('"+questionField+"').value = 'x'.repeat(9000), document.querySelector('form[data-docent-question]').requestSubmit(), true)")
	until(t, ctx, "document.querySelector('[data-docent-block=question] .d-question__notice .notice') && !document.querySelector('[data-docent-block=answer] > .d-answer__main > .d-question__notice .notice')")
	if n := script[int](t, ctx, "document.querySelectorAll('[data-docent-turn]').length"); n != 1 {
		t.Errorf("%d turns, want the one that was answered", n)
	}
}

// The page stays where the reader is while text grows below it, and a button leads
// there.
func TestBrowserNewText(t *testing.T) {
	gate := make(chan struct{})
	var pieces []string
	for range 12 {
		pieces = append(pieces, strings.Repeat("Word after word grows. ", 12)+"\n\n")
	}
	reply := llmtest.Stream(pieces...)
	reply.Gate = gate
	s := answering(t, reply)
	ctx := browser(t, 390, 700)
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open?")
	until(t, ctx, "document.activeElement.matches('[data-docent-turn] h2')")
	at := script[float64](t, ctx, "scrollY")
	pass(t, gate, 8)
	until(t, ctx, "document.querySelectorAll('.d-turn__body > *').length >= 6 && document.querySelector('[data-docent-new-text]').checkVisibility()")
	if now := script[float64](t, ctx, "scrollY"); now != at {
		t.Errorf("the page was scrolled from %v to %v", at, now)
	}
	do(t, ctx, chromedp.Click("[data-docent-new-text]"))
	until(t, ctx, "scrollY > "+strconv.FormatFloat(at, 'f', 1, 64)+" && document.querySelector('[data-docent-new-text]').hidden")
	at = script[float64](t, ctx, "scrollY")
	close(gate)
	until(t, ctx, allDone)
	if now := script[float64](t, ctx, "scrollY"); now != at {
		t.Errorf("the page was scrolled from %v to %v", at, now)
	}
}
