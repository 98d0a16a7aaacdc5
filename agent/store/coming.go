package store

import (
	"fmt"
	"time"

	"rackboot/agent/guard"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// adopt enforces the holds that the guard set has and the store does not: a write of them was cut
// short, or refused in guard mode. The caller's transaction is to be on disk before anything is
// decided.
func adopt(t state.Txn, g Guard, events *Events) (adopted []string, err error) {
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
			_, released, err := get[tombstone](t, tombstoneKey(h.ID))
			if err != nil {
				return nil, err
			}
			if lies || released {
				continue
			}
			if err := put(t, keyHolds+server+"/"+h.ID, h); err != nil {
				return nil, err
			}
			adopted = append(adopted, server)
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

// Coming are holds of a server that are guarded and could not be recorded.
func (s *Servers) Coming(server string) (holds []decide.Hold) {
	if s.disk.guard == nil {
		return nil
	}
	for _, raw := range s.disk.guard.Coming(server) {
		if h, err := decode[decide.Hold](keyHolds+server, raw); err == nil {
			holds = append(holds, h)
		}
	}
	return holds
}

// Return is what is recorded first when a guard mode is over: that it was, and the holds that
// came in it. held are the servers of those.
func (s *Store) Return(m guard.Mode, now time.Time) (held []string, err error) {
	happened := []resource.Event{{At: m.Since, Code: resource.EventGuardMode, Message: "began: " + m.Cause}}
	if m.Accepted != "" {
		happened = append(happened, resource.Event{At: now, Code: resource.EventLossAccepted, Message: m.Accepted})
	}
	happened = append(happened, resource.Event{At: now, Code: resource.EventGuardMode, Message: "over after " + now.Sub(m.Since).Round(time.Second).String()})
	err = s.disk.update(func(t state.Txn) (err error) {
		if held, err = adopt(t, s.disk.guard, s.Events); err != nil {
			return err
		}
		return s.Events.appendAll(t, happened)
	})
	return held, err
}
