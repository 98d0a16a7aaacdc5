package fence

import (
	"testing"

	"rackboot/protocol/message"
)

// What another hub told an agent of the store is missed only once it is missing for longer than this hub may be behind;
// what comes meanwhile ends that.
func TestWhatAnotherHubTold(t *testing.T) {
	var l late
	ticks := func(n int, now uint64) (lost bool) {
		for range n {
			_, _, lost = l.tick(now)
		}
		return lost
	}
	if ticks(100, 0) {
		t.Fatal("of nothing something is missing")
	}
	l.tell("r1-1", message.HubHead{Sequence: 1000})
	if ticks(lateTicks, 999) {
		t.Fatal("a hub may be behind for a while")
	}
	if ticks(1, 1000) || ticks(lateTicks, 999) {
		t.Fatal("what has come is missed")
	}
	l.tell("r1-1", message.HubHead{Sequence: 1000})
	ticks(lateTicks-1, 999)
	l.tell("r2-1", message.HubHead{Sequence: 1001})
	ticks(1, 1000)
	if !ticks(1, 1000) {
		t.Fatal("what was told later makes what is missing no newer")
	}
}
