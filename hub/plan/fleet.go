package plan

import (
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Fleet is everything that the hub's decisions depend on, at one moment: of all racks, or of
// one. The slices are in order of name. It looks things up; what follows from them, functions decide.
type Fleet struct {
	// Of names whose fleet it is: a rack, or what else is decided about at once.
	Of string
	// Site answers what one rack has to know of the others; nil where the fleet has all.
	Site     Site
	Now      time.Time // marks of firmware work that ended before do not travel
	Racks    []*resource.Rack
	Agents   []*resource.Agent
	Segments []*resource.Segment
	BMCs     []*resource.BMC
	Servers  []*resource.Server
	Claims   []*resource.Claim
	// Wanting are the claims that have no server and are to get one of these.
	Wanting []*resource.Claim
	// Maintenances are in order of name too.
	Maintenances []*resource.Maintenance
	Configs      []*resource.BootConfiguration
	Holds        []*resource.Hold
	Requests     []Request
	Groups       []*resource.ServerGroup // whose params servers have
	// Peers are the agents as they were last greeted, by agent. One that is not
	// there is given no grant and no request.
	Peers map[string]Peer
	// Reports are the newest reports, by server.
	Reports map[string]*resource.ServerReport
	Env     Environments
	Made    Made

	index *index // nil: lookups scan
}

// Site is what one rack has to know of the others. It is used concurrently.
type Site interface {
	// BMCNamed and ServerNamed report whether there is one of a name, in any rack.
	BMCNamed(name string) bool
	ServerNamed(name string) bool
	// AcceptedElsewhere reports whether another rack has an accepted BMC of a MAC address.
	AcceptedElsewhere(mac, rack string) bool
}

// Peer is one database of an agent, and what the agent can do.
type Peer struct {
	Incarnation  string // empty is not known
	Capabilities []message.Capability
}

// Request is a one-shot that has not ended.
type Request struct {
	resource.Request
	Rack string
}

func (f Fleet) bmc(name string) *resource.BMC {
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

func (f Fleet) server(name string) *resource.Server {
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

// bmcNamed and serverNamed report whether there is one of a name, in any rack.
func (f Fleet) bmcNamed(name string) bool {
	return f.bmc(name) != nil || f.Site != nil && f.Site.BMCNamed(name)
}

func (f Fleet) serverNamed(name string) bool {
	return f.server(name) != nil || f.Site != nil && f.Site.ServerNamed(name)
}

// Server is a server by its name, or nil.
func (f Fleet) Server(name string) *resource.Server { return f.server(name) }

// BMC is a BMC by its name, or nil.
func (f Fleet) BMC(name string) *resource.BMC { return f.bmc(name) }

// behind are the servers of a BMC.
func (f Fleet) behind(bmc string) (out []*resource.Server) {
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
func (f Fleet) segmentOf(rack, name string) *resource.Segment {
	for _, s := range f.segments(rack) {
		if s.Metadata.Name == name {
			return s
		}
	}
	return nil
}

// segments are those of a rack.
func (f Fleet) segments(rack string) (out []*resource.Segment) {
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

// HasAgent reports whether an agent serves a server's rack.
func (f Fleet) HasAgent(server string) bool {
	r := f.Rack(f.RackOf(server))
	return r != nil && r.Status.Agent != ""
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

// ClaimOf is the claim that a server is bound to, or nil.
func (f Fleet) ClaimOf(server string) *resource.Claim {
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
func (f Fleet) ConfigOf(c *resource.Claim) *resource.BootConfiguration {
	if c == nil {
		return nil
	}
	return f.configFor(c.Metadata.UID)
}

// configFor is the boot configuration of an owner, or nil.
func (f Fleet) configFor(uid string) *resource.BootConfiguration {
	if f.index != nil {
		return f.index.configs[uid]
	}
	for _, b := range f.Configs {
		if b.Spec.Owner.UID == uid {
			return b
		}
	}
	return nil
}

// DiscoveryOf is the configuration of the discovery that has a server, or had it before
// another owner took it; or nil.
func (f Fleet) DiscoveryOf(server string) *resource.BootConfiguration {
	if f.index != nil {
		return f.index.discoveries[server]
	}
	for _, b := range f.Configs {
		if b.Spec.Owner.Kind == resource.PurposeDiscovery && b.Spec.Server == server {
			return b
		}
	}
	return nil
}

// rack is the Rack of a server, or nil.
func (f Fleet) rack(server string) *resource.Rack { return f.Rack(f.RackOf(server)) }

// Rack is a rack by its name, or nil.
func (f Fleet) Rack(name string) *resource.Rack {
	if f.index != nil {
		return f.index.racks[name]
	}
	for _, r := range f.Racks {
		if r.Metadata.Name == name {
			return r
		}
	}
	return nil
}

// MaintenanceOf is the maintenance that has a server, also while it ends; or nil.
func (f Fleet) MaintenanceOf(server string) *resource.Maintenance {
	if f.index != nil {
		return f.index.maintained[server]
	}
	for _, m := range f.Maintenances {
		if m.Spec.ServerRef.Name == server && m.Status.State == resource.MaintenanceActive {
			return m
		}
	}
	return nil
}

// What follows has an index, also of a fleet that had none: nobody asks it of each of many
// fleets.

// ServersIn are the servers of a rack.
func (f Fleet) ServersIn(rack string) []*resource.Server { return f.Indexed().index.byRack[rack] }

// bmcsIn are the BMCs of a rack.
func (f Fleet) bmcsIn(rack string) []*resource.BMC { return f.Indexed().index.bmcsIn[rack] }

// ClaimsIn are the claims that have a server of a rack.
func (f Fleet) ClaimsIn(rack string) []*resource.Claim { return f.Indexed().index.bound[rack] }

// MaintenancesIn are those of a rack's servers.
func (f Fleet) MaintenancesIn(rack string) []*resource.Maintenance {
	return f.Indexed().index.maintains[rack]
}

// Selected are the servers that a selector matches.
func (f Fleet) Selected(by resource.Selector) (out []*resource.Server) {
	if by.Empty() {
		return nil
	}
	f = f.Indexed()
	from := f.Servers
	for k, v := range by.MatchLabels {
		if some, known := f.index.labelled[label{k, v}]; known && len(some) < len(from) {
			from = some
		}
	}
	for _, s := range from {
		if by.Matches(s.Metadata.Labels) {
			out = append(out, s)
		}
	}
	return out
}

// HoldsIn are the holds that a rack's agent enforces.
func (f Fleet) HoldsIn(rack string) []*resource.Hold { return f.Indexed().index.holds[rack] }

// HoldsOn are the holds on a server that are not released.
func (f Fleet) HoldsOn(server string) []*resource.Hold { return f.Indexed().index.held[server] }

// RequestsIn are the requests of a rack's servers.
func (f Fleet) RequestsIn(rack string) []Request { return f.Indexed().index.asked[rack] }

// ClaimsTaking are the claims that take a group's image.
func (f Fleet) ClaimsTaking(group string) []*resource.Claim { return f.Indexed().index.takers[group] }

// ConfigsOf are the configurations with a group's image.
func (f Fleet) ConfigsOf(group string) []*resource.BootConfiguration {
	return f.Indexed().index.given[group]
}

func (f Fleet) held(server string) bool {
	if f.index != nil {
		return len(f.index.held[server]) > 0
	}
	for _, h := range f.Holds {
		if h.Spec.Server == server && h.Status.ReleasedAt == nil {
			return true
		}
	}
	return false
}
