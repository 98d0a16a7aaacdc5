package decide

import (
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// drives inserts the images of a boot by virtual media, and ejects them after it.
type drives struct {
	d    *draft
	in   *message.ServerIntent // nil where no document names the server
	away bool                  // the BMC cannot be asked
}

func drivesOf(d *draft, s *Snapshot) drives {
	return drives{d, s.Intent, s.BMCError != nil}
}

func (dv drives) boot() mediumBoot {
	a, in := dv.d.rec.Attempt, dv.in
	switch {
	case a == nil || a.ID != dv.d.rec.Residue.Medium().Attempt:
		return mediumOver
	case a.Stage.State == resource.AttemptPreparing:
		return mediumPrepared
	case a.Open():
		return mediumNeeded
	case dv.d.rec.Stop != nil || dv.d.rec.Residue.has(LeftRunning):
		return mediumStops
	case a.Stage.State == resource.AttemptSucceeded && a.Order.Repeat && in != nil && in.Owner.UID == a.Order.OwnerUID:
		return mediumRuns
	}
	return mediumOver
}

func (dv drives) action() ActionKind {
	if dv.d.rec.Residue.Medium() == nil {
		return ActNone
	}
	return mediumRule(dv.boot(), runningOf(dv.d.watch.Last.Power), dv.d.rec.Residue.Medium().State)
}

// insert has the medium of the open attempt inserted, and says whether that has to come
// before the override.
func (dv drives) insert() bool {
	if dv.action() != ActInsert {
		return false
	}
	dv.d.act(Action{Kind: ActInsert, Attempt: dv.d.rec.Attempt.ID})
	return true
}

// eject has a medium ejected whose boot has ended. While a hold has no receipt, the time
// between two reads is the proof's.
func (dv drives) eject() {
	if dv.action() != ActEject || dv.away || len(dv.d.holds) > 0 && dv.d.rec.unproved(dv.d.holds) {
		return
	}
	m := dv.d.rec.Residue.Medium()
	if m.State != MediumOut {
		m.State, dv.d.dirty = MediumOut, true
	}
	if dv.d.now.Before(dv.d.watch.Eject.Next) {
		dv.d.recheckAt(dv.d.watch.Eject.Next)
		return
	}
	dv.d.act(Action{Kind: ActEject, Attempt: m.Attempt})
	dv.d.recheck(activeInterval)
}

// ejectFirst is eject ahead of a power-on by something else, or of a claim's end, and says
// whether that has to wait.
func (dv drives) ejectFirst() bool {
	if dv.d.rec.Residue.Medium() == nil || dv.d.watch.Eject.Tries >= ejectTries {
		return false
	}
	dv.eject()
	return dv.action() == ActEject
}

func (dv drives) ejected(r Result) {
	m := dv.d.rec.Residue.Medium()
	if m == nil || m.Attempt != r.Attempt {
		return
	}
	if r.Code == "" || r.Code == protocol.CodeUnsupported && !r.Busy { // where none can be inserted, none is left
		dv.d.rec.Residue.drop(LeftMedium)
		dv.d.watch.Eject, dv.d.dirty = EjectWatch{}, true
		dv.d.happened(resource.EventMediaEjected, "")
		return
	}
	w := &dv.d.watch.Eject
	w.Why = r.Message
	w.Next = dv.d.now.Add(pauseOf(min(attemptBackoff<<min(w.Tries, 10), ejectMax), r))
	w.Tries++
}

// begin notes the medium of an attempt that begins.
func (dv drives) begin(a *Attempt, token string) {
	m := &Medium{Attempt: a.ID, Token: token, State: MediumInserting, Beside: true}
	if byMedium(a.Order.Target) {
		m.Blob, m.Beside = a.Order.Blob, false
	}
	dv.d.rec.Residue.put(Left{Kind: LeftMedium, Medium: m})
	dv.d.watch.Occupied, dv.d.watch.Eject = "", EjectWatch{}
}

// occupied notes what the BMC said of somebody else's medium; empty is nothing.
func (dv drives) occupied(by string) { dv.d.watch.Occupied = by }

// inserted notes that the medium is in; config says that the config image is too.
func (dv drives) inserted(config bool) {
	m := dv.d.rec.Residue.Medium()
	m.State, m.Config = MediumIn, config
}
