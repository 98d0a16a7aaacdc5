package view

import (
	"slices"
	"strings"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol/resource"
)

// View is a fleet at a moment, of a rack or of all: its resources are the store's own, and not
// to be changed.
type View struct {
	plan.Fleet
	at  uint64 // Changes of the store, of the rack
	All bool   // of what is in no rack: also what names a server that is gone
}

// Look is a view of what is stored now of what the last one was of: the last one, where nothing
// was written since that concerns it. The reports in it may be older, but a report with news makes another turn.
func (r *Reader) Look(last View) View {
	rack, one := wake.RackOf(last.Of)
	if !one {
		rack = "" // all of them
	}
	at := r.cfg.Store.Changes(rack)
	switch {
	case last.at == at && at > 0:
		return last
	case one:
		return View{Fleet: r.Rack(rack), at: at}
	case last.Of == Outside:
		return View{Fleet: r.outside(last.All), at: at, All: last.All}
	}
	return View{Fleet: r.Site(), at: at}
}

// Of is the view that Look begins with.
func Of(unit string) View { return View{Fleet: plan.Fleet{Of: unit}} }

// Site reads what decisions about several racks depend on.
func (r *Reader) Site() plan.Fleet {
	s := r.cfg.Store
	f := plan.Fleet{
		Of: wake.SiteUnit, Now: r.cfg.Clock(), Groups: store.List[*resource.ServerGroup](s.Objects),
		Racks: store.List[*resource.Rack](s.Objects), Agents: store.List[*resource.Agent](s.Objects), Segments: store.List[*resource.Segment](s.Objects),
		BMCs: store.List[*resource.BMC](s.Objects), Servers: store.List[*resource.Server](s.Objects), Claims: store.List[*resource.Claim](s.Objects),
		Maintenances: store.List[*resource.Maintenance](s.Objects),
		Wanting:      r.WantingAny(),
		Configs:      store.List[*resource.BootConfiguration](s.Objects), Holds: store.List[*resource.Hold](s.Objects), Reports: r.cfg.Reports.Servers(),
		Requests: OpenRequests(s.Requests.Open()),
	}
	f.Peers = r.cfg.Link.Ledgers.Peers(f.Racks)
	f.Made.Freezes = store.List[*resource.Freeze](s.Objects)
	return f.Indexed()
}

// Rack reads what the decisions about one rack depend on. What it costs does not grow with
// the other racks.
func (r *Reader) Rack(rack string) plan.Fleet {
	s := r.cfg.Store
	f := plan.Fleet{Of: wake.RackUnit(rack), Site: site{s.Objects}, Reports: map[string]*resource.ServerReport{}, Requests: OpenRequests(s.Requests.OpenOf(rack))}
	if r, err := store.Peek[*resource.Rack](s.Objects, rack); err == nil {
		f.Racks = []*resource.Rack{r}
		for _, agent := range []string{r.Status.Agent, r.Status.Standby} {
			if a, err := store.Peek[*resource.Agent](s.Objects, agent); err == nil {
				f.Agents = append(f.Agents, a)
			}
		}
	}
	f.Segments = store.Referring[*resource.Segment](s.Objects, resource.KindRack, rack)
	f.BMCs = store.Referring[*resource.BMC](s.Objects, resource.KindRack, rack)
	for _, b := range f.BMCs {
		f.Servers = append(f.Servers, store.Referring[*resource.Server](s.Objects, resource.KindBMC, b.Metadata.Name)...)
	}
	f.Holds = store.Find(s.Objects, store.HoldsByRack, rack)
	for _, srv := range f.Servers {
		name := srv.Metadata.Name
		f.Claims = append(f.Claims, store.Find(s.Objects, store.ClaimsByServer, name)...)
		f.Configs = append(f.Configs, store.Find(s.Objects, store.ConfigsByServer, name)...)
		for _, o := range store.Referring[resource.Object](s.Objects, resource.KindServer, name) {
			switch o := o.(type) {
			case *resource.Claim:
				f.Wanting = append(f.Wanting, Wanting([]*resource.Claim{o})...)
			case *resource.Maintenance:
				f.Maintenances = append(f.Maintenances, o)
			case *resource.Hold:
				f.Holds = append(f.Holds, o)
			}
		}
		if r, _ := r.cfg.Reports.Server(name); r != nil {
			f.Reports[name] = r
		}
	}
	byName(&f.Servers)
	byName(&f.Claims)
	byName(&f.Wanting)
	byName(&f.Maintenances)
	byName(&f.Configs)
	byName(&f.Holds)
	return r.furnished(f)
}

// Outside is the part of the site's turn that is about what is in no rack.
const Outside = "outside"

// outside is what is in no rack: claims that have no server yet and, where all is asked for,
// what names a server that is gone. Looking for those goes over everything.
func (r *Reader) outside(all bool) plan.Fleet {
	s := r.cfg.Store
	f := plan.Fleet{Of: Outside, Site: site{s.Objects}, Reports: map[string]*resource.ServerReport{}, Claims: store.Find(s.Objects, store.ClaimsUnbound, store.Any)}
	if all {
		in := r.inRacks()
		f.Servers = outside(in, store.List[*resource.Server](s.Objects), func(o *resource.Server) string { return o.Metadata.Name })
		f.Claims = outside(in, store.List[*resource.Claim](s.Objects), func(o *resource.Claim) string { return o.Status.Server })
		f.Maintenances = outside(in, store.List[*resource.Maintenance](s.Objects), func(o *resource.Maintenance) string { return o.Spec.ServerRef.Name })
		f.Configs = outside(in, store.List[*resource.BootConfiguration](s.Objects), func(o *resource.BootConfiguration) string { return o.Spec.Server })
	}
	for _, cl := range f.Claims {
		f.Configs = append(f.Configs, store.Find(s.Objects, store.ConfigsByOwner, cl.Metadata.UID)...)
	}
	byName(&f.Configs)
	return r.furnished(f)
}

// inRacks are the servers for which [Reader.InRack] is so. Three looks into the store for each claim and configuration of a fleet
// would be most of a sweep.
func (r *Reader) inRacks() map[string]bool {
	racks := map[string]bool{}
	for _, rack := range store.List[*resource.Rack](r.cfg.Store.Objects) {
		racks[rack.Metadata.Name] = true
	}
	servers := store.List[*resource.Server](r.cfg.Store.Objects)
	in := make(map[string]bool, len(servers))
	for _, s := range servers {
		if b, err := store.Peek[*resource.BMC](r.cfg.Store.Objects, s.Spec.BMCRef.Name); err == nil && racks[b.Spec.RackRef.Name] {
			in[s.Metadata.Name] = true
		}
	}
	return in
}

// outside are those whose server is in no rack.
func outside[T resource.Object](in map[string]bool, list []T, server func(T) string) (out []T) {
	for _, o := range list {
		if !in[server(o)] {
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
func (r *Reader) furnished(f plan.Fleet) plan.Fleet {
	s := r.cfg.Store
	f.Now, f.Peers = r.cfg.Clock(), r.cfg.Link.Ledgers.Peers(f.Racks)
	f.Env.BootEnvs, f.Env.Templates = store.List[*resource.BootEnv](s.Objects), store.List[*resource.Template](s.Objects)
	f.Env.Profiles, f.Env.Params = store.List[*resource.Profile](s.Objects), store.List[*resource.Param](s.Objects)
	f.Groups = store.List[*resource.ServerGroup](s.Objects)
	f = f.Indexed() // what follows asks for each BMC and configuration
	f = r.cfg.Env.Furnish(f)
	f.Made.Freezes = store.List[*resource.Freeze](s.Objects)
	f.Made.Packages = r.packages(f.Agents)
	f.Made.Sealed = r.cfg.Inventory.Sealed(f)
	f.Made.Keep = r.cfg.Revisions.Keeps(f)
	return f
}

// site answers what a rack has to know of the others from the store.
type site struct{ objects *store.Objects }

func (s site) BMCNamed(name string) bool {
	_, err := store.Peek[*resource.BMC](s.objects, name)
	return err == nil
}

func (s site) ServerNamed(name string) bool {
	_, err := store.Peek[*resource.Server](s.objects, name)
	return err == nil
}

func (s site) AcceptedElsewhere(mac, rack string) bool {
	return slices.ContainsFunc(store.Find(s.objects, store.BMCsAccepted, mac), func(b *resource.BMC) bool { return b.Spec.RackRef.Name != rack })
}

// OpenRequests are stored requests as decisions see them.
func OpenRequests(stored []store.StoredRequest) (out []plan.Request) {
	for _, q := range stored {
		out = append(out, plan.Request{Request: q.Request, Rack: q.Rack})
	}
	return out
}

// packages are the manifests of the packages that agents are ordered to run.
func (r *Reader) packages(agents []*resource.Agent) map[string][]byte {
	var out map[string][]byte
	for _, a := range agents {
		if !a.Status.Order.Open() {
			continue
		}
		if p, err := r.cfg.Store.AgentPackages.Get(a.Status.Order.Package); err == nil {
			if out == nil {
				out = map[string][]byte{}
			}
			out[p.Digest] = p.Manifest
		}
	}
	return out
}
