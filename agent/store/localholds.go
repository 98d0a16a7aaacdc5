package store

import (
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// LocalHolds reads what a database has of holds that were placed at the agent, or that no document of the hub named last.
// It writes nothing, and needs no [Open]: the disk may be of a host that is to do nothing any more.
func LocalHolds(db state.Store) (holds []resource.ActiveHold, err error) {
	err = db.View(func(t state.Txn) error {
		lie, err := scan[decide.Hold](t, keyHolds)
		for _, h := range lie {
			if h.Local || h.Missing {
				holds = append(holds, h.ActiveHold)
			}
		}
		return err
	})
	if err != nil {
		return nil, failing("read the holds", err)
	}
	return holds, nil
}
