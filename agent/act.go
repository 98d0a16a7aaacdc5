package agent

import (
	"context"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// act does the plan's one action. It is sent at most once; the next read of the
// BMC tells what came of it.
func (s *server) act(ctx context.Context, p decide.Plan) decide.Result {
	r := decide.Result{Action: p.Action.Kind, Attempt: p.Action.Attempt}
	timeout := callTimeout
	if p.Action.Kind == decide.ActInsert {
		timeout = insertTimeout
	}
	if w := p.Action.Within; w > 0 {
		timeout = min(timeout, w)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	s.agent.cfg.Crash.At("agent.act." + string(p.Action.Kind))
	began := s.agent.cfg.Clock()
	err := s.permitted(p.Action.Kind)
	if err == nil {
		err = s.send(ctx, p.Action, &r)
	}
	s.agent.cfg.Crash.At("agent.acted." + string(p.Action.Kind))
	r.At = s.agent.cfg.Clock()
	outcome(&r, err)
	s.traced.Acted(p, began, r)
	s.log.Info("acted", "action", p.Action.Kind, "outcome", r.Outcome, "err", err)
	return r
}

// permitted looks once more at what lies on the server: a hold that was enforced
// since the decision stops a power-on here, and firmware work everything.
func (s *server) permitted(k decide.ActionKind) error {
	const op = "act on a server"
	v, err := s.agent.store.Server(s.name)
	if err != nil {
		return protocol.Errorf(protocol.CodeConflict, op, "its holds cannot be read: %w", err)
	}
	if v.Ended {
		return protocol.Errorf(protocol.CodeConflict, op, "the agent's term is over").WithHint("nothing was sent; another agent may own the server")
	}
	work := v.Intent != nil && decide.Working(v.Intent.Firmware, s.agent.link.Time(), s.agent.cfg.Clock())
	if !decide.Permits(k, v.Holds, work) {
		return protocol.Errorf(protocol.CodeConflict, op, "a hold or firmware work came between").
			WithHint("nothing was sent; it is decided anew")
	}
	return nil
}

func (s *server) send(ctx context.Context, a decide.Action, r *decide.Result) (err error) {
	switch a.Kind {
	case decide.ActArm, decide.ActDisarm:
		err = s.arm(ctx, a, r)
	case decide.ActOn:
		err = s.bmc.driver.Reset(ctx, bmc.ResetOn)
	case decide.ActRestart:
		err = s.bmc.driver.Reset(ctx, bmc.ResetForceRestart)
	case decide.ActGraceful:
		err = s.bmc.driver.Reset(ctx, bmc.ResetGracefulShutdown)
	case decide.ActForceOff:
		err = s.bmc.driver.Reset(ctx, bmc.ResetForceOff)
	case decide.ActReadPolicy, decide.ActGuard, decide.ActUnguard:
		return s.policy(ctx, a, r)
	case decide.ActInsert, decide.ActEject:
		err = s.media(ctx, a, r)
		s.agent.met.mediaActed(a.Kind, r, err)
		return err
	case decide.ActClearURL:
		err = s.clearURL(ctx, a, r)
	case decide.ActNone:
	}
	return err
}

// policy reads or writes what the server does when mains power returns.
func (s *server) policy(ctx context.Context, a decide.Action, r *decide.Result) (err error) {
	d, ok := s.bmc.driver.(bmc.RestorePolicer)
	if !ok {
		return protocol.Errorf(protocol.CodeUnsupported, string(a.Kind), "the driver has no power restore policy")
	}
	if a.Kind == decide.ActReadPolicy {
		r.Policy, err = d.RestorePolicy(ctx)
		return err
	}
	_, err = d.SetRestorePolicy(ctx, a.Policy)
	return err
}

// uptime is how long the agent has run. The clock's own monotonic reading counts
// where it has one.
func (a *Agent) uptime() time.Duration { return a.cfg.Clock().Sub(a.started) }
