package api

import (
	"rackboot/hub/store"
	"rackboot/protocol"
)

// world is what there is while one request is judged: what is stored, under what the
// request would store.
type world struct {
	store *store.Store
	set   map[string]protocol.Object // by Kind/name
}

func newWorld(s *store.Store, set ...protocol.Object) *world {
	w := &world{store: s, set: map[string]protocol.Object{}}
	for _, o := range set {
		w.set[string(o.Head().Kind)+"/"+o.Head().Metadata.Name] = o
	}
	return w
}

func find[T protocol.Object](w *world, name string) (none T) {
	if o, ok := w.set[string(protocol.KindOf[T]())+"/"+name].(T); ok {
		return o
	}
	if o, err := store.Peek[T](w.store, name); err == nil {
		return o
	}
	return none
}

// Rack implements access.World.
func (w *world) Rack(name string) *protocol.Rack { return find[*protocol.Rack](w, name) }

// BMC implements access.World.
func (w *world) BMC(name string) *protocol.BMC { return find[*protocol.BMC](w, name) }

// Server implements access.World.
func (w *world) Server(name string) *protocol.Server { return find[*protocol.Server](w, name) }

// Behind implements access.World.
func (w *world) Behind(bmc string) []*protocol.Server {
	return store.Referring[*protocol.Server](w.store, protocol.KindBMC, bmc)
}

func (w *world) agent(name string) *protocol.Agent { return find[*protocol.Agent](w, name) }
