package imports

import (
	"rackboot/hub/env"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// stubKeys are versions of Secrets of another hub.
type stubKeys map[resource.IgnitionRef]bool

// currentStubs are the user data of the groups' current revisions: what their Secrets had
// when they were exported.
func currentStubs(objs []resource.Object) stubKeys {
	current, out := map[string]bool{}, stubKeys{}
	for _, o := range objs {
		if g, ok := o.(*resource.ServerGroup); ok {
			current[resource.GroupRevisionName(g.Metadata.Name, g.Status.Revision)] = true
		}
	}
	for _, o := range objs {
		if r, ok := o.(*resource.GroupRevision); ok && current[r.Metadata.Name] {
			for _, ref := range []*resource.IgnitionRef{r.Spec.Stub, r.Spec.OriginalStub} {
				if ref != nil {
					out[*ref] = true
				}
			}
		}
	}
	return out
}

// stubs names in a revision the user data that is here. The digest is an HMAC of the other
// hub, so that nothing can be compared: what was made again under its name is taken for
// what was current there, as with configurations. An older version is taken for nothing,
// and a return to its revision says that it is gone.
func (in *importing) stubs(r *resource.GroupRevision, current stubKeys) {
	for _, ref := range []**resource.IgnitionRef{&r.Spec.Stub, &r.Spec.OriginalStub} {
		if *ref == nil || !current[**ref] {
			continue
		}
		if s, err := store.Peek[*resource.Secret](in.room.cfg.Objects, (*ref).Secret); err == nil {
			*ref = env.RefOf(s)
		}
	}
}
