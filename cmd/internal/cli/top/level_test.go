package top

import (
	"testing"
	"time"

	"rackboot/protocol/resource"
)

func TestServerLevel(t *testing.T) {
	attempt := func(s resource.AttemptState) func(*resource.Server) {
		return func(o *resource.Server) { o.Status.Report.Attempt.State = s }
	}
	phase := func(p resource.Phase) func(*resource.Server) {
		return func(o *resource.Server) { o.Status.Phase = p }
	}
	for name, row := range map[string]struct {
		change func(*resource.Server)
		holds  []resource.HoldState
		want   level
	}{
		"runs":              {nil, nil, quiet},
		"was never read":    {func(o *resource.Server) { o.Status.Report = nil }, nil, quiet},
		"phase Error":       {phase(resource.PhaseError), nil, failing},
		"an attempt failed": {attempt(resource.AttemptFailed), nil, failing},
		"an attempt was withdrawn": {func(o *resource.Server) {
			attempt(resource.AttemptFailed)(o)
			o.Status.Report.Attempt.Code = resource.AttemptWithdrawn
		}, nil, quiet},
		"an attempt is prepared":            {attempt(resource.AttemptPreparing), nil, busy},
		"an attempt has fetched":            {attempt(resource.AttemptFetched), nil, busy},
		"waits":                             {func(o *resource.Server) { o.Status.Report.Awaits = &resource.Wait{For: resource.WaitOff} }, nil, busy},
		"Discovery":                         {phase(resource.PhaseDiscovery), nil, busy},
		"Maintenance":                       {phase(resource.PhaseMaintenance), nil, busy},
		"Releasing":                         {phase(resource.PhaseReleasing), nil, busy},
		"Available":                         {phase(resource.PhaseAvailable), nil, quiet},
		"stale":                             {func(o *resource.Server) { o.Status.Stale = true }, nil, doubtful},
		"an error":                          {func(o *resource.Server) { conditions(o, resource.CondHoldViolated) }, nil, failing},
		"a warning":                         {func(o *resource.Server) { conditions(o, resource.CondFrozen) }, nil, doubtful},
		"its rack is silent":                {func(o *resource.Server) { conditions(o, resource.CondDark, resource.CondStale) }, nil, doubtful},
		"held and proved off":               {nil, []resource.HoldState{resource.StateFenced}, quiet},
		"held by somebody's word":           {nil, []resource.HoldState{resource.StateConfirmed}, quiet},
		"held, not off yet":                 {nil, []resource.HoldState{resource.StateFenced, resource.StateForcing}, busy},
		"a hold that the agent has not":     {nil, []resource.HoldState{resource.StateAccepted}, busy},
		"a hold of which nobody knows":      {nil, []resource.HoldState{resource.StateUnreachable, resource.StateFenced}, failing},
		"it ran under a hold":               {nil, []resource.HoldState{resource.StateViolated}, failing},
		"a hold with an old read":           {nil, []resource.HoldState{resource.StateStale}, doubtful},
		"stale beats what it is said to do": {func(o *resource.Server) { o.Status.Stale = true; attempt(resource.AttemptArmed)(o) }, nil, doubtful},
	} {
		t.Run(name, func(t *testing.T) {
			if got := serverLevel(server("n1", "s", row.change), row.holds, noon()); got != row.want {
				t.Errorf("%d, want %d", got, row.want)
			}
		})
	}
	for _, s := range resource.HoldStates() { // none is forgotten: only a proof is quiet
		if proved := s == resource.StateFenced || s == resource.StateConfirmed; (holdLevel(s) == quiet) != proved {
			t.Errorf("%s has level %d", s, holdLevel(s))
		}
	}
}

// The worst condition is the severest, and of those the one that has lasted longest.
func TestWorst(t *testing.T) {
	at := func(code resource.ConditionCode, since time.Duration) resource.ConditionState {
		return resource.ConditionState{Code: code, Since: *ago(since)}
	}
	for name, row := range map[string]struct {
		all  []resource.ConditionState
		want resource.ConditionCode
		more int
	}{
		"none":        {nil, "", 0},
		"severest":    {[]resource.ConditionState{at(resource.CondFrozen, time.Hour), at(resource.CondHoldViolated, 5*time.Minute)}, resource.CondHoldViolated, 1},
		"longest":     {[]resource.ConditionState{at(resource.CondHoldViolated, time.Hour), at(resource.CondBMCDenied, 2*time.Hour)}, resource.CondBMCDenied, 1},
		"not yet":     {[]resource.ConditionState{at(resource.CondNotSynced, time.Second)}, "", 0},
		"unknown one": {[]resource.ConditionState{at("FromANewerHub", time.Hour)}, "FromANewerHub", 0},
	} {
		if w, _, more, _ := worst(row.all, noon()); w.Code != row.want || more != row.more {
			t.Errorf("%s: %q and %d more", name, w.Code, more)
		}
	}
}

func TestRackLevel(t *testing.T) {
	for name, row := range map[string]struct {
		agent *resource.Agent
		taken bool
		bad   int
		want  level
	}{
		"heard":               {agent("a", time.Second), false, 0, quiet},
		"no agent":            {nil, false, 0, failing},
		"silent":              {agent("a", time.Minute, resource.CondDark), false, 0, failing},
		"taken over":          {agent("a", time.Second), true, 0, doubtful},
		"a server has failed": {agent("a", time.Second), false, 1, busy},
	} {
		o := rack("r", "a")
		if row.taken {
			o.Status.TakenOver = []resource.TakenOver{{Agent: "b"}}
		}
		if got := rackLevel(o, row.agent, tally{bad: row.bad}, noon()); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}
