package route

import (
	"rackboot/hub/access"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// World is what there is while one request is judged: what is stored, under what the
// request would store. It implements [access.World].
type World struct {
	objects *store.Objects
	set     map[string]resource.Object // by Kind/name
}

// NewWorld returns what is stored, under the resources of set.
func NewWorld(objects *store.Objects, set ...resource.Object) *World {
	w := &World{objects: objects, set: map[string]resource.Object{}}
	for _, o := range set {
		w.set[string(o.Head().Kind)+"/"+o.Head().Metadata.Name] = o
	}
	return w
}

func find[T resource.Object](w *World, name string) (none T) {
	if len(w.set) > 0 { // a list asks for each of many thousands, of an empty set
		if o, ok := w.set[string(resource.KindOf[T]())+"/"+name].(T); ok {
			return o
		}
	}
	if o, err := store.Peek[T](w.objects, name); err == nil {
		return o
	}
	return none
}

// Rack implements access.World.
func (w *World) Rack(name string) *resource.Rack { return find[*resource.Rack](w, name) }

// Segment returns a segment; nil if it does not exist.
func (w *World) Segment(name string) *resource.Segment { return find[*resource.Segment](w, name) }

// BMC implements access.World.
func (w *World) BMC(name string) *resource.BMC { return find[*resource.BMC](w, name) }

// Server implements access.World.
func (w *World) Server(name string) *resource.Server { return find[*resource.Server](w, name) }

// Behind implements access.World.
func (w *World) Behind(bmc string) []*resource.Server {
	return store.Referring[*resource.Server](w.objects, resource.KindBMC, bmc)
}

// Agent returns an agent; nil if it does not exist.
func (w *World) Agent(name string) *resource.Agent { return find[*resource.Agent](w, name) }

// Visible returns the items that a caller may see. places says where an item is.
func Visible[T any](objects *store.Objects, who access.Caller, items []T, places func(T, *World) []access.Labels) []T {
	if who.Scope.Everywhere() {
		return items
	}
	w := NewWorld(objects)
	out := make([]T, 0, len(items))
	for _, it := range items {
		if access.May(who, access.Read, access.Target{Places: places(it, w)}) == access.Allowed {
			out = append(out, it)
		}
	}
	return out
}
