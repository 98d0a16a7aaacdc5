package boot

import (
	"fmt"
	"net/netip"
	"testing"

	"rackboot/protocol/resource"
)

// TestEventsBase: the agent's HTTP server that a BMC is likeliest to reach.
func TestEventsBase(t *testing.T) {
	seg := func(name string, role resource.SegmentRole, net int) resource.SegmentIntent {
		return resource.SegmentIntent{
			Name: name, Role: role, Prefix: netip.MustParsePrefix(fmt.Sprintf("10.0.%d.0/24", net)), BaseURL: fmt.Sprintf("http://10.0.%d.1:8080", net),
		}
	}
	boot, bmcs, far := seg("boot", "", 1), seg("bmcs", resource.SegmentBMC, 2), seg("far", resource.SegmentBoth, 3)
	all := []resource.SegmentIntent{boot, far, bmcs}
	for _, tt := range []struct {
		address, boots string
		served         []resource.SegmentIntent
		want           string
	}{
		{"https://10.0.2.9", "boot", all, "http://10.0.2.1:8080"},
		{"https://10.0.1.9:443", "boot", all, "http://10.0.1.1:8080"},
		{"https://10.0.9.9", "boot", all, "http://10.0.3.1:8080"},
		{"https://bmc.example", "boot", all[:1], "http://10.0.1.1:8080"},
		{"https://10.0.1.9", "other", all[:1], ""}, // of servers that this BMC has nothing to do with
		{"https://10.0.2.9", "boot", nil, ""},
	} {
		if _, got := baseFor(tt.address, tt.boots, tt.served); got != tt.want {
			t.Errorf("%s, %d segments: %q, want %q", tt.address, len(tt.served), got, tt.want)
		}
	}
}
