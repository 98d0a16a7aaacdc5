package control

import (
	"testing"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
)

// A release is done with when its document is acknowledged, whatever took note of
// that: the hub died before the hold left its store, or a Hello took the place of an
// acknowledgement that was lost.
func TestReleaseLeavesWithItsDocument(t *testing.T) {
	for _, how := range []string{"the hub dies between", "a hello acknowledges"} {
		t.Run(how, func(t *testing.T) {
			b, m := modernSite(t)
			h, err := b.store.Holds.Create(ctx(t), storetest.Hold("o", "k", "n1"))
			if err != nil {
				t.Fatal(err)
			}
			b.pass()
			m.listens()
			if _, err := b.store.Holds.Release(ctx(t), h.Metadata.Name, "o", ""); err != nil {
				t.Fatal(err)
			}
			b.pass()
			if how == "the hub dies between" {
				b.dies("hub.applied", m.listens)
				m.connects()
			} else {
				m.wire = func(packet) {} // acknowledgements are lost
				m.listens()
				m.wire = nil
				m.connects()
			}
			b.pass()
			m.listens()
			if got := store.List[*resource.Hold](b.store.Objects); len(got) != 0 || !m.acked() {
				t.Errorf("acknowledged: %v, and there is %+v", m.acked(), got)
			}
		})
	}
}
