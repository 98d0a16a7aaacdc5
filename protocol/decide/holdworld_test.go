package decide

import (
	"fmt"
	"slices"

	"rackboot/protocol/resource"
)

func (w *world) hold(mode resource.StopMode) {
	w.place(resource.ActiveHold{HoldSpec: resource.HoldSpec{HoldTerms: resource.HoldTerms{Mode: mode}}})
}

// place enforces a hold with the given terms.
func (w *world) place(h resource.ActiveHold) (id string) {
	w.ids++
	w.w.orders++
	h.ID, h.Server, h.Key = fmt.Sprintf("hold-%d", w.ids), "server-1", "k"
	w.holds = append(slices.Clone(w.holds), Hold{EnforcedAt: w.clock(), ActiveHold: h})
	w.enforced[h.ID] = w.now
	w.poke()
	return h.ID
}
