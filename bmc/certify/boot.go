package certify

import (
	"context"
	"strings"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// override arms a boot target and takes it back; nothing is powered on between.
func (t *trial) override(ctx context.Context, target protocol.BootTarget) {
	for _, plan := range t.probe.Boot {
		if plan.Target == target && !plan.Supported {
			t.done(Step{Check: CheckArm, What: string(target), Outcome: NotOffered, Words: plan.Why, Hint: plan.Remedy}, time.Now())
			return
		}
	}
	began := time.Now()
	t.armed = true
	want := protocol.Override{Target: target, Enabled: protocol.OverrideOnce}
	s := t.write(ctx, want)
	s.Check, s.What = CheckArm, string(target)
	if ctx.Err() != nil {
		return
	}
	t.done(s, began)
	t.disarm(ctx, string(target))
}

// write writes an override and judges what the driver has read back.
func (t *trial) write(ctx context.Context, want protocol.Override) Step {
	call, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	res, err := t.driver.SetBoot(call, want)
	switch {
	case err == nil && res.Outcome.OK():
		return Step{Outcome: Passed}
	case err != nil:
		return failed(Step{}, err, string(t.last.Power))
	case res.Outcome == bmc.BootUnsupported:
		return Step{Outcome: NotOffered, Words: res.Text}
	}
	return Step{Outcome: Differs, Words: string(res.Outcome) + ": " + res.Text}
}

// disarm takes an override back, as a hold does, and reads that nothing is armed.
func (t *trial) disarm(ctx context.Context, what string) {
	began := time.Now()
	s := t.write(ctx, protocol.Override{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled})
	if s.Outcome != Passed { // for BMCs that refuse Disabled
		s = t.write(ctx, protocol.Override{Target: protocol.TargetNone})
	}
	switch o := t.read(ctx); {
	case o.Override.Armed() && s.Outcome == Passed:
		s = Step{Outcome: Differs, Words: "the BMC still holds " + string(o.Override.Target) + " " + string(o.Override.Enabled)}
	case o.Override.Armed():
		if s.Outcome == NotOffered {
			s.Outcome = Refused // it was offered to be armed
		}
	case o.Power != protocol.PowerUnreachable:
		s = Step{Outcome: Passed} // whatever it answered
	}
	if s.Check, s.What = CheckDisarm, what; ctx.Err() != nil {
		return
	}
	t.armed = s.Outcome != Passed
	t.done(s, began)
}

// tryURL is where nobody is (RFC 5737).
const tryURL = "http://192.0.2.1/certify.efi"

func ours(uri string) bool { return strings.HasPrefix(uri, tryURL) }

// url gives firmware a URL through its BMC, and takes it back.
func (t *trial) url(ctx context.Context) {
	began := time.Now()
	uris, ok := t.driver.(bmc.URIBooter)
	present := false
	for _, way := range t.probe.HTTP {
		present = present || way.Way == protocol.HTTPByBootURI && way.Present
	}
	if !ok || !present {
		t.done(Step{Check: CheckURL, Outcome: NotOffered, Words: "the BMC has no Boot.HttpBootUri"}, began)
		return
	}
	t.armed = true
	call, cancel := context.WithTimeout(ctx, callWithin)
	res, err := uris.SetBootURI(call, protocol.Override{Target: protocol.TargetUefiHTTP, Enabled: protocol.OverrideOnce}, tryURL)
	cancel()
	s := Step{Outcome: Passed}
	switch {
	case err != nil:
		s = failed(s, err, string(t.last.Power))
	case !res.Outcome.OK():
		s.Outcome, s.Words = Differs, string(res.Outcome)+": "+res.Text
	}
	call, cancel = context.WithTimeout(ctx, callWithin)
	pending, err := uris.ClearBootURI(call, ours)
	cancel()
	if s.Outcome == Passed && err != nil {
		s = failed(s, err, string(t.last.Power))
	}
	if pending {
		s.Words = "the BMC shows it until the next reset"
	}
	if s.Check = CheckURL; ctx.Err() != nil {
		return
	}
	t.done(s, began)
	t.disarm(ctx, "boot-url")
}
