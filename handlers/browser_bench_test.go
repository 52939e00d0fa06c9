package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"docent/components"
	"docent/internal/answer"
	"docent/internal/benchtest"
	"docent/static"
)

// oursPage shows a turn that is just beginning. Its events come from /events, each
// in a task of its own; everything from the first byte on is the site's own scripts.
// Nothing is displayed: layout and painting come at the rate of the display, not at
// that of the tokens, and are the same for both sides.
const oursPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Docent</title>
<meta name="htmx-config" content='{"history":"reload","includeIndicatorCSS":false}'>
<script>
	const ready = fetch("/events").then((r) => r.json());
	const started = new Promise((go) => { window.start = go; });
	const bytes = new TextEncoder();
	const { port1, port2 } = new MessageChannel();
	const task = () => new Promise((next) => { port1.onmessage = next; port2.postMessage(0); });
	let i = 0; // next event: a client that connects again goes on where it was
	window.fetch = async () => {
		const events = await ready;
		await started;
		return new Response(new ReadableStream({
			async pull(stream) {
				await task();
				if (i < events.length) stream.enqueue(bytes.encode(events[i++]));
				if (i === events.length) setTimeout(() => { window.finished = true; }, 200);
			},
		}, { highWaterMark: 0 }), { headers: { "Content-Type": "text/event-stream" } });
	};
</script>
<script src="%s" defer></script><script src="%s" defer></script><script src="%s" defer></script>
<main hidden>%s</main></html>`

// oursInBrowser is the page and the events that bring it to the end of a text whose
// every token is rendered.
func oursInBrowser(t *testing.T, text string) (page string, events []string) {
	t.Helper()
	h, ctx := testHandlers(t)
	block := answersBlock{ID: "ai-answers-answer-site", Lang: "en", Agent: "site"}
	var watch *turnWatch
	paced(text, 10*time.Millisecond, 0, func(st answer.State) {
		if watch == nil {
			watch = &turnWatch{h: h, page: block, have: seenOf(st, 0)}
			var b bytes.Buffer
			err := templ.Join(
				components.Answer(components.AnswerProps{ID: block.ID, Turns: []components.TurnProps{h.turnProps(ctx, st, block)}}),
				components.SourceList(components.SourceListProps{AnswerID: block.ID, Waiting: waitingSources(h, st, nil), Running: true}),
			).Render(ctx, &b)
			if err != nil {
				t.Fatal(err)
			}
			page = fmt.Sprintf(oursPage, static.URL("js/docent.js"), static.URL("vendor/htmx/htmx.min.js"), static.URL("vendor/htmx/hx-sse.min.js"), b.String())
		}
		f, err := watch.frame(ctx, st)
		if err != nil {
			t.Fatal(err)
		}
		if f.data != "" {
			var event bytes.Buffer
			writeEvent(&event, watch.have.String(), f.name, f.data)
			events = append(events, event.String())
		}
	})
	return page, events
}

func chromium(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("the measurement needs Chromium")
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.WindowSize(1280, 900), chromedp.UserDataDir(t.TempDir()))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// mainThread opens a page, lets it run to its end and returns what that took of the
// page's main thread, in milliseconds of processor time.
func mainThread(t *testing.T, ctx context.Context, url string) float64 {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
	until := func(js string) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+js+")")); err == nil && ok {
				return
			} else if time.Now().After(deadline) {
				t.Fatalf("%s: waited for %s: %v", url, js, err)
			}
		}
	}
	used := func() float64 {
		t.Helper()
		all, err := chromedp.Call(ctx, performance.GetMetrics, cdp.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all.Metrics {
			if m.Name == "TaskDuration" {
				return 1000 * m.Value
			}
		}
		t.Fatal("no TaskDuration")
		return 0
	}
	until("window.start && document.readyState === 'complete'")
	before := used()
	if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void]("void start()")); err != nil {
		t.Fatal(err)
	}
	until("window.finished")
	took := used() - before
	items, err := chromedp.Run(ctx, chromedp.Evaluate[int]("document.querySelectorAll('.d-turn__body li, .d-turn__body tr').length"))
	if err != nil || items < 50 {
		t.Fatalf("%s shows %d items, %v", url, items, err)
	}
	return took
}

// TestBenchBrowser compares what a growing answer costs the browser.
func TestBenchBrowser(t *testing.T) {
	benchtest.Only(t)
	text := benchtest.Answer(12 << 10)
	page, events := oursInBrowser(t, text)
	peer, err := os.ReadFile(filepath.Join(benchtest.Peers(t), "page.html"))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	send := func(kind string, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Write(body)
		}
	}
	asJSON := func(list []string) http.HandlerFunc {
		b, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		return send("application/json", b)
	}
	mux.HandleFunc("/ours", send("text/html", []byte(page)))
	mux.HandleFunc("/events", asJSON(events))
	mux.HandleFunc("/peer", send("text/html", peer))
	mux.HandleFunc("/tokens", asJSON(benchtest.Tokens(text)))
	mux.Handle("/peers/", http.StripPrefix("/peers/", http.FileServer(http.Dir(filepath.Join(benchtest.Peers(t), "node_modules")))))
	mux.Handle(static.Prefix, static.Handler())
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	ctx := chromium(t)
	if _, err := chromedp.Call(ctx, performance.Enable, performance.EnableParams{TimeDomain: "threadTicks"}); err != nil {
		t.Fatal(err)
	}
	m := benchtest.Alternate(
		func() float64 { return mainThread(t, ctx, server.URL+"/ours") },
		func() float64 { return mainThread(t, ctx, server.URL+"/peer") })
	benchtest.Gate{ID: "B6", What: "Chromium's main thread, 12 KB, every token: markdown-it + DOMPurify / our client", AtLeast: 5, Stretch: 12}.
		Check(t, m[1]/m[0], "ours %.0f ms in %d events, the other %.0f", m[0], len(events), m[1])
}
