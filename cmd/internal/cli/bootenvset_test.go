package cli

import (
	"slices"
	"strings"
	"testing"

	"rackboot/doctable"
	"rackboot/protocol"
)

func TestEnvProgressTable(t *testing.T) {
	var codes []string
	for _, c := range protocol.Codes() {
		codes = append(codes, string(c))
	}
	doctable.Of(t, "bootenvset.go", "envProgress").Hold(t, [][]string{
		doctable.YesNo(),
		{"nothing", string(protocol.CondBootEnvInvalid), string(protocol.CondReprovisionRequired)},
		append([]string{"nothing", string(protocol.EnvBuilding), string(protocol.EnvRefused)}, codes...),
	}, func(in []string) []string {
		cl, srv := &protocol.Claim{}, &protocol.Server{}
		cl.Metadata.UID = "u"
		if in[1] != "nothing" {
			cl.Status.Conditions = []protocol.ConditionState{{Code: protocol.ConditionCode(in[1]), Message: "why"}}
		}
		r := &protocol.ServerReport{OwnerUID: "u"}
		switch {
		case in[0] == "yes":
			r.Env = &protocol.EnvReport{State: protocol.EnvReady, BootEnv: "e"}
		case slices.Contains(codes, in[2]):
			r.Env = &protocol.EnvReport{State: protocol.EnvRefused, BootEnv: "before", Message: "why", Code: protocol.Code(in[2])}
		case in[2] != "nothing":
			r.Env = &protocol.EnvReport{State: protocol.EnvState(in[2]), BootEnv: "before", Message: "why"}
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

// What an agent says for another claim is nothing about this one.
func TestEnvProgressOfAnotherClaim(t *testing.T) {
	cl, srv := &protocol.Claim{}, &protocol.Server{}
	cl.Metadata.UID = "u"
	srv.Status.Report = &protocol.ServerReport{OwnerUID: "other", Env: &protocol.EnvReport{State: protocol.EnvReady, BootEnv: "e"}}
	if state, err := envProgress(cl, srv, "e"); err != nil || state == envDone {
		t.Errorf("%q, %v", state, err)
	}
}
