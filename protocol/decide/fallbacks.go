package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// fallbacks counts the failed network boots of a configuration that names the one before.
type fallbacks struct {
	d  *draft
	in *message.ServerIntent // nil where no document names the server
}

func fallbacksOf(d *draft, s *Snapshot) fallbacks {
	return fallbacks{d, s.Intent}
}

// count counts the attempt that has just failed, and falls back with the last one
// that is allowed. Who set how many are has agreed that the server is booted again without
// another order, and stopped for it.
func (fb fallbacks) count() bool {
	a, in := fb.d.rec.Attempt, fb.in
	if in == nil || in.Boot == nil || in.Boot.Fallback == nil || !always(in.Boot) || !a.Network() ||
		a.Order.OwnerUID != in.Boot.Owner.UID || a.Order.Generation != in.Boot.Generation ||
		!countRule(a.Stage.Ending.Code, a.Stage.Evidence == protocol.EvidenceFetched || a.Stage.Evidence == protocol.EvidenceFailed) {
		return false
	}
	f := fb.d.rec.Owners.Fallback
	if f == nil || f.OwnerUID != a.Order.OwnerUID || f.Generation != a.Order.Generation {
		f = &Fallback{OwnerUID: a.Order.OwnerUID, Generation: a.Order.Generation}
	}
	f.Failed++
	f.Reason, f.Again = a.Stage.Ending.Reason, true
	if f.Failed >= in.Boot.Fallback.After {
		f.Since = fb.d.now
		fb.d.happened(resource.EventFellBack, "after %d failed boots of %s: boots %s again", f.Failed, in.Boot.Image.Reference, in.Boot.Fallback.Image.Reference)
		fb.d.recheck(0)
	}
	fb.d.rec.Owners.Fallback, fb.d.dirty = f, true
	return true
}

// again lets a grant that repeats be used without another order, once for each failure
// that was counted.
func (fb fallbacks) again(b *message.BootIntent, use GrantUse) GrantUse {
	f := fb.d.rec.Owners.Fallback
	if f == nil || !f.Again || f.OwnerUID != b.Owner.UID {
		return use
	}
	f.Again, fb.d.dirty = false, true
	return GrantUse{Repeat: use.Repeat}
}

// forget ends the count where it is of no configuration that there is.
func (fb fallbacks) forget() {
	f, in := fb.d.rec.Owners.Fallback, fb.in
	if f == nil || in == nil || in.Boot == nil || f.OwnerUID == in.Boot.Owner.UID && f.Generation >= in.Boot.Generation {
		return
	}
	fb.d.rec.Owners.Fallback, fb.d.dirty = nil, true
}

// end ends the count of a configuration that was booted.
func (fb fallbacks) end() {
	if f, a := fb.d.rec.Owners.Fallback, fb.d.rec.Attempt; f != nil && f.OwnerUID == a.Order.OwnerUID && f.Generation == a.Order.Generation {
		fb.d.rec.Owners.Fallback, fb.d.dirty = nil, true
	}
}
