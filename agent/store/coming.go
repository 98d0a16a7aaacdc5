package store

import (
	"fmt"

	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// adopt enforces the holds that the guard set has and the store does not: a write of them was cut
// short, or refused in guard mode. The caller's transaction is to be on disk before anything is
// decided. Of an agent that stands by they are copies, as its other holds.
func adopt(t state.Txn, g Guard, events *Events) (adopted []string, err error) {
	_, copied, err := get[bool](t, keyStandby)
	if err != nil {
		return nil, err
	}
	for _, server := range g.Newcomers() {
		for _, raw := range g.Coming(server) {
			h, err := decode[decide.Hold](keyHolds+server, raw)
			if err != nil {
				return nil, err
			}
			_, lies, err := get[decide.Hold](t, keyHolds+server+"/"+h.ID)
			if err != nil {
				return nil, err
			}
			_, released, err := get[tombstone](t, keyReleased+h.ID)
			if err != nil {
				return nil, err
			}
			if lies || released {
				continue
			}
			if err := put(t, keyHolds+server+"/"+h.ID, h); err != nil {
				return nil, err
			}
			if adopted = append(adopted, server); copied {
				continue
			}
			if err := events.append(t, resource.Event{
				At: h.EnforcedAt, Server: server, Code: resource.EventHoldEnforced,
				Message: fmt.Sprintf("hold %s by %s, %s, guarded until it could be recorded", h.ID, h.Owner, h.Mode),
			}); err != nil {
				return nil, err
			}
		}
	}
	return adopted, nil
}
