package installed

import (
	"fmt"
	"time"

	"rackboot/protocol/message"
)

// Steps is how many steps a trial's time has.
const Steps = 12

// Sight is what a launcher sees before it starts a program.
type Sight struct {
	// Damaged says that the record is there and cannot be read.
	Damaged bool
	// Packaged is the digest of the packaged program; empty if it cannot be read. Current and Trial are those of what lies
	// in the slots that the record names so.
	Packaged, Current, Trial string
	// Spent are the steps that the trial has used. Unbounded says that they cannot be read or written: the trial would have
	// no end.
	Spent     int
	Unbounded bool
	// Failed is the order whose trial this launcher has seen fail, should the record not say so yet.
	Failed Outcome
	Now    time.Time
}

// Start is a program to start.
type Start struct {
	Place  Place
	Digest string // as it was found on disk
	Trial  bool
}

// verdict is what a rule of a choice comes to.
type verdict string

const (
	runsPackaged verdict = "packaged"
	runsCurrent  verdict = "current"
	runsTrial    verdict = "trial"
)

// choice is a rule: whether it fits, what runs then, and how the order has ended by it; an empty code ends none.
type choice struct {
	name string
	fits func(r Record, s Sight) bool
	runs verdict
	code message.UpgradeCode
}

// choices are the rules of what is started. The first that fits ends the trial, if it has a code; then they are asked again.
var choices = []choice{
	{"the record cannot be read", func(_ Record, s Sight) bool { return s.Damaged }, runsPackaged, message.UpgradeBroken},
	{"another program was packaged", func(r Record, s Sight) bool {
		return r.Packaged != "" && s.Packaged != "" && r.Packaged != s.Packaged && (r.Trial != nil || r.Current != Packaged)
	}, runsPackaged, message.UpgradeReplaced},
	{"the trial has failed", func(r Record, s Sight) bool { return r.Trial != nil && s.Failed.Order == r.Trial.Order }, runsCurrent, ""},
	{"the trial's time cannot be counted", func(r Record, s Sight) bool { return r.Trial != nil && s.Unbounded }, runsCurrent, message.UpgradeUnusable},
	{"the trial's time is over", func(r Record, s Sight) bool { return r.Trial != nil && s.Spent >= Steps }, runsCurrent, message.UpgradeUnheard},
	{"the trial's program is another", func(r Record, s Sight) bool { return r.Trial != nil && s.Trial != r.Trial.Digest }, runsCurrent, message.UpgradeUnusable},
	{"a trial", func(r Record, _ Sight) bool { return r.Trial != nil }, runsTrial, ""},
	{"the current program is another", func(r Record, s Sight) bool { return r.Current.slot() && s.Current != r.Digest }, runsPackaged, message.UpgradeUnusable},
	{"the current program", func(r Record, _ Sight) bool { return r.Current.slot() }, runsCurrent, ""},
	{"nothing was ever upgraded", func(Record, Sight) bool { return true }, runsPackaged, ""},
}

// messages of the outcomes, for people.
func (c choice) message(r Record) string {
	switch c.code {
	case message.UpgradeBroken:
		return "the record of upgrades could not be read; the packaged program runs"
	case message.UpgradeReplaced:
		return "another program was installed by the host's package manager, and runs"
	case message.UpgradeUnheard:
		return "the hub has not answered " + r.Trial.Version + " in time"
	default:
		return c.name + "; the one before runs"
	}
}

// Choose says what to start, and the record that must be on disk before. It is pure.
func Choose(r Record, s Sight) (Record, Start) {
	for _, c := range choices {
		if !c.fits(r, s) {
			continue
		}
		switch c.runs {
		case runsTrial:
			return seen(r, s), Start{Place: r.Trial.Slot, Digest: s.Trial, Trial: true}
		case runsPackaged:
			last := r.Last
			if c.code != "" {
				o := Outcome{Stage: message.UpgradeReturned, Code: c.code, Message: c.message(r), At: s.Now}
				if last != nil {
					o.Order = last.Order
				}
				if r.Trial != nil {
					o.Order = r.Trial.Order
				}
				last = &o
			}
			return seen(Record{Packaged: r.Packaged, Current: Packaged, Last: last}, s), Start{Place: Packaged, Digest: s.Packaged}
		case runsCurrent:
			if r.Trial == nil {
				return seen(r, s), Start{Place: r.Current, Digest: s.Current}
			}
			o := s.Failed
			if c.code != "" {
				o = Outcome{Order: r.Trial.Order, Stage: message.UpgradeReturned, Code: c.code, Message: c.message(r), At: s.Now}
			}
			r.Trial, r.Last = nil, &o
			return Choose(r, s) // once more at most: there is no trial any more
		}
	}
	return r, Start{Place: Packaged, Digest: s.Packaged}
}

// seen notes the packaged program.
func seen(r Record, s Sight) Record {
	if s.Packaged != "" {
		r.Packaged = s.Packaged
	}
	return r
}

// End is how a program ended.
type End struct {
	// Asked says that somebody asked the launcher to end, and it the program.
	Asked bool
	// Late says that the launcher ended it because the trial's time was over.
	Late bool
	// Unstarted says why it could not be started; empty if it was.
	Unstarted string
	Code      int // its exit code; 128 and the signal's number where one ended it
}

// Next is what the launcher does when a program has ended.
type Next struct {
	// Again starts a program anew, as [Choose] says; else the launcher ends with Code.
	Again bool
	Code  int
	// Failed is the outcome of the trial that has failed; its Order is empty if none has.
	Failed Outcome
	// Unusable says that what was started, the current program in a slot, cannot be.
	Unusable bool
}

// Ended says what follows the end of a program. r is the record as it is on disk now, and ran what was started. The first rule
// that fits decides.
//
//	asked | open | end       | slot | code  | other | then
//	yes   | *    | *         | *    | *     | *     | ends
//	no    | yes  | *         | *    | *     | *     | fails
//	no    | no   | late      | *    | *     | *     | again
//	no    | no   | unstarted | yes  | *     | *     | unusable
//	no    | no   | unstarted | no   | *     | *     | ends
//	no    | no   | ended     | *    | trial | yes   | again
//	no    | no   | ended     | *    | *     | *     | ends
//
// open is that what ran is on a trial which still stands, other that the record has another one. What fails or is unusable
// is followed by the program before. Late without an open trial is one that the hub answered at the last moment.
func Ended(r Record, ran Start, order string, e End, now time.Time) Next {
	open := ran.Trial && r.Trial != nil && r.Trial.Order == order
	switch {
	case e.Asked:
		return Next{Code: e.Code}
	case open:
		o := Outcome{Order: order, Stage: message.UpgradeReturned, At: now}
		switch {
		case e.Unstarted != "":
			o.Code, o.Message = message.UpgradeUnusable, "it could not be started: "+e.Unstarted
		case e.Late:
			o.Code, o.Message = message.UpgradeUnheard, "the hub has not answered "+r.Trial.Version+" in time"
		default:
			o.Code, o.Message = message.UpgradeExited, fmt.Sprintf("%s ended with exit code %d before the hub had answered it", r.Trial.Version, e.Code)
		}
		return Next{Again: true, Failed: o}
	case e.Late:
		return Next{Again: true}
	case e.Unstarted != "" && ran.Place.slot():
		return Next{Again: true, Unusable: true}
	case e.Unstarted != "":
		return Next{Code: 1}
	case e.Code == ExitUpgrade && r.Trial != nil && r.Trial.Order != order:
		return Next{Again: true}
	}
	return Next{Code: e.Code}
}

// ExitUpgrade is the exit code of an agent that has put a trial into the record. It is none of those of [protocol.Code], nor
// of systemd and shells.
const ExitUpgrade = 88
