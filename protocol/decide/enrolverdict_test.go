package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestEnrolTable(t *testing.T) {
	doctable.Of(t, "enrolverdict.go", "enrolRule").Hold(t,
		[][]string{doctable.Words(reportNone, reportEarly, reportOpen), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo()},
		func(in []string) []string {
			yes := func(i int) bool { return in[i] == "yes" }
			return doctable.Words(enrolRule(reportStage(in[0]), yes(1), yes(2), yes(3), yes(4), yes(5)))
		})
}

// A neighbour who read a token off the segment, and an image that is not the site's own, enrol nothing.
func TestEnrol(t *testing.T) {
	nothing := func(*Attempt) {}
	for _, row := range []struct {
		name   string
		change func(*Attempt)
		token  string
		sealed bool
		want   EnrolVerdict
	}{
		{"by the private token and HTTPS", nothing, "p", true, EnrolTake},
		{"in clear", nothing, "p", false, EnrolOpenly},
		{"by the token of the segment", nothing, "t", true, EnrolSegment},
		{"without a private token", func(a *Attempt) { a.Private = "" }, "t", true, EnrolSegment},
		{"another token", nothing, "u", true, EnrolUnknown},
		{"no token", func(a *Attempt) { a.Private = "" }, "", true, EnrolUnknown},
		{"a claim's image", func(a *Attempt) { a.Order.Purpose = resource.PurposeClaim }, "p", true, EnrolImage},
		{"its files were not sent to their end", func(a *Attempt) { a.Stage.State = resource.AttemptConsumed }, "p", true, EnrolEarly},
		{"after the report", func(a *Attempt) { a.Stage.State = resource.AttemptSucceeded }, "p", true, EnrolUnknown},
		{"a boot from disk", func(a *Attempt) { a.Order.Target = protocol.TargetHdd }, "p", true, EnrolUnknown},
		{"two machines say they are it", func(a *Attempt) { a.Claimants.Second = &Claimant{} }, "p", true, EnrolTwo},
	} {
		a := &Attempt{Token: "t", Private: "p", Stage: Stage{State: resource.AttemptFetched}, Order: Order{Target: protocol.TargetUefiHTTP, Purpose: resource.PurposeDiscovery}}
		row.change(a)
		if got := Enrol(false, false, a, row.token, row.sealed); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
		if got := Enrol(true, false, a, row.token, row.sealed); got == EnrolTake {
			t.Errorf("%s: taken of a held server", row.name)
		}
	}
	if got := Enrol(false, false, nil, "p", true); got != EnrolUnknown {
		t.Errorf("without a boot: %s", got)
	}
}

// A discovery of a rack that requires observed evidence has a token that goes through the BMC, by
// which a TPM is enrolled once the image can run, and not after its report. One of another rack has none.
func TestDiscoveryEnrols(t *testing.T) {
	for required, want := range map[resource.EvidenceClass][]EnrolVerdict{
		resource.EvidenceAttested: {EnrolEarly, EnrolTake, EnrolUnknown},
		resource.EvidenceObserved: {EnrolEarly, EnrolTake, EnrolUnknown},
		resource.EvidenceReported: {EnrolSegment, EnrolSegment, EnrolUnknown},
	} {
		w := newWorld(t)
		w.private, w.proof = Private{Medium: true, Sealed: true}, tpmProof{attested: true}
		w.discover(3, false)
		w.intent.Boot.RequireEvidence = required
		w.poke()
		for i, at := range []resource.AttemptState{resource.AttemptPowerRequested, resource.AttemptFetched, resource.AttemptSucceeded} {
			w.until(string(at), func() bool {
				a := w.record().Attempt
				return a != nil && a.Stage.State == at
			})
			a := w.record().Attempt
			token := a.Private
			if required == resource.EvidenceReported {
				token = a.Token
			}
			if got := Enrol(false, false, a, token, true); got != want[i] {
				t.Errorf("%s required, %s: %s, want %s", required, at, got, want[i])
			}
		}
	}
}
