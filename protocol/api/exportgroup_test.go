package api

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
)

// What is stored of a group goes to another hub, and what only one hub knows does not; an
// open roll-out is over there, and one that had ended stays as it ended.
func TestCarriedGroup(t *testing.T) {
	at := time.Unix(1, 0)
	was := protocol.ServerGroupStatus{
		Revision: 4, Verified: 3, Pinned: &protocol.GroupPin{Revision: 4}, Rejected: map[string]protocol.GroupReject{"os-2": {Revision: 2}},
		Adopted: &protocol.GroupAdoption{Image: "mine"}, HotLoop: &protocol.HotLoop{Count: 2}, Skew: "old", Counts: &protocol.GroupCounts{Servers: 1},
		Enrolment: &protocol.Enrolment{Managed: true}, Conditions: []protocol.ConditionState{{Code: protocol.CondImageSkew}},
	}
	for _, phase := range protocol.RolloutPhases() {
		was.Rollout = &protocol.RolloutStatus{Revision: 4, From: 3, Phase: phase, By: "ann", StartedAt: at, Members: map[string]protocol.RolloutMember{"n1": {}}}
		if phase.Over() {
			was.Rollout.EndedAt = &at
		}
		got := CarriedGroup(was)
		if got.Revision != 4 || got.Verified != 3 || got.Pinned == nil || len(got.Rejected) != 1 || got.Adopted == nil || got.HotLoop == nil ||
			got.Skew != "" || got.Counts != nil || got.Enrolment != nil || got.Conditions != nil {
			t.Errorf("%+v", got)
		}
		want := phase
		if !phase.Over() {
			want = protocol.RolloutAborted
		}
		if ro := got.Rollout; ro.Phase != want || len(ro.Members) != 0 || LeftUnderWay(ro) == phase.Over() || ro.From != 3 {
			t.Errorf("%s: %+v", phase, ro)
		}
		if was.Rollout.Phase != phase || len(was.Rollout.Members) != 1 {
			t.Errorf("%s: what was given is changed", phase)
		}
	}
}

// An export says which Secrets are to be made again, and that a translated one is not.
func TestSecretsOf(t *testing.T) {
	r := &protocol.GroupRevision{Spec: protocol.GroupRevisionSpec{
		Stub: &protocol.IgnitionRef{Secret: "node-spec-3-managed"}, OriginalStub: &protocol.IgnitionRef{Secret: "node"},
	}}
	got := secretsOf(r)
	if len(got) != 2 || got[0].Name != "node" || !strings.Contains(got[0].Reason, "rackctl secret set") || got[1].Name != "node-spec-3-managed" || !strings.Contains(got[1].Reason, "from Secret node") {
		t.Errorf("%+v", got)
	}
	if got = secretsOf(&protocol.GroupRevision{}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
