package decide

import (
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// settle completes the conditions of the step: those that follow from the
// state, and the time since when each is so.
func (p *step) settle() {
	p.derive()
	p.quiet()
	for i, c := range p.conds {
		p.conds[i].Since = p.now
		for _, old := range p.rec.Conditions {
			if old.Code == c.Code {
				p.conds[i].Since = old.Since
			}
		}
	}
	slices.SortFunc(p.conds, func(a, b resource.ConditionState) int { return strings.Compare(string(a.Code), string(b.Code)) })
	if !slices.EqualFunc(p.conds, p.rec.Conditions, func(a, b resource.ConditionState) bool { return a.Code == b.Code }) {
		p.dirty = true // since when is worth a write; a changed message is not
	}
	p.rec.Conditions = p.conds
}

func (p *step) derive() {
	s := &p.snap
	if !s.Synced {
		p.raise(resource.CondNotSynced, "")
	}
	if s.Synced && s.Intent == nil {
		p.raise(resource.CondServerMissing, "")
	}
	if len(s.Holds) > 0 {
		for _, h := range s.Holds {
			if h.Missing {
				p.raise(resource.CondHoldMissing, "hold %s", h.ID)
			}
		}
		p.raise(resource.CondHeld, "by %s", p.keys())
	}
	p.deriveApproval()
	p.deriveGuard()
	if len(p.rec.Violated) > 0 {
		p.raise(resource.CondHoldViolated, "")
	}
	p.deriveBMC()
	p.deriveRefusals()
	p.deriveStop()
	p.deriveLeft()
	if k := p.rec.Identity; k != nil && k.Other != nil {
		p.raise(resource.CondIdentityChanged, "%s; now %s", k.Why, k.Other.Digest())
	}
	p.stand()
	p.deriveUnexpected()
	p.deriveBoot()
}

func (p *step) deriveBMC() {
	if c := p.snap.BMCError; c != nil {
		p.raise(c.Code, "%s", c.Message)
		return
	}
	o := p.watch.Last
	switch {
	case p.watch.Busy:
		p.raise(resource.CondBMCBusy, "%s", o.Error)
	case o.Power == protocol.PowerUnreachable && o.Code == protocol.CodeDenied:
		p.raise(resource.CondBMCDenied, "%s", o.Error)
	case p.deriveFault():
	case o.Power == protocol.PowerUnreachable:
		p.raise(resource.CondBMCUnreachable, "%s", o.Error)
	case o.Power == protocol.PowerUnknown:
		p.raise(resource.CondPowerUnknown, "%s", o.Error)
	}
}

func (p *step) deriveBoot() {
	if p.snap.NoAddress != "" {
		p.raise(resource.CondNoAddress, "on segment %s", p.snap.NoAddress)
	}
	a := p.rec.Attempt
	if a != nil {
		if a.mismatched() {
			p.raise(resource.CondMethodMismatch, "%s was ordered, firmware used %s", a.Intended, a.Observed)
		}
		if a.State == resource.AttemptFailed && !a.Abandoned {
			if a.Network() {
				p.raise(resource.CondFirstBootFailed, "attempt %d: %s", a.Number, a.Reason)
			} else {
				p.raise(resource.CondPowerFailed, "boot from disk, attempt %d: %s", a.Number, a.Reason)
			}
		}
		if a.State == resource.AttemptFailed && a.Code == resource.AttemptNotStored {
			p.raise(resource.CondOverrideNotStored, "%s", a.Reason)
		}
	}
	// An installer that restarts the server instead of ending it, or whose end was
	// not seen: what runs now was not ordered, and the disk was not booted.
	if a != nil && a.State == resource.AttemptSucceeded && a.Network() && !a.Repeat && !a.forDiscovery() && p.rec.Power == protocol.PowerOn &&
		p.now.Sub(a.Since) > p.snap.Settings.SoftTimeout && len(p.snap.Holds) == 0 && p.rec.Stop == nil {
		p.raise(resource.CondUnexpectedPower, "still On after the installed report, and not booted from disk")
	}
	p.deriveGrant()
	p.deriveFallback()
	p.deriveMedia()
	p.deriveURL()
	p.deriveDiscovery()
	if p.plan.Fetch && !p.snap.Artefacts.Local {
		if f := p.snap.Artefacts.Failed; f != nil {
			p.raise(f.Code, "%s", f.Message)
		} else {
			p.raise(resource.CondArtefactsPending, "")
		}
	}
}

func (p *step) deriveGrant() {
	in := p.snap.Intent
	if in == nil || discovering(in) || in.Releasing || in.Power != resource.WantOn || in.Boot == nil || p.rec.Attempt.Open() ||
		!always(in.Boot) && provisioned(in.Boot, &p.rec, p.snap.Echo) {
		return
	}
	use := p.rec.Used[grantKey(in.Boot)]
	limit := 0
	if p.snap.Grant != nil {
		limit = p.snap.Grant.MaxAttempts
	}
	if use.Spent || limit > 0 && use.Attempts >= limit {
		p.raise(resource.CondGrantSpent, "%d of %d attempts; %s", use.Attempts, limit, use.Reason)
	}
}

// quiet drops conditions that another one explains.
func (p *step) quiet() {
	has := func(code resource.ConditionCode) bool {
		return slices.ContainsFunc(p.conds, func(c resource.ConditionState) bool { return c.Code == code })
	}
	explained := func(c resource.ConditionState) bool {
		def, _ := resource.LookupCondition(c.Code)
		return slices.ContainsFunc(def.DependsOn, has)
	}
	keep := p.conds[:0:0]
	for _, c := range p.conds {
		if !explained(c) {
			keep = append(keep, c)
		}
	}
	p.conds = keep
}
