package rig

import (
	"context"
	"strings"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// AcceptReverted is what an operator does where the hub says that the agent's disk is an older copy, and
// the agent guards: there is no newer one. said is empty while there is nothing to accept.
func (s *Site) AcceptReverted(ctx context.Context) (said string) {
	if s.Client == nil {
		return ""
	}
	agents, err := api.GetAll[*resource.Agent](ctx, s.Client)
	if err != nil {
		return ""
	}
	for _, a := range agents {
		for _, c := range a.Status.Conditions {
			if c.Code != resource.CondAgentRolledBack || !s.Guards(ctx) {
				continue
			}
			out, errs, code := run(ctx, []string{s.AgentClock.env()}, s.daemon("rackboot-agent"), "accept-loss", "--config", s.path("agent.yaml"), "--reason", "its disk was put back")
			if code != 0 {
				return "" // it is tried again; what waits for it says so
			}
			return strings.TrimSpace(out + errs)
		}
	}
	return ""
}
