package hubs

import "time"

const (
	// BeatEvery is how often a hub beats.
	BeatEvery = time.Second
	// DeadAfter is for how long a hub may be silent before it is dead.
	DeadAfter = 5 * time.Second
	// DeadBeats is how many beats of the hub that judges are stored meanwhile. A store that takes nothing, as while its
	// servers elect a leader (7 s were seen), silences all: then nobody is dead, since nobody beats.
	DeadBeats = 5
	// SettledAfter is for how long a hub has to be alive before it is given units that another living hub has.
	SettledAfter = 5 * time.Second
	// SettledItself is after how long a hub takes itself for settled. Others have seen it so by then, whose first look at
	// it comes later by a beat on its way and a look: they would take back what it takes.
	SettledItself = SettledAfter + 2*BeatEvery
)

// Life is what is known of another hub.
type Life string

// The lives. A hub that was started, and of which another one has seen no beat yet, is Unseen.
const (
	Unseen Life = "unseen"
	Alive  Life = "alive"
	Dead   Life = "dead"
)

// Sighting is what a hub has seen of another one. Times are since the start of the hub that sees, by its monotonic clock.
type Sighting struct {
	Beat  uint64        // the newest
	Moved bool          // more than one beat was seen of this start
	First time.Duration // when the first was seen
	Last  time.Duration // when the newest was seen
	Own   uint64        // how many beats of the hub that sees were stored then
}

// See is what was seen once another beat is seen. own is how many beats of the hub that sees are stored.
func (s Sighting) See(beat uint64, now time.Duration, own uint64) Sighting {
	if beat == s.Beat && s != (Sighting{}) {
		return s
	}
	if s == (Sighting{}) {
		s.First = now
	} else {
		s.Moved = true
	}
	s.Beat, s.Last, s.Own = beat, now, own
	return s
}

// Judge says whether a hub is alive. own is how many beats of the hub that judges are stored.
//
//	silent for DeadAfter | DeadBeats of one's own since | moved | life
//	yes                  | yes                          | *     | dead
//	*                    | *                            | yes   | alive
//	*                    | *                            | no    | unseen
func Judge(s Sighting, now time.Duration, own uint64) Life {
	switch {
	case now-s.Last >= DeadAfter && own-s.Own >= DeadBeats:
		return Dead
	case s.Moved:
		return Alive
	default:
		return Unseen
	}
}

// Settled reports whether a hub that is alive has been so for long enough to be given what another living one has.
func Settled(s Sighting, now time.Duration) bool { return s.Moved && now-s.First >= SettledAfter }

// Beats reports whether a hub's own beats are stored: the newest was, no longer than DeadAfter ago. Others may take it
// for dead else.
func Beats(last, now time.Duration) bool { return now-last < DeadAfter }
