package plan

import "rackboot/protocol"

// Fleet is everything that the hub's decisions depend on, at one moment. The
// slices are in order of name.
type Fleet struct {
	Racks    []*protocol.Rack
	Agents   []*protocol.Agent
	Segments []*protocol.Segment
	BMCs     []*protocol.BMC
	Servers  []*protocol.Server
	Claims   []*protocol.Claim
	Configs  []*protocol.BootConfiguration
	Holds    []*protocol.Hold
	Requests []Request
	// Shards are the shards in which servers travelled last, by server.
	Shards map[string]int
	// Reports are the newest reports, by server.
	Reports map[string]*protocol.ServerReport
}

// Request is a one-shot that has not ended.
type Request struct {
	protocol.Request
	Rack string
}

func (f Fleet) bmc(name string) *protocol.BMC {
	for _, b := range f.BMCs {
		if b.Metadata.Name == name {
			return b
		}
	}
	return nil
}

func (f Fleet) server(name string) *protocol.Server {
	for _, s := range f.Servers {
		if s.Metadata.Name == name {
			return s
		}
	}
	return nil
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
	for _, c := range f.Claims {
		if c.Status.Server == server {
			return c
		}
	}
	return nil
}

// ConfigOf is the boot configuration of a claim, or nil.
func (f Fleet) ConfigOf(c *protocol.Claim) *protocol.BootConfiguration {
	for _, b := range f.Configs {
		if c != nil && b.Spec.ClaimUID == c.Metadata.UID {
			return b
		}
	}
	return nil
}

func (f Fleet) held(server string) bool {
	for _, h := range f.Holds {
		if h.Spec.Server == server && h.Status.ReleasedAt == nil {
			return true
		}
	}
	return false
}
