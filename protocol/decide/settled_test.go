package decide

import (
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// accept is an operator who takes the server for the right one.
func (w *world) accept() {
	if k := w.record().Identity; k != nil && k.Other != nil {
		w.want(func(in *message.ServerIntent) { in.Identity = k.Digest() })
	}
}

// settled runs the world until the server is where it belongs, or a registered
// condition says why it is not. It fails when neither comes.
func (w *world) settled() bool {
	for range 20 * 60 {
		w.run(10 * time.Second)
		w.accept()
		if w.well() {
			return true
		}
		if w.stuck() {
			return false
		}
	}
	w.t.Fatalf("nothing says why the server is not where it belongs: machine %s, holds %d, intent %+v\nrecord %s\nconditions %+v",
		w.m.power, len(w.holds), w.intent, w.disk, w.conds)
	return false
}

// well says whether the server is where it belongs.
func (w *world) well() bool {
	rec := w.record()
	if slices.ContainsFunc(rec.Requests, func(s RequestState) bool {
		return s.Outcome == resource.OutcomePending && s.Action == resource.RequestPowerOff
	}) {
		return false
	}
	// What another party armed is not ours to clear.
	off := w.m.power == protocol.PowerOff && (!w.m.override.Armed() || w.m.override.Target == protocol.TargetPxe || rec.Residue.Kept() != nil && rec.Residue.Kept().Override == w.m.override && w.has(resource.CondOverrideLeft))
	if rec.Residue.Medium() == nil && w.m.medium != "" || rec.Residue.Medium() != nil && (w.intent == nil || w.intent.Boot == nil || !always(w.intent.Boot)) {
		return false
	}
	if (w.m.uri != "" || rec.Residue.URL() != nil) && !w.m.unset {
		return false // the boot has ended, whatever its end
	}
	if len(w.holds) == 0 && (rec.Guard != nil || w.m.policy != w.m.own) {
		return false
	}
	switch {
	case len(w.holds) > 0:
		return off && len(rec.Holds.Receipts) == len(w.holds) && len(rec.Holds.Manual) == 0
	case w.intent == nil || w.intent.Owner.UID == "":
		return true
	case discovering(w.intent):
		return w.discoveryIsWell(rec, off)
	case w.intent.Releasing:
		return off && rec.Owners.Released == w.intent.Owner.UID
	case w.intent.Power == resource.WantOff:
		return off
	case w.intent.Settings != nil:
		return off && rec.Owners.Firmware != nil && rec.Owners.Firmware.OwnerUID == w.intent.Owner.UID && rec.Owners.Firmware.Stage.Over()
	case always(w.intent.Boot):
		a := rec.Attempt
		return w.m.power == protocol.PowerOn && (w.m.os || w.w.blind) && a != nil && a.Stage.State == resource.AttemptSucceeded && a.Network() && a.Order.OwnerUID == w.intent.Owner.UID
	default:
		a := rec.Attempt
		return w.m.power == protocol.PowerOn && (w.m.os || w.w.blind) && provisioned(w.intent.Boot, &rec, nil) &&
			a != nil && a.Stage.State == resource.AttemptSucceeded && !a.Network()
	}
}

// stuck says whether a condition tells an operator what to do.
func (w *world) stuck() bool {
	if w.m.uri != "" && !w.m.unset && (w.m.power == protocol.PowerOff || !w.m.override.Armed()) {
		return false // clearing a URL needs nobody
	}
	if discovering(w.intent) && (w.has(resource.CondDiscoveryFailed) || w.intent.Releasing && w.has(resource.CondServerOn)) {
		return len(w.holds) == 0
	}
	if len(w.holds) > 0 || w.record().Guard != nil || w.m.policy != w.m.own || w.intent == nil || w.intent.Releasing || w.intent.Power != resource.WantOn {
		return false // stopping needs nobody
	}
	return slices.ContainsFunc(w.conds, func(c resource.ConditionState) bool {
		switch c.Code {
		case resource.CondGrantSpent, resource.CondGrantInvalid, resource.CondUnexpectedPower, resource.CondSafeStopped, resource.CondServerOn, resource.CondFirstBootFailed, resource.CondPowerFailed,
			resource.CondEvidenceWaits:
			return !w.record().Attempt.Open() && !w.clock().Before(w.watch.NextTry)
		}
		return false
	})
}
