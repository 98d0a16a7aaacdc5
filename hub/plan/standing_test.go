package plan

import (
	"testing"

	"rackboot/protocol"
)

// TestStandingTable compares the table above State with it for every combination.
func TestStandingTable(t *testing.T) {
	rows := tableOf(t, "standing.go", "released", "says", "dark", "stale", "receipt", "state")
	reports := map[said][]*protocol.HoldReport{
		saidNothing:  {nil},
		saidReleased: {{Word: protocol.HoldReleased}, {State: protocol.StateFenced, Released: &protocol.Release{}}},
		saidStopping: {
			{State: protocol.StateStopping},
			{State: protocol.StateForcing, Word: protocol.HoldEnforced},
		},
		saidBad: {
			{State: protocol.StateViolated},
			{State: protocol.StateUnreachable, Word: protocol.HoldFenced},
		},
		saidConfirmed: {{State: protocol.StateConfirmed, Word: protocol.HoldEnforced}},
		saidFenced:    {{State: protocol.StateFenced, Word: protocol.HoldFenced}},
		saidEnforced: {
			{Word: protocol.HoldEnforced},
			{State: protocol.StateEnforced},
			{State: protocol.StateAccepted},
			{State: "Molten", Word: protocol.HoldFenced},
			{State: protocol.StateReleasing},
			{State: protocol.StateStale, Word: protocol.HoldFenced},
			{Word: protocol.HoldFenced}, // without a state
			{},
		},
	}
	word := map[bool]string{true: "yes", false: "no"}
	receipts := map[string]*protocol.Receipt{"none": nil, "proof": {Reads: 2}, "manual": {Manual: &protocol.Confirmation{}}}
	for says, list := range reports {
		for _, rep := range list {
			for receipt, r := range receipts {
				for n := range 16 {
					s := HoldSeen{Released: n&1 > 0, Dark: n&2 > 0, Laid: n&4 > 0, Stale: n&8 > 0, Report: rep, Receipt: r}
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
					if w := s.Word(); w == protocol.HoldFenced && (receipt != "proof" || says != saidFenced) {
						t.Errorf("%+v is Fenced without a proof", s)
					} else if s.State() == protocol.StateFenced && w != protocol.HoldFenced {
						t.Errorf("%+v: state Fenced, word %s", s, w)
					}
				}
			}
		}
	}
}
