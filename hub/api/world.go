package api

import (
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// world is what there is while one request is judged: what is stored, under what the
// request would store.
type world struct {
	store *store.Store
	set   map[string]resource.Object // by Kind/name
}

func newWorld(s *store.Store, set ...resource.Object) *world {
	w := &world{store: s, set: map[string]resource.Object{}}
	for _, o := range set {
		w.set[string(o.Head().Kind)+"/"+o.Head().Metadata.Name] = o
	}
	return w
}

func find[T resource.Object](w *world, name string) (none T) {
	if o, ok := w.set[string(resource.KindOf[T]())+"/"+name].(T); ok {
		return o
	}
	if o, err := store.Peek[T](w.store, name); err == nil {
		return o
	}
	return none
}

// Rack implements access.World.
func (w *world) Rack(name string) *resource.Rack { return find[*resource.Rack](w, name) }

// BMC implements access.World.
func (w *world) BMC(name string) *resource.BMC { return find[*resource.BMC](w, name) }

// Server implements access.World.
func (w *world) Server(name string) *resource.Server { return find[*resource.Server](w, name) }

// Behind implements access.World.
func (w *world) Behind(bmc string) []*resource.Server {
	return store.Referring[*resource.Server](w.store, resource.KindBMC, bmc)
}

func (w *world) agent(name string) *resource.Agent { return find[*resource.Agent](w, name) }
