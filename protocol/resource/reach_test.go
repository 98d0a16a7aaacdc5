package resource

import (
	"strings"
	"testing"

	"rackboot/internal/doctable"
)

func TestCarryTable(t *testing.T) {
	doctable.Of(t, "reach.go", "carryRule").Hold(t, [][]string{doctable.Words(reaches...), doctable.Words(FirstBoots()...), doctable.YesNo()}, func(in []string) []string {
		return []string{string(carryRule(Reach(in[0]), FirstBoot(in[1]), in[2] == "yes"))}
	})
}

// Every refusal says of which server it is, and what to use in its place.
func TestCannotBoot(t *testing.T) {
	silent := &Segment{Spec: SegmentSpec{Service: &SegmentService{Mode: ServiceNone}}}
	silent.Metadata.Name = "quiet"
	six := &Segment{Spec: SegmentSpec{Service: &SegmentService{Mode: ServiceNone}, IPv6: &SegmentIPv6{}}}
	for _, tt := range []struct {
		reach Reach
		boot  FirstBoot
		seg   *Segment
		want  string // in the reason; empty is that it can
	}{
		{"", FirstBootPxe, &Segment{}, ""},
		{"", FirstBootPxe, nil, ""},
		{"", FirstBootUefiHTTP, silent, "segment quiet has service mode none"},
		{"", FirstBootUefiHTTP, six, ""},
		{"", FirstBootVirtualMedia, silent, ""},
		{ReachURI, FirstBootPxe, &Segment{}, "PXE finds its boot file by DHCP"},
		{ReachURI, FirstBootUefiHTTP, silent, ""},
		{ReachVMedia, FirstBootUefiHTTP, &Segment{}, "has reach vmedia"},
		{ReachVMedia, FirstBootVirtualMedia, silent, ""},
	} {
		s := &Server{Spec: ServerSpec{Reach: tt.reach}}
		s.Metadata.Name = "n1"
		got := s.CannotBoot(tt.boot, tt.seg)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || got != "" && (!strings.Contains(got, "n1") || !strings.Contains(got, "VirtualMedia")) {
			t.Errorf("%q by %s: %q, want %q", tt.reach, tt.boot, got, tt.want)
		}
	}
}
