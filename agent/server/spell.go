package server

import (
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// unrecorded decides about a server about which nothing can be recorded, by a read of now. blind
// says that its record could not be read either.
func (s *steps) unrecorded(v store.View, read *protocol.Observation, blind bool, now time.Time) decide.Unrecorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	if blind {
		v.Record = s.recorded
	}
	frozen := s.cfg.Guard.Frozen()
	if frozen {
		v.Record.Holds.Receipts = map[string]resource.Receipt{}
		for _, id := range s.cfg.Guard.Proved(s.server) {
			v.Record.Holds.Receipts[id] = resource.Receipt{HoldID: id}
		}
	}
	snap := decide.Snapshot{
		Server: s.server, Ended: v.Rests(), Holds: v.Holds, Firmware: v.Intent.Firmware, HubTime: s.cfg.Hub.Time(), Settings: settings(v.Rack),
		Bulk: s.unnoted.bulk(s.cfg.Bulk, v, s.cfg.Clock()), Record: v.Record, Observation: read,
	}
	if blind || frozen {
		snap.Bulk.Others = max(snap.Bulk.Others, snap.Bulk.Bound) // how many there were is on disk
	}
	o, _ := s.cfg.Guard.Overlay(s.server)
	plan := decide.StopUnrecorded(now, v.Synced && !s.cfg.Hub.Dismissed(), snap, o)
	s.cfg.Guard.Note(s.server, plan.Overlay)
	if plan.Runs {
		s.teller.withdraw(*plan.Overlay.Ran, v.Record.Holds.Receipts)
	}
	return plan
}

// catchUp records what happened in guard mode, before anything else is decided. It needs s.mu.
func (s *steps) catchUp() error {
	o, owed := s.cfg.Guard.Overlay(s.server)
	if !owed {
		return nil
	}
	_, err := s.take(waiting{}, func(snap *decide.Snapshot) { // what waits is for the step itself
		snap.Overlay, snap.Passive = &o, true
	})
	if err == nil {
		s.cfg.Guard.Folded(s.server)
		s.unnoted.drop(s.server)
	}
	return err
}
