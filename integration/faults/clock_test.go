package faults

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// TestHubClock: a hub whose clock was wrong, for a moment or for longer, is heard and believed
// again within minutes of its being set right.
func TestHubClock(t *testing.T) {
	for name, row := range map[string]struct{ ahead, during time.Duration }{
		"400 days ahead for 45 s":   {400 * 24 * time.Hour, 45 * time.Second},
		"400 days ahead for longer": {400 * 24 * time.Hour, 20 * time.Minute},
		"a day behind":              {-24 * time.Hour, 20 * time.Minute},
		"a minute ahead":            {time.Minute, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, 1, 2, newBroker)
				defer s.stop()
				s.untilSettled("at the beginning", true)
				s.hub.ahead.Store(int64(row.ahead))
				time.Sleep(row.during)
				for _, a := range s.agents {
					if got := s.hub.says(a.name, resource.CondHubClock); got != (row.ahead.Abs() > decide.ClockSlack) {
						t.Errorf("the hub says of %s that its own clock is wrong: %t", a.name, got)
					}
				}
				s.hub.ahead.Store(0)
				time.Sleep(5 * time.Minute)
				for _, a := range s.agents {
					for _, code := range []resource.ConditionCode{resource.CondHubClock, resource.CondClocksDiffer, resource.CondHubUnverified} {
						if s.hub.says(a.name, code) {
							t.Errorf("five minutes after it is right again the hub says of %s: %s", a.name, code)
						}
					}
				}
				at, words := s.agents[0].core.HubTime()
				if off := time.Until(at).Abs(); off > decide.ClockSlack {
					t.Errorf("five minutes after the hub is right again its agent takes its clock for %s off", off)
				}
				time.Sleep(4 * time.Minute)
				if _, now := s.agents[0].core.HubTime(); now < words+3 {
					t.Errorf("%d words of the hub are heeded in four minutes", now-words)
				}
			})
		})
	}
}

// says is whether the hub prints the condition of an agent.
func (h *hub) says(agent string, code resource.ConditionCode) bool {
	return slices.ContainsFunc(h.agentConditions(agent), func(c resource.ConditionState) bool { return c.Code == code })
}
