package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestThroughTable(t *testing.T) {
	tb := doctable.Of(t, "through.go", "throughRule")
	tb.Hold(t, [][]string{doctable.YesNo(), doctable.Words(resource.FirstBoots()...), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo()},
		func(in []string) []string {
			p := Private{URL: in[2] == "yes", Medium: in[3] == "yes"}
			if in[5] == "yes" {
				p.Diverted = "another DHCP server answers"
			}
			got := throughRule(in[0] == "yes", resource.FirstBoot(in[1]), p, in[4] == "yes")
			if got == ThroughNothing {
				return []string{"nothing"}
			}
			return doctable.Words(got)
		})
}

func TestSecretsTable(t *testing.T) {
	doctable.Of(t, "through.go", "secretsRule").Hold(t, [][]string{doctable.Words(needsNothing, needsEvidence, needsSecrets), doctable.YesNo()},
		func(in []string) []string {
			if got := secretsRule(needs(in[0]), in[1] == "yes"); got != "" {
				return doctable.Words(got)
			}
			return []string{"nothing"}
		})
}

// TestNeeds: who chose nothing waits for the strongest way, whatever else is required.
func TestNeeds(t *testing.T) {
	data := &message.IgnitionIntent{}
	for _, row := range []struct {
		boot message.BootIntent
		want needs
	}{
		{message.BootIntent{}, needsNothing},
		{message.BootIntent{Ignition: data}, needsSecrets},
		{message.BootIntent{Ignition: data, Secrets: resource.SecretsBMC}, needsSecrets},
		{message.BootIntent{Ignition: data, Secrets: resource.SecretsSegment}, needsNothing},
		{message.BootIntent{Ignition: data, Secrets: resource.SecretsSegment, RequireEvidence: resource.EvidenceObserved}, needsEvidence},
		{message.BootIntent{Ignition: data, RequireEvidence: resource.EvidenceObserved}, needsSecrets},
		{message.BootIntent{RequireEvidence: resource.EvidenceAttested}, needsEvidence},
		{message.BootIntent{Secrets: resource.SecretsBMC}, needsNothing},
		{message.BootIntent{RequireEvidence: resource.EvidenceReported}, needsNothing},
	} {
		if got := needsOf(&row.boot); got != row.want {
			t.Errorf("%+v: %s, want %s", row.boot, got, row.want)
		}
	}
}

// TestThroughIPXE: iPXE asks by DHCP what to do, so that its boots have no private URL.
func TestThroughIPXE(t *testing.T) {
	in := &message.ServerIntent{Boot: &message.BootIntent{Ignition: &message.IgnitionIntent{}}}
	in.Boot.BootPolicy.FirstBoot = resource.FirstBootUefiHTTP
	for kind, want := range map[protocol.ChainKind]Through{protocol.ChainGRUB: ThroughURL, protocol.ChainIPXE: ThroughNothing} {
		s := Snapshot{Intent: in, Chain: &protocol.BootChain{Kind: kind}, Private: Private{URL: true}}
		if got := (grants{&draft{}, &s}).through(); got != want {
			t.Errorf("%s: %q", kind, got)
		}
		s.Private.Medium = true
		if got := (grants{&draft{}, &s}).through(); kind == protocol.ChainIPXE && got != ThroughMedium {
			t.Errorf("%s with a drive: %q", kind, got)
		}
	}
}
