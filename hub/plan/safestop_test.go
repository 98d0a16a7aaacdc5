package plan

import (
	"strings"
	"testing"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// TestSafeStopOfAnOldAgent: an agent that knows no stop images goes on to refuse, and
// people are told on its servers.
func TestSafeStopOfAnOldAgent(t *testing.T) {
	f := makeFleet(1, 1)
	for _, row := range []struct {
		name  string
		wants bool
		caps  []message.Capability
		told  bool
	}{
		{"nothing is wanted", false, few(), false},
		{"too old", true, few(), true},
		{"of this release", true, message.Capabilities(), false},
	} {
		f.Racks[0].Spec.SafeStop = nil
		if row.wants {
			f.Racks[0].Spec.SafeStop = &resource.SafeStopSpec{NetworkFirst: resource.NetworkFirstStopImage}
		}
		f.Peers = map[string]Peer{"r0-1": {Incarnation: "a", Capabilities: row.caps}}
		d := Compile(f)["r0-1"]
		if in := d.Racks[0].Rack.SafeStop; (in != nil) != row.wants || in != nil && in.NetworkFirst != resource.NetworkFirstStopImage {
			t.Errorf("%s: it is sent %+v", row.name, in)
		}
		if got := strings.Join(d.Unheeded["n0000"], " "); strings.Contains(got, "spec.safeStop") != row.told {
			t.Errorf("%s: told %q", row.name, got)
		}
	}
}
