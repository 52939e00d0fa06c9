// Package live holds the newest state of things that change while people watch.
package live

import (
	"context"
	"iter"
	"sync"
)

// A Hub keeps one newest state per key and wakes everybody who watches that key.
// Watchers see states, not a queue of changes: a slow one skips what it missed.
// The zero Hub is ready to use.
type Hub[T any] struct {
	mu     sync.Mutex // of topics; taken before a topic's own
	topics map[string]*topic[T]
}

// A topic has a lock of its own, so that those who watch one do not wait for those
// who watch another. One condition for all its watchers is right for the few that a
// topic has: whoever leaves wakes the others for nothing.
type topic[T any] struct {
	mu      sync.Mutex
	value   T
	version int // counts the states
	done    bool
	changed sync.Cond
}

// Publish makes v the newest state of key. The final state is published with
// [Hub.Finish].
func (h *Hub[T]) Publish(key string, v T) { h.set(key, v, false) }

// Finish publishes the last state of key and forgets the key; those who watch
// still get the state, later ones find nothing.
func (h *Hub[T]) Finish(key string, v T) { h.set(key, v, true) }

func (h *Hub[T]) set(key string, v T, done bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[key]
	if t == nil {
		if h.topics == nil {
			h.topics = map[string]*topic[T]{}
		}
		t = &topic[T]{}
		t.changed.L = &t.mu
		h.topics[key] = t
	}
	t.mu.Lock()
	t.value, t.done = v, done
	t.version++
	t.mu.Unlock()
	t.changed.Broadcast()
	if done {
		delete(h.topics, key)
	}
}

// Newest returns the newest state of key, if the key is live.
func (h *Hub[T]) Newest(key string) (T, bool) {
	t := h.topic(key)
	if t == nil {
		var zero T
		return zero, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.value, true
}

func (h *Hub[T]) topic(key string) *topic[T] {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.topics[key]
}

// Watch yields the newest state of key at once and again whenever it changed,
// until the last one or until ctx ends. It yields nothing when the key is not live.
func (h *Hub[T]) Watch(ctx context.Context, key string) iter.Seq[T] {
	t := h.topic(key)
	return func(yield func(T) bool) {
		if t == nil {
			return
		}
		// The lock, or the end could fall between a look at ctx and the wait.
		stop := context.AfterFunc(ctx, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.changed.Broadcast()
		})
		defer stop()
		for seen := 0; ; {
			v, version, done := t.after(ctx, seen)
			if version == seen || !yield(v) || done {
				return
			}
			seen = version
		}
	}
}

// after waits for a state newer than the one seen. Once ctx has ended there is only
// a last or a first one.
func (t *topic[T]) after(ctx context.Context, seen int) (v T, version int, done bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.version == seen && ctx.Err() == nil {
		t.changed.Wait()
	}
	if seen > 0 && !t.done && ctx.Err() != nil {
		return v, seen, false
	}
	return t.value, t.version, t.done
}
