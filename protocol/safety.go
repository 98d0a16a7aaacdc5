package protocol

import (
	"fmt"
	"time"
)

// Safety is what an inventory says of a server that somebody else powers on: where
// firmware order leads, by what the agent notices it, and what mains power does; and what can be
// ordered of it at all.
type Safety struct {
	SafeStop  SafeStop  `json:"safeStop"`
	Detection Detection `json:"detection"`
	Restore   Restore   `json:"restore"`
	Offers    Offers    `json:"offers,omitzero"`
}

// SafetyOf reads it out of an inventory.
func SafetyOf(inv Inventory) Safety {
	return Safety{SafeStop: inv.SafeStop, Detection: inv.Detection, Restore: inv.Restore, Offers: inv.Offers}
}

// Says is what is noticed of a server that is polled so often, within which time, and
// what is not.
func (d Detection) Says(poll time.Duration) string {
	soon := ""
	if d.Stream != "" || d.Subscriptions != "" {
		soon = ", mostly at once by the BMC's events"
	}
	if poll <= 0 {
		poll = d.PollInterval
	}
	switch d.Class {
	case DetectReset:
		return fmt.Sprintf("each reset and power cycle, within %s by LastResetTime%s", poll, soon)
	case DetectLog:
		return fmt.Sprintf("each power cycle that the BMC logs, within %s%s", poll, soon)
	case DetectEvents:
		return fmt.Sprintf("what lasts, within %s%s; a quick off and on whose event is lost goes unseen, unless firmware asks the agent for a boot", poll, soon)
	case DetectPoll:
		return fmt.Sprintf("what lasts, within %s%s; a quick off and on between two polls goes unseen, unless firmware asks the agent for a boot", poll, soon)
	}
	return "not known yet"
}

// UnexpectedBy is what showed an unexpected transition.
type UnexpectedBy string

// What shows them.
const (
	ByPoll      UnexpectedBy = "poll"
	ByEvent     UnexpectedBy = "event" // a read that an event of the BMC caused
	ByResetTime UnexpectedBy = "reset-time"
	ByProgress  UnexpectedBy = "boot-progress"
	ByLog       UnexpectedBy = "log"
	ByDHCP      UnexpectedBy = "dhcp" // firmware asked for a boot
	ByHTTP      UnexpectedBy = "http" // likewise, for the file of a boot that is over
)

// UnexpectedBys lists them.
func UnexpectedBys() []UnexpectedBy {
	return []UnexpectedBy{ByPoll, ByEvent, ByResetTime, ByProgress, ByLog, ByDHCP, ByHTTP}
}

// Stands is what is known of a server that came on without an order.
type Stands string

// Where it stands.
const (
	StandsOpen     Stands = "unknown"  // not yet
	StandsStopped  Stands = "stopped"  // it was seen to
	StandsBelieved Stands = "believed" // nothing was seen, and its boot order stops it
	StandsRuns     Stands = "runs"     // probably
)

// UnexpectedReport is a transition without an order that nobody has resumed.
type UnexpectedReport struct {
	At time.Time  `json:"at"`
	To PowerState `json:"to"`
	// By is what showed it.
	By UnexpectedBy `json:"by,omitempty"`
	// Stands and Why are of a server that is On.
	Stands Stands `json:"stands,omitempty"`
	Why    string `json:"why,omitempty"`
}
