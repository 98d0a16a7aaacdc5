package plan

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestHeardTable(t *testing.T) {
	doctable.Of(t, "heard.go", "heardRule").HoldOne(t, [][]string{doctable.YesNo(), {"none", "same", "other"}, doctable.YesNo()}, func(in []string) string {
		return string(heardRule(in[0] == "yes", in[1], in[2] == "yes"))
	})
}

// What firmware says counts where spec, BMC and discovery say nothing, changes with what it says while
// nothing is booted, and is named where it contradicts.
func TestHeardArchitecture(t *testing.T) {
	for _, row := range []struct {
		what                                   string
		spec, bmc, found, before, image, heard string
		want                                   HeardVerdict
		words                                  string
	}{
		{what: "nobody says anything", want: HeardNothing},
		{what: "only firmware", heard: "arm64", want: HeardTake},
		{what: "again", heard: "arm64", before: "arm64", want: HeardTake},
		{what: "another after another board", heard: "amd64", before: "arm64", want: HeardTake},
		{what: "as the spec", spec: "arm64", heard: "arm64", want: HeardNothing},
		{what: "against the spec", spec: "amd64", bmc: "arm64", heard: "arm64", want: HeardContradicts, words: "its firmware says arm64 by DHCP, its spec says amd64"},
		{what: "against the BMC", bmc: "amd64", heard: "arm64", before: "arm64", want: HeardContradicts, words: "its firmware says arm64 by DHCP, its BMC says amd64"},
		{what: "against a discovery", found: "amd64", heard: "arm64", want: HeardContradicts, words: "its firmware says arm64 by DHCP, its discovery says amd64"},
		{what: "against the image of a boot", image: "amd64", heard: "arm64", want: HeardContradicts, words: "its firmware says arm64 by DHCP, the image that it boots says amd64"},
		{what: "as the image of a boot", image: "arm64", heard: "arm64", want: HeardNothing},
		{what: "a boot whose image says none", image: "-", heard: "arm64", want: HeardNothing},
	} {
		s := &resource.Server{Spec: resource.ServerSpec{Architecture: row.spec}, Status: resource.ServerStatus{Architecture: row.bmc, HeardArchitecture: row.before}}
		s.Metadata.Name = "n1"
		if row.found != "" {
			s.Status.Discovered = &resource.Discovered{At: time.Now(), Inventory: &protocol.HostInventory{CPU: protocol.HostCPU{Architecture: row.found}}}
		}
		f := Fleet{Servers: []*resource.Server{s}, Reports: map[string]*resource.ServerReport{"n1": {Server: "n1", Architecture: row.heard}}}
		if row.image != "" {
			cfg := &resource.BootConfiguration{}
			cfg.Spec.Server, cfg.Spec.Owner.Kind = "n1", resource.PurposeDiscovery
			if row.image != "-" {
				cfg.Spec.Image.Architecture = row.image
			}
			f.Configs = []*resource.BootConfiguration{cfg}
		}
		v, heard, words := HeardArchitecture(f, s)
		if v != row.want || heard != row.heard || words != row.words {
			t.Errorf("%s: %s %q %q, want %s %q", row.what, v, heard, words, row.want, row.words)
		}
	}
}
