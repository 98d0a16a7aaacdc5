package watch

import (
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// world is where resources are, as it is stored. It implements [rackboot/hub/access.World] and
// [rackboot/protocol/selector.Site].
type world struct{ objects *store.Objects }

func peek[T resource.Object](w world, name string) (none T) {
	if obj, err := store.Peek[T](w.objects, name); err == nil {
		return obj
	}
	return none
}

// Rack implements access.World.
func (w world) Rack(name string) *resource.Rack { return peek[*resource.Rack](w, name) }

// BMC implements access.World.
func (w world) BMC(name string) *resource.BMC { return peek[*resource.BMC](w, name) }

// Server implements access.World.
func (w world) Server(name string) *resource.Server { return peek[*resource.Server](w, name) }

// Behind implements access.World.
func (w world) Behind(bmc string) []*resource.Server {
	return store.Referring[*resource.Server](w.objects, resource.KindBMC, bmc)
}

// SegmentRack implements selector.Site.
func (w world) SegmentRack(segment string) string {
	if s := peek[*resource.Segment](w, segment); s != nil {
		return s.Spec.RackRef.Name
	}
	return ""
}

// ServerSegment implements selector.Site.
func (w world) ServerSegment(server string) string {
	if s := w.Server(server); s != nil {
		return s.Spec.SegmentRef.Name
	}
	return ""
}

// serverOf is the server that a resource is of; empty for none.
func serverOf(obj resource.Object) string {
	switch o := obj.(type) {
	case *resource.Server:
		return o.Metadata.Name
	case *resource.Claim:
		if o.Status.Server == "" && o.Spec.ServerRef != nil {
			return o.Spec.ServerRef.Name
		}
		return o.Status.Server
	case *resource.Hold:
		return o.Spec.Server
	case *resource.Maintenance:
		return o.Spec.ServerRef.Name
	case *resource.BootConfiguration:
		return o.Spec.Server
	}
	return ""
}
