package decide

import (
	"slices"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Aside is how an agent stands whose disk was copied, as it is on its own disk.
type Aside struct {
	// Incarnation is the one for which it stands aside; it is void for another.
	Incarnation string `json:"incarnation"`
	// Self is random, made by this agent when it first heard of the copy: it tells the two apart,
	// also after restarts.
	Self string `json:"self,omitempty"`
	// Taken says that the incarnation is the one that the hub chose for the agent that goes on; it
	// does so when the hub answers that.
	Taken bool `json:"taken,omitempty"`
	// Superseded says that the other one goes on.
	Superseded bool `json:"superseded,omitempty"`
}

// AsideStanding is how an agent stands.
type AsideStanding string

// The ways to stand, in order. Nobody goes from the last one to another.
const (
	AsideNone       AsideStanding = "none"       // no copy of its disk is known
	AsideStands     AsideStanding = "stands"     // it guards holds, and does nothing else
	AsideTaken      AsideStanding = "taken"      // likewise, until the hub has answered the new incarnation
	AsideSuperseded AsideStanding = "superseded" // it does nothing at all
)

// AsideStandings lists all.
func AsideStandings() []AsideStanding {
	return []AsideStanding{AsideNone, AsideStands, AsideTaken, AsideSuperseded}
}

// Standing is how an agent of that incarnation stands.
func (a Aside) Standing(incarnation string) AsideStanding {
	switch {
	case a.Superseded:
		return AsideSuperseded
	case a.Incarnation == "" || a.Incarnation != incarnation:
		return AsideNone
	case a.Taken:
		return AsideTaken
	}
	return AsideStands
}

// AsideAction is what an agent makes of the hub's word of copies.
type AsideAction string

// The actions.
const (
	AsideNothing AsideAction = "nothing"
	AsideStand   AsideAction = "stand"   // write that it stands aside, with a self of its own
	AsideTake    AsideAction = "take"    // take the incarnation that the hub chose for it
	AsideGiveUp  AsideAction = "give up" // write that the other one goes on
)

// whom is whom the hub's word names as the one that goes on.
type whom string

const (
	whomNone  whom = "none"  // nobody yet
	whomSelf  whom = "self"  // this agent
	whomOther whom = "other" // another, or one that this disk does not know to be
)

// OnCopied decides what to make of the hub's word of copies.
func OnCopied(m message.Copied, incarnation string, a Aside) AsideAction {
	standing := a.Standing(incarnation)
	if standing == AsideStands && a.Self == "" {
		standing = AsideNone // it could not be written
	}
	w := whomNone
	if k := m.Kept; k != nil {
		w = whomOther
		if standing == AsideStands && k.Self == a.Self {
			w = whomSelf
		}
	}
	return copiedRule(standing, slices.Contains(m.Incarnations, incarnation), w)
}

// copiedRule is the state machine of an agent whose disk was copied. The first row that fits decides.
//
//	standing   | named | goes on | action
//	superseded | *     | *       | nothing
//	*          | no    | *       | nothing
//	none       | yes   | none    | stand
//	taken      | yes   | none    | stand
//	stands     | yes   | none    | nothing
//	*          | yes   | self    | take
//	*          | yes   | other   | give up
//
// named is that the word is about the agent's present incarnation. An agent that goes on has another
// one: what was said of the copy before, and is played back, is not about it. The hub names an
// incarnation only if it was certain that two have it, so that the word counts whenever it comes.
func copiedRule(s AsideStanding, named bool, goesOn whom) AsideAction {
	switch {
	case s == AsideSuperseded || !named:
		return AsideNothing
	case goesOn == whomSelf:
		return AsideTake
	case goesOn == whomOther:
		return AsideGiveUp
	case s == AsideStands:
		return AsideNothing
	}
	return AsideStand
}

// standby is what is done with a server while the agent stands aside: what holds want, and nothing
// else. Another agent of the same disk may have the server: attempts, requests and stops of others are
// left as they are, nothing expires, and nothing is proved.
type standby struct {
	d *draft
	s *Snapshot
}

func (as standby) guard() {
	d := as.d
	if len(d.rec.Holds.Receipts) > 0 {
		clear(d.rec.Holds.Receipts) // what the other one does was not seen
		d.dirty = true
	}
	d.watch.Proofs = nil
	if d.watch.Last.Power == "" {
		d.recheck(0)
		return
	}
	if goal(goalFacts{held: holdingOf(d.holds), work: d.work}) != GoalKeepOff {
		return
	}
	if d.rec.Attempt.Open() {
		attempts(as).abandon(whyNot(GoalKeepOff, false, askedNothing), resource.AttemptWithdrawn)
	}
	mode, timeout := stops(as).holdMode()
	stops(as).advance(mode, timeout)
}

// PermitsAside says whether an agent that stands aside may do this to a server on which holds lie.
func PermitsAside(k ActionKind, held bool) bool {
	return held && (k == ActForceOff || k == ActGraceful)
}
