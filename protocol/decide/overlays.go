package decide

import (
	"maps"
	"slices"
)

// overlays folds what happened in guard mode.
type overlays struct {
	d *draft
	s *Snapshot
}

// fold puts it into the record. What was proved before is void: nobody watched the server who
// could have written down that it ran.
func (ov overlays) fold(o Overlay) {
	if o.Ran != nil {
		all := ov.d.holds
		ov.d.holds = slices.DeleteFunc(slices.Clone(all), func(h Hold) bool { return h.EnforcedAt.After(o.Ran.StartedAt) }) // it came later
		sightings(ov).observe(*o.Ran)
		ov.d.holds = all
	}
	proofs(ov).unrecorded()
	if !o.Forced.IsZero() {
		stops(ov).unrecorded(o)
	}
}

// unrecorded takes all proofs back.
func (pf proofs) unrecorded() {
	pf.parted()
	for _, id := range slices.Sorted(maps.Keys(pf.d.rec.Holds.Receipts)) {
		pf.void(id, voidGuard, "the agent was in guard mode, and could not record what it read")
	}
}
