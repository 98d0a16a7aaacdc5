package plan

import (
	"maps"
	"slices"

	"rackboot/protocol/resource"
)

// index makes the lookups of a fleet cost the same however large it is. Of two
// resources that answer to one key the first by name counts, as in a scan.
type index struct {
	bmcs    map[string]*resource.BMC
	servers map[string]*resource.Server
	racks   map[string]*resource.Rack
	agents  map[string]*resource.Agent
	claims  map[string]*resource.Claim             // by the server that they are bound to
	configs map[string]*resource.BootConfiguration // by the UID of their owner
	// maintained are the maintenances that have a server, by server.
	maintained map[string]*resource.Maintenance
	// discoveries are the configurations of discoveries, by server.
	discoveries map[string]*resource.BootConfiguration
	held        map[string][]*resource.Hold // not released, by server
	byRack      map[string][]*resource.Server
	holds       map[string][]*resource.Hold // by rack
	asked       map[string][]Request        // by rack
	parts       map[string][]*resource.Segment
	behind      map[string][]*resource.Server // by BMC
	bmcsIn      map[string][]*resource.BMC    // by rack
	accepted    map[string][]*resource.BMC    // by MAC address
	bound       map[string][]*resource.Claim  // by rack
	takers      map[string][]*resource.Claim  // by the group whose image they take
	given       map[string][]*resource.BootConfiguration
	maintains   map[string][]*resource.Maintenance // by rack
	labelled    map[label][]*resource.Server       // of the labels that selectors name
	selectors   map[label][]*resource.ServerGroup  // by the first label that each selects by
	expressed   []*resource.ServerGroup            // that select by expressions alone
	groups      map[string]*resource.ServerGroup   // by name
}

// label is one label that a selector wants.
type label struct{ key, value string }

// Indexed is the fleet with an index of what it has now; one that has an index keeps
// it. Its slices must not be changed afterwards.
func (f Fleet) Indexed() Fleet {
	if f.index != nil {
		return f
	}
	x := &index{
		bmcs: make(map[string]*resource.BMC, len(f.BMCs)), servers: make(map[string]*resource.Server, len(f.Servers)),
		claims: make(map[string]*resource.Claim, len(f.Claims)), configs: make(map[string]*resource.BootConfiguration, len(f.Configs)),
		held: map[string][]*resource.Hold{}, byRack: map[string][]*resource.Server{}, holds: map[string][]*resource.Hold{},
		asked: map[string][]Request{}, parts: map[string][]*resource.Segment{},
		behind: map[string][]*resource.Server{}, maintained: map[string]*resource.Maintenance{},
		discoveries: map[string]*resource.BootConfiguration{}, racks: make(map[string]*resource.Rack, len(f.Racks)), agents: map[string]*resource.Agent{},
		bmcsIn: map[string][]*resource.BMC{}, accepted: map[string][]*resource.BMC{}, bound: map[string][]*resource.Claim{},
		takers: map[string][]*resource.Claim{}, given: map[string][]*resource.BootConfiguration{}, maintains: map[string][]*resource.Maintenance{},
	}
	for _, a := range f.Agents {
		first(x.agents, a.Metadata.Name, a)
	}
	for _, r := range f.Racks {
		first(x.racks, r.Metadata.Name, r)
	}
	for _, b := range f.BMCs {
		first(x.bmcs, b.Metadata.Name, b)
		group(x.bmcsIn, b.Spec.RackRef.Name, b)
		if mac := b.MAC(); mac != "" && !b.Pending() {
			group(x.accepted, mac, b)
		}
	}
	for _, s := range f.Servers {
		first(x.servers, s.Metadata.Name, s)
	}
	for _, c := range f.Claims {
		first(x.claims, c.Status.Server, c)
		if from := c.Spec.ImageFrom; from != nil {
			group(x.takers, from.Group, c)
		}
	}
	for _, b := range f.Configs {
		first(x.configs, b.Spec.Owner.UID, b)
		if b.Spec.Group != "" {
			group(x.given, b.Spec.Group, b)
		}
		if b.Spec.Owner.Kind == resource.PurposeDiscovery {
			first(x.discoveries, b.Spec.Server, b)
		}
	}
	for _, m := range f.Maintenances {
		if m.Status.State == resource.MaintenanceActive {
			first(x.maintained, m.Spec.ServerRef.Name, m)
		}
	}
	f.index = x
	for _, s := range f.Servers {
		group(x.byRack, f.RackOf(s.Metadata.Name), s)
		group(x.behind, s.Spec.BMCRef.Name, s)
	}
	for _, c := range f.Claims {
		if c.Status.Server != "" {
			group(x.bound, f.RackOf(c.Status.Server), c)
		}
	}
	for _, m := range f.Maintenances {
		group(x.maintains, f.RackOf(m.Spec.ServerRef.Name), m)
	}
	x.labelled = f.selectorLabels()
	for _, s := range f.Servers {
		for k, v := range s.Metadata.Labels {
			if _, wanted := x.labelled[label{k, v}]; wanted {
				x.labelled[label{k, v}] = append(x.labelled[label{k, v}], s)
			}
		}
	}
	x.selectors, x.groups = map[label][]*resource.ServerGroup{}, map[string]*resource.ServerGroup{}
	for _, g := range f.Groups {
		x.groups[g.Metadata.Name] = g
		if labels := g.Spec.Selector.MatchLabels; len(labels) > 0 {
			k := slices.Min(slices.Collect(maps.Keys(labels)))
			x.selectors[label{k, labels[k]}] = append(x.selectors[label{k, labels[k]}], g)
		} else {
			x.expressed = append(x.expressed, g)
		}
	}
	for _, h := range f.Holds {
		group(x.holds, h.Status.Rack, h)
		if h.Status.ReleasedAt == nil {
			group(x.held, h.Spec.Server, h)
		}
	}
	for _, q := range f.Requests {
		group(x.asked, q.Rack, q)
	}
	for _, s := range f.Segments {
		group(x.parts, s.Spec.RackRef.Name, s)
	}
	return f
}

// selectorLabels are what groups, and claims that want a server, select servers by; of
// other labels nobody looks for servers.
func (f Fleet) selectorLabels() map[label][]*resource.Server {
	out := map[label][]*resource.Server{}
	add := func(labels map[string]string) {
		for k, v := range labels {
			out[label{k, v}] = nil
		}
	}
	for _, g := range f.Groups {
		add(g.Spec.Selector.MatchLabels)
	}
	for _, c := range f.Wanting {
		if c.Spec.ServerSelector != nil {
			add(c.Spec.ServerSelector.MatchLabels)
		}
	}
	return out
}

func first[T any](m map[string]T, key string, v T) {
	if _, there := m[key]; !there {
		m[key] = v
	}
}

func group[T any](m map[string][]T, key string, v T) { m[key] = append(m[key], v) }
