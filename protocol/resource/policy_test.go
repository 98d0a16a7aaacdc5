package resource

import (
	"strings"
	"testing"
)

// Facts boot policy 1: absent is {Pxe, Hdd}, and other values are refused by name.
func TestBootPolicy(t *testing.T) {
	for _, c := range []struct {
		in, is BootPolicy
		want   string // a part of what is said; empty is right
	}{
		{BootPolicy{}, BootPolicy{FirstBoot: FirstBootPxe, Boot: BootHdd, OSReboot: OSRebootSafeStop}, ""},
		{BootPolicy{FirstBoot: FirstBootUefiHTTP}, BootPolicy{FirstBoot: FirstBootUefiHTTP, Boot: BootHdd, OSReboot: OSRebootSafeStop}, ""},
		{BootPolicy{FirstBoot: FirstBootVirtualMedia, OSReboot: OSRebootRearm}, BootPolicy{FirstBoot: FirstBootVirtualMedia, Boot: BootHdd, OSReboot: OSRebootRearm}, ""},
		{BootPolicy{Boot: BootNetwork}, BootPolicy{FirstBoot: FirstBootPxe, Boot: BootNetwork, OSReboot: OSRebootSafeStop}, ""},
		{BootPolicy{FirstBoot: "pxe"}, BootPolicy{FirstBoot: "pxe", Boot: BootHdd, OSReboot: OSRebootSafeStop}, "p.firstBoot: \"pxe\""},
		{BootPolicy{Boot: "Cd"}, BootPolicy{FirstBoot: FirstBootPxe, Boot: "Cd", OSReboot: OSRebootSafeStop}, "p.boot: \"Cd\""},
		{BootPolicy{OSReboot: "no"}, BootPolicy{FirstBoot: FirstBootPxe, Boot: BootHdd, OSReboot: "no"}, "p.osReboot: \"no\""},
		{BootPolicy{Boot: BootNetwork, OSReboot: OSRebootRearm}, BootPolicy{FirstBoot: FirstBootPxe, Boot: BootNetwork, OSReboot: OSRebootRearm}, "never boots from it"},
		{BootPolicy{Network: NetworkAny}, BootPolicy{FirstBoot: FirstBootPxe, Boot: BootHdd, OSReboot: OSRebootSafeStop, Network: NetworkAny}, ""},
		{BootPolicy{Network: "all"}, BootPolicy{FirstBoot: FirstBootPxe, Boot: BootHdd, OSReboot: OSRebootSafeStop, Network: "all"}, "p.network: \"all\""},
		{BootPolicy{FirstBoot: FirstBootVirtualMedia, Network: NetworkAny}, BootPolicy{FirstBoot: FirstBootVirtualMedia, Boot: BootHdd, OSReboot: OSRebootSafeStop, Network: NetworkAny}, "p.network: VirtualMedia boots no server"},
	} {
		p := c.in
		p.Default()
		var f fields
		p.check(&f, "p")
		if p != c.is || (c.want == "") != (len(f.FieldErrors) == 0) || !strings.Contains(f.Error(), c.want) {
			t.Errorf("%+v is %+v: %v; want %q", c.in, p, f.FieldErrors, c.want)
		}
		if !p.Same(c.in) || p.Same(BootPolicy{FirstBoot: "x"}) {
			t.Errorf("%+v: Same", c.in)
		}
	}
}

func TestAttemptFailures(t *testing.T) {
	seen := map[AttemptCode]bool{}
	for _, f := range AttemptFailures() {
		if seen[f.Code] || f.Title == "" || !strings.HasSuffix(f.Hint, ".") {
			t.Errorf("%+v", f)
		}
		seen[f.Code] = true
		if got, ok := LookupAttempt(f.Code); !ok || got != f {
			t.Errorf("%s is not found", f.Code)
		}
	}
	if _, ok := LookupAttempt("x"); ok {
		t.Error("x is found")
	}
}
