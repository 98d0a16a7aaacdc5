package fleet

import (
	"context"
	"strconv"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// silent says whether the BMC of a server answers nothing.
func (a *agent) silent(s *server) bool {
	f := a.shared.fate.Load()
	return f != nil && f.draws(f.silent, "silent", s.Name)
}

// fails says whether the boot from the network that is under way at a server fails now.
func (t *turn) fails(s *server) bool {
	f := t.agent.shared.fate.Load()
	if f == nil || !f.draws(f.fails, "fails", s.Name, strconv.FormatUint(s.Epoch, 10)) {
		return false
	}
	return f.fetched() == (s.Doing == doingInstall)
}

// fail ends the boot from the network that is under way: the server is stopped, and tried again if its grant has
// something left.
func (t *turn) fail(s *server) {
	f := t.agent.shared.fate.Load()
	if f.fetched() && s.Boot != nil {
		s.Tries.N = max(s.Tries.N, s.Boot.Attempts)
	}
	t.failed(s, f.code)
	s.Doing, s.Due = doingStop, t.now.Add(t.agent.cfg.Pace.Stop)
	t.event(s, resource.EventStopping, "")
}

// failed records that the attempt of a server failed.
func (t *turn) failed(s *server, code resource.AttemptCode) {
	why, _ := resource.LookupAttempt(code)
	s.Attempt.State, s.Attempt.Since, s.Attempt.Code, s.Attempt.Reason = resource.AttemptFailed, t.now, code, why.Title
	t.event(s, resource.EventAttemptFailed, why.Title)
}

// silence is what is said of a server whose BMC answers nothing.
func silence(out *resource.ServerReport) {
	o := &out.Observation
	o.Power, o.SystemState, o.Code, o.Error = protocol.PowerUnreachable, "", protocol.CodeTimeout, "no answer: rackboot-sim fleet"
	out.Conditions = append(out.Conditions, resource.ConditionState{Code: resource.CondBMCUnreachable, Since: o.ReadAt, Message: o.Error})
}

// look has an agent look at its servers, and report: something may be otherwise.
func (a *agent) look(_ context.Context, now time.Time) error {
	a.reports.news(now, false)
	a.count()
	return nil
}
