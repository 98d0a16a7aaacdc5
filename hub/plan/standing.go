package plan

import "rackboot/protocol/resource"

// HoldSeen is what the hub knows of a hold at one moment.
type HoldSeen struct {
	Released bool // in the hub's store
	Laid     bool // a document that names it was acknowledged
	// Report is what the agent says of it; nil if it says nothing.
	Report *resource.HoldReport
	// Softer says that the agent enforces it as soft yet, and that it is hard since.
	Softer bool
	// Dark is whether that is old, Stale whether the read is that it rests on.
	Dark, Stale bool
	// Receipt is one that the rack's agent signed for this hold; nil if there is none.
	Receipt *resource.Receipt
	// Void says that the receipt is of an earlier run of the agent than the one that speaks.
	Void bool
}

// State is where a held server stands. An old word is no knowledge, whatever it
// said: the agent holds the server off, and what somebody does at the server itself
// is not seen. Fenced needs the proof and Confirmed the confirmation; a state that
// this hub does not know says nothing.
//
//	released | says       | dark | stale | receipt | state
//	yes      | *          | *    | *     | *       | Releasing
//	no       | Released   | *    | *     | *       | Releasing
//	no       | nothing    | *    | *     | *       | Enforced if acknowledged, else Accepted
//	no       | *          | yes  | *     | *       | Unreachable
//	no       | known bad  | no   | *     | *       | as it says
//	no       | stopping   | no   | yes   | *       | Stale
//	no       | stopping   | no   | no    | *       | as it says
//	no       | Confirmed  | no   | *     | manual  | Confirmed
//	no       | Confirmed  | no   | *     | *       | Unreachable
//	no       | Fenced     | no   | yes   | *       | Stale
//	no       | Fenced     | no   | no    | proof   | Fenced
//	no       | *          | no   | *     | *       | Enforced
//
// A proof of an earlier run of the agent is void: an agent that has started again proves anew.
// Known bad are Violated and Unreachable, stopping are Stopping and Forcing. A word that
// says nothing of the server's power, or that it rests on somebody's word, is not made
// stale by a read.
func (s HoldSeen) State() resource.HoldState {
	said := s.said()
	proof := s.proved()
	switch {
	case s.Released, said == saidReleased:
		return resource.StateReleasing
	case said == saidNothing && s.Laid:
		return resource.StateEnforced
	case said == saidNothing:
		return resource.StateAccepted
	case s.Dark:
		return resource.StateUnreachable
	case said == saidBad, said == saidStopping && !s.Stale:
		return s.Report.State
	case s.Stale && (said == saidStopping || said == saidFenced):
		return resource.StateStale
	case said == saidConfirmed && s.Receipt != nil && s.Receipt.Manual != nil:
		return resource.StateConfirmed
	case said == saidConfirmed:
		return resource.StateUnreachable
	case proof && said == saidFenced:
		return resource.StateFenced
	}
	return resource.StateEnforced
}

// InForce is the receipt that counts; nil if none does.
func (s HoldSeen) InForce() *resource.Receipt {
	if s.Void {
		return nil
	}
	return s.Receipt
}

// proved says whether the receipt is one that counts.
func (s HoldSeen) proved() bool { return s.Receipt != nil && s.Receipt.Manual == nil && !s.Void }

type said string

const (
	saidNothing   said = "nothing"
	saidReleased  said = "Released"
	saidBad       said = "known bad"
	saidStopping  said = "stopping"
	saidConfirmed said = "Confirmed"
	saidFenced    said = "Fenced"
	saidEnforced  said = "Enforced" // or what this hub does not know
)

func (s HoldSeen) said() said {
	if s.Report == nil {
		return saidNothing
	}
	if s.Report.Released != nil || s.Report.Word == resource.HoldReleased {
		return saidReleased
	}
	switch s.Report.State {
	case resource.StateViolated, resource.StateUnreachable:
		return saidBad
	case resource.StateStopping, resource.StateForcing:
		return saidStopping
	case resource.StateConfirmed:
		return saidConfirmed
	case resource.StateFenced:
		return saidFenced
	case resource.StateAccepted, resource.StateEnforced, resource.StateReleasing, resource.StateStale:
		return saidEnforced
	}
	return saidEnforced
}

// Word is how far the hold has come, as the protocol counts it. Unlike State it does
// not fall when the agent is silent: a proof stays one of its time. A hold that became hard is Accepted until
// the agent has it so, unless the server was proved off.
func (s HoldSeen) Word() resource.HoldWord {
	switch said := s.said(); {
	case s.Released, said == saidReleased:
		return resource.HoldReleased
	case said == saidNothing && !s.Laid:
		return resource.HoldAccepted
	case s.proved() && said == saidFenced:
		return resource.HoldFenced
	case s.Softer:
		return resource.HoldAccepted
	}
	return resource.HoldEnforced
}
