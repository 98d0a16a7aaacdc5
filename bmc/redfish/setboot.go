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

// shown remembers how the BMC shows the override of the last SetBoot, where it
// does so in other words or at another place than Observe reads.
type shown struct {
	want    protocol.Override // what SetBoot reported as stored
	read    protocol.Override
	pending bool // in the settings only
}

// SetBoot reads what the BMC holds, writes what has to change at the place where
// this BMC takes it, and reads back.
func (d *driver) SetBoot(ctx context.Context, want protocol.Override) (bmc.BootResult, error) {
	return d.setBoot(ctx, want, "")
}

// setBoot is SetBoot, with the URL that firmware is to load; empty leaves that to DHCP.
func (d *driver) setBoot(ctx context.Context, want protocol.Override, uri string) (bmc.BootResult, error) {
	d.remember(nil)
	c := d.call(ctx, opSetBoot)
	before, err := d.bootView(c)
	if err != nil {
		return bmc.BootResult{Outcome: unanswered(err), Text: err.Error()}, err
	}
	before.uri = uri
	plan := before.plan(want)
	held := before.all()[0].override
	if plan.why != "" {
		err := protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s cannot do this: %s", d.link.base, plan.why).WithHint("%s", plan.remedy)
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
		r, err = d.write(c, want, way, view)
		if done := err == nil && r.Outcome != bmc.BootDropped && want.Armed(); done || err != nil && r.Outcome != bmc.BootUnsupported {
			break
		}
		if !want.Armed() && len(before.all()) > 1 { // what one write cleared need not be written again
			if view, err = d.bootView(c); err != nil {
				return bmc.BootResult{Outcome: unanswered(err), Text: err.Error()}, err
			}
			if len(view.plan(want).ways) == 0 {
				break
			}
		}
	}
	if r.Outcome == bmc.BootUnsupported && before.settings == nil && isFutureState(err) {
		r, err = d.writeFuture(c, want, before, r, err)
	}
	if err == nil && (r.Outcome == bmc.BootAliased || r.Outcome == bmc.BootPendingReset) {
		d.remember(&shown{want: r.Stored, read: r.Read, pending: r.Outcome == bmc.BootPendingReset})
	}
	d.logger.Info("boot override written", "target", want.Target, "enabled", want.Enabled, "outcome", r.Outcome, "where", r.Where, "code", protocol.CodeOf(err))
	return r, err
}

// bootView reads all that a plan is made from. A settings object that cannot be
// read is an error only where the system itself says nothing.
func (d *driver) bootView(c *call) (bootView, error) {
	s, err := d.read(c)
	if err != nil {
		return bootView{}, err
	}
	v := bootView{main: &s.boot, profile: s.profile}
	irmc, err := d.irmcOf(c, s)
	if err != nil {
		return bootView{}, err
	}
	if irmc != "" {
		o, err := get[object](c, irmc)
		if err != nil {
			return bootView{}, err
		}
		b := decodeIRMC(irmc, o.tag(), o.f)
		v.irmc = &b
		return v, nil
	}
	if s.settings == "" {
		return v, nil
	}
	o, err := get[object](c, s.settings)
	switch {
	case err == nil:
		v.useSettings(s.settings, o)
	case protocol.CodeOf(err) == protocol.CodeDenied, !s.boot.has(keyTarget) || s.boot.override.Target == "":
		return bootView{}, err
	}
	return v, nil
}

// useSettings takes a settings object into account if it has anything to say.
func (v *bootView) useSettings(uri string, o *object) {
	b := decodeBoot(uri, o.tag(), o.f["Boot"])
	if b.has(keyTarget) || b.has(keyEnabled) || b.has(keyHTTPURI) {
		v.settings = &b
	}
}

// write does the writes of one way, reads back and classifies.
func (d *driver) write(c *call, want protocol.Override, way []bootWrite, before bootView) (bmc.BootResult, error) {
	var refused error
	accepted := false
	for _, w := range way {
		status, err := d.patchBoot(c, w)
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
		back, err := d.bootView(c)
		if err != nil {
			return bmc.BootResult{Outcome: bmc.BootUnknown, Where: last.at.uri, Text: err.Error()}, errors.Join(refused, err)
		}
		r = outcome(want, last.name, last.at.uri, before, back)
		if before.uri != "" && r.Outcome.OK() && refused == nil && !back.keeps(before.uri) {
			r.Outcome = bmc.BootDropped
			return r, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s does not keep the HttpBootUri that it was given", d.link.base).
				WithHint("boot the server by virtual media, or give it reach segment and a segment with DHCP")
		}
		if uri, left := leftURI(want, before.uri, back); left && refused == nil {
			return r, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s keeps an HttpBootUri at %s, which firmware would boot instead of what the agent says", d.link.base, uri).
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

// patchBoot sends one write. Where the BMC names a property that may be left
// out, it is left out and the rest sent again: nothing was done yet.
func (d *driver) patchBoot(c *call, w bootWrite) (int, error) {
	for {
		status, err := c.patch(w.at.uri, w.at.tag, w.payload())
		if err == nil {
			return status, nil
		}
		key, ok := dropped(w, err)
		if !ok {
			return 0, err
		}
		d.logger.Info("boot property left out", "property", key, "uri", w.at.uri)
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

// isFutureState: AMI takes boot changes at a resource that only this error names
// (Tacklebox #144).
func isFutureState(err error) bool {
	_, said, ok := refusal(err)
	return ok && said.is([]string{"OperationSupportedInFutureStateURI"})
}

const futureState = "/SD"

func (d *driver) writeFuture(c *call, want protocol.Override, before bootView, r bmc.BootResult, err error) (bmc.BootResult, error) {
	uri := before.main.uri + futureState
	o, errGet := get[object](c, uri)
	if errGet != nil {
		return r, err
	}
	before.useSettings(uri, o)
	if before.settings == nil {
		return r, err
	}
	plan := before.plan(want)
	i := slices.IndexFunc(plan.ways, func(w []bootWrite) bool { return w[len(w)-1].at == before.settings })
	if i < 0 {
		return r, err
	}
	d.mu.Lock()
	d.future = uri
	d.mu.Unlock()
	return d.write(c, want, plan.ways[i], before)
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

func (d *driver) remember(s *shown) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shown = s
}

// pause waits; false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
