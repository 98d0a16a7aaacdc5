package reports

import (
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Rack is what the hub's store says of an agent's rack. An agent can only speak of its own
// rack's servers.
type Rack struct {
	// Changes counts what was changed that Has may depend on.
	Changes uint64
	// Has reports whether a server is in the rack.
	Has func(server string) bool
}

// shard is what a session told of the servers that are reported together.
type shard struct {
	seq     uint64    // of the last report that was taken over
	whole   uint64    // of the last one with Servers
	taken   time.Time // when one was last taken over as if all of it was news
	changes uint64    // of the rack, at which servers are what it has
	servers []member  // of the last report with Servers, in its order
}

// member is a server of a report.
type member struct {
	name  string
	sight *sight // nil where the server is not in the agent's rack
}

// members takes which servers a report with Servers has. Those that the last one had in the same
// place are what they were as long as nothing has changed in the rack.
func (sh *shard) members(servers []resource.ServerReport, rack Rack, see func(server string) *sight) {
	was := sh.servers
	if sh.changes != rack.Changes {
		was = nil
	}
	now := make([]member, len(servers))
	for i, s := range servers {
		if i < len(was) && was[i].name == s.Server {
			now[i] = was[i]
			continue
		}
		now[i] = member{name: s.Server}
		if rack.Has(s.Server) {
			now[i].sight = see(s.Server)
		}
	}
	sh.changes, sh.servers = rack.Changes, now
}

// due reports whether a report is to be taken over as if all of it was news, once.
func (sh *shard) due(now time.Time) bool {
	if now.Sub(sh.taken) < wholeEvery {
		return false
	}
	sh.taken = now
	return true
}

// stands reports whether the shard is what a report says once more. A server that left the rack is
// left out from now on; one that came must be told of.
func (sh *shard) stands(r message.Report, rack Rack) bool {
	if sh.whole == 0 || sh.whole < r.As || len(r.Reads) != len(sh.servers) {
		return false
	}
	if sh.changes == rack.Changes {
		return true
	}
	for i, s := range sh.servers {
		switch there := rack.Has(s.name); {
		case !there:
			sh.servers[i].sight = nil
		case s.sight == nil:
			return false
		}
	}
	sh.changes = rack.Changes
	return true
}
