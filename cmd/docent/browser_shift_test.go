package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"docent/internal/llm/llmtest"
)

// longAnswer is an answer of 12 KB with blocks of every kind.
func longAnswer() string {
	var b strings.Builder
	for i := 1; b.Len() < 12<<10; i++ {
		fmt.Fprintf(&b, "## Part %d of the garden\n\nThe garden opens [%d] at **ten** on most days of the year, and in winter it closes as soon as it is dark [%d]. ", i, 1+i%4, 1+i%3)
		b.WriteString("Paths by the water may be wet, so bring boots, and leave the gate as you found it.\n\n")
		fmt.Fprintf(&b, "- tickets are sold at the gate [%d]\n- dogs are *welcome* on a lead\n- the café has `soup`\n\n", 1+i%5)
		if i%3 == 0 {
			fmt.Fprintf(&b, "| Day | Opens | Closes |\n| --- | --- | ---: |\n| Saturday | ten | %d |\n| Sunday | eleven [%d] | dusk |\n| Monday | never | never |\n\n", 10+i, 1+i%2)
		}
		if i%4 == 0 {
			b.WriteString("```go\nfunc open(day string) bool {\n\treturn day != \"Monday\"\n}\n```\n\n")
		}
	}
	return b.String()
}

// watchShifts marks blocks from the moment they are settled, and adds up what moves:
// settled blocks, cards that are cited, and all that stands above the growing end.
const watchShifts = `(() => {
	window.still = {heard: 0, moved: 0, other: 0, where: []}
	const settled = new WeakMap() // element -> when it was painted as it will stay
	const body = () => document.querySelector(".d-turn__body")
	const painted = (element) => {
		settled.set(element, Infinity)
		requestAnimationFrame(() => requestAnimationFrame((now) => settled.set(element, now)))
	}
	document.addEventListener("htmx:sse:after:message", ({detail}) => {
		still.heard++
		const count = Number((detail.message.id ?? "").split(".")[0])
		const blocks = body()?.children ?? []
		for (let i = 0; i < count && i < blocks.length; i++) {
			if (settled.has(blocks[i])) continue
			painted(blocks[i])
			blocks[i].docentTag = i
		}
		for (const card of document.querySelectorAll("[data-docent-cited] > li")) if (!settled.has(card)) painted(card)
		still.settled = count
	})
	const since = (node) => {
		for (let e = node; e; e = e.parentNode) {
			if (settled.has(e)) return settled.get(e)
			if (e === body() || e.matches?.(".d-status, .d-sources")) return Infinity // still grows, or tells how it goes
		}
		const above = body() && node.compareDocumentPosition(body()) & Node.DOCUMENT_POSITION_FOLLOWING
		return above && !node.contains(body()) ? 0 : Infinity
	}
	new PerformanceObserver(list => {
		for (const entry of list.getEntries()) {
			const from = entry.sources.filter(s => s.node && since(s.node) < entry.startTime)
			if (from.length === 0) { still.other += entry.value; continue }
			still.moved += entry.value
			still.where.push(from.map(s => (s.node.outerHTML ?? s.node.textContent).slice(0, 80) + " " + s.previousRect.y + " -> " + s.currentRect.y).join("; "))
		}
	}).observe({type: "layout-shift", buffered: true})
	return PerformanceObserver.supportedEntryTypes.includes("layout-shift")
})()`

// While a long answer is written nothing moves that the reader may be reading:
// settled blocks and cited cards keep their place, their elements, the selection,
// the focus and what was opened. It takes one question and one stream.
func TestBrowserNothingMovesWhileAnAnswerGrows(t *testing.T) {
	text := longAnswer()
	for _, tt := range []struct {
		name          string
		width, height int
		focus         string
	}{
		{"tall", 1280, 7000, ".d-turn__body > :first-child ~ p .d-cite a"},
		{"desktop", 1280, 900, "[data-docent-cited] > li summary"},
		{"phone", 390, 844, "[data-docent-cited] > li summary"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const step = 151
			gate := make(chan struct{})
			var pieces []string
			for rest := text; rest != ""; {
				n := min(step, len(rest))
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
			reply := llmtest.Stream(pieces...)
			reply.Gate = gate
			s := answering(t, reply)
			ctx := browser(t, tt.width, tt.height)
			do(t, ctx, chromedp.EmulateViewport(int64(tt.width), int64(tt.height)))
			on(t, ctx, s.url+"/answers")
			if !script[bool](t, ctx, watchShifts) {
				t.Fatal("the browser tells of no layout shifts")
			}
			put(t, ctx, "When is the garden open in winter?")
			pass(t, gate, 1) // the role
			heard := 0
			for i := range pieces {
				pass(t, gate, 1)
				until(t, ctx, fmt.Sprintf("still.heard > %d", heard))
				heard = script[int](t, ctx, "still.heard")
				switch i {
				case 6: // a few blocks are settled: the reader reads
					until(t, ctx, "still.settled > 2 && document.querySelector("+quote(tt.focus)+")")
					script[bool](t, ctx, `(() => {
						getSelection().selectAllChildren(document.querySelector(".d-turn__body > p"))
						const card = document.querySelector("[data-docent-cited] > li")
						card.docentTag = true
						card.querySelector("details").open = true
						window.focused = document.querySelector(`+quote(tt.focus)+`)
						focused.focus({preventScroll: true})
						return true })()`)
					promised[bool](t, ctx, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => {
						still.moved = 0 // by what the reader opened
						still.where = []
						done(true)
					}, 50))))`)
				case 30:
					script[bool](t, ctx, "scrollTo(0, Math.min(600, document.documentElement.scrollHeight - innerHeight)), window.left = scrollY, true")
				}
			}
			close(gate)
			until(t, ctx, allDone)
			// What moved is told after the frame that moved it.
			found := promised[string](t, ctx, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(JSON.stringify({...still,
				scrolled: scrollY - left,
				blocks: document.querySelectorAll(".d-turn__body > *").length,
				tagged: [...document.querySelectorAll(".d-turn__body > *")].filter((b, i) => b.docentTag === i).length,
				selected: getSelection().toString().slice(0, 16),
				focused: document.activeElement === focused && focused.isConnected,
				opened: [...document.querySelectorAll("[data-docent-cited] > li")].filter(c => c.docentTag && c.querySelector("details").open).length,
				requests: performance.getEntriesByType("resource").filter(e => e.name.includes("/ai-answers/")).map(e => new URL(e.name).pathname.split("/")[2]).join(),
			})), 50))))`)
			var seen struct {
				Heard, Settled, Blocks, Tagged, Opened int
				Moved, Other, Scrolled                 float64
				Where                                  []string
				Selected, Requests                     string
				Focused                                bool
			}
			if err := json.Unmarshal([]byte(found), &seen); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d bytes in %d pieces: %d events, %d blocks; settled parts moved %v, others %.4f", len(text), len(pieces), seen.Heard, seen.Blocks, seen.Moved, seen.Other)
			if seen.Moved != 0 {
				t.Errorf("settled parts moved by %v: %q", seen.Moved, seen.Where)
			}
			if seen.Tagged != seen.Blocks || seen.Blocks < 60 {
				t.Errorf("%d of %d blocks are the elements that they were when they were settled", seen.Tagged, seen.Blocks)
			}
			if !strings.HasPrefix(seen.Selected, "The garden opens") || !seen.Focused || seen.Opened != 1 || seen.Scrolled != 0 {
				t.Errorf("selected %q, focus kept %v, %d cards open, scrolled by %v", seen.Selected, seen.Focused, seen.Opened, seen.Scrolled)
			}
			// The stream and what asked for it are all that the site is asked.
			if seen.Requests != "question,turns" || seen.Heard > len(pieces)+10 {
				t.Errorf("requests %s, %d events for %d pieces", seen.Requests, seen.Heard, len(pieces))
			}
			shot(t, ctx, "end")
		})
	}
}
