package sharing

import (
	"slices"
	"strings"

	"rackboot/hub/fence"
	"rackboot/hub/plan/hubs"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// Hubs are those that this one knows of, itself among them, in order of their names, without the units that they work.
// What they work is as new as what has come here from the store.
func (r *Room) Hubs() (out []protoapi.HubStatus) {
	works := r.units()
	for _, h := range r.all() {
		out = append(out, r.status(h, works[h.Run]))
	}
	return out
}

// Hub is one of them, with the units that it works. The code is not_found.
func (r *Room) Hub(name string) (protoapi.HubStatus, error) {
	for _, h := range r.all() {
		if h.Name == name {
			units := r.units()[h.Run]
			one := r.status(h, units)
			one.Units = unitNames(units)
			return one, nil
		}
	}
	return protoapi.HubStatus{}, noHub(name)
}

// all are the hubs by their names, this one as it is and not as it last said.
func (r *Room) all() []store.Hub {
	r.mu.Lock()
	self := r.self
	r.mu.Unlock()
	out := slices.DeleteFunc(r.cfg.Store.Hubs.List(), func(h store.Hub) bool { return h.Name == self.Name })
	out = append(out, self)
	slices.SortFunc(out, func(a, b store.Hub) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func noHub(name string) error {
	return protocol.Errorf(protocol.CodeNotFound, "get hub", "no hub %q shares this one's store", name).WithHint("rackctl get hubs lists those that do")
}

// life is what this hub knows of one, as it looked last. Of itself it is what others may take it for.
func (r *Room) life(h store.Hub) hubs.Life {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.Name == r.self.Name {
		if r.own > 0 && hubs.Beats(r.last, r.now()) {
			return hubs.Alive
		}
		return hubs.Dead
	}
	s, seen := r.seen[h.Run]
	if !seen {
		return hubs.Unseen
	}
	return hubs.Judge(s, r.now(), r.own)
}

// status is what people see of a hub that works some units.
func (r *Room) status(h store.Hub, units []store.Unit) protoapi.HubStatus {
	out := protoapi.HubStatus{Name: h.Name, Answers: h.Name == r.self.Name, API: h.API, Version: h.Version, StartedAt: h.Began}
	site := false
	for _, u := range units {
		if u.Name != fence.Site {
			out.Racks++
			continue
		}
		site = true
		out.Before = u.Before
		if !u.Since.IsZero() { // a hub of 0.1.0 says no time
			out.Since = new(u.Since)
		}
	}
	out.State = stateOf(r.life(h), site, h.Draining)
	return out
}

// stateOf says what a hub is seen as. works is that it has the site, drains that it says that it wants no work.
//
//	life   | works | drains | state
//	dead   | *     | *      | Silent
//	unseen | *     | *      | New
//	alive  | yes   | *      | Works
//	alive  | no    | yes    | Draining
//	alive  | no    | no     | Standby
func stateOf(life hubs.Life, works, drains bool) protoapi.HubState {
	switch {
	case life == hubs.Dead:
		return protoapi.HubSilent
	case life == hubs.Unseen:
		return protoapi.HubNew
	case works:
		return protoapi.HubWorks
	case drains:
		return protoapi.HubDraining
	default:
		return protoapi.HubStandby
	}
}

// units are those that are worked, by the start of the hub that does.
func (r *Room) units() map[string][]store.Unit {
	out := map[string][]store.Unit{}
	for _, name := range append(racksOf(r.cfg.Store.Objects), fence.Site) {
		if u, err := r.cfg.Store.Units.Get(name); err == nil && u.Owner.Hub != "" {
			out[u.Owner.Hub] = append(out[u.Owner.Hub], u)
		}
	}
	return out
}

func unitNames(units []store.Unit) (out []string) {
	for _, u := range units {
		out = append(out, u.Name)
	}
	return out
}

// Alone is a hub that shares its store with nobody: it works everything until another one takes over. It is safe for
// concurrent use.
type Alone struct {
	self    store.Hub
	start   *fence.Start
	objects *store.Objects
}

// NewAlone returns it; self's Name, API, Version and Began are shown.
func NewAlone(self store.Hub, start *fence.Start, objects *store.Objects) Alone {
	return Alone{self, start, objects}
}

// units are what it works.
func (a Alone) units() []string {
	if !a.start.Works(fence.Site) {
		return nil
	}
	return append(racksOf(a.objects), fence.Site)
}

// Hubs is that hub.
func (a Alone) Hubs() []protoapi.HubStatus {
	h := protoapi.HubStatus{Name: a.self.Name, State: protoapi.HubReadOnly, Answers: true, API: a.self.API, Version: a.self.Version, StartedAt: a.self.Began}
	if units := a.units(); len(units) > 0 {
		h.State, h.Racks, h.Since = protoapi.HubWorks, len(units)-1, new(a.self.Began)
	}
	return []protoapi.HubStatus{h}
}

// Hub is that hub with what it works. The code is not_found.
func (a Alone) Hub(name string) (protoapi.HubStatus, error) {
	if name != a.self.Name {
		return protoapi.HubStatus{}, noHub(name)
	}
	h := a.Hubs()[0]
	h.Units = a.units()
	return h, nil
}
