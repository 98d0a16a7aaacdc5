package decide

import (
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// conditions says what people are to know, by what is so at the end of a step.
type conditions struct {
	d *draft
	s *Snapshot
}

func (co conditions) sightings() sightings { return sightings(co) }

// fault names what the BMC did wrong in the last read, and reports whether that says
// why the BMC counts as unreachable.
func (co conditions) fault() bool {
	f := co.d.watch.Last.Fault
	if f.Kind == "" {
		f = co.d.watch.Unread.Fault
	}
	code := faultCondition(f.Kind)
	if code == conditionNone {
		return false
	}
	co.d.raise(code, "%s", f.Words())
	return co.d.watch.Last.Power == protocol.PowerUnreachable
}

// settle completes the conditions of the step: those that follow from the
// state, and the time since when each is so.
func (co conditions) settle() {
	co.derive()
	co.quiet()
	for i, c := range co.d.conds {
		co.d.conds[i].Since = co.d.now
		for _, old := range co.d.rec.Conditions {
			if old.Code == c.Code {
				co.d.conds[i].Since = old.Since
			}
		}
	}
	slices.SortFunc(co.d.conds, func(a, b resource.ConditionState) int { return strings.Compare(string(a.Code), string(b.Code)) })
	if !slices.EqualFunc(co.d.conds, co.d.rec.Conditions, func(a, b resource.ConditionState) bool { return a.Code == b.Code }) {
		co.d.dirty = true // since when is worth a write; a changed message is not
	}
	co.d.rec.Conditions = co.d.conds
}

func (co conditions) derive() {
	if !co.s.Synced {
		co.d.raise(resource.CondNotSynced, "")
	}
	if co.s.Synced && co.s.Intent == nil {
		co.d.raise(resource.CondServerMissing, "")
	}
	if co.d.ice {
		co.d.raise(resource.CondFrozen, "%s", co.s.Frozen.Text())
	}
	if co.s.takenOver() {
		co.d.raise(resource.CondTakenOver, "of %s", strings.Join(co.s.TakenOver, ", "))
	}
	if len(co.d.holds) > 0 {
		for _, h := range co.d.holds {
			if h.Missing {
				co.d.raise(resource.CondHoldMissing, "hold %s", h.ID)
			}
		}
		co.d.raise(resource.CondHeld, "by %s", keysOf(co.d.holds))
	}
	co.approval()
	co.guard()
	if len(co.d.rec.Holds.Violated) > 0 {
		co.d.raise(resource.CondHoldViolated, "")
	}
	co.bmc()
	co.refusals()
	co.stop()
	co.left()
	if k := co.d.rec.Identity; k != nil && k.Other != nil {
		co.d.raise(resource.CondIdentityChanged, "%s; now %s", k.Why, k.Other.Digest())
	}
	co.sightings().stand()
	co.unexpected()
	co.boot()
}

func (co conditions) bmc() {
	if c := co.s.BMCError; c != nil {
		co.d.raise(c.Code, "%s", c.Message)
		return
	}
	o := co.d.watch.Last
	switch {
	case co.d.watch.Busy:
		co.d.raise(resource.CondBMCBusy, "%s", o.Error)
	case o.Power == protocol.PowerUnreachable && o.Code == protocol.CodeDenied:
		co.d.raise(resource.CondBMCDenied, "%s", o.Error)
	case co.fault():
	case o.Power == protocol.PowerUnreachable:
		co.d.raise(resource.CondBMCUnreachable, "%s", o.Error)
	case o.Power == protocol.PowerUnknown:
		co.d.raise(resource.CondPowerUnknown, "%s", o.Error)
	}
}

func (co conditions) boot() {
	if co.s.NoAddress != "" {
		co.d.raise(resource.CondNoAddress, "on segment %s", co.s.NoAddress)
	}
	a := co.d.rec.Attempted(co.s.Intent) // what ended with its owner says nothing of the next
	if a != nil {
		if a.mismatched() {
			co.d.raise(resource.CondMethodMismatch, "%s was ordered, firmware used %s", a.Order.Target, a.Stage.Observed)
		}
		if a.Stage.State == resource.AttemptFailed && !a.Stage.Ending.Abandoned {
			if a.Network() {
				co.d.raise(resource.CondFirstBootFailed, "attempt %d: %s", a.Number, a.Stage.Ending.Reason)
			} else {
				co.d.raise(resource.CondPowerFailed, "%s, attempt %d: %s", a.fromWhere(), a.Number, a.Stage.Ending.Reason)
			}
		}
		if a.Stage.State == resource.AttemptFailed && a.Stage.Ending.Code == resource.AttemptNotStored {
			co.d.raise(resource.CondOverrideNotStored, "%s", a.Stage.Ending.Reason)
		}
	}
	// An installer that restarts the server instead of ending it, or whose end was
	// not seen: what runs now was not ordered, and the disk was not booted.
	if a != nil && a.Stage.State == resource.AttemptSucceeded && a.Network() && !a.Order.Repeat && !a.forDiscovery() && co.d.rec.Shown.Power == protocol.PowerOn &&
		co.d.now.Sub(a.Stage.Since) > co.s.Settings.SoftTimeout && len(co.d.holds) == 0 && co.d.rec.Stop == nil {
		co.d.raise(resource.CondUnexpectedPower, "still On after the installed report, and not booted from disk")
	}
	co.disputed()
	co.weak()
	co.spent()
	co.fallback()
	co.firmware()
	co.media()
	co.url()
	co.discovery()
	if co.d.plan.Fetch && !co.s.Artefacts.Local {
		if f := co.s.Artefacts.Failed; f != nil {
			co.d.raise(f.Code, "%s", f.Message)
		} else {
			co.d.raise(resource.CondArtefactsPending, "")
		}
	}
}

func (co conditions) spent() {
	in := co.s.Intent
	if in == nil || discovering(in) || in.Releasing || in.Power != resource.WantOn || in.Boot == nil || co.d.rec.Attempt.Open() ||
		!always(in.Boot) && provisioned(in.Boot, &co.d.rec, co.s.Echo) {
		return
	}
	use := co.d.rec.Owners.Used[grantKey(in.Boot)]
	limit := 0
	if co.s.Grant != nil {
		limit = co.s.Grant.MaxAttempts
	}
	if use.Spent || limit > 0 && use.Attempts >= limit {
		co.d.raise(resource.CondGrantSpent, "%d of %d attempts; %s", use.Attempts, limit, use.Reason)
	}
}

// quiet drops conditions that another one explains.
func (co conditions) quiet() {
	has := func(code resource.ConditionCode) bool {
		return slices.ContainsFunc(co.d.conds, func(c resource.ConditionState) bool { return c.Code == code })
	}
	explained := func(c resource.ConditionState) bool {
		def, _ := resource.LookupCondition(c.Code)
		return slices.ContainsFunc(def.DependsOn, has)
	}
	keep := co.d.conds[:0:0]
	for _, c := range co.d.conds {
		if !explained(c) {
			keep = append(keep, c)
		}
	}
	co.d.conds = keep
}
