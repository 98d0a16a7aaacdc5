package control

import (
	"slices"
	"testing"

	"rackboot/protocol"
)

func batch(incarnation string, seqs ...uint64) protocol.EventBatch {
	m := protocol.EventBatch{Session: "s", Incarnation: incarnation}
	for _, s := range seqs {
		m.Events = append(m.Events, protocol.Event{Seq: s, Code: protocol.EventPowerOn, Server: "n1"})
	}
	return m
}

// Events arrive at least once and are filed once, in order, over restarts of the
// hub and a new database at the agent.
func TestEvents(t *testing.T) {
	b, agent := joined(t)
	for _, c := range []struct {
		name  string
		batch protocol.EventBatch
		acked uint64
		filed []uint64
	}{
		{"first", batch("i", 1, 2), 2, []uint64{1, 2}},
		{"again and more", batch("i", 1, 2, 3), 3, []uint64{1, 2, 3}},
		{"older, overtaken", batch("i", 1), 3, []uint64{1, 2, 3}},
		{"after a gap that the agent's bound made", batch("i", 9), 9, []uint64{1, 2, 3, 9}},
		{"none", batch("i"), 9, []uint64{1, 2, 3, 9}},
		{"a new database", batch("j", 1), 1, []uint64{1, 2, 3, 9, 1}},
		{"the old database's, late", batch("i", 9), 9, []uint64{1, 2, 3, 9, 1}},
		{"the new one again", batch("j", 1, 2), 2, []uint64{1, 2, 3, 9, 1, 2}},
	} {
		b.restart()
		b.sent = nil
		b.says(agent, protocol.LeafEvent, c.batch)
		if m := last[protocol.Sync](b, agent, protocol.LeafSync); m.EventsAcked != c.acked || m.Session != "s" {
			t.Errorf("%s: acknowledged %d, want %d", c.name, m.EventsAcked, c.acked)
		}
		var filed []uint64
		index := uint64(0)
		for _, e := range b.control.Events(0, 100) {
			if e.Index <= index {
				t.Errorf("%s: index %d after %d", c.name, e.Index, index)
			}
			if index = e.Index; e.Agent == agent {
				filed = append(filed, e.Seq)
			}
		}
		if !slices.Equal(filed, c.filed) {
			t.Errorf("%s: filed %v, want %v", c.name, filed, c.filed)
		}
	}
	all := b.control.Events(0, 100)
	if rest := b.control.Events(all[1].Index, 2); len(rest) != 2 || rest[0].Index != all[2].Index {
		t.Errorf("two after the second are %+v", rest)
	}
}
