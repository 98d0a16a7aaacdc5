package store

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// System is one of the systems behind the BMC; an empty path is the only one. It is nil where there is none.
func (v *Inventory) System(uri string) *protocol.Inventory {
	for i := range v.Systems {
		if v.Systems[i].SystemURI == uri || uri == "" && len(v.Systems) == 1 {
			return &v.Systems[i]
		}
	}
	return nil
}

// AgentOf is the agent that serves a server's rack; nil without one.
func (s *Store) AgentOf(server string) *resource.Agent {
	rack, err := s.RackOf(server)
	if err != nil {
		return nil
	}
	r, err := Peek[*resource.Rack](s, rack)
	if err != nil || r.Status.Agent == "" {
		return nil
	}
	a, err := Peek[*resource.Agent](s, r.Status.Agent)
	if err != nil {
		return nil
	}
	return a
}
