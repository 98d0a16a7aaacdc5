package site

import (
	"net/netip"
	"os"
	"regexp"
	"sync/atomic"
	"testing"

	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
)

// TestHubKilledInADiscovery kills the hub wherever it is between two writes of a server's
// discoveries: one that is given up, and the one that is asked for then. Each is booted
// once, and nothing of them is left.
func TestHubKilledInADiscovery(t *testing.T) {
	flow := statetest.NewChild(t, hubMain)
	t.Parallel()
	raw, err := os.ReadFile("../../hub/discovery/turn.go")
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"hub.discovery.configured"} // which its source does not spell
	for _, m := range regexp.MustCompile(`[cC]rash\.At\("(hub\.[^"]+)"`).FindAllStringSubmatch(string(raw), -1) {
		all = append(all, m[1])
	}
	if len(all) < 6 {
		t.Fatalf("%v", all)
	}
	for _, point := range all {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			killInDiscovery(t, flow, point)
		})
	}
}

func killInDiscovery(t *testing.T, flow statetest.Child, point string) {
	var boots atomic.Int32
	tftp := freePorts(t, 1)[0]
	s := newSiteOf(t, 1, func(c *sim.ServerConfig) {
		c.TFTP = netip.MustParseAddrPort(tftp)
		c.Live = func() protocol.ProbeReport {
			if boots.Add(1) == 1 {
				return protocol.ProbeReport{State: protocol.ProbeFailed}
			}
			return protocol.ProbeReport{State: protocol.ProbeDiscovered}
		}
	})
	objs := s.manifests()
	objs[0].(*resource.Rack).Spec.Discovery = &resource.RackDiscovery{Image: s.image, MaxAttempts: 1}
	objs[0].Default()
	c := s.firstAgent()
	c.Segments[0].TFTP = tftp
	k := &killed{site: s, flow: flow}
	k.begins(point, 1, objs, c)
	configurations := func() int {
		list, err := k.client.Objects.List(t.Context(), resource.KindBootConfiguration)
		if err != nil {
			return -1
		}
		return len(list)
	}
	k.see("that it is given up", func() bool {
		v, ok := get[*resource.Server](s, "n1")
		return ok && v.Status.Phase == resource.PhaseError && has(v.Status.Conditions, resource.CondDiscoveryFailed) && configurations() == 0
	})
	k.try("another discovery", func() error { _, err := k.client.Servers.Discover(t.Context(), "n1"); return err })
	k.see("Available", func() bool {
		v, ok := get[*resource.Server](s, "n1")
		return ok && v.Status.Phase == resource.PhaseAvailable && v.Status.Discovered != nil && v.Status.Discovery == nil && configurations() == 0
	})
	k.staysOff(0)
	if n, disk, _, _ := s.servers[0].Boots.Counts(); n != 2 || disk != 0 {
		t.Errorf("%d network boots and %d disk boots, want two and none", n, disk)
	}
	if !k.died {
		t.Errorf("the hub never came to %s; it passed %v", point, k.hub.Passed())
	}
}
