package decide

import (
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// halting is how far the stop of a held server has come.
type halting string

const (
	haltingNone   halting = "none"
	haltingSoft   halting = "soft"
	haltingForced halting = "forced"
)

// HoldStands is where a held server stands by the record and the reads of a plan,
// for people, and why it is not further.
func HoldStands(h Hold, r Record, w Watch, f *resource.FirmwareWork, settle time.Duration) (resource.HoldState, string) {
	s, have, halts := sightOf(&r, &w, w.Last.ReadAt, settle), r.proof(h.ID), haltingNone
	at, violated := r.Holds.Violated[h.ID]
	if st := r.Stop; st != nil {
		if halts = haltingSoft; !st.Forced.IsZero() {
			halts = haltingForced
		}
	}
	state := standRule(s, have, violated, halts)
	var why string
	switch state {
	case resource.StateConfirmed:
		if c := r.Holds.Manual[h.ID].Manual; c != nil {
			why = fmt.Sprintf("on the word of %s: %s", c.By, c.Reason)
		}
		return state, why
	case resource.StateUnreachable:
		why = w.Last.Error
	case resource.StateViolated:
		why = "it ran under the hold at " + at.UTC().Format(time.RFC3339)
	case resource.StateEnforced, resource.StateStopping, resource.StateForcing:
		for _, k := range []ActionKind{ActGraceful, ActForceOff} {
			if refused, ok := w.Refused[k]; ok {
				why = fmt.Sprintf("%s: %s", k, refused.Message)
			}
		}
	case resource.StateFenced, resource.StateAccepted, resource.StateReleasing, resource.StateStale:
		return state, ""
	}
	switch {
	case r.Stop != nil && r.Stop.Waits:
		return state, "waits for an approval: more servers are to be forced off than may be without"
	case w.Waiting && f != nil:
		return state, workText(f)
	case h.ConfirmedDown != nil && have == proofNone && s != sightUnread && w.Last.Power != protocol.PowerUnreachable:
		return state, "confirmed down by " + h.ConfirmedDown.By + ", which counts only while the BMC does not answer"
	}
	return state, why
}

// standRule is the table of states. The first row that fits decides.
//
//	sight   | have   | violated | stop   | state
//	unread  | manual | *        | *      | Confirmed
//	unread  | *      | yes      | *      | Violated
//	unread  | *      | no       | *      | Enforced
//	silent  | manual | *        | *      | Confirmed
//	silent  | *      | *        | *      | Unreachable
//	unknown | manual | *        | *      | Confirmed
//	unknown | *      | *        | *      | Unreachable
//	off     | proof  | *        | *      | Fenced
//	runs    | proof  | *        | *      | Violated
//	runs    | manual | *        | *      | Violated
//	*       | *      | yes      | *      | Violated
//	off     | manual | no       | *      | Confirmed
//	*       | *      | no       | forced | Forcing
//	*       | *      | no       | *      | Stopping
//
// Fenced needs both a proof and a last read of Off: a proof whose server cannot be
// read any more is still valid, and is in the report, but nobody is told that all is
// well. A server that reads Off without a proof is still being stopped.
func standRule(s sight, have proof, violated bool, halts halting) resource.HoldState {
	switch s {
	case sightUnread, sightSilent, sightUnknown:
		switch {
		case have == proofWord:
			return resource.StateConfirmed
		case s != sightUnread:
			return resource.StateUnreachable
		case violated:
			return resource.StateViolated
		}
		return resource.StateEnforced
	case sightOff, sightRuns:
	}
	switch {
	case s == sightOff && have == proofReads:
		return resource.StateFenced
	case s == sightRuns && have != proofNone, violated:
		return resource.StateViolated
	case have == proofWord:
		return resource.StateConfirmed
	case halts == haltingForced:
		return resource.StateForcing
	}
	return resource.StateStopping
}
