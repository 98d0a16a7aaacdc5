package store

import (
	"maps"
	"slices"
	"time"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
)

// Overview is what the agent's index is made of. Nobody changes what it points to.
type Overview struct {
	Synced   bool
	Replaced bool // another agent serves the rack
	Ended    bool // the hub has ended the agent's term, or another agent of the same disk goes on
	Aside    bool // another agent has the same disk, and nobody has said which goes on
	Standby  bool // it stands by for the agent that serves the rack
	Rack     message.RackIntent
	Intents  []Intent
	Holds    []decide.Hold
	Records  []Standing
}

// Overview says everything that the boot servers' index needs, at one moment, each in order of its key. It reads nothing
// from the disk.
func (s *Servers) Overview() (o Overview, err error) {
	m, done, err := s.disk.mirrored()
	if err != nil {
		return o, err
	}
	defer done()
	as := m.stance()
	return Overview{
		Synced: as.serves, Replaced: m.replaced, Ended: as.over, Aside: as.aside, Standby: as.standby, Rack: m.rack,
		Intents: inOrder(m.intents), Holds: inOrder(m.holds), Records: inOrder(m.standing),
	}, nil
}

// PollInterval is the rack's, 0 before it has said one; it is not read from the disk.
func (s *Servers) PollInterval() time.Duration {
	rack, _, _ := s.disk.mirror.said()
	return rack.PollInterval
}

// Remembered is a server's view as it was last on disk, without a look at the disk and
// without what only the disk has: its record, requests and approvals.
func (s *Servers) Remembered(server string) (v View) {
	m := &s.disk.mirror
	m.mu.RLock()
	defer m.mu.RUnlock()
	as := m.stance()
	v.Rack, v.Synced, v.Ended, v.Aside, v.Standby = m.rack, as.serves, as.over, as.aside, as.standby
	v.Record.Server = server
	if in, there := m.intents[keyIntents+server]; there {
		v.Intent = &in
	}
	for _, key := range slices.Sorted(maps.Keys(m.holds)) {
		if h := m.holds[key]; h.Server == server {
			v.Holds = append(v.Holds, h)
		}
	}
	return v
}
