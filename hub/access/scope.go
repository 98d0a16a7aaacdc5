package access

import (
	"maps"
	"slices"
	"strings"
)

// Labels are those of one place: a rack's, or a server's with its rack's where it has
// none of its own. Nil is a place that is not known, which no scope covers.
type Labels = map[string]string

// Scope is where a caller may do something: every place whose labels all match. The
// empty Scope is everywhere, also what is in no place.
type Scope struct {
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

// Everywhere says whether the scope leaves nothing out.
func (s Scope) Everywhere() bool { return len(s.MatchLabels) == 0 }

// covers says whether one place is in the scope.
func (s Scope) covers(place Labels) bool {
	for k, v := range s.MatchLabels {
		if have, ok := place[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// String is "everything", or the labels as k=v, sorted.
func (s Scope) String() string {
	if s.Everywhere() {
		return "everything"
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		parts = append(parts, k+"="+s.MatchLabels[k])
	}
	return strings.Join(parts, ",")
}

// extent is how much of a target a scope covers.
type extent string

const (
	inside  extent = "inside"
	partly  extent = "partly"
	outside extent = "outside" // also what is in no place
)

func (s Scope) extent(places []Labels) extent {
	in := 0
	for _, p := range places {
		if s.covers(p) {
			in++
		}
	}
	switch {
	case in == 0:
		return outside
	case in < len(places):
		return partly
	}
	return inside
}
