package decide

import (
	"strconv"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// fleetWith is whom most agents agree with.
type fleetWith string

const (
	fleetHub    fleetWith = "hub"
	fleetAgents fleetWith = "agents" // with this one, and not with the hub
	fleetFew    fleetWith = "few"    // nobody has a majority, or there is one agent
)

// AgentClock decides whose clock is wrong where the hub hears agents. apart is each agent's clock
// less the hub's, this one's among them.
func AgentClock(own time.Duration, apart []time.Duration) ClockOff {
	hub := hubSame
	switch {
	case own > ClockSlack:
		hub = hubEarlier
	case own < -ClockSlack:
		hub = hubLater
	}
	if hub == hubSame {
		return agentClock(hub, fleetFew)
	}
	with, near := 0, 0
	for _, a := range apart {
		if a.Abs() <= ClockSlack {
			with++
		}
		if (a - own).Abs() <= ClockSlack {
			near++
		}
	}
	fleet := fleetFew
	switch {
	case 2*with >= len(apart) && with > 0:
		fleet = fleetHub
	case 2*near > len(apart) && near > 1:
		fleet = fleetAgents
	}
	return agentClock(hub, fleet)
}

// agentClock is the table of blame at the hub: its clock against the agent's, and whom most
// agents agree with.
//
//	hub     | fleet  | off
//	same    | *      | none
//	later   | hub    | agent-behind
//	later   | agents | hub-ahead
//	earlier | hub    | agent-ahead
//	earlier | agents | hub-behind
//	*       | few    | unsure
func agentClock(hub hubsClock, fleet fleetWith) ClockOff {
	switch {
	case hub == hubSame:
		return ClockOffNone
	case fleet == fleetFew:
		return ClockOffUnsure
	case hub == hubLater && fleet == fleetHub:
		return ClockOffAgentBehind
	case hub == hubLater:
		return ClockOffHubAhead
	case fleet == fleetHub:
		return ClockOffAgentAhead
	}
	return ClockOffHubBehind
}

// Condition is what is said of a wrong clock; empty where none is.
func (o ClockOff) Condition() resource.ConditionCode {
	switch o {
	case ClockOffAgentBehind:
		return resource.CondClockBehind
	case ClockOffAgentAhead:
		return resource.CondClockAhead
	case ClockOffHubBehind, ClockOffHubAhead:
		return resource.CondHubClock
	case ClockOffUnsure:
		return resource.CondClocksDiffer
	case ClockOffNone:
	}
	return ""
}

// Describe says by how much a clock is wrong; by is the agent's less the other one. It stays the
// same as long as the clocks stay as far apart.
func (o ClockOff) Describe(by time.Duration) string {
	much := spell(by.Abs())
	switch o {
	case ClockOffAgentBehind:
		return "the clock of the agent's host is " + much + " behind"
	case ClockOffAgentAhead:
		return "the clock of the agent's host is " + much + " ahead"
	case ClockOffHubBehind:
		return "the hub's clock is " + much + " behind"
	case ClockOffHubAhead:
		return "the hub's clock is " + much + " ahead"
	case ClockOffUnsure:
		if by < 0 {
			return "the hub's clock is " + much + " ahead, or that of the agent's host as far behind"
		}
		return "the clock of the agent's host is " + much + " ahead, or the hub's as far behind"
	case ClockOffNone:
	}
	return ""
}

// spell writes a duration in days, or in hours and minutes.
func spell(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 2*day {
		return strconv.Itoa(int(d.Round(day)/day)) + " days"
	}
	return protocol.Duration(d.Round(time.Minute)).String()
}
