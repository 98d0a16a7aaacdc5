package reports

import (
	"bytes"
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
	has     uint64    // of the last one with Servers, after which all of the shard is here
	taken   time.Time // when one was last taken over as if all of it was news
	changes uint64    // of the rack, at which servers are what it has
	servers []member  // of the last report with Servers, in its order
}

// member is a server of a report.
type member struct {
	name     string
	revision uint64
	sight    *sight // nil where the server is not in the agent's rack
}

// members takes which servers a report with Servers has. Those that the last one had in the same
// place are what they were as long as nothing has changed in the rack.
func (sh *shard) members(servers []resource.ServerReport, revisions []uint64, rack Rack, see func(server string) *sight) {
	was := sh.servers
	if sh.changes != rack.Changes {
		was = nil
	}
	now := make([]member, len(servers))
	for i, s := range servers {
		switch {
		case i < len(was) && was[i].name == s.Server:
			now[i] = was[i]
		case rack.Has(s.Server):
			now[i] = member{name: s.Server, sight: see(s.Server)}
		default:
			now[i] = member{name: s.Server}
		}
		now[i].revision = 0
		if len(revisions) == len(servers) {
			now[i].revision = revisions[i]
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

// stands reports whether what a report with As speaks of is here. A server that left the rack is
// left out from now on; one that came must be told of.
func (sh *shard) stands(r message.Report, rack Rack) bool {
	if sh.has == 0 || sh.has < r.As || len(r.Reads) != len(sh.servers) {
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

// patch puts the revisions of the servers that a report with As tells of into the shard, and returns where they
// are in it. fits is false, and nothing was changed, where that does not come to what the agent has.
func (sh *shard) patch(r message.Report) (told map[int]*resource.ServerReport, fits bool) {
	if len(r.Servers) == 0 && len(r.Digest) == 0 {
		return nil, true
	}
	if len(r.Revisions) != len(r.Servers) {
		return nil, false
	}
	at := make(map[string]int, len(sh.servers))
	for i, s := range sh.servers {
		at[s.name] = i
	}
	told = make(map[int]*resource.ServerReport, len(r.Servers))
	revisions := make(map[int]uint64, len(r.Servers))
	for k := range r.Servers {
		i, there := at[r.Servers[k].Server]
		if !there || told[i] != nil {
			return nil, false
		}
		told[i], revisions[i] = &r.Servers[k], r.Revisions[k]
	}
	digest := message.ShardDigest(func(yield func(string, uint64) bool) {
		for i, s := range sh.servers {
			revision, is := revisions[i]
			if !is {
				revision = s.revision
			}
			if !yield(s.name, revision) {
				return
			}
		}
	})
	if !bytes.Equal(digest, r.Digest) {
		return nil, false
	}
	for i, revision := range revisions {
		sh.servers[i].revision = revision
	}
	return told, true
}
