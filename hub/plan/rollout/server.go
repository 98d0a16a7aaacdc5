package rollout

import (
	"time"

	"rackboot/protocol/resource"
)

// Server is what is known of one server of the group. All times are of the hub's clock.
type Server struct {
	Name, Rack string
	Labels     map[string]string
	// Boots is the digest of the image that it was last seen to boot, "" if none was seen;
	// Target that of the revision's image for its architecture, "" where none fits. They
	// are only compared, so a caller may put more than the image into both.
	Boots, Target string
	// Part says that some of it has Target, where it has parts that boot one after the other: then there is something to
	// give back, though Boots is another.
	Part bool
	// BootedAt is when it was seen to boot that: the report, not the order.
	BootedAt time.Time
	// Up says that it is On and serves, and that nothing is under way with it.
	Up bool
	// Down says why it is not Up.
	Down DownReason
	// Network says that it boots its image at each power-on (bootPolicy.boot: Network).
	Network bool
	// Claimed says that it has a claim of the group. Others are in no roll-out: they take
	// the revision with their first boot.
	Claimed bool
	// Failed says why its last attempt with Target failed, at FailedAt; "" if it did not.
	Failed   string
	FailedAt time.Time
	// Ordered is the At of the order that was recorded last for it; zero is none. It must
	// not be older than what the orders of the last step have left.
	Ordered time.Time
	// Waits says for people why an order to it cannot be recorded yet, such as that its rack
	// has not the files; "" if it can. It decides nothing.
	Waits string
	// Unfit says for people, in place of the roll-out's own words, why nobody waits for it; it decides nothing.
	Unfit string
}

// DownReason is why a server does not serve.
type DownReason string

// The reasons.
const (
	DownHeld        DownReason = "held"
	DownFrozen      DownReason = "frozen" // it may run, and nothing may be begun with it
	DownOff         DownReason = "off"
	DownDark        DownReason = "dark" // nothing is heard of it, or of its agent
	DownMaintenance DownReason = "maintenance"
	// DownAttempt is from an order's being recorded, whoever gave it, to evidence of its
	// boot or the end of its attempts. While it lasts nothing else is begun with it.
	DownAttempt DownReason = "attempt"
	// DownFailed is after the end of attempts that failed: nothing runs on it and nothing
	// is under way. Taking it needs no room, and another revision may be its cure.
	DownFailed DownReason = "failed"
)

// place is what a server's state means for the roll-out.
type place string

const (
	isUp     place = "up"
	isFailed place = "failed"
	isBusy   place = "busy" // in an attempt
	isOff    place = "off"
	isAway   place = "away"
	isGone   place = "gone" // has no claim of the group any more, or no image
)

var places = []place{isUp, isFailed, isBusy, isOff, isAway, isGone}

func (s Server) place() place {
	if !s.Claimed || s.Target == "" {
		return isGone
	}
	if s.Up {
		return isUp
	}
	switch s.Down {
	case DownFailed:
		return isFailed
	case DownAttempt:
		return isBusy
	case DownHeld, DownFrozen, DownDark, DownMaintenance:
		return isAway
	case DownOff:
	}
	return isOff
}

// fits says whether the strategy's order would have the server boot another image.
func (s Server) fits(strategy resource.RolloutStrategy) bool {
	switch strategy {
	case resource.RolloutReboot:
		return s.Network
	case resource.RolloutReprovision:
		return !s.Network
	case resource.RolloutOnNextBoot:
	}
	return true
}

// has says whether the server has all of the labels.
func (s Server) has(labels map[string]string) bool {
	for k, v := range labels {
		if got, ok := s.Labels[k]; !ok || got != v {
			return false
		}
	}
	return true
}
