package control

import (
	"slices"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// An image without a UKI goes only to an agent that boots chains, by either method; one
// that does not is not asked, and the server says so.
func TestAgentTooOldForChains(t *testing.T) {
	for _, method := range []resource.FirstBoot{resource.FirstBootPxe, resource.FirstBootUefiHTTP} {
		t.Run(string(method), func(t *testing.T) {
			b := newBench(t, &partsRegistry{})
			b.apply(storetest.Site()...)
			m := b.modern(b.join("r1"))
			m.caps = slices.DeleteFunc(message.Capabilities(), func(c message.Capability) bool { return c == message.CapBootChain })
			m.connects()
			claim := storetest.Claim("c1", "n1")
			claim.Spec.BootPolicy.FirstBoot = method
			b.apply(claim)
			b.pass()
			m.listens()
			var rack message.RackDoc
			b.opens(m, "rack/0", &rack)
			m.reports(off("n1"), off("n2"))
			if s := b.server("n1"); rack.Servers[0].Boot != nil || codes(s.Status.Conditions) != "AgentTooOld" {
				t.Errorf("an agent without chains is told %+v; %s", rack.Servers[0].Boot, codes(s.Status.Conditions))
			}
			m.caps = message.Capabilities()
			m.connects()
			b.pass()
			m.listens()
			b.opens(m, "rack/0", &rack)
			s := b.server("n1")
			if rack.Servers[0].Boot == nil || len(rack.Servers[0].Boot.Grant) == 0 || codes(s.Status.Conditions) != "" {
				t.Errorf("after the upgrade: %+v, %s", rack.Servers[0].Boot, codes(s.Status.Conditions))
			}
		})
	}
}
