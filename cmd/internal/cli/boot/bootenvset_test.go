package boot

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestEnvProgressTable(t *testing.T) {
	var codes []string
	for _, c := range protocol.Codes() {
		codes = append(codes, string(c))
	}
	doctable.Of(t, "bootenvset.go", "envProgress").Hold(t, [][]string{
		doctable.YesNo(),
		{"nothing", string(resource.CondBootEnvInvalid), string(resource.CondReprovisionRequired)},
		append([]string{"nothing", string(resource.EnvBuilding), string(resource.EnvRefused)}, codes...),
	}, func(in []string) []string {
		cl, srv := &resource.Claim{}, &resource.Server{}
		cl.Metadata.UID = "u"
		if in[1] != "nothing" {
			cl.Status.Conditions = []resource.ConditionState{{Code: resource.ConditionCode(in[1]), Message: "why"}}
		}
		r := &resource.ServerReport{OwnerUID: "u"}
		switch {
		case in[0] == "yes":
			r.Env = &resource.EnvReport{State: resource.EnvReady, BootEnv: "e"}
		case slices.Contains(codes, in[2]):
			r.Env = &resource.EnvReport{State: resource.EnvRefused, BootEnv: "before", Message: "why", Code: protocol.Code(in[2])}
		case in[2] != "nothing":
			r.Env = &resource.EnvReport{State: resource.EnvState(in[2]), BootEnv: "before", Message: "why"}
		}
		srv.Status.Report = r
		state, err := envProgress(cl, srv, "e")
		switch {
		case err != nil && strings.Contains(err.Error(), "why"):
			return []string{"refused: " + string(protocol.CodeOf(err))}
		case state == envDone:
			return []string{envDone}
		}
		return []string{"on its way"}
	})
}

func TestSetTable(t *testing.T) {
	doctable.Of(t, "bootenvset.go", "setRule").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.Words(resource.AttemptStates()...)}, func(in []string) string {
		return string(setRule(in[0] == "yes", in[1] == "yes", in[2] == "yes", resource.AttemptState(in[3])))
	})
}

// TestSetDuringABoot: a boot that is under way is named as the reason.
func TestSetDuringABoot(t *testing.T) {
	cl, srv := &resource.Claim{}, &resource.Server{}
	cl.Metadata.UID, srv.Metadata.Name, cl.Spec.BootEnv = "u", "n1", &resource.Ref{Name: "debian-12"}
	if err := maySet(cl, srv, "ubuntu"); err != nil {
		t.Errorf("nothing was reported: %v", err)
	}
	for state, want := range map[resource.AttemptState]string{
		resource.AttemptConsumed: "n1 boots debian-12, attempt 2, Consumed since 09:00:00Z; nothing was changed",
		resource.AttemptFetched:  "n1 has all files of debian-12 since 09:00:00Z, and may be installing; nothing was changed",
		resource.AttemptFailed:   "",
	} {
		srv.Status.Report = &resource.ServerReport{OwnerUID: "u", Attempt: &resource.AttemptReport{State: state, Number: 2, Intended: protocol.TargetUefiHTTP, Since: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}}
		err := maySet(cl, srv, "ubuntu")
		if want == "" && err != nil || want != "" && (protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", state, err, want)
		}
		if err := maySet(cl, srv, "debian-12"); err != nil {
			t.Errorf("%s, the same again: %v", state, err)
		}
	}
}

// What an agent says for another claim is nothing about this one.
func TestEnvProgressOfAnotherClaim(t *testing.T) {
	cl, srv := &resource.Claim{}, &resource.Server{}
	cl.Metadata.UID = "u"
	srv.Status.Report = &resource.ServerReport{OwnerUID: "other", Env: &resource.EnvReport{State: resource.EnvReady, BootEnv: "e"}}
	if state, err := envProgress(cl, srv, "e"); err != nil || state == envDone {
		t.Errorf("%q, %v", state, err)
	}
}
