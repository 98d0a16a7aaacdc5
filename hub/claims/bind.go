package claims

import (
	"context"
	"errors"
	"slices"
	"sync"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/hub/view"
	"rackboot/hub/wake"
	"rackboot/protocol/resource"
)

// Allot gives servers of a rack to the claims that name them, and then to those for which the
// site has chosen them. Only the rack's own turn does so: what else it decides of a
// server, such as a discovery, meets no claim that came in between.
func (r *Room) Allot(ctx context.Context, f plan.Fleet) error {
	bindings, left := plan.Bind(f)
	r.unboundOf(f.Of, left)
	taken := map[string]bool{}
	for _, b := range bindings {
		taken[b.Server] = true
	}
	for _, s := range f.Servers {
		name := s.Metadata.Name
		claim := r.offers.take(name)
		if claim == "" {
			continue
		}
		cl, err := store.Peek[*resource.Claim](r.cfg.Objects, claim)
		if err != nil || len(view.Wanting([]*resource.Claim{cl})) == 0 {
			continue
		}
		if taken[name] || !plan.Selects(f, cl, name) {
			r.cfg.Wake.Site() // which chooses another
			continue
		}
		bindings = append(bindings, plan.Binding{Claim: claim, Server: name})
	}
	return r.bindAll(ctx, bindings)
}

// bindAtOnce is how many claims are bound in one commit: what a crash cuts off is not told of that many.
const bindAtOnce = 16

// bindAll binds several claims at once, or each by itself where somebody else was faster with one.
func (r *Room) bindAll(ctx context.Context, bindings []plan.Binding) error {
	var errs []error
	for some := range slices.Chunk(bindings, bindAtOnce) {
		claims := make([]resource.Object, 0, len(some))
		for _, b := range some {
			if cl, err := store.Get[*resource.Claim](r.cfg.Objects, b.Claim); err == nil && cl.Status.Server == "" {
				cl.Status.Server = b.Server
				claims = append(claims, cl)
			}
		}
		if len(some) == 1 || r.cfg.Objects.PutAll(ctx, claims) != nil {
			for _, b := range some {
				errs = append(errs, r.bind(ctx, b))
			}
			continue
		}
		r.cfg.Crash.At("hub.claim.bound")
		for _, cl := range claims {
			cl := cl.(*resource.Claim)
			r.cfg.Events.OwnOf(ctx, resource.TargetOf(cl), cl.Status.Server, resource.EventBound, "claim "+cl.Metadata.Name)
		}
	}
	return errors.Join(errs...)
}

// Offer chooses servers for the claims that select one, and says why others have none. It binds only
// what is in no rack; else the turn of the server's rack does. It answers with what it has seen.
func (r *Room) Offer(ctx context.Context) (view.View, error) {
	s := r.cfg.Objects
	claims := r.cfg.View.WantingAny()
	r.cfg.Wake.Waits(len(claims) > 0, len(store.List[*resource.ServerGroup](s)) > 0)
	v := view.Of(wake.SiteUnit)
	v.Now = r.cfg.Clock()
	if len(claims) > 0 {
		v = r.cfg.View.Look(v)
	}
	bindings, left := plan.Bind(v.Fleet)
	r.unboundOf(wake.SiteUnit, left)
	chosen := map[string]string{}
	var servers []string
	var errs []error
	for _, b := range bindings {
		if r.cfg.View.InRack(b.Server) {
			chosen[b.Server], servers = b.Claim, append(servers, b.Server)
		} else {
			errs = append(errs, r.bind(ctx, b))
		}
	}
	r.offers.replace(chosen)
	for _, server := range servers {
		r.cfg.Wake.Server(server)
	}
	return v, errors.Join(errs...)
}

// unboundOf keeps why claims have no server, as a unit has found.
func (r *Room) unboundOf(unit string, left []plan.Unbound) {
	conds := map[string][]resource.ConditionState{}
	for _, u := range left {
		conds[u.Claim] = []resource.ConditionState{{Code: resource.CondUnbound, Message: u.Reason}}
	}
	r.unbound.Keep(unit, conds, r.cfg.Clock())
}

// offers are the claims for which the site has chosen servers, by server. Nothing rests on them: they are
// made anew by each turn of the site, and judged again by the rack's.
type offers struct {
	mu sync.Mutex
	by map[string]string
}

func (o *offers) replace(by map[string]string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.by = by
}

// take answers with the claim that a server was chosen for, once; empty without one.
func (o *offers) take(server string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	claim := o.by[server]
	delete(o.by, server)
	return claim
}
