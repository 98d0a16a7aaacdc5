package sim

import "rackboot/protocol/api"

// Client asks the hub as its admin.
func (s *Stage) Client() *api.Client { return s.d.site.client }

// Server is a simulated server by its name; nil is none.
func (s *Stage) Server(name string) *Server {
	for _, one := range s.d.rack.servers {
		if one.Name == name {
			return one
		}
	}
	return nil
}
