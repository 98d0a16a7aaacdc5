package conditions

import (
	"maps"
	"slices"
	"sync"
	"time"

	"rackboot/protocol/resource"
)

// Book keeps conditions by name of what they are of. It is safe for concurrent use.
type Book struct {
	mu   sync.Mutex
	by   map[string][]resource.ConditionState
	from map[string]string          // which unit said so, by name
	said map[string]map[string]bool // the names, by unit
}

// New makes an empty book.
func New() *Book {
	return &Book{by: map[string][]resource.ConditionState{}, from: map[string]string{}, said: map[string]map[string]bool{}}
}

// Keep replaces all that a unit has said, keeping since when each is so. What another unit has
// said since of the same name stays.
func (b *Book) Keep(unit string, next map[string][]resource.ConditionState, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range b.said[unit] {
		if _, still := next[name]; !still && b.from[name] == unit {
			delete(b.by, name)
			delete(b.from, name)
		}
	}
	delete(b.said, unit)
	for name, list := range next {
		for i := range list {
			list[i].Since = now
			for _, old := range b.by[name] {
				if old.Code == list[i].Code {
					list[i].Since = old.Since
				}
			}
		}
		if len(list) == 0 {
			if b.from[name] == unit || b.from[name] == "" {
				delete(b.by, name)
				delete(b.from, name)
			}
			continue
		}
		if b.said[unit] == nil {
			b.said[unit] = map[string]bool{}
		}
		b.by[name], b.from[name], b.said[unit][name] = list, unit, true
	}
}

// Forget drops what units have said that are gone.
func (b *Book) Forget(there map[string]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for unit, names := range b.said {
		if there[unit] {
			continue
		}
		for name := range names {
			if b.from[name] == unit {
				delete(b.by, name)
				delete(b.from, name)
			}
		}
		delete(b.said, unit)
	}
}

// Of returns the conditions of what has that name.
func (b *Book) Of(name string) []resource.ConditionState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.by[name])
}

// All are the conditions of all, by name. The lists are shared.
func (b *Book) All() map[string][]resource.ConditionState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.by)
}

// Count is how many have each condition.
func (b *Book) Count() map[resource.ConditionCode]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[resource.ConditionCode]int{}
	for _, list := range b.by {
		for _, c := range list {
			out[c.Code]++
		}
	}
	return out
}
