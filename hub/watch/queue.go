package watch

import (
	"slices"
	"sync"
)

// queue has what a watch has not taken yet: of each resource the newest state, in the order in which they first
// changed. So it is bounded by the resources that there are. It is safe for concurrent use.
type queue struct {
	ready chan struct{} // has a value when there is something to take

	mu    sync.Mutex
	items map[string]queued
	order []string
	head  int // of order
}

// queued is one state, and the change since which nothing of its resource was taken.
type queued struct {
	shown *shown
	since uint64
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1), items: map[string]queued{}} }

// put takes the newest state of a resource, which is the change seq. It does not wait.
func (q *queue) put(s *shown, seq uint64) {
	q.mu.Lock()
	if was, there := q.items[s.name]; there {
		seq = was.since
	} else {
		q.order = append(q.order, s.name)
	}
	q.items[s.name] = queued{s, seq}
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take returns the first states, up to n.
func (q *queue) take(n int) (out []*shown) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ; len(out) < n && q.head < len(q.order); q.head++ {
		name := q.order[q.head]
		out = append(out, q.items[name].shown)
		delete(q.items, name)
	}
	switch {
	case q.head == len(q.order):
		q.order, q.head = nil, 0
		q.items = map[string]queued{} // a map does not shrink
	case q.head > len(q.order)/2: // it may never be empty
		q.order, q.head = slices.Clone(q.order[q.head:]), 0
	}
	return out
}

// upTo is up to which change everything was taken; now is the last one that was put anywhere.
func (q *queue) upTo(now uint64) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.order) {
		return now
	}
	return q.items[q.order[q.head]].since - 1
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}
