package decide

import "rackboot/protocol"

// sent notes since when this run knows of the On that may still take effect.
func (at attempts) sent() {
	a := at.d.rec.Attempt
	switch {
	case !a.unconfirmed():
		at.d.watch.On = OnWatch{}
	case !at.d.watch.On.Pending.Equal(a.Stage.PowerOn.Pending):
		at.d.watch.On = OnWatch{a.Stage.PowerOn.Pending, at.d.up}
	}
}

// waited notes that the longest that an On may take is over, with a read of Off that was sent
// afterwards: no later run waits again.
func (at attempts) waited() {
	a, o := at.d.rec.Attempt, at.s.Observation
	if a.unconfirmed() && o != nil && o.Power == protocol.PowerOff && at.s.Read.Sent >= at.d.quietAt() {
		a.Stage.PowerOn.Waited, at.d.dirty = onBound(at.d.rec.Shown.OnTook), true
	}
}
