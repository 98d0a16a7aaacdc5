package server

import (
	"sync"

	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// maxEvents bounds the evidence that waits for a step.
const maxEvents = 256

// inbox is what waits for the next step of one server. It is safe for concurrent use.
type inbox struct {
	mu      sync.Mutex
	waiting waiting
}

// waiting is evidence, and what was read of the board; nil where nothing new was.
type waiting struct {
	events []decide.Event
	board  *decide.Identity
	safety *protocol.Safety
}

// saw adds evidence, unless too much waits. It reports whether there was room.
func (b *inbox) saw(e decide.Event) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting.events) >= maxEvents {
		return false
	}
	b.waiting.events = append(b.waiting.events, e)
	return true
}

// must adds evidence that somebody waits for.
func (b *inbox) must(e decide.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting.events = append(b.waiting.events, e)
}

// read adds what was read of the board; id is nil where that identifies nothing.
func (b *inbox) read(id *decide.Identity, safety *protocol.Safety) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting.safety = safety
	if id != nil {
		b.waiting.board = id
	}
}

// peek returns what waits. It stays until it is folded.
func (b *inbox) peek() waiting {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.waiting
}

// folded takes out what a step has recorded. What came meanwhile stays.
func (b *inbox) folded(w waiting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting.events = b.waiting.events[len(w.events):]
	if len(b.waiting.events) == 0 {
		b.waiting.events = nil // its memory is free
	}
	if b.waiting.board == w.board {
		b.waiting.board = nil
	}
	if b.waiting.safety == w.safety {
		b.waiting.safety = nil
	}
}
