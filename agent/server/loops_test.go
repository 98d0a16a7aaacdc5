package server

import (
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// TestNoLoop: what is seen of a server that has no loop is not taken for recorded, and makes
// none.
func TestNoLoop(t *testing.T) {
	l := NewLoops()
	l.Saw("one", decide.Event{})
	l.Look("one")
	l.Wake("one") // before the agent runs
	if err := l.Fold("one", decide.Event{}); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("evidence: %v", err)
	}
	if err := l.KeepImage("one", "", protocol.ProbeReport{}, time.Now()); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("a report: %v", err)
	}
	if l.Has("one") || len(l.all()) != 0 {
		t.Error("it has a loop")
	}
}
