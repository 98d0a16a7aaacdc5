package store

import (
	"sync"

	"rackboot/protocol/resource"
)

// Delta is the change of one entry.
type Delta struct {
	Kind   resource.Kind // of a resource; empty otherwise
	Beside string        // what it is, if it is no resource
	Name   string
	// Old and Now are the resource before and after, shared as those of [Peek] are: nil where it
	// was not there, is not there any more, or cannot be read.
	Old, Now resource.Object
}

// maxDeltas bounds what a subscriber of deltas has not taken yet.
const maxDeltas = 10_000

// Deltas collects what changes, in order, for one subscriber. It is safe for concurrent use.
type Deltas struct {
	ready chan struct{}

	mu   sync.Mutex
	list []Delta
	lost bool
}

// Ready has a value when there is something to take.
func (d *Deltas) Ready() <-chan struct{} { return d.ready }

// Take returns what has changed since the last Take. lost reports that more did than is kept:
// anything may have changed then.
func (d *Deltas) Take() (list []Delta, lost bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list, lost = d.list, d.lost
	d.list, d.lost = nil, false
	return list, lost
}

func (d *Deltas) add(x Delta) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.list) >= maxDeltas {
		d.list, d.lost = nil, true
	}
	d.list = append(d.list, x)
	select {
	case d.ready <- struct{}{}:
	default:
	}
}

// changed takes one entry's place by another in the indexes, the tally, the roll and the labels, and says so to the subscribers.
// It needs m.mu.
func (m *mirror) changed(bucket, name string, old, now *cached) {
	m.indexes.change(bucket, old, now)
	m.tally.change(bucket, old, now)
	m.enrol(bucket, name, old, now)
	m.relabel(bucket, name, old, now)
	if len(m.deltas) == 0 || apart(bucket) {
		return
	}
	x := Delta{Beside: bucket, Name: name, Old: old.object(), Now: now.object()}
	if kind, ok := m.kinds[bucket]; ok {
		x.Kind, x.Beside = kind, ""
	}
	for d := range m.deltas {
		d.add(x)
	}
}
