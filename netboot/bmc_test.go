package netboot

import (
	"testing"

	"rackboot/protocol/resource"
)

func TestIsBMC(t *testing.T) {
	const mac = "3c:ec:ef:00:00:01"
	for _, row := range []struct {
		name     string
		role     resource.SegmentRole
		macs     []string
		prefixes []string
		want     bool
	}{
		{"a prefix", resource.SegmentBMC, nil, []string{"3c:ec:ef"}, true},
		{"a prefix with its colon", resource.SegmentBMC, nil, []string{"3c:ec:ef:"}, true},
		{"a prefix in upper case", resource.SegmentBMC, nil, []string{"3C:EC:EF"}, true},
		{"a longer prefix", resource.SegmentBoth, nil, []string{"3c:ec:ef:00:00"}, true},
		{"a whole address as prefix", resource.SegmentBoth, nil, []string{mac}, true},
		{"one of several", resource.SegmentBMC, nil, []string{"aa:bb:cc", "3c:ec:ef"}, true},
		{"another maker", resource.SegmentBMC, nil, []string{"3c:ec:ee"}, false},
		{"half a byte", resource.SegmentBMC, nil, []string{"3c:ec:ef:0"}, false},
		{"two bytes", resource.SegmentBMC, nil, []string{"3c:ec"}, false},
		{"no prefix", resource.SegmentBMC, nil, []string{"", ":", ":::"}, false},
		{"not hexadecimal", resource.SegmentBMC, nil, []string{"3c:ec:zz"}, false},
		{"an accepted one", resource.SegmentBMC, []string{mac}, nil, true},
		{"an accepted one in upper case", resource.SegmentBMC, []string{"3C:EC:EF:00:00:01"}, nil, true},
		{"another accepted one", resource.SegmentBMC, []string{"3c:ec:ef:00:00:02"}, nil, false},
		{"nothing is listed", resource.SegmentBMC, nil, nil, false},
		{"role boot", resource.SegmentBoot, []string{mac}, []string{"3c:ec:ef"}, false},
		{"role of a hub of version 1", "", []string{mac}, []string{"3c:ec:ef"}, false},
		{"role of a newer hub", "storage", []string{mac}, []string{"3c:ec:ef"}, false},
	} {
		seg := resource.SegmentIntent{Role: row.role, BMCMACs: row.macs, BMCPrefixes: row.prefixes}
		if got := IsBMC(seg, mac); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
	}
}
