package certify

import (
	"context"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// restorePolicy writes what a hold writes, and puts back what was before.
func (t *trial) restorePolicy(ctx context.Context) {
	began := time.Now()
	policer, ok := t.driver.(bmc.RestorePolicer)
	if !ok {
		return
	}
	call, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	before, err := policer.RestorePolicy(call)
	if err == nil && before != "" && before != protocol.RestoreAlwaysOff {
		t.policy = before
		if _, err = policer.SetRestorePolicy(call, protocol.RestoreAlwaysOff); err == nil {
			if _, err = policer.SetRestorePolicy(call, before); err == nil {
				t.policy = ""
			}
		}
	}
	if ctx.Err() != nil {
		return
	}
	s := Step{Check: CheckRestore, Outcome: Passed}
	if err != nil {
		s = failed(s, err, string(t.last.Power))
	}
	t.done(s, began)
}

// putBack leaves the machine as it was found.
func (t *trial) putBack(ctx context.Context) {
	began := time.Now()
	s := Step{Check: CheckPutBack, Outcome: Passed}
	if t.armed {
		t.disarm(ctx, "at the end")
		if uris, ok := t.driver.(bmc.URIBooter); ok {
			_, _ = uris.ClearBootURI(ctx, ours) // unsupported where there is none
		}
	}
	if policer, ok := t.driver.(bmc.RestorePolicer); ok && t.policy != "" {
		if _, err := policer.SetRestorePolicy(ctx, t.policy); err != nil {
			s = failed(s, err, string(t.policy))
		}
	}
	order := bmc.ResetForceOff
	switch t.report.Before { //nolint:exhaustive // what else was read leads nowhere
	case protocol.PowerOn, protocol.PowerPoweringOn:
		order = bmc.ResetOn
	case protocol.PowerOff, protocol.PowerPoweringOff:
	default:
		s.Outcome, s.Words = Differs, "its power state was not known before"
		t.done(s, began)
		return
	}
	want := protocol.PowerOff
	if order == bmc.ResetOn {
		want = protocol.PowerOn
	}
	if back := t.returnTo(ctx, order, want); back.Outcome != Passed {
		s.Outcome, s.Words, s.Hint = back.Outcome, back.Words, back.Hint
	}
	t.report.After = t.last.Power
	t.done(s, began)
}

// returnTo gives an order until what it leads to is read for a while. A BMC may say Off of a machine that
// was asked to stop, and runs on: that is forced in any case. An order that the end of the time cut short
// says nothing about the BMC: what the one before it came to stands.
func (t *trial) returnTo(ctx context.Context, order bmc.ResetType, want protocol.PowerState) (s Step) {
	force := want == protocol.PowerOff
	for ctx.Err() == nil {
		if force || t.read(ctx).Power != want {
			if came := t.reset(ctx, order, want, t.config.Patience); came.Outcome != Passed {
				if ctx.Err() == nil || s.Outcome == "" {
					s = came
				}
				continue
			}
		}
		s, force = Step{Outcome: Passed}, false
		since := time.Now()
		for t.last.Power == want {
			if time.Since(since) >= min(backFor, t.config.Settle) {
				return s
			}
			if !pause(ctx, t.config.Every) {
				return Step{Outcome: Differs, Words: "it did not stay " + string(want)}
			}
			t.read(ctx)
		}
	}
	if s.Outcome == Passed || s.Outcome == "" {
		s = Step{Outcome: Differs, Words: "it did not stay " + string(want)}
	}
	return s
}
