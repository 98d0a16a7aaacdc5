package site

import (
	"net/netip"
	"strings"
	"testing"

	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// TestDiscovery is seed 000's discovery lifecycle over hub and agent, of a server that is
// Off and of one that is found On, with both sides restarted in its middle. A claim waits
// for its end.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	gate, tftp := make(chan struct{}), freePorts(t, 1)[0]
	s := newSiteOf(t, 2, func(c *sim.ServerConfig) {
		c.TFTP = netip.MustParseAddrPort(tftp)
		c.Live = func() protocol.ProbeReport {
			<-gate
			return protocol.ProbeReport{State: protocol.ProbeDiscovered}
		}
	})
	s.servers[1].BMC.PressPowerButton()
	s.until("n2 On", func() bool { return s.servers[1].BMC.PowerState() == protocol.PowerOn }, func() any { return "off" })
	objs := s.manifests()
	rack := objs[0].(*resource.Rack)
	rack.Spec.Discovery = &resource.RackDiscovery{Image: s.image}
	rack.Default()
	s.startHub()
	s.apply(objs...)
	c := s.firstAgent()
	c.Segments[0].TFTP = tftp
	s.join(c)
	stop := s.startAgent(c)
	s.untilServer("n1", "the fetch", func(v *resource.Server) bool {
		a := v.Status.Report.Attempt
		return v.Status.Phase == resource.PhaseDiscovery && a != nil && a.State == resource.AttemptFetched && a.Intended == protocol.TargetPxe
	})
	s.untilServer("n2", "why it waits", func(v *resource.Server) bool {
		return v.Status.Phase == resource.PhaseDiscovery && has(v.Status.Conditions, resource.CondServerOn)
	})
	s.apply(s.claim("n1"))
	s.until("why the claim waits", func() bool {
		v, ok := get[*resource.Claim](s, "c-n1")
		return ok && len(v.Status.Conditions) > 0 && strings.Contains(v.Status.Conditions[0].Message, "not discovered yet")
	}, func() any { return "no condition" })

	s.stopHub()
	stop()
	s.startHub()
	s.startAgent(c)
	close(gate)
	v := s.untilServer("n1", "what was found", func(v *resource.Server) bool { return v.Status.Discovered != nil })
	if d := v.Status.Discovered; d.Inventory == nil || d.Inventory.Interfaces[0].MAC != s.servers[0].MAC || d.Method != protocol.TargetPxe {
		t.Errorf("%+v", d)
	}
	s.until("the claim's server", func() bool { v, ok := get[*resource.Claim](s, "c-n1"); return ok && v.Status.Server == "n1" }, func() any { return "unbound" })
	if network, disk, _, _ := s.servers[0].Boots.Counts(); disk != 0 || network > 2 { // the discovery's, and the claim's
		t.Errorf("boots: %d network, %d disk", network, disk)
	}
	list, err := s.client.Objects.List(t.Context(), resource.KindBootConfiguration)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		if b := o.(*resource.BootConfiguration); b.Spec.Server == "n1" && b.Spec.Owner.Kind == resource.PurposeDiscovery {
			t.Errorf("left: %+v", b.Spec)
		}
	}

	// n2 runs what it ran, until an operator's reboot gives leave, and is discovered once
	// more when somebody asks.
	if got := s.servers[1].BMC.PowerState(); got != protocol.PowerOn {
		t.Fatalf("n2 is %s", got)
	}
	if _, err := s.client.Requests.Reboot(t.Context(), "n2", api.RebootRequest{Mode: resource.StopHard}); err != nil {
		t.Fatal(err)
	}
	v = s.untilServer("n2", "Available", func(v *resource.Server) bool {
		return v.Status.Phase == resource.PhaseAvailable && v.Status.Discovered != nil
	})
	first := v.Status.Discovered.UID
	if _, err := s.client.Servers.Discover(t.Context(), "n1"); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("n1 has a claim: %v", err)
	}
	if _, err := s.client.Servers.Discover(t.Context(), "n2"); err != nil {
		t.Fatal(err)
	}
	s.untilServer("n2", "another discovery", func(v *resource.Server) bool {
		return v.Status.Phase == resource.PhaseAvailable && v.Status.Discovered.UID != first && v.Status.Discovery == nil
	})
}
