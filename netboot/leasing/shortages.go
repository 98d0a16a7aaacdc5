package leasing

import (
	"sync"
	"time"
)

const (
	// shortAgain is how long it is not told again that a machine got no address.
	shortAgain = time.Minute
	// maxShort bounds the machines that are remembered: those of a rack, and more.
	maxShort = 1024
)

// Shortages says when to tell that a machine of ours got no address. It is safe for
// concurrent use.
type Shortages struct {
	mu   sync.Mutex
	told map[string]time.Time
}

// NewShortages returns one that has told nothing.
func NewShortages() *Shortages { return &Shortages{told: make(map[string]time.Time)} }

// Tell reports whether to tell of the machine now.
func (s *Shortages) Tell(machine string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.told[machine]; ok && now.Sub(at) < shortAgain {
		return false
	}
	if len(s.told) >= maxShort {
		for m, at := range s.told {
			if now.Sub(at) >= shortAgain {
				delete(s.told, m)
			}
		}
		if len(s.told) >= maxShort {
			return false
		}
	}
	s.told[machine] = now
	return true
}
