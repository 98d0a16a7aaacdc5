package message

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// An agent that gets nothing from the hub is not sent a boot of the hub's files.
func TestHubFiles(t *testing.T) {
	boot := BootIntent{GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{Image: resource.Image{Source: resource.ImageFromHub, Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: "sha256:1"}}}}}, Env: &EnvIntent{ISOs: []resource.EnvISO{{Digest: "sha256:2"}}}}
	if got := boot.HubFiles(); !slices.Equal(got, []string{"sha256:2", "sha256:1"}) {
		t.Errorf("%v", got)
	}
	if !slices.Contains(boot.Needs(), CapBootFiles) {
		t.Errorf("%v", boot.Needs())
	}
	boot.Image.Source = resource.ImageFromRegistry
	if slices.Contains(boot.Needs(), CapBootFiles) || len(boot.HubFiles()) != 1 {
		t.Errorf("%v, %v", boot.Needs(), boot.HubFiles())
	}
}

// What an agent needs for a boot, by policy and purpose.
func TestBootNeeds(t *testing.T) {
	for want, in := range map[string]BootIntent{
		"boot.hdd":                                         {GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootPxe, Boot: resource.BootHdd}}}},
		"boot.hdd boot.uefi-http":                          {GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP, Boot: resource.BootHdd, OSReboot: resource.OSRebootSafeStop}}}},
		"boot.hdd boot.virtual-media":                      {GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootVirtualMedia, Boot: resource.BootHdd}}}, Owner: resource.Owner{Kind: resource.PurposeClaim}},
		"boot.hdd boot.uefi-http boot.uri":                 {GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP, Boot: resource.BootHdd}}}, Reach: resource.ReachURI},
		"boot.evidence":                                    {RequireEvidence: resource.EvidenceObserved, GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootPxe}}}},
		"boot.evidence boot.attested":                      {RequireEvidence: resource.EvidenceAttested, GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootPxe}}}},
		"boot.network":                                     {GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootPxe, Boot: resource.BootNetwork}}}},
		"boot.hdd boot.os-reboot":                          {GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootPxe, Boot: resource.BootHdd, OSReboot: resource.OSRebootRearm}}}},
		"boot.hdd boot.purposes":                           {GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootPxe, Boot: resource.BootHdd}}}, Owner: resource.Owner{Kind: resource.PurposeMaintenance}},
		"boot.hdd boot.purposes boot.discovery boot.chain": {GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootPxe, Boot: resource.BootHdd}, Image: resource.Image{Artefacts: []resource.Artefact{{Kind: resource.ArtefactKernel}}}}}, Owner: resource.Owner{Kind: resource.PurposeDiscovery}},
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

func TestSafeStopTravels(t *testing.T) {
	if in := SafeStopOf(nil); in != nil {
		t.Errorf("none travels as %+v", in)
	}
	spec := resource.SafeStopSpec{NetworkFirst: resource.NetworkFirstStopImage, PowerOffAfter: protocol.Duration(time.Minute), BelieveAfter: protocol.Duration(time.Hour)}
	if in := SafeStopOf(&spec); *in != (SafeStopIntent{resource.NetworkFirstStopImage, time.Minute, time.Hour}) {
		t.Errorf("%+v", in)
	}
}
