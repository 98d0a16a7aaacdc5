package api

import (
	"encoding/json"
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

// An export has what was proved of a boot, and not what is only shown of it.
func TestBareEvidence(t *testing.T) {
	for _, o := range []resource.Object{
		&resource.Server{Status: resource.ServerStatus{EvidenceClass: resource.EvidenceObserved, Secrets: resource.SecretsBMC}},
		&resource.Claim{Status: resource.ClaimStatus{EvidenceClass: resource.EvidenceObserved, Secrets: resource.SecretsBMC}},
		&resource.BootConfiguration{Status: resource.BootConfigurationStatus{EvidenceClass: resource.EvidenceObserved, Secrets: resource.SecretsBMC, SignedProvisioned: []byte{1}}},
	} {
		raw, err := json.Marshal(bare(o))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"evidenceClass", "secrets"} {
			if strings.Contains(string(raw), word) {
				t.Errorf("%T: %s is exported: %s", o, word, raw)
			}
		}
		if _, ok := o.(*resource.BootConfiguration); ok != strings.Contains(string(raw), "signedProvisioned") {
			t.Errorf("%T: %s", o, raw)
		}
	}
}
