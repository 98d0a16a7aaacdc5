package control

import (
	"context"
	"slices"
	"strings"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// view is a fleet at a moment, of a rack or of all: its resources are the store's own, and not
// to be changed.
type view struct {
	plan.Fleet
	at  uint64 // Changes of the store
	all bool   // of what is in no rack: also what names a server that is gone
}

// look is a view of what is stored now of what the last one was of: the last one, where nothing
// was written since. The reports in it may be older, but a report with news makes another turn.
func (c *Control) look(last view) view {
	at := c.cfg.Store.Changes()
	if last.at == at && at > 0 {
		return last
	}
	switch last.Of {
	case wake.SiteUnit:
		return view{Fleet: c.fleet(), at: at}
	case outsideUnit:
		return view{Fleet: c.outsideFleet(last.all), at: at, all: last.all}
	}
	rack, _ := wake.RackOf(last.Of)
	return view{Fleet: c.rackFleet(rack), at: at}
}

// of is the view that look begins with.
func of(unit string) view { return view{Fleet: plan.Fleet{Of: unit}} }

// fleet reads what decisions about several racks depend on.
func (c *Control) fleet() plan.Fleet {
	s := c.cfg.Store
	f := plan.Fleet{
		Of: wake.SiteUnit, Now: c.cfg.Clock(), Groups: store.List[*resource.ServerGroup](s),
		Racks: store.List[*resource.Rack](s), Agents: store.List[*resource.Agent](s), Segments: store.List[*resource.Segment](s),
		BMCs: store.List[*resource.BMC](s), Servers: store.List[*resource.Server](s), Claims: store.List[*resource.Claim](s),
		Maintenances: store.List[*resource.Maintenance](s),
		Configs:      store.List[*resource.BootConfiguration](s), Holds: store.List[*resource.Hold](s), Reports: c.reports.Servers(),
		Requests: openRequests(s.OpenRequests()),
	}
	f.Peers = c.Link.Peers(f.Racks)
	return f.Indexed()
}

// rackFleet reads what the decisions about one rack depend on. What it costs does not grow with
// the other racks.
func (c *Control) rackFleet(rack string) plan.Fleet {
	s := c.cfg.Store
	f := plan.Fleet{Of: wake.RackUnit(rack), Site: site{s}, Reports: map[string]*resource.ServerReport{}, Requests: openRequests(s.OpenRequestsOf(rack))}
	if r, err := store.Peek[*resource.Rack](s, rack); err == nil {
		f.Racks = []*resource.Rack{r}
		if a, err := store.Peek[*resource.Agent](s, r.Status.Agent); err == nil {
			f.Agents = []*resource.Agent{a}
		}
	}
	f.Segments = store.Referring[*resource.Segment](s, resource.KindRack, rack)
	f.BMCs = store.Referring[*resource.BMC](s, resource.KindRack, rack)
	for _, b := range f.BMCs {
		f.Servers = append(f.Servers, store.Referring[*resource.Server](s, resource.KindBMC, b.Metadata.Name)...)
	}
	f.Holds = store.Find(s, store.HoldsByRack, rack)
	for _, srv := range f.Servers {
		name := srv.Metadata.Name
		f.Claims = append(f.Claims, store.Find(s, store.ClaimsByServer, name)...)
		f.Maintenances = append(f.Maintenances, store.Referring[*resource.Maintenance](s, resource.KindServer, name)...)
		f.Configs = append(f.Configs, store.Find(s, store.ConfigsByServer, name)...)
		f.Holds = append(f.Holds, store.Referring[*resource.Hold](s, resource.KindServer, name)...)
		if r, _ := c.reports.Server(name); r != nil {
			f.Reports[name] = r
		}
	}
	byName(&f.Servers)
	byName(&f.Claims)
	byName(&f.Maintenances)
	byName(&f.Configs)
	byName(&f.Holds)
	return c.furnished(f)
}

// outsideUnit is the part of the site's turn that is about what is in no rack.
const outsideUnit = "outside"

// outsideFleet is what is in no rack: claims that have no server yet and, where all is asked for,
// what names a server that is gone. Looking for those goes over everything.
func (c *Control) outsideFleet(all bool) plan.Fleet {
	s := c.cfg.Store
	f := plan.Fleet{Of: outsideUnit, Site: site{s}, Reports: map[string]*resource.ServerReport{}, Claims: store.Find(s, store.ClaimsUnbound, store.Any)}
	if all {
		f.Servers = outside(c, store.List[*resource.Server](s), func(o *resource.Server) string { return o.Metadata.Name })
		f.Claims = outside(c, store.List[*resource.Claim](s), func(o *resource.Claim) string { return o.Status.Server })
		f.Maintenances = outside(c, store.List[*resource.Maintenance](s), func(o *resource.Maintenance) string { return o.Spec.ServerRef.Name })
		f.Configs = outside(c, store.List[*resource.BootConfiguration](s), func(o *resource.BootConfiguration) string { return o.Spec.Server })
	}
	for _, cl := range f.Claims {
		f.Configs = append(f.Configs, store.Find(s, store.ConfigsByOwner, cl.Metadata.UID)...)
	}
	byName(&f.Configs)
	return c.furnished(f)
}

// outside are those whose server is in no rack.
func outside[T resource.Object](c *Control, list []T, server func(T) string) (out []T) {
	for _, o := range list {
		rack, err := c.cfg.Store.RackOf(server(o))
		if err == nil {
			_, err = store.Peek[*resource.Rack](c.cfg.Store, rack)
		}
		if err != nil {
			out = append(out, o)
		}
	}
	return out
}

// byName brings resources in order of name, each once.
func byName[T resource.Object](list *[]T) {
	name := func(o T) string { return o.Head().Metadata.Name }
	slices.SortFunc(*list, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	*list = slices.CompactFunc(*list, func(a, b T) bool { return name(a) == name(b) })
}

// furnished is a fleet with what is the same for all racks, and what was made for its own.
func (c *Control) furnished(f plan.Fleet) plan.Fleet {
	s := c.cfg.Store
	f.Now, f.Peers = c.cfg.Clock(), c.Link.Peers(f.Racks)
	f.BootEnvs, f.Templates = store.List[*resource.BootEnv](s), store.List[*resource.Template](s)
	f.Profiles, f.Params = store.List[*resource.Profile](s), store.List[*resource.Param](s)
	f.Groups = store.List[*resource.ServerGroup](s)
	f = f.Indexed() // what follows asks for each BMC and configuration
	f = c.Env.Furnish(f)
	f.Sealed = c.Inventory.Sealed(f)
	f.Keep = c.Groups.Keeps(f)
	return f
}

// site answers what a rack has to know of the others from the store.
type site struct{ *store.Store }

func (s site) BMCNamed(name string) bool {
	_, err := store.Peek[*resource.BMC](s.Store, name)
	return err == nil
}

func (s site) ServerNamed(name string) bool {
	_, err := store.Peek[*resource.Server](s.Store, name)
	return err == nil
}

func (s site) AcceptedElsewhere(mac, rack string) bool {
	return slices.ContainsFunc(store.Find(s.Store, store.BMCsAccepted, mac), func(b *resource.BMC) bool { return b.Spec.RackRef.Name != rack })
}

func openRequests(stored []store.StoredRequest) (out []plan.Request) {
	for _, q := range stored {
		out = append(out, plan.Request{Request: q.Request, Rack: q.Rack})
	}
	return out
}

// RenderEnv makes what a server would be served of a boot environment; see package env.
func (c *Control) RenderEnv(ctx context.Context, server, env, path string) (api.EnvRender, error) {
	rack, _ := c.cfg.Store.RackOf(server) // empty where its BMC is gone
	return c.Env.Render(ctx, c.rackFleet(rack), server, env, path)
}
