package top

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rackboot/protocol/natural"
)

// order is how rows are sorted.
type order int

// The orders, in that in which s goes through them. Names are in the order that people count in.
const (
	worstFirst  order = iota // by level, then by name
	byName                   // by name
	byRack                   // by rack, then worst first
	longestWait              // what has waited longest, then those that wait for nothing, by name
	orders
)

// String is what the screen says of an order.
func (o order) String() string {
	switch o {
	case worstFirst:
		return "worst first"
	case byName:
		return "by name"
	case byRack:
		return "by rack"
	case longestWait:
		return "longest wait"
	case orders:
	}
	return ""
}

// compare orders two rows.
func (o order) compare(a, b row) int {
	name := func() int { return natural.Compare(a.name, b.name) }
	switch o {
	case worstFirst:
		return cmp.Or(cmp.Compare(b.level, a.level), name())
	case byRack:
		return cmp.Or(natural.Compare(a.rack, b.rack), cmp.Compare(b.level, a.level), name())
	case longestWait:
		return cmp.Or(compareWaits(a.waits, b.waits), name())
	case byName, orders:
	}
	return name()
}

// compareWaits has the earlier time first, and none last.
func compareWaits(a, b time.Time) int {
	switch {
	case a.IsZero() && b.IsZero():
		return 0
	case a.IsZero():
		return 1
	case b.IsZero():
		return -1
	}
	return a.Compare(b)
}

// among are the rows that a filter finds and that are in a rack (empty: in any), in order. A filter finds
// rows that have all its words, each anywhere in name, rack, phase, claim or codes of conditions.
func among(all []row, filter, rack string, o order) []row {
	words := strings.Fields(strings.ToLower(filter))
	out := make([]row, 0, len(all))
	for _, r := range all {
		if (rack == "" || r.rack == rack) && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(r.words, w) }) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, o.compare)
	return out
}
