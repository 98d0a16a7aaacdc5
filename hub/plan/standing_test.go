package plan

import (
	"testing"

	"rackboot/protocol/resource"
)

// TestStandingTable compares the table above State with it for every combination.
func TestStandingTable(t *testing.T) {
	rows := tableOf(t, "standing.go", "released", "says", "dark", "stale", "receipt", "state")
	reports := map[said][]*resource.HoldReport{
		saidNothing:  {nil},
		saidReleased: {{Word: resource.HoldReleased}, {State: resource.StateFenced, Released: &resource.Release{}}},
		saidStopping: {
			{State: resource.StateStopping},
			{State: resource.StateForcing, Word: resource.HoldEnforced},
		},
		saidBad: {
			{State: resource.StateViolated},
			{State: resource.StateUnreachable, Word: resource.HoldFenced},
		},
		saidConfirmed: {{State: resource.StateConfirmed, Word: resource.HoldEnforced}},
		saidFenced:    {{State: resource.StateFenced, Word: resource.HoldFenced}},
		saidEnforced: {
			{Word: resource.HoldEnforced},
			{State: resource.StateEnforced},
			{State: resource.StateAccepted},
			{State: "Molten", Word: resource.HoldFenced},
			{State: resource.StateReleasing},
			{State: resource.StateStale, Word: resource.HoldFenced},
			{Word: resource.HoldFenced}, // without a state
			{},
		},
	}
	word := map[bool]string{true: "yes", false: "no"}
	receipts := map[string]*resource.Receipt{"none": nil, "proof": {Reads: 2}, "manual": {Manual: &resource.Confirmation{}}, "void": {Reads: 2}}
	for says, list := range reports {
		for _, rep := range list {
			for receipt, r := range receipts {
				for n := range 16 {
					s := HoldSeen{Released: n&1 > 0, Dark: n&2 > 0, Laid: n&4 > 0, Stale: n&8 > 0, Report: rep, Receipt: r, Void: receipt == "void"}
					if s.said() != says {
						t.Fatalf("%+v says %s, want %s", rep, s.said(), says)
					}
					want := rowOf(t, rows, word[s.Released], string(says), word[s.Dark], word[s.Stale], receipt)[0]
					switch {
					case want == "as it says":
						want = string(rep.State)
					case want == "Enforced if acknowledged, else Accepted" && s.Laid:
						want = "Enforced"
					case want == "Enforced if acknowledged, else Accepted":
						want = "Accepted"
					}
					if got := s.State(); string(got) != want {
						t.Errorf("%+v, receipt %s: %s, the table says %s", s, receipt, got, want)
					}
					if w := s.Word(); w == resource.HoldFenced && (receipt != "proof" || says != saidFenced) {
						t.Errorf("%+v is Fenced without a proof", s)
					} else if s.State() == resource.StateFenced && w != resource.HoldFenced {
						t.Errorf("%+v: state Fenced, word %s", s, w)
					}
				}
			}
		}
	}
}
