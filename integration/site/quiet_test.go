package site

import (
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestSimulatedServersAreQuiet: a simulated server that was read, claimed and booted has no
// condition, nor has its BMC, and so nothing that is false becomes the reason of something
// else. What the BMC shows is the machine: two of them are not one board.
func TestSimulatedServersAreQuiet(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2)
	s.startHub()
	s.apply(s.manifests()...)
	c := s.firstAgent()
	s.join(c)
	s.startAgent(c)
	s.provision()
	uuids := map[string]bool{}
	for _, sv := range s.servers {
		bmc := "b-" + sv.Name
		read := func() (*resource.BMC, bool) {
			b, err := api.Get[*resource.BMC](t.Context(), s.client, bmc)
			return b, err == nil && len(b.Status.Inventory) == 1
		}
		s.until("the inventory of "+bmc, func() bool { _, ok := read(); return ok }, func() any { return "none" })
		b, _ := read()
		if len(b.Status.Conditions) > 0 {
			t.Errorf("%s has %v", bmc, b.Status.Conditions)
		}
		sys := b.Status.Inventory[0]
		if macs := sys.MACs(); len(macs) != 1 || protocol.InterfaceMAC(macs[0]) != sv.MAC {
			t.Errorf("%s shows %v, want the port %s", bmc, macs, sv.MAC)
		}
		uuids[sys.UUID] = true
		if v, err := api.Get[*resource.Server](t.Context(), s.client, sv.Name); err != nil || len(v.Status.Conditions) > 0 {
			t.Errorf("%s has %v, %v", sv.Name, v.Status.Conditions, err)
		}
	}
	if len(uuids) != len(s.servers) {
		t.Errorf("%d machines have the UUIDs %v", len(s.servers), uuids)
	}
}
