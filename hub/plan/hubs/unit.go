package hubs

import (
	"crypto/sha256"
	"slices"
)

// Member is a hub that is alive, as another one sees it, or that itself.
type Member struct {
	Name     string // stays over restarts
	Run      string // of this start
	Settled  bool
	Draining bool // it wants no work: it hears no agents
}

// View is what a hub knows of itself and of others.
type View struct {
	Self    Member
	Beats   bool            // its own beats are stored; see [Beats]
	Others  []Member        // those that are alive
	Unknown map[string]bool // starts of which it is not known yet whether they are alive
}

// First is the name of the hub that should own a unit: of those that are settled and do not drain the one with the
// highest hash of its name and the unit's (rendezvous hashing; Thaler and Ravishankar, 1998). So each hub that comes or
// goes moves only what is its own. Of hubs that all drain, as without a broker, or are not settled, it is empty: who has
// the unit keeps it.
func First(unit string, members []Member) string {
	best, first := "", ""
	for _, m := range members {
		if !m.Settled || m.Draining {
			continue
		}
		sum := sha256.Sum256([]byte(unit + "\x00" + m.Name))
		if n := string(sum[:]); n > best {
			best, first = n, m.Name
		}
	}
	return first
}

// Verdict is what a hub does about a unit.
type Verdict string

// The verdicts.
const (
	// Works is that it owns the unit and works it.
	Works Verdict = "works"
	// Pauses is that it owns the unit, and others may hold it for dead: it begins nothing.
	Pauses Verdict = "pauses"
	// Takes is that it takes the unit.
	Takes Verdict = "takes"
	// Waits is that another one has it or is to have it.
	Waits Verdict = "waits"
)

// Decide says what a hub does about a unit whose record names owner, the start of a hub, empty for nobody. A hub goes on
// with what it owns until another one has taken it: so a unit is never without one while a hub leaves.
//
//	its own | beats | first | owner is known | verdict
//	yes     | no    | *     | *              | pauses
//	yes     | yes   | *     | *              | works
//	no      | yes   | yes   | yes            | takes
//	no      | *     | *     | *              | waits
func Decide(unit, owner string, v View) Verdict {
	own := owner == v.Self.Run
	first := First(unit, append(slices.Clone(v.Others), v.Self)) == v.Self.Name
	switch {
	case own && !v.Beats:
		return Pauses
	case own:
		return Works
	case v.Beats && first && !v.Unknown[owner]:
		return Takes
	default:
		return Waits
	}
}
