package plan

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestSecretsTable(t *testing.T) {
	ways := append(doctable.Words(resource.SecretsWays()...), "none")
	word := func(s string) resource.SecretsWay {
		if s == "none" {
			return ""
		}
		return resource.SecretsWay(s)
	}
	doctable.Of(t, "evidence.go", "secretsRule").HoldOne(t, [][]string{ways, ways, ways}, func(in []string) string {
		if got := secretsRule(word(in[0]), word(in[1]), word(in[2])); got != "" {
			return string(got)
		}
		return "none"
	})
}

func TestEvidenceTable(t *testing.T) {
	word := func(s string) resource.EvidenceClass {
		if s == "none" {
			return ""
		}
		return resource.EvidenceClass(s)
	}
	own := append(doctable.Words(resource.EvidenceOf(resource.PurposeClaim)...), "none")
	racks := append(doctable.Words(resource.EvidenceClasses()...), "none")
	doctable.Of(t, "evidence.go", "evidenceRule").HoldOne(t, [][]string{own, own, racks, doctable.Words(resource.Purposes()...)}, func(in []string) string {
		if got := evidenceRule(word(in[0]), word(in[1]), word(in[2]), resource.Purpose(in[3])); got != "" {
			return string(got)
		}
		return "none"
	})
}

// TestEvidenceTravels: the claim's choice is before its group's, that before its rack's, and
// all reach the agent with the configuration that it has already. A maintenance has the rack's.
func TestEvidenceTravels(t *testing.T) {
	boot := func(change func(*Fleet, *resource.Claim, *resource.Server)) *message.BootIntent {
		f := makeFleet(1, 1)
		s := f.Servers[0]
		s.Metadata.Labels = map[string]string{"a": "b"}
		f.claimOf("c1", s.Metadata.Name)
		change(&f, f.Claims[0], s)
		return Intent(f, s).Boot
	}
	group := func(f *Fleet, name string, labels map[string]string) {
		g := named(&resource.ServerGroup{Spec: resource.ServerGroupSpec{
			Selector: resource.Selector{MatchLabels: labels}, Secrets: resource.SecretsBMC, RequireEvidence: resource.EvidenceObserved,
		}}, name)
		f.Groups = append(f.Groups, g)
	}
	rack := func(f *Fleet) {
		f.Racks[0].Spec.Secrets, f.Racks[0].Spec.RequireEvidence = resource.SecretsSegment, resource.EvidenceReported
	}
	for _, row := range []struct {
		name     string
		change   func(*Fleet, *resource.Claim, *resource.Server)
		secrets  resource.SecretsWay
		evidence resource.EvidenceClass
	}{
		{"nobody chose", func(*Fleet, *resource.Claim, *resource.Server) {}, "", ""},
		{"the rack", func(f *Fleet, _ *resource.Claim, _ *resource.Server) { rack(f) }, resource.SecretsSegment, resource.EvidenceReported},
		{"a rack whose discoveries are attested", func(f *Fleet, _ *resource.Claim, _ *resource.Server) {
			f.Racks[0].Spec.RequireEvidence = resource.EvidenceAttested
		}, "", resource.EvidenceObserved},
		{"the group that selects it", func(f *Fleet, _ *resource.Claim, _ *resource.Server) {
			rack(f)
			group(f, "g", map[string]string{"a": "b"})
		}, resource.SecretsBMC, resource.EvidenceObserved},
		{"another group", func(f *Fleet, _ *resource.Claim, _ *resource.Server) {
			rack(f)
			group(f, "g", map[string]string{"a": "c"})
		}, resource.SecretsSegment, resource.EvidenceReported},
		{"the group that its image is from", func(f *Fleet, c *resource.Claim, _ *resource.Server) {
			rack(f)
			group(f, "g", map[string]string{"a": "c"})
			c.Spec.ImageFrom = &resource.ImageFrom{Group: "g"}
		}, resource.SecretsBMC, resource.EvidenceObserved},
		{"the claim", func(f *Fleet, c *resource.Claim, _ *resource.Server) {
			rack(f)
			group(f, "g", map[string]string{"a": "b"})
			c.Spec.Secrets, c.Spec.RequireEvidence = resource.SecretsSegment, resource.EvidenceReported
		}, resource.SecretsSegment, resource.EvidenceReported},
		{"a maintenance", func(f *Fleet, c *resource.Claim, s *resource.Server) {
			rack(f)
			c.Spec.Secrets = resource.SecretsBMC
			m := named(&resource.Maintenance{}, "m1")
			m.Metadata.UID, m.Spec.ServerRef, m.Status.State = "m-uid", resource.Ref{Name: s.Metadata.Name}, resource.MaintenanceActive
			f.Maintenances = append(f.Maintenances, m)
			cfg := *f.Configs[0]
			cfg.Spec.Owner = resource.Owner{Kind: resource.PurposeMaintenance, Name: "m1", UID: "m-uid"}
			f.Configs = append(f.Configs, &cfg)
		}, resource.SecretsSegment, resource.EvidenceReported},
	} {
		b := boot(row.change)
		if b == nil || b.Secrets != row.secrets || b.RequireEvidence != row.evidence {
			t.Errorf("%s: %+v", row.name, b)
		}
	}
}
