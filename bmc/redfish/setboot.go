package redfish

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// An asynchronous write (202) is read back so often, and so far apart.
const (
	taskReads = 5
	taskPause = time.Second
)

// set reads what the BMC holds, writes what has to change at the place where this BMC takes
// it, and reads back. uri is what firmware is to load; empty leaves that to DHCP.
func (o *overrides) set(ctx context.Context, want protocol.Override, uri string) (bmc.BootResult, error) {
	o.remember(nil)
	c := newCall(ctx, opSetBoot, o.link)
	before, err := o.view(c)
	if err != nil {
		return bmc.BootResult{Outcome: unanswered(err), Text: err.Error()}, err
	}
	before.uri = uri
	plan := before.plan(want)
	held := before.all()[0].override
	if plan.why != "" {
		err := protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s cannot do this: %s", o.link.base, plan.why).WithHint("%s", plan.remedy)
		return bmc.BootResult{Stored: held, Read: held, Outcome: bmc.BootUnsupported, Text: plan.why}, err
	}
	if len(plan.ways) == 0 {
		return bmc.BootResult{Stored: held, Read: held, Outcome: bmc.BootStored, Text: "nothing had to change"}, nil
	}
	var r bmc.BootResult
	var tried []string
	for view := before; ; {
		way := view.plan(want).wayAt(tried)
		if way == nil {
			break
		}
		tried = append(tried, way[len(way)-1].at.uri)
		r, err = o.write(c, want, way, view)
		if done := err == nil && r.Outcome != bmc.BootDropped && want.Armed(); done || err != nil && r.Outcome != bmc.BootUnsupported {
			break
		}
		if !want.Armed() && len(before.all()) > 1 { // what one write cleared need not be written again
			if view, err = o.view(c); err != nil {
				return bmc.BootResult{Outcome: unanswered(err), Text: err.Error()}, err
			}
			if len(view.plan(want).ways) == 0 {
				break
			}
		}
	}
	if r.Outcome == bmc.BootUnsupported && before.settings == nil && isFutureState(err) {
		r, err = o.writeFuture(c, want, before, r, err)
	}
	if err == nil && (r.Outcome == bmc.BootAliased || r.Outcome == bmc.BootPendingReset) {
		o.remember(&shown{want: r.Stored, read: r.Read, pending: r.Outcome == bmc.BootPendingReset})
	}
	o.logger.Info("boot override written", "target", want.Target, "enabled", want.Enabled, "outcome", r.Outcome, "where", r.Where, "code", protocol.CodeOf(err))
	return r, err
}

// write does the writes of one way, reads back and classifies.
func (o *overrides) write(c *call, want protocol.Override, way []bootWrite, before bootView) (bmc.BootResult, error) {
	var refused error
	accepted := false
	for _, w := range way {
		status, err := o.patch(c, w)
		if _, _, is := refusal(err); err != nil && (!is || protocol.CodeOf(err) == protocol.CodeDenied) {
			return bmc.BootResult{Outcome: unanswered(err), Where: w.at.uri, Text: err.Error()}, err
		}
		if err != nil {
			refused = err
			break
		}
		accepted = accepted || status == http.StatusAccepted
	}
	last := way[len(way)-1]
	var r bmc.BootResult
	for n := 0; ; n++ {
		back, err := o.view(c)
		if err != nil {
			return bmc.BootResult{Outcome: bmc.BootUnknown, Where: last.at.uri, Text: err.Error()}, errors.Join(refused, err)
		}
		r = outcome(want, last.name, last.at.uri, before, back)
		if before.uri != "" && r.Outcome.OK() && refused == nil && !back.keeps(before.uri) {
			r.Outcome = bmc.BootDropped
			return r, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s does not keep the HttpBootUri that it was given", o.link.base).
				WithHint("boot the server by virtual media, or give it reach segment and a segment with DHCP")
		}
		if uri, left := leftURI(want, before.uri, back); left && refused == nil {
			return r, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s keeps an HttpBootUri at %s, which firmware would boot instead of what the agent says", o.link.base, uri).
				WithHint("clear HttpBootUri of this system, or boot it by another method")
		}
		if !accepted || r.Outcome.OK() || n == taskReads {
			break
		}
		if !pause(c.ctx, taskPause) {
			break
		}
	}
	if refused == nil {
		return r, modeError(c.op, want, r)
	}
	// Dell 13G: 400, and yet it is stored (ansible #5091).
	if r.Outcome.OK() && way[0].at.override != r.Read {
		r.Text = "the BMC refused it and stored it all the same"
		return r, modeError(c.op, want, r)
	}
	r.Where, r.Text = "", refused.Error()
	r.Outcome = refusedOutcome(refused)
	return r, refused
}

// modeError is for an override that is armed as wanted in the wrong mode, which
// its target and Enabled do not show.
func modeError(op string, want protocol.Override, r bmc.BootResult) error {
	if !want.Armed() || r.Outcome.OK() || r.Stored.Target != want.Target || r.Stored.Enabled != want.Enabled {
		return nil
	}
	return protocol.Errorf(protocol.CodeUnsupported, op, "the BMC stored %s %s in the mode %q instead of %s", r.Stored.Target, r.Stored.Enabled, r.Stored.Mode, wantedMode(want)).
		WithHint("set the boot mode of the server to UEFI in its BIOS settings")
}

// leftURI finds a URI that firmware would use for an HTTP boot that is armed.
func leftURI(want protocol.Override, ours string, back bootView) (string, bool) {
	if want.Target != protocol.TargetUefiHTTP || !want.Armed() {
		return "", false
	}
	for _, b := range back.all() {
		if b.httpURI != "" && b.httpURI != ours {
			return b.uri, true
		}
	}
	return "", false
}

// patch sends one write. Where the BMC names a property that may be left
// out, it is left out and the rest sent again: nothing was done yet.
func (o *overrides) patch(c *call, w bootWrite) (int, error) {
	for {
		status, err := c.patch(w.at.uri, w.at.tag, w.payload())
		if err == nil {
			return status, nil
		}
		key, ok := dropped(w, err)
		if !ok {
			return 0, err
		}
		o.logger.Info("boot property left out", "property", key, "uri", w.at.uri)
		w = w.without(key)
	}
}

// dropped is the property that a refusal is about, if the write makes sense
// without it.
func dropped(w bootWrite, err error) (string, bool) {
	status, said, ok := refusal(err)
	if !ok || status != http.StatusBadRequest || said.is(postMessages) || said.is(stateMessages) {
		return "", false
	}
	for _, key := range []string{keyMode, keyHTTPURI, keyBootNext, keyTarget, keyEnabled} {
		value, sent := w.body[key]
		if !sent || len(w.body) == 1 || !said.about(key) {
			continue
		}
		switch key {
		case keyTarget: // when disarming, Enabled alone does it
			ok = w.body[keyEnabled] == protocol.OverrideDisabled
		case keyHTTPURI:
			ok = value == nil // one that firmware is to load is the point of it
		case keyEnabled: // Dell 13G with UefiTarget; the read-back tells
			ok = value != protocol.OverrideDisabled
		default:
			ok = true
		}
		if ok {
			return key, true
		}
	}
	return "", false
}

// isFutureState reports whether a BMC takes boot changes at another resource only.
func isFutureState(err error) bool {
	_, said, ok := refusal(err)
	return ok && said.is(futureStateMessages)
}

func (o *overrides) writeFuture(c *call, want protocol.Override, before bootView, r bmc.BootResult, err error) (bmc.BootResult, error) {
	uri := before.main.uri + futureState
	settings, errGet := get[object](c, uri)
	if errGet != nil {
		return r, err
	}
	before.useSettings(uri, settings)
	if before.settings == nil {
		return r, err
	}
	plan := before.plan(want)
	i := slices.IndexFunc(plan.ways, func(w []bootWrite) bool { return w[len(w)-1].at == before.settings })
	if i < 0 {
		return r, err
	}
	o.learned.foundSettings(before.main.uri, uri)
	return o.write(c, want, plan.ways[i], before)
}

// unanswered is the outcome of an error that is no refusal.
func unanswered(err error) bmc.BootOutcome {
	if _, busy := errors.AsType[*bmc.Busy](err); busy {
		return bmc.BootRefusedByState
	}
	return bmc.BootUnknown
}

func refusedOutcome(err error) bmc.BootOutcome {
	if _, busy := errors.AsType[*bmc.Busy](err); busy || protocol.CodeOf(err) == protocol.CodeConflict {
		return bmc.BootRefusedByState
	}
	return bmc.BootUnsupported
}
