package boot

import (
	"net/netip"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// What is read of one medium adds up; another one begins anew.
func TestLoaded(t *testing.T) {
	var l loaded
	for i, row := range []struct {
		token string
		n     int64
		want  bool
	}{{"a", 3, false}, {"a", 6, false}, {"a", 1, true}, {"a", 1, true}, {"b", 9, false}, {"b", 1, true}} {
		if got := l.add(row.token, row.n, 10); got != row.want {
			t.Errorf("row %d: %t", i, got)
		}
	}
}

// The BMC is given an address of the segment that it is on, and user data only where
// nobody else reads.
func TestMediaWay(t *testing.T) {
	seg := func(name, base string, role resource.SegmentRole, prefix string) resource.SegmentIntent {
		return resource.SegmentIntent{Name: name, Role: role, BaseURL: base, Address: netip.MustParsePrefix(prefix).Addr().Next(), Prefix: netip.MustParsePrefix(prefix)}
	}
	x := NewIndex()
	x.synced = true
	x.segments = map[string]resource.SegmentIntent{
		"boot": seg("boot", "http://10.7.0.1:8080", resource.SegmentBoot, "10.7.0.0/24"), "bmcs": seg("bmcs", "", resource.SegmentBMC, "10.8.0.0/24"),
		"tls": seg("tls", "https://10.9.0.1:8443", resource.SegmentBMC, "10.9.0.0/24"), "foreign": seg("foreign", "", resource.SegmentBoth, "10.6.0.0/24"),
	}
	a := &Room{index: x}
	for _, row := range []struct {
		bmc     string
		local   []LocalSegment
		base    string
		private bool
	}{
		{"https://10.8.0.9", []LocalSegment{{Name: "boot"}, {Name: "bmcs"}}, "http://10.8.0.1", false},
		{"https://10.8.0.9", []LocalSegment{{Name: "boot"}, {Name: "bmcs", TrustedMedia: true}}, "http://10.8.0.1", true},
		{"https://10.8.0.9", []LocalSegment{{Name: "boot", TrustedMedia: true}, {Name: "bmcs"}}, "http://10.8.0.1", false},
		{"https://10.9.0.9", []LocalSegment{{Name: "boot"}, {Name: "tls"}}, "https://10.9.0.1:8443", true},
		{"https://10.6.0.9", []LocalSegment{{Name: "boot"}}, "http://10.7.0.1:8080", false}, // the agent's file does not name the BMC's
	} {
		a.cfg.Segments = row.local
		w, err := a.MediaWay(message.ServerIntent{Segment: "boot", BMC: message.BMCIntent{Address: row.bmc}})
		if err != nil || w.Base != row.base || w.Private != row.private || w.Own() != row.base+"/b/" || w.URL("t", protocol.FileISO) != row.base+"/b/t/boot.iso" {
			t.Errorf("%s: %+v, %v", row.bmc, w, err)
		}
	}
	a.cfg.Segments = nil
	if _, err := a.MediaWay(message.ServerIntent{Segment: "boot", BMC: message.BMCIntent{Address: "https://10.8.0.9"}}); protocol.CodeOf(err) != protocol.CodeUnsupported || protocol.HintOf(err) == "" {
		t.Error(err)
	}
}
