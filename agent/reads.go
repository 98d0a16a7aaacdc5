package agent

import (
	"time"

	"rackboot/agent/reports"
	"rackboot/agent/store"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// ages says how old reads of servers are.
type ages struct {
	clock   state.Clock
	servers *store.Servers
	started time.Time // this run of the agent
	run     string    // and its name
}

// poll returns the rack's interval.
func (a *ages) poll() time.Duration {
	if every := a.servers.PollInterval(); every > 0 {
		return every
	}
	var k resource.Rack
	k.Default()
	return k.Spec.PollInterval.D()
}

// read returns how old the last read of a server is whose consequences are on disk, and
// whether that is too old to say anything of now. One that was never read is as old as
// this run of the agent.
func (a *ages) read(r resource.ServerReport, poll time.Duration) (age time.Duration, stale bool) {
	now := a.clock()
	if age = reports.ReadAge(now, r.Observation); age == 0 {
		age = now.Sub(a.started)
	}
	return age, age > resource.StaleAfter(poll, r.ReadTook())
}

// aged is a hold's state with that in mind.
func aged(s resource.HoldState, stale bool) resource.HoldState {
	switch s {
	case resource.StateFenced, resource.StateStopping, resource.StateForcing:
		if stale {
			return resource.StateStale
		}
	case resource.StateAccepted, resource.StateEnforced, resource.StateConfirmed, resource.StateViolated, resource.StateUnreachable,
		resource.StateReleasing, resource.StateStale:
	}
	return s
}
