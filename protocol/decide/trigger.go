package decide

import (
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// bootedFor is what a server boots by its intent; zero without a claim. What comes on by
// itself during a discovery is not the discovery's.
func bootedFor(in *message.ServerIntent) Booted {
	if in == nil || discovering(in) {
		return Booted{}
	}
	b := Booted{OwnerUID: in.Owner.UID}
	if in.Boot != nil {
		b.Digest = in.Boot.Image.Digest
	}
	return b
}

// PoweredOn is LastPoweredOn, if it was for the intent's claim and image; else zero:
// a time of another image says nothing of this one (seed 002). So do records of
// releases that did not note what it was for.
func (r *Record) PoweredOn(in *message.ServerIntent) time.Time {
	if r.Booted == nil || *r.Booted != bootedFor(in) {
		return time.Time{}
	}
	return r.LastPoweredOn
}

// triggered is what a hold or a reboot, present or past, wants of a server's power.
type triggered string

const (
	triggerNone triggered = "none" // what goal says
	triggerOff  triggered = "off"
	triggerOn   triggered = "on" // as its claim prescribes
)

// triggerRule is the three predicates of seed 002. The first row that fits decides.
//
//	asked | power | pending | claim | mark | power
//	yes   | on    | no      | *     | yes  | off
//	yes   | on    | yes     | *     | no   | off
//	no    | on    | yes     | On    | no   | off
//	no    | on    | yes     | Off   | no   | off
//	no    | off   | yes     | On    | no   | on
//	*     | *     | *       | *     | no   | none
//
// asked is a hold, or a one-shot that has not stopped the server yet. pending is
// that pendingRebootSince is later than lastPoweredOn; it is kept as a mark, because
// the clock may be set between the two. mark sets pendingRebootSince to now: the
// seed's first predicate. Rows with off are its second: what was asked of a running
// server is done, whatever its claim says and even if it is not asked any more; but
// a server without a claim is left alone then, because nobody would start it again.
// The row with on is the third; lastPoweredOn is set when the server was seen to run.
func triggerRule(asked bool, power running, pending bool, claim resource.Power) (mark bool, to triggered) {
	switch {
	case asked && power == isOn:
		return !pending, triggerOff
	case asked || !pending || claim == "":
		return false, triggerNone
	case power == isOn:
		return false, triggerOff
	case power == isOff && claim == resource.WantOn:
		return false, triggerOn
	}
	return false, triggerNone
}
