package server

import (
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// TestInbox: what a step has recorded is taken out, and what came while it was written stays.
func TestInbox(t *testing.T) {
	var b inbox
	id, safety := &decide.Identity{}, &protocol.Safety{}
	b.saw(decide.Event{File: "one"})
	b.read(id, safety)
	first := b.peek()
	b.must(decide.Event{File: "two"})
	b.read(nil, &protocol.Safety{}) // it identifies nothing
	b.folded(first)
	left := b.peek()
	if len(left.events) != 1 || left.events[0].File != "two" || left.board != nil || left.safety == nil {
		t.Errorf("left: %+v", left)
	}
	b.folded(waiting{}) // a step that folds nothing
	if now := b.peek(); len(now.events) != 1 || now.safety != left.safety {
		t.Errorf("after a step that folds nothing: %+v", now)
	}
	b.folded(left)
	if now := b.peek(); now.events != nil || now.board != nil || now.safety != nil {
		t.Errorf("at the end: %+v", now)
	}
	for range maxEvents {
		if !b.saw(decide.Event{}) {
			t.Fatal("it is full too soon")
		}
	}
	if b.saw(decide.Event{}) {
		t.Error("it has no bound")
	}
	if b.must(decide.Event{}); len(b.peek().events) != maxEvents+1 {
		t.Error("what somebody waits for was dropped")
	}
}
