package link

import (
	"errors"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

func TestAsksAreBounded(t *testing.T) {
	q := newAsks()
	add := func(agent string, kind message.AskKind, id string) error {
		return q.add(&asked{Ask: message.Ask{ID: id, Kind: kind}, agent: agent})
	}
	for i := range 8 {
		if err := add("a", message.AskProbe, string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := add("a", message.AskProbe, "z"); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("one more: %v", err)
	}
	if err := errors.Join(add("a", message.AskInventory, "i"), add("b", message.AskProbe, "b1")); err != nil {
		t.Errorf("of another kind, and another agent: %v", err)
	}
	if q.take("b1", "a") != nil || q.take("b1", "b") == nil || q.take("b1", "b") != nil {
		t.Error("a question is taken once, by its agent")
	}
}
