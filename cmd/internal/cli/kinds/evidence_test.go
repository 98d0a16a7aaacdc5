package kinds

import (
	"slices"
	"testing"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// What has booted shows the class of the evidence and the way of its user data, in wide tables and
// in descriptions; a record of itself decides neither.
func TestEvidenceAndSecrets(t *testing.T) {
	set := map[resource.Kind]func(resource.EvidenceClass, resource.SecretsWay) resource.Object{
		resource.KindServer: func(c resource.EvidenceClass, w resource.SecretsWay) resource.Object {
			return &resource.Server{Status: resource.ServerStatus{EvidenceClass: c, Secrets: w}}
		},
		resource.KindClaim: func(c resource.EvidenceClass, w resource.SecretsWay) resource.Object {
			return &resource.Claim{Status: resource.ClaimStatus{EvidenceClass: c, Secrets: w}}
		},
		resource.KindBootConfiguration: func(c resource.EvidenceClass, w resource.SecretsWay) resource.Object {
			return &resource.BootConfiguration{Status: resource.BootConfigurationStatus{EvidenceClass: c, Secrets: w, Provisioned: &resource.Provisioned{}}}
		},
	}
	for kind, of := range set {
		for _, row := range []struct {
			class resource.EvidenceClass
			way   resource.SecretsWay
		}{{"", ""}, {resource.EvidenceReported, resource.SecretsSegment}, {resource.EvidenceObserved, resource.SecretsBMC}, {resource.EvidenceReported, ""}} {
			v, facts, _ := Describe(kind, of(row.class, row.way), time.Now(), nil)
			for name, want := range map[string]string{"EVIDENCE": string(row.class), "SECRETS": string(row.way)} {
				i := slices.IndexFunc(v.Columns, func(c printer.Column) bool { return c.Name == name })
				if i < 0 || !v.Columns[i].Wide || v.Items[0].Cells[i] != want {
					t.Errorf("%s: %s of %+v is not %q: %+v", kind, name, row, want, v)
				}
				if fact := map[string]string{"EVIDENCE": "Evidence", "SECRETS": "Secrets"}[name]; !slices.Contains(facts, printer.Fact{fact, want}) {
					t.Errorf("%s: no fact %s %q in %+v", kind, fact, want, facts)
				}
			}
		}
	}
}
