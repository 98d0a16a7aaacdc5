package server

import "testing"

// TestWoken: an event of the BMC makes the loop look, and its read is known to be of an event.
func TestWoken(t *testing.T) {
	s := newSignals("one")
	s.Woken()
	s.Woken()
	if len(s.poked) != 1 || !s.woken.Load() {
		t.Errorf("poked %d times, woken %t", len(s.poked), s.woken.Load())
	}
}
