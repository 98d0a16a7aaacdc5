package server

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"rackboot/agent/trace"
	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// callTimeout bounds one call to a BMC.
const callTimeout = 15 * time.Second

// hand acts on one server. It is the loop's.
type hand struct {
	cfg     *Config
	log     *slog.Logger
	server  string
	met     *metrics
	unnoted *unnoted
	places  *places
	bmc     *connection
	traced  *trace.Server
}

// do does the plan's one action. It is sent at most once; the next read of the
// BMC tells what came of it.
func (h *hand) do(ctx context.Context, p decide.Plan) decide.Result {
	r := decide.Result{Action: p.Action.Kind, Attempt: p.Action.Attempt}
	timeout := callTimeout
	if p.Action.Kind == decide.ActInsert {
		timeout = insertTimeout
	}
	if p.Action.Firmware != nil {
		timeout = firmwareTimeout
	}
	if w := p.Action.Within; w > 0 {
		timeout = min(timeout, w)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	h.cfg.Crash.At("agent.act." + string(p.Action.Kind))
	began := h.cfg.Clock()
	err := h.permitted(p.Action.Kind)
	if err == nil {
		err = h.send(ctx, p.Action, &r)
	}
	h.cfg.Crash.At("agent.acted." + string(p.Action.Kind))
	r.At = h.cfg.Clock()
	if switches(p.Action.Kind) {
		h.places.answered(r.At, h.server)
	}
	outcome(&r, err)
	err = unsaid(&r, err)
	h.traced.Acted(p, began, r)
	h.log.Info("acted", "action", p.Action.Kind, "outcome", r.Outcome, "err", err)
	return r
}

// permitted looks once more at what lies on the server: a hold that was enforced
// since the decision stops a power-on here, and firmware work everything.
func (h *hand) permitted(k decide.ActionKind) error {
	const op = "act on a server"
	v, err := h.cfg.Store.Servers.View(h.server)
	if err != nil {
		return protocol.Errorf(protocol.CodeConflict, op, "its holds cannot be read: %w", err)
	}
	if v.Rests() {
		return protocol.Errorf(protocol.CodeConflict, op, "the agent does not serve the rack").WithHint("nothing was sent; another agent may own the server")
	}
	if v.Aside && !decide.PermitsAside(k, len(v.Holds) > 0) {
		return protocol.Errorf(protocol.CodeConflict, op, "another agent may have the disk or the rack").WithHint("nothing was sent; see rackctl explain AgentCopied and AwaitingHub")
	}
	work := v.Intent != nil && decide.Working(v.Intent.Firmware, h.cfg.Hub.Time(), h.cfg.Clock())
	frozen := v.Intent != nil && decide.IsFrozen(v.Intent.Frozen, h.cfg.Hub.Time(), h.cfg.Clock())
	if !decide.Permits(k, v.Holds, work, frozen) {
		return protocol.Errorf(protocol.CodeConflict, op, "a hold, a freeze or firmware work came between").
			WithHint("nothing was sent; it is decided anew")
	}
	if switches(k) && !h.places.order(h.cfg.Clock(), h.server) {
		return protocol.Errorf(protocol.CodeConflict, op, "its turn by the rack's inrush limit is over, or the limit has changed").
			WithHint("nothing was sent; it is decided anew")
	}
	return nil
}

// switches reports whether an action may have the server draw what it draws at its start.
func switches(k decide.ActionKind) bool { return k == decide.ActOn || k == decide.ActRestart }

func (h *hand) send(ctx context.Context, a decide.Action, r *decide.Result) (err error) {
	switch a.Kind {
	case decide.ActArm, decide.ActDisarm:
		err = h.arm(ctx, a, r)
	case decide.ActOn:
		err = h.bmc.driver.Reset(ctx, bmc.ResetOn)
	case decide.ActRestart:
		how := bmc.ResetForceRestart
		if a.Soft {
			how = bmc.ResetGracefulRestart
		}
		err = h.bmc.driver.Reset(ctx, how)
	case decide.ActGraceful:
		err = h.bmc.driver.Reset(ctx, bmc.ResetGracefulShutdown)
	case decide.ActForceOff:
		err = h.bmc.driver.Reset(ctx, bmc.ResetForceOff)
	case decide.ActReadPolicy, decide.ActGuard, decide.ActUnguard:
		return h.policy(ctx, a, r)
	case decide.ActInsert, decide.ActEject:
		err = h.media(ctx, a, r)
		h.met.mediaActed(a.Kind, r, err)
		return err
	case decide.ActClearURL:
		err = h.clearURL(ctx, a, r)
	case decide.ActReadFirmware, decide.ActWriteFirmware:
		err = h.firmware(ctx, a, r)
	case decide.ActNone:
	}
	return err
}

// policy reads or writes what the server does when mains power returns.
func (h *hand) policy(ctx context.Context, a decide.Action, r *decide.Result) (err error) {
	d, ok := h.bmc.driver.(bmc.RestorePolicer)
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

// forceUnrecorded forces a held server off, if the holds that are in force now let it.
func (h *hand) forceUnrecorded(ctx context.Context, counts bool) {
	v := h.cfg.Store.Servers.Remembered(h.server)
	v.Holds = slices.Concat(v.Holds, h.cfg.Store.Servers.Coming(h.server))
	work := v.Intent != nil && decide.Working(v.Intent.Firmware, h.cfg.Hub.Time(), h.cfg.Clock())
	if len(v.Holds) == 0 || v.Rests() || h.cfg.Hub.Dismissed() || !decide.Permits(decide.ActForceOff, v.Holds, work, false) || h.bmc.driver == nil {
		return
	}
	if counts {
		h.unnoted.note(h.server, h.cfg.Clock())
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := h.bmc.driver.Reset(ctx, bmc.ResetForceOff)
	h.met.unrecorded.Inc()
	h.log.Warn("forced off without a record", "err", err)
}
