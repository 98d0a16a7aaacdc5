package api

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// What is stored of a group goes to another hub, and what only one hub knows does not; an
// open roll-out is over there, and one that had ended stays as it ended.
func TestCarriedGroup(t *testing.T) {
	at := time.Unix(1, 0)
	was := resource.ServerGroupStatus{
		Revision: 4, Verified: 3, Pinned: &resource.GroupPin{Revision: 4}, Rejected: map[string]resource.GroupReject{"os-2": {Revision: 2}},
		Adopted: &resource.GroupAdoption{Image: "mine"}, HotLoop: &resource.HotLoop{Count: 2}, Skew: "old", Counts: &resource.GroupCounts{Servers: 1},
		Enrolment: &resource.Enrolment{Managed: true}, Conditions: []resource.ConditionState{{Code: resource.CondImageSkew}},
	}
	for _, phase := range resource.RolloutPhases() {
		was.Rollout = &resource.RolloutStatus{Revision: 4, From: 3, Phase: phase, By: "ann", StartedAt: at, Members: map[string]resource.RolloutMember{"n1": {}}}
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
			want = resource.RolloutAborted
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
	r := &resource.GroupRevision{Spec: resource.GroupRevisionSpec{
		Stub: &resource.IgnitionRef{Secret: "node-spec-3-managed"}, OriginalStub: &resource.IgnitionRef{Secret: "node"},
	}}
	got := secretsOf(r)
	if len(got) != 2 || got[0].Name != "node" || !strings.Contains(got[0].Reason, "rackctl secret set") || got[1].Name != "node-spec-3-managed" || !strings.Contains(got[1].Reason, "from Secret node") {
		t.Errorf("%+v", got)
	}
	if got = secretsOf(&resource.GroupRevision{}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
