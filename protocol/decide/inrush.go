package decide

// inrush has a server wait for its place.
type inrush struct {
	d *draft
	s *Snapshot
}

// waits says that a place is needed now, and reports whether it has to be waited for. Nothing is sent then, no grant or
// approval is used, and no time of an attempt runs.
func (ir inrush) waits(need PlaceNeed) bool {
	ir.d.plan.Place = need
	return ir.s.Place.Limited && !ir.s.Place.Has
}

// waited reports whether the server waited for a place in the step before.
func (ir inrush) waited() bool { return !ir.s.Watch.Line.Since.IsZero() }

// settle notes what came of it, once everything was decided.
func (ir inrush) settle() {
	if ir.d.plan.Place == "" {
		ir.d.plan.Place = PlaceNone
		if a := ir.d.rec.Attempt; a.Open() && a.halts(ir.d.watch.Last.Power) {
			ir.d.plan.Place = PlaceKeep
		}
	}
	asks := ir.d.plan.Place == PlaceBegin || ir.d.plan.Place == PlaceSend
	if !asks || !ir.s.Place.Limited || ir.s.Place.Has {
		ir.d.watch.Line = LineWatch{}
		return
	}
	if ir.d.watch.Line.Since.IsZero() {
		ir.d.watch.Line.Since = ir.d.now
	}
	if ir.d.watch.Line.Until = ir.s.Place.Until; !ir.s.Place.Until.IsZero() {
		ir.d.recheckAt(ir.s.Place.Until)
	}
}
