package plan

import (
	"strings"
	"testing"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// TestIPv6OfAnOldAgent: an agent that cannot serve a segment's IPv6 side is not sent
// it, and people are told on the servers that would boot from there.
func TestIPv6OfAnOldAgent(t *testing.T) {
	f := makeFleet(1, 2)
	seg := named(&resource.Segment{Spec: resource.SegmentSpec{
		RackRef: resource.Ref{Name: "r0"}, Prefix: "10.7.0.0/24", Address: "10.7.0.1", Pool: resource.Pool{From: "10.7.0.50", To: "10.7.0.99"},
	}}, "boot")
	f.Segments = []*resource.Segment{seg}
	f.Servers[0].Spec.SegmentRef.Name = seg.Metadata.Name
	f.Servers[1].Spec.SegmentRef.Name = ""
	for _, row := range []struct {
		name   string
		ipv6   bool
		peer   Peer
		served bool
		told   bool
	}{
		{"no IPv6 side", false, Peer{Incarnation: "a", Capabilities: few()}, false, false},
		{"not greeted yet", true, Peer{}, false, false},
		{"too old", true, Peer{Incarnation: "a", Capabilities: few()}, false, true},
		{"of this release", true, Peer{Incarnation: "a", Capabilities: message.Capabilities()}, true, false},
	} {
		seg.Spec.IPv6 = nil
		if row.ipv6 {
			seg.Spec.IPv6 = &resource.SegmentIPv6{Prefix: "2001:db8::/64", Address: "2001:db8::1", Pool: &resource.Pool{From: "2001:db8::1000", To: "2001:db8::1fff"}}
		}
		seg.Default()
		f.Peers = map[string]Peer{"r0-1": row.peer}
		d := Compile(f)["r0-1"]
		segs := d.Racks[0].Rack.Segments
		if len(segs) != 1 || (segs[0].IPv6 != nil) != row.served {
			t.Errorf("%s: it is sent %+v", row.name, segs)
		}
		got := strings.Join(d.Unheeded["n0000"], " ")
		if strings.Contains(got, "spec.ipv6 of segment "+seg.Metadata.Name) != row.told || len(d.Unheeded["n0001"]) > 0 {
			t.Errorf("%s: told %q", row.name, d.Unheeded)
		}
	}
}
