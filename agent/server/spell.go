package server

import (
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// spell is what a server's loop remembers while nothing can be recorded; it is lost with
// the process.
type spell struct {
	decide.Spell
	// ran is the first read that showed the held server running. It is folded before
	// anything else once there is room: what was proved before it is void.
	ran *protocol.Observation
}

// unrecorded decides about a server whose step could not be put on disk, by a read of now.
// blind says that its record could not be read either.
func (s *steps) unrecorded(v store.View, read *protocol.Observation, blind bool, now time.Time) decide.Unrecorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	if blind {
		v.Record = s.recorded
	}
	snap := decide.Snapshot{
		Server: s.server, Ended: v.Rests(), Holds: v.Holds, Firmware: v.Intent.Firmware, HubTime: s.cfg.Hub.Time(), Settings: settings(v.Rack),
		Bulk: s.unnoted.bulk(s.cfg.Bulk, v, s.cfg.Clock()), Record: v.Record, Observation: read,
	}
	if blind {
		snap.Bulk.Others = max(snap.Bulk.Others, snap.Bulk.Bound) // how many there were is on disk
	}
	plan := decide.StopUnrecorded(now, v.Synced && !s.cfg.Hub.Dismissed(), snap, s.spell.Spell)
	s.spell.Spell = plan.Spell
	if plan.Runs && s.spell.ran == nil {
		s.spell.ran = read
	}
	if plan.Runs {
		s.teller.withdraw(*s.spell.ran)
	}
	return plan
}

// catchUp records what happened in a spell, before anything else is decided. It needs s.mu.
func (s *steps) catchUp() error {
	if s.spell.ran == nil {
		return nil
	}
	_, err := s.take(waiting{}, func(snap *decide.Snapshot) { // what waits is for the step itself
		snap.Observation, snap.Forced, snap.Passive = s.spell.ran, s.spell.Forced, true
	})
	if err == nil {
		s.spell = spell{}
		s.unnoted.drop(s.server)
	}
	return err
}
