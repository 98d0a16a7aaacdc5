package control

import (
	"slices"
	"sync"
	"time"

	"rackboot/protocol"
)

// condBook keeps the conditions that the hub itself sees, by name of what they are
// of.
type condBook struct {
	mu sync.Mutex
	by map[string][]protocol.ConditionState
}

func newCondBook() *condBook { return &condBook{by: map[string][]protocol.ConditionState{}} }

// keep replaces all of them, keeping since when each is so.
func (b *condBook) keep(next map[string][]protocol.ConditionState, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, list := range next {
		for i := range list {
			list[i].Since = now
			for _, old := range b.by[name] {
				if old.Code == list[i].Code {
					list[i].Since = old.Since
				}
			}
		}
	}
	b.by = next
}

func (b *condBook) of(name string) []protocol.ConditionState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.by[name])
}

// count is how many have each condition.
func (b *condBook) count() map[protocol.ConditionCode]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[protocol.ConditionCode]int{}
	for _, list := range b.by {
		for _, c := range list {
			out[c.Code]++
		}
	}
	return out
}
