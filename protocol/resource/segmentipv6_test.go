package resource

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
)

func dualStack(change func(*Segment)) *Segment {
	s := serviced(func(*SegmentService) {})
	s.Spec.IPv6 = &SegmentIPv6{Prefix: "2001:db8:7::/64", Address: "2001:db8:7::1", Pool: &Pool{From: "2001:db8:7::1000", To: "2001:db8:7::1fff"}}
	change(s)
	s.Default()
	return s
}

// TestSegmentIPv6: what is wrong with a segment's IPv6 side is named by its path.
func TestSegmentIPv6(t *testing.T) {
	v6 := func(change func(*SegmentIPv6)) func(*Segment) { return func(s *Segment) { change(s.Spec.IPv6) } }
	pool := func(from, to string) func(*Segment) { return v6(func(v *SegmentIPv6) { v.Pool = &Pool{from, to} }) }
	for _, row := range []struct {
		change func(*Segment)
		wrong  string // part of the error; empty is right
	}{
		{func(*Segment) {}, ""},
		{func(s *Segment) { s.Spec.IPv6 = nil }, ""},
		{v6(func(v *SegmentIPv6) { v.Mode = "slaac" }), "spec.ipv6.mode"},
		{v6(func(v *SegmentIPv6) { v.Pool = nil }), "spec.ipv6.pool"},
		{v6(func(v *SegmentIPv6) { v.Mode = IPv6Stateless }), "spec.ipv6.pool"},
		{v6(func(v *SegmentIPv6) { v.Mode, v.Pool = IPv6Stateless, nil }), ""},
		{v6(func(v *SegmentIPv6) { v.Mode = IPv6None }), ""},
		{v6(func(v *SegmentIPv6) { v.Mode, v.Pool = IPv6None, nil }), ""},
		{v6(func(v *SegmentIPv6) { v.Prefix = "10.7.0.0/24" }), "spec.ipv6.prefix"},
		{v6(func(v *SegmentIPv6) { v.Prefix = "2001:db8:7::1/64" }), "spec.ipv6.prefix"},
		{v6(func(v *SegmentIPv6) { v.Prefix = "fe80::/64" }), "spec.ipv6.prefix"},
		{v6(func(v *SegmentIPv6) { v.Prefix = "2001:db8:7::/127" }), "spec.ipv6.prefix"},
		{v6(func(v *SegmentIPv6) { v.Prefix = "ff00::/8" }), "spec.ipv6.prefix"},
		{v6(func(v *SegmentIPv6) { v.Address = "10.7.0.1" }), "spec.ipv6.address"},
		{v6(func(v *SegmentIPv6) { v.Address = "fe80::1" }), "spec.ipv6.address: fe80::1 is link-local"},
		{v6(func(v *SegmentIPv6) { v.Address = "2001:db8:7::1%eth0" }), "spec.ipv6.address"},
		{v6(func(v *SegmentIPv6) { v.Address = "2001:db8:8::1" }), "is not inside 2001:db8:7::/64"},
		{v6(func(v *SegmentIPv6) { v.Address = "2001:db8:7::" }), "any router"},
		{v6(func(v *SegmentIPv6) { v.Address = "2001:db8:7::1001" }), "spec.ipv6.address: 2001:db8:7::1001 is inside the pool"},
		{v6(func(v *SegmentIPv6) { v.Address = "" }), "spec.ipv6.address"},
		{pool("2001:db8:7::2000", "2001:db8:7::1fff"), "spec.ipv6.pool.to: 2001:db8:7::1fff is before"},
		{pool("2001:db8:8::1", "2001:db8:7::1fff"), "spec.ipv6.pool.from"},
		{pool("2001:db8:7::1000", "many"), "spec.ipv6.pool.to"},
		{func(s *Segment) {
			s.Spec.IPv6.Prefix, s.Spec.IPv6.Pool = "2001:db8:7::/60", &Pool{"2001:db8:7::1000", "2001:db8:7:1::1fff"}
		}, "another /64"},
		{v6(func(v *SegmentIPv6) { v.DNS = []string{"2001:db8::53", "fd00::53"} }), ""},
		{v6(func(v *SegmentIPv6) { v.DNS = []string{"2001:db8::53", "10.7.0.1"} }), "spec.ipv6.dns[1]"},
		{v6(func(v *SegmentIPv6) { v.DNS = []string{"fe80::53"} }), "spec.ipv6.dns[0]"},
		{v6(func(v *SegmentIPv6) { v.BaseURL = "https://[2001:db8:7::1]:8443" }), ""},
		{v6(func(v *SegmentIPv6) { v.BaseURL = "http://[2001:db8:7::1]/boot" }), "spec.ipv6.baseURL"},
		{v6(func(v *SegmentIPv6) { v.BaseURL = "http://boot.example" }), "spec.ipv6.baseURL: host"},
		{v6(func(v *SegmentIPv6) { v.BaseURL = "http://10.7.0.1" }), "spec.ipv6.baseURL: host"},
		{v6(func(v *SegmentIPv6) { v.BaseURL = "http://[fe80::1]" }), "spec.ipv6.baseURL: host"},
		{v6(func(v *SegmentIPv6) { v.LeaseTime = protocol.Duration(time.Second) }), "spec.ipv6.leaseTime"},
		{func(s *Segment) { s.Spec.Role, s.Spec.BaseURL = SegmentBMC, "" }, ""},
		{func(s *Segment) {
			s.Spec.Role, s.Spec.BaseURL, s.Spec.IPv6.BaseURL = SegmentBMC, "", "http://[2001:db8:7::1]"
		}, "spec.ipv6.baseURL: nothing boots"},
	} {
		got := dualStack(row.change).Validate()
		if (row.wrong == "") != (len(got) == 0) || !strings.Contains(got.Error(), row.wrong) {
			t.Errorf("want %q, got %v", row.wrong, got)
		}
	}
}

// TestSegmentIPv6Defaults: what is left out travels as what it means.
func TestSegmentIPv6Defaults(t *testing.T) {
	in, wrong := dualStack(func(*Segment) {}).Intent()
	v := in.IPv6
	if len(wrong) > 0 || v.Mode != IPv6Stateful || v.LeaseTime != time.Hour || v.BaseURL != "http://[2001:db8:7::1]" ||
		v.PoolFrom.String() != "2001:db8:7::1000" || v.PoolTo.String() != "2001:db8:7::1fff" || v.RapidCommit {
		t.Errorf("%+v, %v", v, wrong)
	}
	if in, _ := dualStack(func(s *Segment) { s.Spec.Role = SegmentBMC }).Intent(); in.IPv6.BaseURL != "" {
		t.Errorf("nothing boots from it, at %s", in.IPv6.BaseURL)
	}
}
