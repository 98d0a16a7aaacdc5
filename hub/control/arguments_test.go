package control

import (
	"strings"
	"testing"

	"rackboot/hub/images"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// TestClaimArguments: the arguments of server and claim reach the agent with the image's
// command line; beside a UKI they are a condition, an event and nothing else; changed
// later they are a condition.
func TestClaimArguments(t *testing.T) {
	for _, row := range []struct {
		name   string
		images images.Registry
		uki    bool
	}{{"kernel and initramfs", &partsRegistry{}, false}, {"UKI", &movingTag{}, true}} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t, row.images)
			b.apply(storetest.Site()...)
			m := b.modern(b.join("r1"))
			m.connects()
			srv, err := store.Get[*resource.Server](b.store.Objects, "n1")
			if err != nil {
				t.Fatal(err)
			}
			srv.Spec.KernelArgs = "console=ttyS1"
			claim := storetest.Claim("c1", "n1")
			claim.Spec.KernelArgs = "quiet"
			b.apply(srv, claim)
			b.pass()
			got := codes(b.claim("c1").Status.Conditions)
			m.listens()
			var rack message.RackDoc
			b.opens(m, "rack/0", &rack)
			boot := rack.Servers[0].Boot
			if row.uki {
				events := told(b, resource.EventImageRefused)
				if !strings.Contains(got, string(resource.CondImageInvalid)) || b.configs() != 0 || boot != nil || len(events) != 1 || !strings.Contains(events[0], "kernelArgs") {
					t.Errorf("conditions %s, %d configurations, boot %+v, events %q", got, b.configs(), boot, events)
				}
				return
			}
			if b.configs() != 1 || boot == nil || boot.Image.CommandLine != "console=ttyS1 quiet" {
				t.Fatalf("conditions %s, %d configurations, boot %+v", got, b.configs(), boot)
			}
			claim, err = store.Get[*resource.Claim](b.store.Objects, "c1")
			if err != nil {
				t.Fatal(err)
			}
			claim.Spec.KernelArgs = "debug"
			b.apply(claim)
			b.pass()
			if got := codes(b.claim("c1").Status.Conditions); !strings.Contains(got, string(resource.CondReprovisionRequired)) {
				t.Errorf("after a change: %s", got)
			}
			m.listens()
			b.opens(m, "rack/0", &rack)
			if boot := rack.Servers[0].Boot; boot == nil || boot.Image.CommandLine != "console=ttyS1 quiet" {
				t.Errorf("after a change the agent is told %+v", boot)
			}
		})
	}
}
