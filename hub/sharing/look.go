package sharing

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rackboot/hub/fence"
	"rackboot/hub/plan/hubs"
	"rackboot/hub/store"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// forgetAfter is for how long a hub that has ended is remembered.
const forgetAfter = time.Minute

// takers is how many units are taken at once: a write mostly waits for the store.
const takers = 8

// look sees who is there, takes what is to be taken, and says what this hub works now that it has not worked before, and
// the other way round.
//
// One hub works all units, that of the site: which servers of a group may boot its image is counted in the site's turn
// and heard of in those of racks, within one process. So the site is taken last, once no other hub works a rack: what that
// gave has been written then, and is counted.
func (r *Room) look(ctx context.Context) {
	v := r.view()
	r.metrics.members.Set(float64(len(v.Others) + 1))
	units := racksOf(r.cfg.Store.Objects)
	if r.take(ctx, v, units) {
		r.take(ctx, r.view(), []string{fence.Site}) // the racks may have taken a while
	}
	works := map[string]bool{}
	for _, unit := range append(units, fence.Site) {
		if !r.owns(unit) {
			continue
		}
		works[unit] = true
		if !r.works[unit] {
			r.metrics.moved.WithLabelValues(took).Inc()
			r.cfg.Took(unit)
		}
	}
	for unit := range r.works {
		if !works[unit] {
			r.metrics.moved.WithLabelValues(left).Inc()
			r.cfg.Left(unit)
		}
	}
	r.works = works
	r.metrics.units.Set(float64(len(works)))
	if works[fence.Site] && r.wanting() {
		r.cfg.Whole()
	}
}

// wanting reports whether another hub lacks more of what agents report than it did. Agents are told with the next Sync, so
// that it is not more than that in a minute.
func (r *Room) wanting() (is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.cfg.Store.Hubs.List() {
		if h.Name != r.self.Name && h.Lacks > r.lacks[h.Run] {
			r.lacks[h.Run], is = h.Lacks, true
		}
	}
	return is
}

// view is what this hub knows of itself and of others.
func (r *Room) view() hubs.View {
	list := r.cfg.Store.Hubs.List()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	v := hubs.View{
		// It takes nothing before the others can know that it no longer drains: they would take it back.
		Self:    hubs.Member{Name: r.self.Name, Run: r.self.Run, Draining: r.self.Draining || r.said, Settled: r.alone || now >= hubs.SettledItself},
		Beats:   r.own > 0 && hubs.Beats(r.last, now),
		Unknown: map[string]bool{},
	}
	there := map[string]bool{}
	for _, h := range list {
		if h.Name == r.self.Name {
			continue
		}
		there[h.Run] = true
		r.names[h.Run] = h.Name
		s := r.seen[h.Run].See(h.Beat, now, r.own)
		r.seen[h.Run] = s
		switch hubs.Judge(s, now, r.own) {
		case hubs.Unseen:
			v.Unknown[h.Run] = true
		case hubs.Alive:
			v.Others = append(v.Others, hubs.Member{Name: h.Name, Run: h.Run, Draining: h.Draining, Settled: hubs.Settled(s, now)})
		case hubs.Dead:
		}
	}
	for run := range r.seen {
		if !there[run] {
			delete(r.lacks, run)
			if now-r.seen[run].Last > forgetAfter { // until then a unit may be taken from it
				delete(r.seen, run)
				delete(r.names, run)
			}
		}
	}
	return v
}

// racksOf are the units of racks, in order.
func racksOf(objects *store.Objects) (out []string) {
	for _, rack := range store.List[*resource.Rack](objects) {
		out = append(out, wake.RackUnit(rack.Metadata.Name))
	}
	return out
}

// take takes those of some units that this hub is to work from whoever has them, and reports whether it has all.
func (r *Room) take(ctx context.Context, v hubs.View, units []string) (all bool) {
	all = true
	var takes []string
	for _, unit := range units {
		switch hubs.Decide(fence.Site, r.Owner(unit).Hub, v) {
		case hubs.Works, hubs.Pauses:
		case hubs.Takes:
			takes = append(takes, unit)
		case hubs.Waits:
			all = false
		}
	}
	var failed atomic.Bool
	var newest atomic.Uint64
	var wait sync.WaitGroup
	for part := range slices.Chunk(takes, max(1, (len(takes)+takers-1)/takers)) {
		wait.Go(func() {
			for _, unit := range part {
				at, err := r.takeOne(ctx, unit)
				if err != nil {
					failed.Store(true)
					continue
				}
				for was := newest.Load(); at > was && !newest.CompareAndSwap(was, at); was = newest.Load() {
				}
			}
		})
	}
	wait.Wait()
	if at := newest.Load(); at > 0 { // what the hub before has written is here then
		ctx, cancel := context.WithTimeout(ctx, beatTimeout)
		defer cancel()
		all = r.cfg.Store.Hubs.Reached(ctx, at) && all
	}
	return all && !failed.Load()
}

// takeOne takes a unit by compare-and-set, with a fence above all that it had. What is lost to another hub is looked at
// again.
func (r *Room) takeOne(ctx context.Context, name string) (revision uint64, err error) {
	u, err := r.cfg.Store.Units.Get(name)
	before := u.Owner.Hub
	if err == nil {
		if u.Owner, err = r.cfg.Start.Above(ctx, u.Owner.Number); err == nil {
			u.Since, u.Before = r.cfg.Clock().UTC(), r.name(before)
			err = r.cfg.Store.Units.Put(ctx, &u)
		}
	}
	if err != nil && protocol.CodeOf(err) != protocol.CodeConflict && ctx.Err() == nil {
		r.cfg.Logger.Warn("a unit was not taken; it is tried again", "unit", name, "err", err)
	}
	if err == nil {
		r.cfg.Logger.Info("works a unit", "unit", name, "fence", u.Owner.Number, "before", u.Before)
		if name == fence.Site {
			r.observe(before)
		}
	}
	return u.Revision, err
}

// name is that of a start of a hub, empty if it is unknown here.
func (r *Room) name(run string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if run == r.self.Run {
		return r.self.Name
	}
	return r.names[run]
}

// observe notes how long it took since the last beat of the hub that worked before was seen.
func (r *Room) observe(before string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, there := r.seen[before]; there {
		r.metrics.handover.Observe((r.now() - s.Last).Seconds())
	}
}
