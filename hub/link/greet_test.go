package link

import (
	"testing"

	"rackboot/hub/store"
	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
)

// What cannot be taken back needs a proof, whatever the table says.
func TestGreetTable(t *testing.T) {
	doctable.Of(t, "greet.go", "greet").HoldOne(t, [][]string{doctable.Words(guardNone, guardSays, guardUnsure, guardOver), doctable.Words(peerNone, peerOther, peerNews, peerSame), doctable.YesNo(), doctable.Words(proofNone, proofFresh, proofSure)},
		func(in []string) string {
			got := greet(guardWord(in[0]), relation(in[1]), in[2] == "yes", proof(in[3]))
			if (got == verdictMeet || got == verdictRenew) && (proof(in[3]) != proofSure || guardWord(in[0]) == guardSays) {
				t.Errorf("%v: %s without a proof, or in guard mode", in, got)
			}
			return string(got)
		})
}

func TestGuardTable(t *testing.T) {
	doctable.Of(t, "guard.go", "guardRule").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo()},
		func(in []string) string { return string(guardRule(in[0] == "yes", in[1] == "yes", in[2] == "yes")) })
}

func TestHeadTable(t *testing.T) {
	sequence := map[string]int{"lower": -1, "same": 0, "higher": 1}
	doctable.Of(t, "storehead.go", "headRule").HoldOne(t, [][]string{doctable.YesNo(), {"lower", "same", "higher"}, {"same", "other"}},
		func(in []string) string { return string(headRule(in[0] == "yes", sequence[in[1]], in[2] == "same")) })
}

func TestLost(t *testing.T) {
	h := func(v uint64) protocol.Head { return protocol.Head{Epoch: 1, Version: v} }
	acked := map[string]protocol.Head{"hold": h(5), "rack/0": h(6), "rack/1": h(3), "event/i": {Version: 9}}
	l := &store.Ledger{Sent: map[string]store.SentDoc{"hold": {Head: h(5)}, "rack/0": {Head: h(6)}}, Acked: acked}
	all := func() message.Hello {
		return message.Hello{Incarnation: "i", EventHead: 9, Applied: map[string]protocol.Head{"hold": h(5), "rack/0": h(6)}}
	}
	for _, c := range []struct {
		name   string
		before map[string]protocol.Head
		change func(*message.Hello)
		want   bool
	}{
		{"has all, and not a shard that went", acked, func(*message.Hello) {}, false},
		{"has newer", acked, func(m *message.Hello) { m.Applied["hold"], m.EventHead = h(50), 90 }, false},
		{"an older document", acked, func(m *message.Hello) { m.Applied["rack/0"] = h(5) }, true},
		{"no document", acked, func(m *message.Hello) { m.Applied = nil }, true},
		{"fewer events", acked, func(m *message.Hello) { m.EventHead = 8 }, true},
		{"another incarnation's events", acked, func(m *message.Hello) { m.Incarnation, m.EventHead = "j", 0 }, false},
		{"older, and newer was not acknowledged then", map[string]protocol.Head{"rack/0": h(5)}, func(m *message.Hello) { m.Applied["rack/0"] = h(5) }, false},
		{"older than then", map[string]protocol.Head{"rack/0": h(5)}, func(m *message.Hello) { m.Applied["rack/0"] = h(4) }, true},
		{"nothing was acknowledged then", nil, func(m *message.Hello) { m.Applied, m.EventHead = nil, 0 }, false},
	} {
		m := all()
		c.change(&m)
		if got := lost(l, c.before, m); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}

func TestStanding(t *testing.T) {
	h := func(e, v uint64) protocol.Head { return protocol.Head{Epoch: e, Version: v} }
	l := &store.Ledger{Version: 7, Sent: map[string]store.SentDoc{
		"hold": {Head: h(2, 5), Sealed: "sha256:h"}, "rack/0": {Head: h(2, 6), Sealed: "sha256:r"},
	}}
	good := map[string]string{"hold": "sha256:h", "rack/0": "sha256:r"}
	both := func(hold, rack protocol.Head) map[string]protocol.Head {
		return map[string]protocol.Head{"hold": hold, "rack/0": rack}
	}
	more := func(v uint64) map[string]protocol.Head {
		m := both(h(2, 5), h(2, 6))
		m["rack/1"] = h(2, v)
		return m
	}
	for _, c := range []struct {
		name          string
		epoch         uint64
		applied       map[string]protocol.Head
		digests       map[string]string
		behind, known bool
	}{
		{"in step", 2, both(h(2, 5), h(2, 6)), good, false, true},
		{"in step, without digests", 2, both(h(2, 5), h(2, 6)), nil, false, true},
		{"empty disk", 2, nil, nil, false, false},
		{"older", 2, both(h(2, 5), h(2, 4)), nil, false, false},
		{"newer", 2, both(h(2, 5), h(2, 8)), good, true, false},
		{"of a higher epoch", 2, both(h(3, 1), h(2, 6)), nil, true, false},
		{"the same with another content", 2, both(h(2, 5), h(2, 6)), map[string]string{"hold": "sha256:x"}, true, false},
		{"newer, and the operator knows", 3, both(h(2, 99), h(2, 98)), nil, false, false},
		{"another content, and the operator knows", 3, both(h(2, 5), h(2, 6)), map[string]string{"hold": "sha256:x"}, false, false},
		{"a shard that went", 2, more(7), good, false, false},
		{"a shard that this hub never made", 2, more(8), good, true, false},
	} {
		behind, known := standing(l, c.epoch, c.applied, c.digests)
		if (behind != "") != c.behind || known != c.known {
			t.Errorf("%s: behind %q, known %t", c.name, behind, known)
		}
	}
	l.Acked = both(h(2, 5), h(2, 3))
	for _, c := range []struct {
		name    string
		epoch   uint64
		applied map[string]protocol.Head
		known   bool
	}{
		{"a document was on its way", 2, both(h(2, 5), h(2, 3)), true},
		{"two were, and one came", 2, both(h(2, 5), h(2, 4)), true},
		{"older than what it acknowledged", 2, both(h(2, 5), h(2, 2)), false},
		{"a document is gone", 2, map[string]protocol.Head{"hold": h(2, 5)}, false},
		{"the operator has raised the epoch", 3, both(h(2, 5), h(2, 3)), false},
	} {
		if behind, known := standing(l, c.epoch, c.applied, nil); behind != "" || known != c.known {
			t.Errorf("%s: behind %q, known %t", c.name, behind, known)
		}
	}
}

func TestSpeakerTable(t *testing.T) {
	doctable.Of(t, "speakers.go", "speakerRule").HoldOne(t, [][]string{doctable.Words(sessionPresent, sessionPast, sessionNew), doctable.YesNo()},
		func(in []string) string { return string(speakerRule(sessionAge(in[0]), in[1] == "yes")) })
}

func TestDiskTable(t *testing.T) {
	yes := func(s string) bool { return s == "yes" }
	doctable.Of(t, "copied.go", "diskRule").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo()},
		func(in []string) string {
			return string(diskRule(yes(in[0]), yes(in[1]), yes(in[2]), yes(in[3]), yes(in[4])))
		})
}
