package sim

import "sync"

// manner is a personality as it is now. Its methods are safe for concurrent use.
type manner struct {
	mu   sync.Mutex
	held Personality
}

func newManner(p Personality) *manner { return &manner{held: p} }

// now is the personality. It is not to be changed.
func (m *manner) now() Personality {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held
}

// adjust changes the personality.
func (m *manner) adjust(change func(*Personality)) Personality {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.held)
	return m.held
}

// spend takes one off a number of the personality; false if none is left.
func (m *manner) spend(which func(*Personality) *int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := which(&m.held)
	if *n <= 0 {
		return false
	}
	*n--
	return true
}
