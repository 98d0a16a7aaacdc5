package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
)

func TestAgentClockTable(t *testing.T) {
	doctable.Of(t, "fleetclock.go", "agentClock").HoldOne(t, [][]string{
		{string(hubSame), string(hubLater), string(hubEarlier)}, {string(fleetHub), string(fleetAgents), string(fleetFew)},
	}, func(in []string) string { return string(agentClock(hubsClock(in[0]), fleetWith(in[1]))) })
}

func TestAgentClock(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		name  string
		apart []time.Duration // the first is judged
		want  ClockOff
	}{
		{"alone and right", []time.Duration{time.Second}, ClockOffNone},
		{"alone and apart", []time.Duration{day}, ClockOffUnsure},
		{"one of three is ahead", []time.Duration{day, 0, time.Second}, ClockOffAgentAhead},
		{"one of three is behind", []time.Duration{-day, 0, time.Second}, ClockOffAgentBehind},
		{"one of two", []time.Duration{-day, 0}, ClockOffAgentBehind},
		{"all say that the hub is ahead", []time.Duration{-400 * day, -400*day + time.Second}, ClockOffHubAhead},
		{"all say that the hub is behind", []time.Duration{day, day, day}, ClockOffHubBehind},
		{"most say so, this one another", []time.Duration{2 * day, day, day}, ClockOffUnsure},
		{"each says another", []time.Duration{day, 2 * day, 3 * day}, ClockOffUnsure},
	} {
		if got := AgentClock(c.apart[0], c.apart); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}
