package handlers

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
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
	"hand over":   {4, (*world).handOver},
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
func schedules(t *testing.T, d *db.DB, least int, more time.Duration) {
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
	for ; (n < least || time.Since(start) < more) && !t.Failed(); n++ {
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

func runSchedule(site *stage, seed uint64, steps []step) (err error) {
	w, err := newWorld(site, fmt.Sprintf("w%d", site.worlds.Add(1)), rand.New(rand.NewPCG(seed, 3)))
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
