package handlers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"docent/db/dbtest"
	"docent/internal/benchtest"
	"docent/internal/live"
)

const fanOutServer = "DOCENT_BENCH_SERVER" // "ours" or "net/http"; the process is the server then

// A fanOut is one setting of the comparison: so many listeners, each with so many
// events a second.
type fanOut struct {
	listeners int
	rate      int // events a second for each
}

func (f fanOut) interval() time.Duration { return time.Second / time.Duration(f.rate) }

// TestBenchFanOutServer is the measured server in a process of its own. It reads a
// fanOut, tells its address, and begins with the events at the next line.
func TestBenchFanOutServer(t *testing.T) {
	kind := os.Getenv(fanOutServer)
	if kind == "" {
		t.Skip("a part of the measurements: run make bench")
	}
	in := bufio.NewScanner(os.Stdin)
	var rate int
	if !in.Scan() || json.Unmarshal(in.Bytes(), &rate) != nil {
		t.Fatal("no rate")
	}
	f := fanOut{rate: rate}
	start := make(chan struct{})
	address := ""
	if kind == "ours" {
		address = serveFanOut(t, f, start)
	} else {
		address = serveBareFanOut(t, f, start)
	}
	fmt.Printf("%q\n", address)
	for started := false; in.Scan(); fmt.Println("true") {
		if !started {
			close(start)
			started = true
		}
	}
}

// serveFanOut is the site with one more route: a run publishes states, each
// listener watches one.
func serveFanOut(t *testing.T, f fanOut, start chan struct{}) string {
	s := newTestSite(t, dbtest.SQLite(t))
	var hub live.Hub[string]
	var mu sync.Mutex
	var keys []string
	s.echo.GET("/bench/events", func(c echo.Context) error {
		mu.Lock()
		key := strconv.Itoa(len(keys))
		keys = append(keys, key)
		mu.Unlock()
		hub.Publish(key, "")
		events := newEventStream(c)
		defer events.close()
		for text := range hub.Watch(c.Request().Context(), key) {
			if text == "" {
				continue
			}
			if err := events.send("1.2.3", "", text); err != nil {
				return nil
			}
		}
		return nil
	})
	go func() {
		<-start
		apart := f.interval() / time.Duration(len(keys))
		due := time.Now()
		for i := 0; ; i++ {
			if wait := time.Until(due); wait > 0 {
				time.Sleep(max(wait, time.Millisecond))
			}
			hub.Publish(keys[i%len(keys)], benchtest.EventText(due))
			due = due.Add(apart)
			// A run waits for its model after it published; whom it woke goes first.
			if i%64 == 0 {
				runtime.Gosched()
			}
		}
	}()
	return s.url[len("http://"):]
}

// serveBareFanOut is the least that net/http can do: a goroutine with a timer for
// each listener.
func serveBareFanOut(t *testing.T, f fanOut, start chan struct{}) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		flush := w.(http.Flusher)
		flush.Flush()
		select {
		case <-start:
		case <-r.Context().Done():
			return
		}
		due := time.Now().Add(rand.N(f.interval()))
		for r.Context().Err() == nil {
			time.Sleep(time.Until(due))
			if _, err := fmt.Fprintf(w, "id: 1.2.3\ndata: %s\n\n", benchtest.EventText(due)); err != nil {
				return
			}
			flush.Flush()
			due = due.Add(f.interval())
		}
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

type fanOutResult struct {
	perListener float64 // resident KB while nothing happens
	perEvent    float64 // us of processor time
	perSecond   float64 // events
	late        []time.Duration
}

// measure starts a server of a kind and listens to it.
func (f fanOut) measure(t *testing.T, kind string) (r fanOutResult) {
	t.Helper()
	t.Run(kind, func(t *testing.T) { // ends the server
		var server *benchtest.Peer
		if kind == "node" {
			server = benchtest.StartPeer(t, "fanout.mjs")
		} else {
			server = benchtest.StartSelf(t, "TestBenchFanOutServer", fanOutServer+"="+kind)
		}
		address := benchtest.Ask[string](server, f.rate)
		benchtest.Listen(t, address, "/bench/warm", 1).Close()
		empty := server.Resident()
		l := benchtest.Listen(t, address, "/bench/events", f.listeners)
		defer l.Close()
		l.Hear(300 * time.Millisecond)
		r.perListener = float64(server.Resident()-empty) / 1024 / float64(f.listeners)
		benchtest.Ask[bool](server, "start")
		l.Hear(time.Second)
		used, began := server.CPU(), time.Now()
		heard := l.Hear(3 * time.Second)
		used, took := server.CPU()-used, time.Since(began)
		r.perEvent = float64(used.Microseconds()) / float64(heard.Events)
		r.perSecond = float64(heard.Events) / took.Seconds()
		r.late = heard.Late
	})
	return r
}

// median measures the kinds in turns and returns a result of each, of which every
// value is the median.
func (f fanOut) median(t *testing.T, kinds ...string) []fanOutResult {
	all := make([][]fanOutResult, len(kinds))
	for range benchtest.Rounds {
		for i, kind := range kinds {
			r := f.measure(t, kind)
			t.Logf("%s, %+v: %.1f KB a listener, %.1f us an event, %.0f events/s, late p50 %v p99 %v", kind, f, r.perListener, r.perEvent, r.perSecond,
				benchtest.Median(r.late).Round(time.Microsecond), benchtest.Quantile(r.late, 0.99).Round(time.Microsecond))
			all[i] = append(all[i], r)
		}
	}
	medians := make([]fanOutResult, len(kinds))
	for i := range all {
		var memory, cpu, rate []float64
		for _, r := range all[i] {
			memory, cpu, rate = append(memory, r.perListener), append(cpu, r.perEvent), append(rate, r.perSecond)
			medians[i].late = append(medians[i].late, r.late...)
		}
		medians[i].perListener, medians[i].perEvent, medians[i].perSecond = benchtest.Median(memory), benchtest.Median(cpu), benchtest.Median(rate)
	}
	return medians
}

// TestBenchFanOut compares our event streams with net/http alone and with Node.
func TestBenchFanOut(t *testing.T) {
	benchtest.Only(t)
	m := fanOut{2000, 20}.median(t, "ours", "net/http")
	ours, bare := m[0], m[1]
	benchtest.Gate{ID: "B10", What: "2,000 listeners, 20 events/s each: processor time of an event, ours / net/http", AtMost: 1.25, Stretch: 1.05}.
		Check(t, ours.perEvent/bare.perEvent, "%.1f and %.1f us; late p50 %v, p99 %v", ours.perEvent, bare.perEvent,
			benchtest.Median(ours.late).Round(100*time.Microsecond), benchtest.Quantile(ours.late, 0.99).Round(100*time.Microsecond))
	m = fanOut{10000, 20}.median(t, "ours", "node")
	benchtest.Gate{ID: "B11", What: "10,000 listeners, 200,000 events/s offered: delivered, ours / Node", AtLeast: 2, Stretch: 3.5}.
		Check(t, m[0].perSecond/m[1].perSecond, "%.0f and %.0f events/s", m[0].perSecond, m[1].perSecond)
	benchtest.Gate{ID: "B12", What: "2,000 listeners, idle: resident memory of one, ours / net/http", AtMost: 1.3, Stretch: 0.3}.
		Check(t, ours.perListener/bare.perListener, "%.1f and %.1f KB", ours.perListener, bare.perListener)
}
