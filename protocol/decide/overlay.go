package decide

import (
	"time"

	"rackboot/protocol"
)

// Overlay is what was seen and done of a server in guard mode, while nothing can be recorded. It
// is in memory only, and folded into the record first when there is a store again.
type Overlay struct {
	// Began is when the guard mode began.
	Began time.Time
	// Ran is the first read that showed the held server running; nil if none did.
	Ran *protocol.Observation
	// Since is when it was read running first, or first after it was read Off; Forced when
	// ForceOff was last sent; Off when it was last read Off.
	Since, Forced, Off time.Time
	// Tries is how often ForceOff was sent since it was read Off, Sent how often in all.
	Tries, Sent int
	// Read is when the last read that gave a power state ended; Unread is the longest time without.
	Read   time.Time
	Unread time.Duration
}

// saw counts a read.
func (o Overlay) saw(now time.Time, read *protocol.Observation) Overlay {
	last := o.Read
	if last.IsZero() {
		last = o.Began
	}
	if !last.IsZero() {
		o.Unread = max(o.Unread, now.Sub(last))
	}
	if read != nil && (read.Power == protocol.PowerOff || runsNow(read.Power)) {
		o.Read = read.ReadAt
	}
	if read != nil && read.Power == protocol.PowerOff {
		o.Since, o.Off, o.Tries = time.Time{}, now, 0
	}
	return o
}

// runsNow says whether a server runs, as far as its BMC says.
func runsNow(power protocol.PowerState) bool {
	switch power {
	case protocol.PowerOn, protocol.PowerPoweringOn, protocol.PowerPoweringOff, protocol.PowerPaused:
		return true
	case protocol.PowerOff, protocol.PowerUnknown, protocol.PowerUnreachable:
	}
	return false
}
