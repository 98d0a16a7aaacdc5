package faults

import (
	"testing"
	"testing/synctest"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// TestReleasedHoldStaysReleased: an agent gets a copy of its disk of before a release. The hub does
// not take the hold over from it, but releases it there once more, also where it was started anew
// meanwhile; and the server is free again. A hold that lies stays.
func TestReleasedHoldStaysReleased(t *testing.T) {
	for name, restarts := range map[string]bool{"the hub goes on": false, "the hub was started anew": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, seedOf(t), 1, newBroker)
				b := &table{site: s, broker: s.net.(*broker)}
				defer func() { b.stop(b.more...) }()
				b.untilSettled("at the beginning", true)
				a := b.agent()
				id, stays := b.place(unclaimed, resource.StopHard), b.place(unclaimed, resource.StopHard)
				there := func(id string) bool { _, has := a.found().holds[id]; return has }
				b.until("both holds at the agent", time.Minute, func() bool { return there(id) && there(stays) })
				old := a.disk.Load().Copy()
				b.release(id)
				gone := func() bool {
					_, err := store.Peek[*resource.Hold](b.hub.store.Objects, id)
					return err != nil && !there(id)
				}
				b.until("the end of the hold", time.Minute, gone)
				if restarts {
					b.hub.kill()
					b.hub.start()
				}
				b.changeDisk(old, false)
				b.until("that it is known to be back", 5*time.Minute, func() bool { return b.events(resource.EventHoldReturned) > 0 })
				b.until("its second end", 5*time.Minute, gone)
				if n := b.events(resource.EventHoldAdopted); n != 0 {
					t.Errorf("%d holds are taken over", n)
				}
				if !there(stays) {
					t.Error("the hold that was not released is gone")
				}
				b.release(stays)
				b.settle()
			})
		})
	}
}
