package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// A ForceOff that shows no effect is sent again: after resendForce twice, and then after
// pauses that double, up to forceMax. One that was refused is sent again sooner, up to
// pauseMax. A hold is never given up, so that there is no last one.
const forceMax = time.Minute

// forcePause is how long after the nth ForceOff of a stop the next is sent.
//
//	n    | refused | pause
//	1    | no      | 10s
//	2    | no      | 10s
//	3    | no      | 20s
//	4    | no      | 40s
//	more | no      | 1m0s
//	1    | yes     | 3s
//	2    | yes     | 3s
//	3    | yes     | 6s
//	4    | yes     | 12s
//	more | yes     | 30s
func forcePause(n int, refused bool) time.Duration {
	least, most := resendForce, forceMax
	if refused {
		least, most = retryStop, pauseMax
	}
	if n > 4 {
		return most
	}
	return min(least<<max(n-2, 0), most)
}

// ignoredAfter is how many ForceOffs that were taken may show no effect before that is said.
const ignoredAfter = 2

// ignoredRule says whether the BMC takes ForceOff and does nothing. The first row that fits
// decides.
//
//	power       | taken | late | ignored
//	Off         | *     | *    | no
//	Unknown     | *     | *    | no
//	Unreachable | *     | *    | no
//	*           | few   | *    | no
//	*           | two   | no   | no
//	*           | two   | yes  | yes
//	*           | more  | *    | yes
//
// taken is how many the BMC has taken in this stop, late that resendForce has passed since
// the last of them.
func ignoredRule(power protocol.PowerState, taken int, late bool) bool {
	switch power {
	case protocol.PowerOff, protocol.PowerUnknown, protocol.PowerUnreachable:
		return false
	case protocol.PowerOn, protocol.PowerPoweringOn, protocol.PowerPoweringOff, protocol.PowerPaused:
	}
	return taken > ignoredAfter || taken == ignoredAfter && late
}

// blindAfter is how long a power state must have been unreadable before ForceOff is sent
// without it: BMCs show none in the middle of a transition (HPE Gen11).
const blindAfter = 10 * time.Second

// blindRule says whether ForceOff is sent to a server whose power state cannot be read
// although its BMC answers. The first row that fits decides.
//
//	held | mode | proved | unread | due | send
//	no   | *    | *      | *      | *   | no
//	yes  | soft | *      | *      | *   | no
//	yes  | hard | yes    | *      | *   | no
//	yes  | hard | no     | no     | *   | no
//	yes  | hard | no     | yes    | no  | no
//	yes  | hard | no     | yes    | yes | yes
//
// held is that a hold lies on the server, proved that each hold has a receipt: then it was
// read Off lately and nothing else since. unread is that there was no power state for blindAfter,
// due that forcePause is over. What comes of it is not known, so that no receipt follows
// from it (P3), and it is sent again as if it had shown no effect.
func blindRule(held bool, mode resource.StopMode, proved, unread, due bool) bool {
	return held && mode == resource.StopHard && !proved && unread && due
}
