package top

import (
	"fmt"
	"time"

	"rackboot/cmd/internal/cli/where"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// noon is the time of these tests.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// ago is a time before noon.
func ago(d time.Duration) *time.Time { return new(noon().Add(-d)) }

// server is a server that runs as it was asked to, changed.
func server(name, segment string, change func(*resource.Server)) *resource.Server {
	s := storetest.Server(name, "b", segment, "52:54:00:00:00:01")
	s.Status = resource.ServerStatus{
		Phase: resource.PhaseReserved, Claim: "c-" + name, ReadAt: ago(7 * time.Second),
		Report: &resource.ServerReport{Server: name, Observation: protocol.Observation{Power: protocol.PowerOn}, Attempt: &resource.AttemptReport{State: resource.AttemptSucceeded, Number: 1}},
	}
	if change != nil {
		change(s)
	}
	return s
}

// conditions says that a server has conditions since a quarter of an hour.
func conditions(s *resource.Server, codes ...resource.ConditionCode) {
	for _, c := range codes {
		s.Status.Conditions = append(s.Status.Conditions, resource.ConditionState{Code: c, Since: *ago(15 * time.Minute), Message: "since the switch was replaced"})
	}
}

// hold is a hold in a state.
func hold(id, server string, state resource.HoldState) *resource.Hold {
	h := storetest.Hold("ha", "k", server)
	h.Metadata.Name, h.Status.State, h.Status.Word = id, state, resource.HoldEnforced
	return h
}

// rack is a rack with its agent, and with segment seg-NAME.
func rack(name, agent string) *resource.Rack {
	r := storetest.Rack(name)
	r.Status.Agent = agent
	return r
}

func agent(name string, contact time.Duration, codes ...resource.ConditionCode) *resource.Agent {
	a := &resource.Agent{}
	a.Metadata.Name = name
	a.Status.LastReport = ago(contact)
	for _, c := range codes {
		a.Status.Conditions = append(a.Status.Conditions, resource.ConditionState{Code: c, Since: *ago(contact)})
	}
	return a
}

// fleet is a snapshot of racks with servers in all states that matter.
func fleet() snapshot {
	racks := []*resource.Rack{rack("rack-2", "agent-2"), rack("rack-10", "agent-10"), rack("rack-11", "")}
	var segments []*resource.Segment
	for _, r := range racks {
		segments = append(segments, storetest.Segment("seg-"+r.Metadata.Name, r.Metadata.Name))
	}
	ice := &resource.Freeze{}
	ice.Metadata.Name, ice.Spec.RackRef = "power-work", &resource.Ref{Name: "rack-10"}
	past := &resource.Freeze{}
	past.Metadata.Name, past.Spec.All, past.Spec.Until = "last-week", true, ago(time.Hour)
	awaits := func(code resource.WaitCode, since, most time.Duration) *resource.Wait {
		return &resource.Wait{For: code, Since: *ago(since), Until: new(noon().Add(most - since))}
	}
	return snapshot{
		hub: "hub.example:8443", version: "0.1.0", caller: "admin", at: noon(), racks: racks, places: where.Known(racks, segments),
		agents:  []*resource.Agent{agent("agent-2", 4*time.Second), agent("agent-10", 3*time.Minute, resource.CondDark)},
		freezes: []*resource.Freeze{ice, past},
		holds:   []*resource.Hold{hold("h1", "worker-3", resource.StateFenced), hold("h2", "worker-4", resource.StateForcing), hold("h3", "worker-4", resource.StateFenced), hold("h4", "worker-5", resource.StateViolated)},
		servers: []*resource.Server{
			server("worker-1", "seg-rack-2", nil),
			server("worker-2", "seg-rack-2", func(s *resource.Server) {
				s.Status.Report.Attempt.State, s.Status.Report.Awaits = resource.AttemptPowerRequested, awaits(resource.WaitDHCP, 2*time.Minute, 5*time.Minute)
			}),
			server("worker-3", "seg-rack-2", func(s *resource.Server) { s.Status.Report.Observation.Power = protocol.PowerOff }),
			server("worker-4", "seg-rack-2", nil),
			server("worker-5", "seg-rack-2", nil),
			server("worker-6", "seg-rack-10", func(s *resource.Server) {
				s.Status.Stale, s.Status.ReadAt = true, ago(3*time.Minute)
				conditions(s, resource.CondDark)
			}),
			server("worker-7", "seg-rack-2", func(s *resource.Server) {
				s.Status.Report.Attempt = &resource.AttemptReport{State: resource.AttemptFailed, Number: 12}
				s.Status.Report.Awaits = awaits(resource.WaitAgain, 90*time.Second, time.Minute)
			}),
			server("worker-10", "seg-rack-2", func(s *resource.Server) {
				s.Status.Phase = resource.PhaseError
				conditions(s, resource.CondBMCUnreachable, resource.CondUnexpectedPower)
			}),
			server("worker-11", "seg-rack-11", func(s *resource.Server) { s.Status = resource.ServerStatus{Phase: resource.PhaseInitial} }),
		},
	}
}

// many is a fleet of so many servers in racks of 40, some of which are in trouble.
func many(n int) snapshot {
	s := snapshot{hub: "hub.example:8443", version: "0.1.0", caller: "admin", at: noon()}
	var segments []*resource.Segment
	for i := range n {
		rackName := fmt.Sprintf("rack-%d", i/40)
		if i%40 == 0 {
			s.racks = append(s.racks, rack(rackName, "agent-"+rackName))
			s.agents = append(s.agents, agent("agent-"+rackName, 4*time.Second))
			segments = append(segments, storetest.Segment("seg-"+rackName, rackName))
		}
		s.servers = append(s.servers, server(fmt.Sprintf("worker-%d", i), "seg-"+rackName, func(s *resource.Server) {
			switch i % 50 {
			case 0:
				conditions(s, resource.CondBMCUnreachable)
			case 1:
				s.Status.Report.Attempt.State = resource.AttemptFetched
			}
		}))
	}
	s.places = where.Known(s.racks, segments)
	return s
}
