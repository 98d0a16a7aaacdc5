package protocol

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
		{BootPolicy{}, BootPolicy{FirstBootPxe, BootHdd, OSRebootSafeStop}, ""},
		{BootPolicy{FirstBoot: FirstBootUefiHTTP}, BootPolicy{FirstBootUefiHTTP, BootHdd, OSRebootSafeStop}, ""},
		{BootPolicy{FirstBoot: FirstBootVirtualMedia, OSReboot: OSRebootRearm}, BootPolicy{FirstBootVirtualMedia, BootHdd, OSRebootRearm}, ""},
		{BootPolicy{Boot: BootNetwork}, BootPolicy{FirstBootPxe, BootNetwork, OSRebootSafeStop}, ""},
		{BootPolicy{FirstBoot: "pxe"}, BootPolicy{"pxe", BootHdd, OSRebootSafeStop}, "p.firstBoot: \"pxe\""},
		{BootPolicy{Boot: "Cd"}, BootPolicy{FirstBootPxe, "Cd", OSRebootSafeStop}, "p.boot: \"Cd\""},
		{BootPolicy{OSReboot: "no"}, BootPolicy{FirstBootPxe, BootHdd, "no"}, "p.osReboot: \"no\""},
		{BootPolicy{Boot: BootNetwork, OSReboot: OSRebootRearm}, BootPolicy{FirstBootPxe, BootNetwork, OSRebootRearm}, "never boots from it"},
	} {
		p := c.in
		p.Default()
		var f FieldErrors
		p.check(&f, "p")
		if p != c.is || (c.want == "") != (len(f) == 0) || !strings.Contains(f.Error(), c.want) {
			t.Errorf("%+v is %+v: %v; want %q", c.in, p, f, c.want)
		}
		if !p.Same(c.in) || p.Same(BootPolicy{FirstBoot: "x"}) {
			t.Errorf("%+v: Same", c.in)
		}
	}
}

// What an agent needs for a boot, by policy and purpose.
func TestBootNeeds(t *testing.T) {
	for want, in := range map[string]BootIntent{
		"boot.hdd":                                         {GrantedBoot: GrantedBoot{BootSpec: BootSpec{BootPolicy: BootPolicy{FirstBoot: FirstBootPxe, Boot: BootHdd}}}},
		"boot.hdd boot.uefi-http":                          {GrantedBoot: GrantedBoot{BootSpec: BootSpec{BootPolicy: BootPolicy{FirstBoot: FirstBootUefiHTTP, Boot: BootHdd, OSReboot: OSRebootSafeStop}}}},
		"boot.hdd boot.virtual-media":                      {GrantedBoot: GrantedBoot{BootSpec: BootSpec{BootPolicy: BootPolicy{FirstBoot: FirstBootVirtualMedia, Boot: BootHdd}}}, Owner: Owner{Kind: PurposeClaim}},
		"boot.hdd boot.uefi-http boot.uri":                 {GrantedBoot: GrantedBoot{BootSpec: BootSpec{BootPolicy: BootPolicy{FirstBoot: FirstBootUefiHTTP, Boot: BootHdd}}}, Reach: ReachURI},
		"boot.network":                                     {GrantedBoot: GrantedBoot{BootSpec: BootSpec{BootPolicy: BootPolicy{FirstBoot: FirstBootPxe, Boot: BootNetwork}}}},
		"boot.hdd boot.os-reboot":                          {GrantedBoot: GrantedBoot{BootSpec: BootSpec{BootPolicy: BootPolicy{FirstBoot: FirstBootPxe, Boot: BootHdd, OSReboot: OSRebootRearm}}}},
		"boot.hdd boot.purposes":                           {GrantedBoot: GrantedBoot{BootSpec: BootSpec{BootPolicy: BootPolicy{FirstBoot: FirstBootPxe, Boot: BootHdd}}}, Owner: Owner{Kind: PurposeMaintenance}},
		"boot.hdd boot.purposes boot.discovery boot.chain": {GrantedBoot: GrantedBoot{BootSpec: BootSpec{BootPolicy: BootPolicy{FirstBoot: FirstBootPxe, Boot: BootHdd}, Image: Image{Artefacts: []Artefact{{Kind: ArtefactKernel}}}}}, Owner: Owner{Kind: PurposeDiscovery}},
	} {
		var got []string
		for _, c := range in.Needs() {
			got = append(got, string(c))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v; want %s", got, want)
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
