package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestClassTable(t *testing.T) {
	doctable.Of(t, "private.go", "classRule").Hold(t, [][]string{doctable.YesNo(), doctable.YesNo()}, func(in []string) []string {
		return doctable.Words(classRule(in[0] == "yes", in[1] == "yes"))
	})
}

// What a TPM proves counts for the report that comes by the private token, in a discovery.
func TestClass(t *testing.T) {
	for _, row := range []struct {
		name     string
		purpose  resource.Purpose
		token    string
		attested bool
		want     resource.EvidenceClass
	}{
		{"attested", resource.PurposeDiscovery, "p", true, resource.EvidenceAttested},
		{"not attested", resource.PurposeDiscovery, "p", false, resource.EvidenceObserved},
		{"by the token of the segment", resource.PurposeDiscovery, "t", true, resource.EvidenceReported},
		{"a claim's image", resource.PurposeClaim, "p", true, resource.EvidenceObserved},
	} {
		a := &Attempt{Token: "t", Private: "p"}
		a.Order.Purpose = row.purpose
		if got := a.class(Event{Kind: protocol.EvidenceDiscovered, Token: row.token, Attested: row.attested}); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

// tpmProof is what a TPM has proved of a boot before its report.
type tpmProof struct {
	attested bool
	code     string
}

// The attempt of a discovery says that its boot was attested, or why not.
func TestDiscoveryAttested(t *testing.T) {
	for _, row := range []struct {
		required resource.EvidenceClass
		proof    tpmProof
		class    resource.EvidenceClass
		why      string
	}{
		{resource.EvidenceObserved, tpmProof{attested: true}, resource.EvidenceAttested, ""},
		{resource.EvidenceObserved, tpmProof{code: "other-image"}, resource.EvidenceObserved, "other-image"},
		{resource.EvidenceReported, tpmProof{attested: true, code: "no-quote"}, resource.EvidenceReported, "no-quote"},
	} {
		w := newWorld(t)
		w.private, w.proof = Private{Medium: true}, row.proof
		w.discover(3, false)
		w.intent.Boot.RequireEvidence = row.required
		w.poke()
		w.until("a report", func() bool {
			a := w.record().Attempt
			return a != nil && a.Stage.State == resource.AttemptSucceeded
		})
		if s := w.record().Attempt.Stage; s.Class != row.class || s.Unattested != row.why {
			t.Errorf("%+v: %s, %q", row, s.Class, s.Unattested)
		}
	}
}
