package site

import (
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestFleetInOneLine(t *testing.T) {
	server := func(phase resource.Phase, power protocol.PowerState, stale bool, codes ...resource.ConditionCode) *resource.Server {
		s := &resource.Server{Status: resource.ServerStatus{Phase: phase, Stale: stale, Report: &resource.ServerReport{Observation: protocol.Observation{Power: power}}}}
		for _, c := range codes {
			s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: c})
		}
		return s
	}
	rack, lonely := &resource.Rack{Status: resource.RackStatus{Agent: "a"}}, &resource.Rack{}
	agent := &resource.Agent{}
	agent.Metadata.Name = "a"
	st := countFleet([]*resource.Rack{rack, lonely}, []*resource.Agent{agent}, []*resource.Server{
		server(resource.PhaseReserved, protocol.PowerOn, false, resource.CondHeld, resource.CondHeld),
		server(resource.PhaseReserved, protocol.PowerOn, true, resource.CondStale, resource.CondHeld),
		server(resource.PhaseAvailable, protocol.PowerOff, false),
		{},
	}, []*resource.Claim{{}, {Status: resource.ClaimStatus{Server: "n1"}}})
	const want = "2 racks, 1 dark; 4 servers: 2 Reserved, 1 unknown, 1 Available; 2 Unknown, 1 Off, 1 On; 2 Held, 1 Stale; 1 claims without a server"
	if got := st.line(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	agent.Status.Conditions = []resource.ConditionState{{Code: resource.CondDark}}
	if st := countFleet([]*resource.Rack{rack}, []*resource.Agent{agent}, nil, nil); st.line() != "1 racks, 1 dark; 0 servers" {
		t.Errorf("%s", st.line())
	}
}
