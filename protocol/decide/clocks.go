package decide

import "time"

// ClockSnapshot is what an agent knows of the time. A zero time is unknown.
type ClockSnapshot struct {
	// Own is the host's clock.
	Own time.Time
	// Built is when the program was built: no right clock is before it.
	Built time.Time
	// Begin is the start of the agent's certificate: what the hub's clock showed once.
	Begin time.Time
	// Floor is the latest time that two sources agreed to have passed, and the time that
	// the process has run since.
	Floor time.Time
	// Expected is what both clocks showed when they last agreed in this run, and the time
	// that the process has run since. Floor may be of an earlier run; this is not.
	Expected time.Time
	// Hub is the hub's clock by its signed words, as long as these are fresh.
	Hub time.Time
	// Steady says that several words of the hub, spread over minutes, kept the same distance
	// from Own.
	Steady bool
}

// ClockSource says where a time comes from.
type ClockSource string

// The sources.
const (
	ClockOwn   ClockSource = "own"
	ClockFloor ClockSource = "floor" // the latest of Built, Floor and Begin
	ClockHub   ClockSource = "hub"
)

// ClockOff says whose clock is wrong.
type ClockOff string

// Whose clock is wrong.
const (
	ClockOffNone        ClockOff = "none"
	ClockOffAgentBehind ClockOff = "agent-behind"
	ClockOffAgentAhead  ClockOff = "agent-ahead"
	ClockOffHubBehind   ClockOff = "hub-behind"
	ClockOffHubAhead    ClockOff = "hub-ahead"
	ClockOffUnsure      ClockOff = "unsure" // they differ, and nothing tells which is right
)

// ClockOffs lists them.
func ClockOffs() []ClockOff {
	return []ClockOff{ClockOffNone, ClockOffAgentBehind, ClockOffAgentAhead, ClockOffHubBehind, ClockOffHubAhead, ClockOffUnsure}
}

// ClockPlan is what an agent makes of its clocks.
type ClockPlan struct {
	// Now is the time by which certificates are judged.
	Now    time.Time
	Source ClockSource
	// Other is another time that may be right; zero is none. Nothing but the link is tried
	// with it, and only while Now leads nowhere: what comes by the link is signed.
	Other time.Time
	// Floor is the next floor. Lowered says that it is earlier than the present one.
	Floor   time.Time
	Lowered bool
	// Agreed says that both clocks show the same, by several words: Own is to be Expected.
	Agreed bool
	// Off is whose clock is wrong, and By how much: Own less what it is compared with.
	Off ClockOff
	By  time.Duration
}

// ClockSlack is how far two right clocks may be apart.
const ClockSlack = 2 * time.Minute

// Clocks decides what time it is. No source moves the floor alone: a hub whose clock is
// wrong can neither raise it beyond the host's clock, nor can the host's clock raise it
// beyond the hub's.
func Clocks(s ClockSnapshot) ClockPlan {
	own, hub := ownOf(s), hubOf(s)
	p := ClockPlan{Source: clockNow(own, hub, s.Steady), Floor: s.Floor, Off: clockOff(own, hub, paceOf(s, own))}
	floor := latest(s.Built, s.Floor, s.Begin)
	switch p.Source {
	case ClockOwn:
		p.Now, p.Other = s.Own, floor
	case ClockFloor:
		p.Now, p.Other = floor, s.Own
	case ClockHub:
		p.Now, p.Other = latest(s.Built, s.Floor, s.Hub), floor
	}
	if sure := latest(s.Built, s.Floor); own == ownBroken || own == ownOld && p.Source == ClockFloor && s.Begin.After(sure) {
		p.Other = sure // the host's clock is no help; the certificate's beginning may be none either
	}
	if p.Other.Equal(p.Now) {
		p.Other = time.Time{}
	}
	both := s.Own
	if s.Hub.Before(both) {
		both = s.Hub
	}
	switch clockFloor(own, hub, s.Steady) {
	case floorRaise:
		p.Floor = latest(s.Floor, both)
	case floorLower:
		p.Floor, p.Lowered = both, true
	case floorKeep:
	}
	p.Agreed = hub == hubSame && s.Steady && p.Source == ClockOwn
	switch {
	case p.Off == ClockOffNone:
	case hub == hubLater || hub == hubEarlier:
		p.By = s.Own.Sub(s.Hub)
	default:
		p.By = s.Own.Sub(floor)
	}
	return p
}

func latest(times ...time.Time) (t time.Time) {
	for _, o := range times {
		if o.After(t) {
			t = o
		}
	}
	return t
}

// ownClock is how the host's clock compares with what has passed.
type ownClock string

const (
	ownOK     ownClock = "ok"
	ownEarly  ownClock = "early"  // before the certificate's beginning: one word of the hub
	ownOld    ownClock = "old"    // before the floor
	ownBroken ownClock = "broken" // before the program was built
)

func ownOf(s ClockSnapshot) ownClock {
	by := s.Own.Add(ClockSlack)
	switch {
	case by.Before(s.Built):
		return ownBroken
	case by.Before(s.Floor):
		return ownOld
	case by.Before(s.Begin):
		return ownEarly
	}
	return ownOK
}

// hubsClock is how the hub's clock compares with the host's.
type hubsClock string

const (
	hubNone    hubsClock = "none"
	hubSame    hubsClock = "same"
	hubLater   hubsClock = "later"
	hubEarlier hubsClock = "earlier"
)

func hubOf(s ClockSnapshot) hubsClock {
	switch d := s.Hub.Sub(s.Own); {
	case s.Hub.IsZero():
		return hubNone
	case d > ClockSlack:
		return hubLater
	case d < -ClockSlack:
		return hubEarlier
	}
	return hubSame
}

// pace is which clock goes on as expected; the other one was set.
type pace string

const (
	paceNone pace = "none" // unknown, or neither, or both
	paceOwn  pace = "own"
	paceHub  pace = "hub"
)

func paceOf(s ClockSnapshot, own ownClock) pace {
	if s.Hub.Add(ClockSlack).Before(latest(s.Built, s.Floor)) {
		if own == ownOK || own == ownEarly {
			return paceOwn
		}
		return paceNone
	}
	if s.Expected.IsZero() {
		return paceNone
	}
	near := func(t time.Time) bool { return t.Sub(s.Expected).Abs() <= ClockSlack }
	switch o, h := near(s.Own), near(s.Hub); {
	case o && !h:
		return paceOwn
	case h && !o:
		return paceHub
	}
	return paceNone
}

// clockNow is the table of the time that is believed. The first row that fits decides.
//
//	own    | hub   | steady | now
//	ok     | *     | *      | own
//	broken | later | yes    | hub
//	broken | *     | *      | floor
//	early  | same  | yes    | own
//	early  | later | yes    | hub
//	early  | *     | *      | floor
//	old    | same  | yes    | own
//	old    | later | yes    | hub
//	old    | *     | *      | floor
//
// Two clocks that agree for minutes outvote what was written down once, but not the time
// at which the program was built.
func clockNow(own ownClock, hub hubsClock, steady bool) ClockSource {
	switch {
	case own == ownOK:
		return ClockOwn
	case hub == hubLater && steady:
		return ClockHub
	case hub == hubSame && steady && own != ownBroken:
		return ClockOwn
	}
	return ClockFloor
}

// floorAct is what becomes of the floor.
type floorAct string

const (
	floorKeep  floorAct = "keep"
	floorRaise floorAct = "raise" // to the earlier one of both clocks, if that is later
	floorLower floorAct = "lower" // to the earlier one of both clocks
)

// clockFloor is the table of the floor. The first row that fits decides.
//
//	own    | hub  | steady | floor
//	*      | none | *      | keep
//	*      | *    | no     | keep
//	broken | *    | yes    | keep
//	old    | same | yes    | lower
//	old    | *    | yes    | keep
//	early  | *    | yes    | raise
//	ok     | *    | yes    | raise
func clockFloor(own ownClock, hub hubsClock, steady bool) floorAct {
	switch {
	case hub == hubNone || !steady || own == ownBroken:
		return floorKeep
	case own == ownOld && hub == hubSame:
		return floorLower
	case own == ownOld:
		return floorKeep
	}
	return floorRaise
}

// clockOff is the table of blame. The first row that fits decides.
//
//	own    | hub     | pace | off
//	broken | *       | *    | agent-behind
//	old    | same    | *    | none
//	old    | *       | *    | agent-behind
//	early  | none    | *    | unsure
//	ok     | none    | *    | none
//	*      | same    | *    | none
//	*      | later   | own  | hub-ahead
//	*      | later   | hub  | agent-behind
//	*      | later   | none | unsure
//	*      | earlier | own  | hub-behind
//	*      | earlier | hub  | agent-ahead
//	*      | earlier | none | unsure
//
// Where both clocks are before the floor and agree, it is the floor that is wrong.
func clockOff(own ownClock, hub hubsClock, p pace) ClockOff {
	switch {
	case own == ownBroken, own == ownOld && hub != hubSame:
		return ClockOffAgentBehind
	case hub == hubSame, own == ownOK && hub == hubNone:
		return ClockOffNone
	case hub == hubNone, p == paceNone:
		return ClockOffUnsure
	case hub == hubLater && p == paceOwn:
		return ClockOffHubAhead
	case hub == hubLater:
		return ClockOffAgentBehind
	case p == paceOwn:
		return ClockOffHubBehind
	}
	return ClockOffAgentAhead
}
