package boot

import (
	"slices"
	"strings"
	"testing"

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

// What an agent says for another claim is nothing about this one.
func TestEnvProgressOfAnotherClaim(t *testing.T) {
	cl, srv := &resource.Claim{}, &resource.Server{}
	cl.Metadata.UID = "u"
	srv.Status.Report = &resource.ServerReport{OwnerUID: "other", Env: &resource.EnvReport{State: resource.EnvReady, BootEnv: "e"}}
	if state, err := envProgress(cl, srv, "e"); err != nil || state == envDone {
		t.Errorf("%q, %v", state, err)
	}
}
