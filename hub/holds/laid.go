package holds

import (
	"rackboot/hub/events"
	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Laid notes the holds of a hold document that its agent has acknowledged: they are
// Enforced from then on, and people need not wait for the report that says so too.
func (r *Room) Laid(agent string, d message.HoldDoc) {
	laid := map[string]bool{}
	for _, h := range d.Holds {
		laid[h.ID] = true
		if !r.cfg.Reports.Enforced(agent, h.ID) {
			r.enforcedNow(h.ID)
		}
	}
	r.cfg.Reports.Lay(agent, laid)
}

// enforcedNow measures how long a hold took to the agent's disk. What an earlier run
// of the hub accepted, or an agent, is not known to have been on its way.
func (r *Room) enforcedNow(id string) {
	h, err := store.Peek[*resource.Hold](r.cfg.Store.Objects, id)
	if err != nil || h.Metadata.CreatedAt == nil || h.Metadata.CreatedAt.Before(r.cfg.Began) || h.Metadata.Annotations[events.AnnotationAdopted] != "" {
		return
	}
	if !r.cfg.Reports.FirstTime(id) {
		return // on another disk of the agent
	}
	r.enforced.Observe(r.cfg.Clock().Sub(*h.Metadata.CreatedAt).Seconds())
}
