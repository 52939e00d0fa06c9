package live_test

import (
	"context"
	"sync"
	"testing"

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
