package decide

import (
	"time"

	"rackboot/protocol"
)

// lingerRule says whether a stop that nobody wants any more is kept, because it may show
// yet. The first row that fits decides.
//
//	sent | off | in time | kept
//	no   | *   | *       | no
//	yes  | yes | *       | no
//	yes  | no  | no      | no
//	yes  | no  | yes     | yes
//
// What was sent to a BMC cannot be called back, so that an Off by it is no surprise. off is
// that the last read showed Off; in time is that it was begun before the order must have
// shown.
func lingerRule(sent, off, inTime bool) bool { return sent && !off && inTime }

// lingers says so of the record's stop, and has the server read until it does not.
func (p *step) lingers() bool {
	st := p.rec.Stop
	if st == nil {
		return false
	}
	var until time.Time
	if !st.Graceful.IsZero() {
		until = st.Graceful.Add(p.snap.Settings.SoftTimeout)
	}
	if end := st.Forced.Add(resendForce); !st.Forced.IsZero() && end.After(until) {
		until = end
	}
	last := p.watch.Last
	if !lingerRule(!until.IsZero(), last.Power == protocol.PowerOff, last.StartedAt.Before(until)) {
		return false
	}
	p.recheck(activeInterval)
	return true
}
