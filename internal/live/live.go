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
	mu     sync.Mutex
	topics map[string]*topic[T]
}

type topic[T any] struct {
	value   T
	done    bool
	changed chan struct{} // closed and replaced at every change
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
		t = &topic[T]{changed: make(chan struct{})}
		h.topics[key] = t
	}
	t.value, t.done = v, done
	close(t.changed)
	t.changed = make(chan struct{})
	if done {
		delete(h.topics, key)
	}
}

// Newest returns the newest state of key, if the key is live.
func (h *Hub[T]) Newest(key string) (T, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.topics[key]; t != nil {
		return t.value, true
	}
	var zero T
	return zero, false
}

// Watch yields the newest state of key at once and again whenever it changed,
// until the last one or until ctx ends. It yields nothing when the key is not live.
func (h *Hub[T]) Watch(ctx context.Context, key string) iter.Seq[T] {
	h.mu.Lock()
	t := h.topics[key]
	h.mu.Unlock()
	return func(yield func(T) bool) {
		if t == nil {
			return
		}
		for {
			h.mu.Lock()
			v, done, changed := t.value, t.done, t.changed
			h.mu.Unlock()
			if !yield(v) || done {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}
