package netboot

import (
	"testing"

	"rackboot/protocol"
)

func TestIsBMC(t *testing.T) {
	const mac = "3c:ec:ef:00:00:01"
	for _, row := range []struct {
		name     string
		role     protocol.SegmentRole
		macs     []string
		prefixes []string
		want     bool
	}{
		{"a prefix", protocol.SegmentBMC, nil, []string{"3c:ec:ef"}, true},
		{"a prefix with its colon", protocol.SegmentBMC, nil, []string{"3c:ec:ef:"}, true},
		{"a prefix in upper case", protocol.SegmentBMC, nil, []string{"3C:EC:EF"}, true},
		{"a longer prefix", protocol.SegmentBoth, nil, []string{"3c:ec:ef:00:00"}, true},
		{"a whole address as prefix", protocol.SegmentBoth, nil, []string{mac}, true},
		{"one of several", protocol.SegmentBMC, nil, []string{"aa:bb:cc", "3c:ec:ef"}, true},
		{"another maker", protocol.SegmentBMC, nil, []string{"3c:ec:ee"}, false},
		{"half a byte", protocol.SegmentBMC, nil, []string{"3c:ec:ef:0"}, false},
		{"two bytes", protocol.SegmentBMC, nil, []string{"3c:ec"}, false},
		{"no prefix", protocol.SegmentBMC, nil, []string{"", ":", ":::"}, false},
		{"not hexadecimal", protocol.SegmentBMC, nil, []string{"3c:ec:zz"}, false},
		{"an accepted one", protocol.SegmentBMC, []string{mac}, nil, true},
		{"an accepted one in upper case", protocol.SegmentBMC, []string{"3C:EC:EF:00:00:01"}, nil, true},
		{"another accepted one", protocol.SegmentBMC, []string{"3c:ec:ef:00:00:02"}, nil, false},
		{"nothing is listed", protocol.SegmentBMC, nil, nil, false},
		{"role boot", protocol.SegmentBoot, []string{mac}, []string{"3c:ec:ef"}, false},
		{"role of a hub of version 1", "", []string{mac}, []string{"3c:ec:ef"}, false},
		{"role of a newer hub", "storage", []string{mac}, []string{"3c:ec:ef"}, false},
	} {
		seg := protocol.SegmentIntent{Role: row.role, BMCMACs: row.macs, BMCPrefixes: row.prefixes}
		if got := IsBMC(seg, mac); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}
