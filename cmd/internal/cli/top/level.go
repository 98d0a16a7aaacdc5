package top

import (
	"slices"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// level says how much a row matters. A higher one comes first.
type level int

// The levels.
const (
	quiet    level = iota // nothing to see
	busy                  // on its way
	doubtful              // what is shown may not be so, or somebody is warned
	failing               // somebody has to look
)

// tone is the colour of a level.
func (l level) tone() printer.Tone {
	switch l {
	case failing:
		return printer.Bad
	case doubtful, busy:
		return printer.Busy
	case quiet:
	}
	return printer.Plain
}

// conditionLevel is how much a condition matters. That an agent is silent, or a read old, says that nothing is known: the
// servers of a silent rack must not stand before one that has failed.
func conditionLevel(c resource.ConditionCode) level {
	if c == resource.CondDark || c == resource.CondStale {
		return doubtful
	}
	switch known, _ := resource.LookupCondition(c); known.Severity {
	case resource.SeverityError:
		return failing
	case resource.SeverityWarning:
		return doubtful
	case resource.SeverityInfo:
	}
	return quiet
}

// worst is the condition that matters most of those that people are shown: the one that has lasted longest
// where several matter alike. more is how many there are besides. ok is false where there is none.
func worst(all []resource.ConditionState, now time.Time) (w resource.ConditionState, is level, more int, ok bool) {
	shown := resource.VisibleConditions(all, now)
	for i, c := range shown {
		if l := conditionLevel(c.Code); i == 0 || l > is || l == is && c.Since.Before(w.Since) {
			w, is = c, l
		}
	}
	return w, is, max(len(shown)-1, 0), len(shown) > 0
}

// holdLevel is how much a hold in a state matters. A server that is proved off is quiet: that is what
// was asked for.
func holdLevel(s resource.HoldState) level {
	switch s {
	case resource.StateViolated, resource.StateUnreachable:
		return failing
	case resource.StateStale:
		return doubtful
	case resource.StateFenced, resource.StateConfirmed:
		return quiet
	case resource.StateAccepted, resource.StateEnforced, resource.StateStopping, resource.StateForcing, resource.StateReleasing:
	}
	return busy
}

// underWay reports whether an attempt goes on.
func underWay(t *resource.AttemptReport) bool {
	return t != nil && t.State != resource.AttemptSucceeded && t.State != resource.AttemptFailed
}

// failed reports whether an attempt failed that was still wanted: one that a hold or another owner ended has
// done nothing wrong.
func failed(t *resource.AttemptReport) bool {
	return t != nil && t.State == resource.AttemptFailed && t.Code != resource.AttemptWithdrawn
}

// serverLevel is how much a server matters, by the first row that fits.
//
//	failing  | phase Error; a condition that is an error; an attempt that failed, not Withdrawn; a hold Violated or Unreachable
//	doubtful | its last read is too old; Dark or Stale; a condition that is a warning; a hold Stale
//	busy     | an attempt goes on; it waits for something; a hold without a proof; phase Discovery, Maintenance or Releasing
//	quiet    | all others
func serverLevel(s *resource.Server, holds []resource.HoldState, now time.Time) level {
	_, is, _, _ := worst(s.Status.Conditions, now)
	if s.Status.Stale {
		is = max(is, doubtful)
	}
	for _, h := range holds {
		is = max(is, holdLevel(h))
	}
	if r := s.Status.Report; r != nil {
		switch {
		case failed(r.Attempt):
			is = failing
		case underWay(r.Attempt) || r.Awaits != nil:
			is = max(is, busy)
		}
	}
	switch s.Status.Phase {
	case resource.PhaseError:
		is = failing
	case resource.PhaseDiscovery, resource.PhaseMaintenance, resource.PhaseReleasing:
		is = max(is, busy)
	case resource.PhaseInitial, resource.PhaseAvailable, resource.PhaseReserved:
	}
	return is
}

// silent reports whether an agent is not heard.
func silent(a *resource.Agent) bool {
	return slices.ContainsFunc(a.Status.Conditions, func(c resource.ConditionState) bool { return c.Code == resource.CondDark })
}
