package boot

import (
	"net/netip"
	"testing"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol/resource"
)

func bmcSegment() resource.SegmentIntent {
	return resource.SegmentIntent{
		Name: "bmcs", Role: resource.SegmentBMC, Prefix: netip.MustParsePrefix("10.7.0.0/24"),
		Address: netip.MustParseAddr("10.7.0.1"), LeaseTime: time.Hour, BMCPrefixes: []string{"3c:ec:ef"},
	}
}

// TestServed: the agent looks at segments that its own file names, and at none before
// it has synced.
func TestServed(t *testing.T) {
	a := &Room{cfg: Config{Segments: []LocalSegment{{Name: "bmcs"}, {Name: "absent"}}}}
	o := store.Overview{Synced: true}
	other := bmcSegment()
	other.Name = "elsewhere"
	o.Rack.Segments = []resource.SegmentIntent{bmcSegment(), other}
	if got := a.Served(o); len(got) != 1 || got[0].Name != "bmcs" {
		t.Errorf("%+v", got)
	}
	o.Synced = false
	if got := a.Served(o); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
