package store

import (
	"slices"

	"rackboot/agent/guard"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// LocalHolds reads what a database and its guard set have of holds that were placed at the agent, or that no document of
// the hub named last; of the guard set those that could not be recorded. It writes nothing, and needs no [Open]: the disk
// may be of a host that is to do nothing any more.
func LocalHolds(db state.Store, set guard.Set) (holds []resource.ActiveHold, err error) {
	take := func(h decide.Hold) {
		if (h.Local || h.Missing) && !slices.ContainsFunc(holds, func(o resource.ActiveHold) bool { return o.ID == h.ID }) {
			holds = append(holds, h.ActiveHold)
		}
	}
	err = db.View(func(t state.Txn) error {
		lie, err := scan[decide.Hold](t, keyHolds)
		if err != nil {
			return err
		}
		for _, h := range lie {
			take(h)
		}
		return coming(t, set, take)
	})
	if err != nil {
		return nil, failing("read the holds", err)
	}
	return holds, nil
}

// coming are the holds of a guard set that are not known to be in the store, and were not released there.
func coming(t state.Txn, set guard.Set, take func(decide.Hold)) error {
	for server, s := range set.Servers {
		for id, v := range s.Holds {
			if !v.Coming {
				continue
			}
			h, err := decode[decide.Hold](keyHolds+server, v.Value)
			if err != nil {
				return err
			}
			_, released, err := get[tombstone](t, keyReleased+id)
			if err != nil {
				return err
			}
			if !released {
				take(h)
			}
		}
	}
	return nil
}
