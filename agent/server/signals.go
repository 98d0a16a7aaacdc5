package server

import "sync/atomic"

// signals are what makes the loop of one server look. All methods are safe for concurrent
// use, and none waits.
type signals struct {
	server string
	poked  chan struct{}
	// stirred is that evidence waits, or has moved the record: whether the BMC is read for it
	// heed says.
	stirred chan struct{}
	moved   atomic.Bool
	woken   atomic.Bool // an event of the BMC poked
}

func newSignals(server string) *signals {
	return &signals{server: server, poked: make(chan struct{}, 1), stirred: make(chan struct{}, 1)}
}

// Name implements stream.Server.
func (s *signals) Name() string { return s.server }

// Woken implements stream.Server.
func (s *signals) Woken() {
	s.woken.Store(true)
	s.poke()
}

// poke makes the loop look now.
func (s *signals) poke() { wake(s.poked) }

// stir makes the loop look at evidence.
func (s *signals) stir() { wake(s.stirred) }

// wake signals a channel of one place, unless it is signalled already.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
