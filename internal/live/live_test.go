package live_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"docent/internal/live"
)

func TestWatchersEndOnTheLastState(t *testing.T) {
	var h live.Hub[int]
	h.Publish("k", 0)
	const watchers, last = 50, 500
	var ready, wg sync.WaitGroup
	ready.Add(watchers)
	got := make([]int, watchers)
	for i := range watchers {
		wg.Go(func() {
			first, before := true, -1
			for v := range h.Watch(t.Context(), "k") {
				if first {
					ready.Done()
					first = false
				}
				if v < before {
					t.Errorf("watcher %d saw %d after %d", i, v, before)
				}
				before, got[i] = v, v
			}
		})
	}
	ready.Wait()
	for v := 1; v < last; v++ {
		h.Publish("k", v)
	}
	h.Finish("k", last)
	wg.Wait()
	for i, v := range got {
		if v != last {
			t.Errorf("watcher %d ended on %d, want %d", i, v, last)
		}
	}
	if _, ok := h.Newest("k"); ok {
		t.Error("a finished key is still live")
	}
	for range h.Watch(t.Context(), "k") {
		t.Error("a finished key was watched")
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	var h live.Hub[string]
	h.Publish("k", "a")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for range h.Watch(ctx, "k") {
		n++
		cancel()
	}
	if n != 1 {
		t.Errorf("saw %d states, want 1", n)
	}
}

func TestWatchEndsWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h live.Hub[string]
		h.Publish("k", "a")
		ctx, cancel := context.WithCancel(t.Context())
		var seen []string
		ended := false
		go func() {
			for v := range h.Watch(ctx, "k") {
				seen = append(seen, v)
			}
			ended = true
		}()
		synctest.Wait()
		h.Publish("k", "b")
		synctest.Wait()
		if ended || len(seen) != 2 {
			t.Fatalf("saw %v before the end", seen)
		}
		cancel()
		synctest.Wait()
		if !ended || len(seen) != 2 {
			t.Errorf("ended: %v, saw %v", ended, seen)
		}
		for v := range h.Watch(ctx, "k") { // what there is, then nothing
			seen = append(seen, v)
			h.Publish("k", "c")
		}
		if len(seen) != 3 {
			t.Errorf("with an ended context saw %v", seen)
		}
	})
}
