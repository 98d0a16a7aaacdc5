package plan

import (
	"fmt"
	"strings"
	"time"

	"rackboot/protocol"
)

// Fleet is everything that the hub's decisions depend on, at one moment. The
// slices are in order of name.
type Fleet struct {
	Now      time.Time // marks of firmware work that ended before do not travel
	Racks    []*protocol.Rack
	Agents   []*protocol.Agent
	Segments []*protocol.Segment
	BMCs     []*protocol.BMC
	Servers  []*protocol.Server
	Claims   []*protocol.Claim
	Configs  []*protocol.BootConfiguration
	Holds    []*protocol.Hold
	Requests []Request
	// Peers are the agents as they were last greeted, by agent. One that is not
	// there is given no grant and no request.
	Peers map[string]Peer
	// Shards are the shards in which servers travelled last, by server.
	Shards map[string]int
	// Reports are the newest reports, by server.
	Reports map[string]*protocol.ServerReport

	index *index // nil: lookups scan
}

// Peer is one database of an agent, and what the agent can do.
type Peer struct {
	Incarnation  string // empty is not known
	Capabilities []protocol.Capability
}

// Request is a one-shot that has not ended.
type Request struct {
	protocol.Request
	Rack string
}

func (f Fleet) bmc(name string) *protocol.BMC {
	if f.index != nil {
		return f.index.bmcs[name]
	}
	for _, b := range f.BMCs {
		if b.Metadata.Name == name {
			return b
		}
	}
	return nil
}

func (f Fleet) server(name string) *protocol.Server {
	if f.index != nil {
		return f.index.servers[name]
	}
	for _, s := range f.Servers {
		if s.Metadata.Name == name {
			return s
		}
	}
	return nil
}

// behind are the servers of a BMC.
func (f Fleet) behind(bmc string) (out []*protocol.Server) {
	if f.index != nil {
		return f.index.behind[bmc]
	}
	for _, s := range f.Servers {
		if s.Spec.BMCRef.Name == bmc {
			out = append(out, s)
		}
	}
	return out
}

// Behind are the names of the servers of a BMC.
func (f Fleet) Behind(bmc string) (out []string) {
	for _, s := range f.behind(bmc) {
		out = append(out, s.Metadata.Name)
	}
	return out
}

// segmentOf is a segment of a rack by its name, or nil.
func (f Fleet) segmentOf(rack, name string) *protocol.Segment {
	for _, s := range f.segments(rack) {
		if s.Metadata.Name == name {
			return s
		}
	}
	return nil
}

// segments are those of a rack.
func (f Fleet) segments(rack string) (out []*protocol.Segment) {
	if f.index != nil {
		return f.index.parts[rack]
	}
	for _, s := range f.Segments {
		if s.Spec.RackRef.Name == rack {
			out = append(out, s)
		}
	}
	return out
}

// RackOf is the rack of a server, through its BMC; empty if it dangles.
func (f Fleet) RackOf(server string) string {
	s := f.server(server)
	if s == nil {
		return ""
	}
	b := f.bmc(s.Spec.BMCRef.Name)
	if b == nil {
		return ""
	}
	return b.Spec.RackRef.Name
}

// RackOfHold is the rack whose agent enforces a hold.
func (f Fleet) RackOfHold(h *protocol.Hold) string {
	if h.Status.Rack != "" {
		return h.Status.Rack
	}
	return f.RackOf(h.Spec.Server)
}

// ClaimOf is the claim that a server is bound to, or nil.
func (f Fleet) ClaimOf(server string) *protocol.Claim {
	if f.index != nil {
		return f.index.claims[server]
	}
	for _, c := range f.Claims {
		if c.Status.Server == server {
			return c
		}
	}
	return nil
}

// ConfigOf is the boot configuration of a claim, or nil.
func (f Fleet) ConfigOf(c *protocol.Claim) *protocol.BootConfiguration {
	if c == nil {
		return nil
	}
	if f.index != nil {
		return f.index.configs[c.Metadata.UID]
	}
	for _, b := range f.Configs {
		if b.Spec.ClaimUID == c.Metadata.UID {
			return b
		}
	}
	return nil
}

// holders names who holds a server off, and by which keys; at most five of them.
func (f Fleet) holders(server string) string {
	const most = 5
	var who []string
	for _, h := range f.Holds {
		if h.Spec.Server == server && h.Status.ReleasedAt == nil {
			who = append(who, fmt.Sprintf("%q (key %q)", h.Spec.Owner, h.Spec.Key))
		}
	}
	if len(who) > most {
		who = append(who[:most], "others")
	}
	return strings.Join(who, ", ")
}

func (f Fleet) held(server string) bool {
	if f.index != nil {
		return f.index.held[server]
	}
	for _, h := range f.Holds {
		if h.Spec.Server == server && h.Status.ReleasedAt == nil {
			return true
		}
	}
	return false
}
