package certify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// trial is one run.
type trial struct {
	driver bmc.Driver
	probe  protocol.Probe
	config Config
	report *Report
	last   protocol.Observation
	// What is to be put back: the policy of before, empty for none, and whether something is armed.
	policy protocol.RestorePolicy
	armed  bool
}

// callWithin bounds one call of the driver, which bounds each request by itself.
const callWithin = 2 * time.Minute

// found notes how the machine is.
func (t *trial) found(ctx context.Context) {
	t.read(ctx)
	t.report.Before, t.report.After = t.last.Power, t.last.Power
}

// cycle is one round of all checks; false is that there is no sense in another one.
func (t *trial) cycle(ctx context.Context) bool {
	if !t.off(ctx, CheckOff) {
		return false
	}
	t.settled(ctx)
	t.again(ctx, CheckOffAgain, bmc.ResetForceOff, protocol.PowerOff)
	t.restorePolicy(ctx)
	for _, target := range targets(t.probe) {
		t.override(ctx, target)
	}
	t.url(ctx)
	if !t.on(ctx) {
		return false
	}
	t.again(ctx, CheckOnAgain, bmc.ResetOn, protocol.PowerOn)
	if !t.off(ctx, CheckPostOff) || !t.on(ctx) {
		return false
	}
	t.soft(ctx)
	return ctx.Err() == nil
}

// targets are what a hold or a boot would arm.
func targets(p protocol.Probe) (out []protocol.BootTarget) {
	for _, plan := range p.Boot {
		out = append(out, plan.Target)
	}
	return out
}

// done counts what came of a check.
func (t *trial) done(s Step, began time.Time) {
	if s.Outcome != Passed && s.Hint == "" {
		s.Hint = checkHints[s.Check]
	}
	s.At, s.Took = began, time.Since(began)
	t.report.add(s)
	t.config.Tell(s)
}

// read reads the system once. What it finds is a step of its own where there is no power state.
func (t *trial) read(ctx context.Context) protocol.Observation {
	began := time.Now()
	call, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	o, err := t.driver.Observe(call)
	s := Step{Check: CheckRead, Outcome: Passed}
	if o.Power == protocol.PowerUnknown || o.Power == protocol.PowerUnreachable {
		s = failed(s, err, string(o.Power))
	}
	if ctx.Err() == nil {
		t.done(s, began)
		t.last = o
	}
	return o
}

// failed is a step that came to nothing, with the words of who says why.
func failed(s Step, err error, read string) Step {
	s.Outcome, s.Words = Differs, "it reads "+read
	if err == nil {
		return s
	}
	s.Outcome, s.Words, s.Hint = Refused, err.Error(), protocol.HintOf(err)
	if f := bmc.FaultOf(err); f.Kind != "" || f.Status != 0 {
		s.Words = f.Words()
	}
	switch code := protocol.CodeOf(err); { // the others are refusals
	case bmc.FaultOf(err).Kind == protocol.FaultPower:
		s.Outcome = Differs
	case code == protocol.CodeUnavailable, code == protocol.CodeTimeout:
		s.Outcome = NoAnswer
	case code == protocol.CodeUnsupported:
		s.Outcome = NotOffered
	}
	return s
}

// await reads until the power state is the wanted one, or its time is over.
func (t *trial) await(ctx context.Context, want protocol.PowerState, within time.Duration) bool {
	for end := time.Now().Add(within); ; {
		if t.read(ctx).Power == want {
			return true
		}
		if !time.Now().Before(end) || !pause(ctx, t.config.Every) {
			return false
		}
	}
}

// pause waits; false is that the context has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// reset sends an order, and waits for what it is to lead to. That the order was refused does not count
// where the state is the wanted one: BMCs refuse what is so already.
func (t *trial) reset(ctx context.Context, kind bmc.ResetType, want protocol.PowerState, within time.Duration) Step {
	call, cancel := context.WithTimeout(ctx, callWithin)
	err := t.driver.Reset(call, kind)
	cancel()
	if t.await(ctx, want, within) {
		return Step{Outcome: Passed}
	}
	s := failed(Step{}, err, string(t.last.Power))
	if order := t.last.Order; order.Kind != "" {
		s.Outcome, s.Words = Refused, order.Words()
	}
	return s
}

// off forces it off. A machine that is Off already is powered on first by the cycle's end.
func (t *trial) off(ctx context.Context, check Check) bool {
	began := time.Now()
	s := t.reset(ctx, bmc.ResetForceOff, protocol.PowerOff, t.config.Patience)
	s.Check = check
	if ctx.Err() != nil {
		return false
	}
	t.done(s, began)
	return s.Outcome == Passed
}

// settled reads Off for the settle window, as a receipt needs it.
func (t *trial) settled(ctx context.Context) {
	began := time.Now()
	s := Step{Check: CheckSettled, Outcome: Passed}
	for time.Since(began) < t.config.Settle {
		if !pause(ctx, t.config.Every) {
			return
		}
		if o := t.read(ctx); o.Power != protocol.PowerOff {
			s.Outcome, s.Words = Differs, fmt.Sprintf("it read %s after %s Off", o.Power, time.Since(began).Round(time.Second))
			s.Hint = "look for who else powers it on: a hold's receipt would be void"
			break
		}
	}
	if ctx.Err() == nil {
		t.done(s, began)
	}
}

// again sends an order for what is so already: it must stay so.
func (t *trial) again(ctx context.Context, check Check, kind bmc.ResetType, want protocol.PowerState) {
	began := time.Now()
	call, cancel := context.WithTimeout(ctx, callWithin)
	_ = t.driver.Reset(call, kind) // refused or not
	cancel()
	s := Step{Check: check, Outcome: Passed}
	for range 3 {
		if !pause(ctx, t.config.Every) {
			return
		}
		if o := t.read(ctx); o.Power != want {
			s.Outcome, s.Words = Differs, "it reads "+string(o.Power)
		}
	}
	t.done(s, began)
}

// on powers it on, and looks whether that can be seen later.
func (t *trial) on(ctx context.Context) bool {
	began, before, log := time.Now(), t.last, t.powerLog(ctx)
	s := t.reset(ctx, bmc.ResetOn, protocol.PowerOn, t.config.Patience)
	s.Check = CheckOn
	if ctx.Err() != nil {
		return false
	}
	t.done(s, began)
	if s.Outcome != Passed {
		return false
	}
	t.mark(ctx, before, log)
	return ctx.Err() == nil
}

// markWithin is how long a mark of a power-on may take.
const markWithin = 30 * time.Second

// mark looks for what shows a power-on afterwards: LastResetTime, or an entry of the power log.
func (t *trial) mark(ctx context.Context, before protocol.Observation, log string) {
	began := time.Now()
	s := Step{Check: CheckMark, Outcome: NoMark, Words: "neither LastResetTime nor a power log moved", Hint: "a power-on and off between two polls goes unseen: see Detects in rackctl bmc probe"}
	for {
		if t.last.LastResetTime != before.LastResetTime || t.powerLog(ctx) != log {
			s = Step{Check: CheckMark, Outcome: Passed}
			break
		}
		if time.Since(began) >= markWithin || !pause(ctx, t.config.Every) {
			break
		}
		t.read(ctx)
	}
	if ctx.Err() == nil {
		t.done(s, began)
	}
}

// powerLog names the newest entry of the BMC's power log; empty without one.
func (t *trial) powerLog(ctx context.Context) string {
	logger, ok := t.driver.(bmc.PowerLogger)
	entries := t.probe.Inventory.Detection.PowerLog
	if !ok || entries == "" {
		return ""
	}
	call, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	entry, _ := logger.PowerLog(call, entries)
	return entry
}

// soft asks the operating system to stop. There may be none, or one that does not listen.
func (t *trial) soft(ctx context.Context) {
	began := time.Now()
	if len(t.probe.Resets) > 0 && !slices.Contains(t.probe.Resets, string(bmc.ResetGracefulShutdown)) {
		t.done(Step{Check: CheckSoft, Outcome: NotOffered, Words: "the BMC does not list GracefulShutdown"}, began)
		return
	}
	if !pause(ctx, t.config.Boot) {
		return
	}
	s := t.reset(ctx, bmc.ResetGracefulShutdown, protocol.PowerOff, t.config.Soft)
	if s.Check = CheckSoft; ctx.Err() != nil {
		return
	}
	if s.Outcome == Differs {
		s.Outcome = Unheeded
	}
	t.done(s, began)
}
