package main

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"docent/db"
	"docent/internal/llm/llmtest"
)

// What a screen reader is told: that an answer has begun, that it goes on after a
// while without new text, and that it is ready, by a place that stays the same.
func TestBrowserAnnouncements(t *testing.T) {
	gate := make(chan struct{})
	reply := llmtest.Stream("Open at ten [1].\n\n", "Closed on Monday [2].")
	reply.Gate = gate
	s := answering(t, reply)
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	script[bool](t, ctx, `(() => {
		window.said = []; window.places = new Set()
		const hear = (name, region) => {
			const note = () => { const text = region.innerText.trim(); if (text && said.at(-1) !== name + text) said.push(name + text) }
			note()
			new MutationObserver(note).observe(region, {childList: true, characterData: true, subtree: true})
		}
		hear("page: ", document.querySelector("#docent-announcer"))
		new MutationObserver(() => {
			const region = document.querySelector("[data-docent-turn] [role=status]")
			if (!region || places.has(region)) return
			places.add(region)
			hear("turn: ", region)
		}).observe(document.querySelector("[data-docent-block=answer]"), {childList: true, subtree: true})
		return true })()`)
	put(t, ctx, "When is the garden open?")
	until(t, ctx, "said.includes('page: Answering.')")
	pass(t, gate, 2)
	until(t, ctx, "said.some(text => text.startsWith('turn: Writing.'))")
	if script[bool](t, ctx, "said.includes('page: Still working.')") {
		t.Error("an answer that has just begun is said to be still worked on")
	}
	until(t, ctx, "said.includes('page: Still working.')") // nothing is written meanwhile
	close(gate)
	until(t, ctx, allDone+" && said.at(-1).startsWith('turn: Answer ready.')")
	if n := script[int](t, ctx, "places.size"); n != 1 {
		t.Errorf("the status was told by %d elements, want the same from start to end", n)
	}
	heard := script[string](t, ctx, "said.join('|')")
	if strings.Count(heard, "Answering.") != 1 || strings.Count(heard, "Answer ready.") != 1 {
		t.Errorf("announced: %s", heard)
	}
	if script[bool](t, ctx, "document.querySelector('.d-turn__body').closest('[aria-live], [role=status]') !== null") {
		t.Error("the growing text is a live region")
	}
}

// A question that cannot be sent says so where it was typed, and is kept.
func TestBrowserAsksWhileCut(t *testing.T) {
	s := answering(t, llmtest.Stream("Open at ten [1]."))
	line := newCable(t, s)
	ctx := browser(t, 1280, 900)
	on(t, ctx, line.url+"/answers")
	line.set(true)
	put(t, ctx, "When is the garden open?")
	until(t, ctx, "document.querySelector('[data-docent-block=question] .d-question__notice .notice')?.innerText.includes('could not be sent')")
	if got := script[string](t, ctx, "document.querySelector('"+questionField+"').value"); got != "When is the garden open?" {
		t.Errorf("the field says %q, want the question", got)
	}
	if script[bool](t, ctx, "document.querySelector('[data-docent-turn]') !== null || document.querySelector('"+questionButton+"').matches(':disabled, [aria-disabled=true]')") {
		t.Error("there is a turn that was never asked, or no way to try again")
	}
	line.set(false)
	do(t, ctx, chromedp.Click(questionButton))
	until(t, ctx, allDone+" && !document.querySelector('[data-docent-block=question] .notice') && document.querySelector('"+questionField+"').value === ''")
}

// block keeps the browser from addresses, or lets it.
func block(t *testing.T, ctx context.Context, pattern string, blocked bool) {
	t.Helper()
	if _, err := chromedp.Call(ctx, network.SetBlockedURLs, network.SetBlockedURLsParams{
		URLPatterns: []*network.BlockPattern{{URLPattern: pattern, Block: blocked}}}); err != nil {
		t.Fatal(err)
	}
}

// A stream whose first connection fails is tried again until it is there, or until
// there is nothing to connect to.
func TestBrowserFirstConnection(t *testing.T) {
	s := answering(t, llmtest.Stream("Open at ten [1]."), llmtest.Stream("Ten euros [1]."))
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	const streams = "*://*:*/ai-answers/turns/*"
	block(t, ctx, streams, true)
	put(t, ctx, "When is the garden open?")
	until(t, ctx, "document.querySelector('[data-docent-turn] [data-docent-connection]')?.innerText.includes('is shown from here when the connection is back')")
	if !script[bool](t, ctx, "document.querySelector('[data-docent-stream]') !== null") {
		t.Error("the page gave up on the answer")
	}
	block(t, ctx, streams, false)
	until(t, ctx, allDone+" && !document.querySelector('[data-docent-connection]') && document.querySelector('.d-turn__body').innerText.includes('Open at ten')")

	block(t, ctx, streams, true)
	put(t, ctx, "What does it cost?")
	until(t, ctx, "document.querySelector('[data-docent-turn] h2').innerText === 'What does it cost?' && document.querySelector('[data-docent-stream]')")
	if got := promised[int](t, ctx, "fetch('/ai-answers/conversations/' + document.querySelector('[data-docent-turn]').dataset.docentConversation + '/delete', {method: 'POST', headers: {Accept: 'application/json'}}).then(r => r.status)"); got >= 300 {
		t.Fatalf("deleting: %d", got)
	}
	block(t, ctx, streams, false)
	until(t, ctx, "document.querySelector('[data-docent-connection]')?.innerText.includes('load the page again') && !document.querySelector('[data-docent-stream], [aria-busy=true]')")
}

// A conversation that was deleted in another tab cannot be gone on with: the page
// says that it hears no more, and another question can be asked.
func TestBrowserDeletedElsewhere(t *testing.T) {
	gate := make(chan struct{})
	reply := llmtest.Stream("Open at ten [1].\n\n", "Closed on Monday.")
	reply.Gate = gate
	s := answering(t, reply, llmtest.Stream("Ten euros [1]."))
	line := newCable(t, s)
	ctx := browser(t, 1280, 900)
	on(t, ctx, line.url+"/answers")
	put(t, ctx, "When is the garden open?")
	pass(t, gate, 2)
	until(t, ctx, "document.querySelector('.d-turn__body')?.innerText.includes('Open at ten')")
	id := script[string](t, ctx, "document.querySelector('[data-docent-conversation]').dataset.docentConversation")
	line.set(true)
	other, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	on(t, other, s.url+"/visit/")
	if got := promised[int](t, other, "fetch('/ai-answers/conversations/"+id+"/delete', {method: 'POST', headers: {Accept: 'application/json'}}).then(r => r.status)"); got >= 300 {
		t.Fatalf("deleting: %d", got)
	}
	line.set(false)
	until(t, ctx, "document.querySelector('[data-docent-turn] [data-docent-connection]')?.innerText.includes('load the page again') && !document.querySelector('[data-docent-stream]')")
	if !script[bool](t, ctx, "document.querySelector('.d-turn__body').getAttribute('aria-busy') === 'false' && document.querySelector('.d-turn__body').innerText.includes('Open at ten')") {
		t.Error("the text so far is gone, or said to be growing")
	}
	put(t, ctx, "What does it cost?")
	close(gate)
	until(t, ctx, allDone+" && document.querySelector('[data-docent-turn] h2').innerText === 'What does it cost?'")
}

const again = "[data-docent-turn]:last-child form[data-docent-again] button"

// An answer that was cut off at the model's limit is continued by a button.
func TestBrowserContinue(t *testing.T) {
	s := answering(t, cutOff("Open at ten [1], and then"), llmtest.Stream("until dusk [2]."))
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open?")
	until(t, ctx, "document.querySelector('[data-docent-state=cutoff]') && !document.querySelector('[data-docent-stream]')")
	if got := script[string](t, ctx, "document.querySelector('"+again+"').innerText.trim()"); got != "Continue" {
		t.Errorf("the button says %q", got)
	}
	do(t, ctx, chromedp.Click(again))
	until(t, ctx, "document.querySelectorAll('[data-docent-turn]').length === 2 && document.querySelector('[data-docent-turn]:last-child [data-docent-state=done]') && !document.querySelector('[data-docent-stream]')")
	if got := script[string](t, ctx, "[...document.querySelectorAll('.d-turn__body')].map(b => b.innerText.trim().slice(0, 10)).join('|')"); got != "Open at te|until dusk" {
		t.Errorf("the turns say %q", got)
	}
}

// A failed turn can be asked again.
func TestBrowserAskAgain(t *testing.T) {
	s := answering(t, llmtest.Refuse(401, "no"), llmtest.Stream("Open at ten [1]."))
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open?")
	until(t, ctx, "document.querySelector('[data-docent-state=failed]') && !document.querySelector('[data-docent-stream]')")
	if got := script[string](t, ctx, "document.querySelector('"+again+"').innerText.trim()"); got != "Ask again" {
		t.Errorf("the button says %q", got)
	}
	do(t, ctx, chromedp.Click(again))
	until(t, ctx, "document.querySelector('[data-docent-turn]:last-child [data-docent-state=done]') && !document.querySelector('[data-docent-stream]')")
	if got := script[string](t, ctx, "[...document.querySelectorAll('[data-docent-turn] h2')].map(h => h.innerText).join('|')"); got != "When is the garden open?|When is the garden open?" {
		t.Errorf("turns %q", got)
	}
}

// A vote is there again when the page is loaded again, and can be changed: it
// stays one.
func TestBrowserVote(t *testing.T) {
	s := answering(t, llmtest.Stream("Open at ten [1]."))
	ctx := browser(t, 1280, 900)
	on(t, ctx, s.url+"/answers")
	put(t, ctx, "When is the garden open?")
	until(t, ctx, allDone)
	pressed := "[...document.querySelectorAll('.d-feedback [name=rating][aria-pressed=true]')].map(b => b.value).join() === "
	for _, vote := range []string{"up", "down"} {
		do(t, ctx, chromedp.Click(".d-feedback button[value="+vote+"]"))
		until(t, ctx, pressed+"'"+vote+"'")
		do(t, ctx, chromedp.Reload())
		ready(t, ctx)
		until(t, ctx, pressed+"'"+vote+"'")
	}
	d, err := db.Open(t.Context(), "", s.data)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var votes []string
	if err := d.Select(t.Context(), &votes, "select rating from answer_feedback"); err != nil {
		t.Fatal(err)
	}
	if len(votes) != 1 || votes[0] != "negative" {
		t.Errorf("votes %q, want one against", votes)
	}
}
