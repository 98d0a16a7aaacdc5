package main

import (
	"context"
	"time"

	"rackboot/integration/storm/rig"
)

// clocks step the wall clock of one daemon, as somebody does who sets it.
func clocks() []fault {
	hub := func(s *rig.Site) rig.Clock { return s.HubClock }
	agent := func(s *rig.Site) rig.Clock { return s.AgentClock }
	step := func(name, damages string, clock func(*rig.Site) rig.Clock, by time.Duration) fault {
		return fault{
			name: name, damages: damages, last: 2500 * time.Millisecond,
			inject: func(_ context.Context, s *rig.Site, _ *rig.Server) error { return clock(s).Step(by) },
			heal:   func(_ context.Context, s *rig.Site, _ *rig.Server) error { return clock(s).Step(0) },
		}
	}
	return []fault{
		step("clock-hub-fast", "the hub's clock: two hours ahead", hub, 2*time.Hour),
		step("clock-hub-slow", "the hub's clock: two hours behind", hub, -2*time.Hour),
		step("clock-agent-fast", "the agent's clock: two hours ahead", agent, 2*time.Hour),
		step("clock-agent-slow", "the agent's clock: two hours behind", agent, -2*time.Hour),
	}
}
