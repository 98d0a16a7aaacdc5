package status

import (
	"time"

	"rackboot/hub/reports"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func clocksOf(apart map[string]time.Duration) (all []time.Duration) {
	for _, d := range apart {
		all = append(all, d)
	}
	return all
}

// agentClock is the condition of an agent whose clock is apart from the hub's; nil if it is not.
// The other agents tell whose is wrong.
func (c *Room) agentClock(agent string, last message.Report, got, now time.Time) *resource.ConditionState {
	if last.At.IsZero() || now.Sub(got) > reports.DarkAfter || last.At.Sub(got).Abs() <= decide.ClockSlack {
		return nil // also so that printing many agents does not look at each for each
	}
	apart := c.cfg.Reports.Apart(now)
	off := decide.AgentClock(apart[agent], clocksOf(apart))
	if off == decide.ClockOffNone {
		return nil
	}
	return &resource.ConditionState{Code: off.Condition(), Since: got, Message: off.Describe(apart[agent])}
}
