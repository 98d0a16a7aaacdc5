package decide

import (
	"time"

	"rackboot/protocol"
)

// moved says how the LastResetTime of a read moved from the one before.
func (si sightings) moved(was, is time.Time, step clockStep) moved {
	shown, w := movedOf(was, is), si.d.watch.Reset
	if shown != movedLater && shown != movedEarlier {
		return shown
	}
	short := shown == movedLater && !w.Time.IsZero() && is.Sub(was) < w.Last-w.Since-resetSlack
	return resetMoved(step.known, movedBy(was, is.Add(-step.by), step.slack), shown, short)
}

// clock compares the BMC's clock with what it showed before, and notes it.
func (si sightings) clock(o protocol.Observation) (step clockStep) {
	at := resetTime(o.ManagerTime)
	if at.IsZero() {
		return step
	}
	w, up := &si.d.watch.Reset, si.s.Read.Answered
	ahead, host := at.Sub(usableReset())-up, BMCClock{Ahead: at.Sub(o.ReadAt), At: o.ReadAt}
	slack := resetSlack + max(up-si.s.Read.Sent, 0)
	switch before := si.d.rec.Shown.Clock; {
	case w.Read:
		step = clockStep{by: ahead - w.Ahead, slack: slack + (up-w.At)/clockDrift, known: true}
	case !before.At.IsZero():
		step = clockStep{by: host.Ahead - before.Ahead, slack: slack + o.ReadAt.Sub(before.At).Abs()/clockDrift, known: true}
	}
	if w.Ahead, w.At, w.Read = ahead, up, true; si.d.rec.Shown.Clock.At.IsZero() {
		si.d.rec.Shown.Clock, si.d.dirty = host, true
	}
	return step
}
