package store

import (
	"context"
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// referencesOf are a resource's references, and what else it keeps from being deleted: a
// claim's server, and the entry of the catalogue that a server boots.
func referencesOf(obj resource.Object) (refs []resource.Reference) {
	if r, ok := obj.(resource.Referrer); ok {
		refs = slices.Clone(r.References())
	}
	switch o := obj.(type) {
	case *resource.Claim:
		refs = append(refs, resource.Reference{Path: "status.server", Kind: resource.KindServer, Name: o.Status.Server})
	case *resource.BootConfiguration:
		refs = append(refs, resource.Reference{Path: "spec.image.bootImage", Kind: resource.KindBootImage, Name: o.Spec.Image.BootImage})
	}
	return slices.DeleteFunc(refs, func(r resource.Reference) bool { return r.Name == "" })
}

// mayDangle reports whether a resource is kept although what it refers to is not there: a hold
// that an agent enforces, of a server that this hub has lost; and what a server boots of an entry
// that has left the catalogue.
func mayDangle(obj resource.Object) bool {
	switch obj.(type) {
	case *resource.Hold, *resource.BootConfiguration:
		return true
	}
	return false
}

// newReferences are the revisions of what next refers to and old did not. What is closed is
// waited for. One that is gone is a conflict.
func (objs *Objects) newReferences(ctx context.Context, old, next resource.Object) (map[string]uint64, error) {
	checks := map[string]uint64{}
	had := referencesOf(old)
	for _, ref := range referencesOf(next) {
		if slices.ContainsFunc(had, func(o resource.Reference) bool { return o.Kind == ref.Kind && o.Name == ref.Name }) {
			continue
		}
		key := keyOf(ref.Kind, ref.Name)
		e, there, err := objs.core.opened(ctx, key)
		switch {
		case err != nil:
			return nil, stateError("check references", err)
		case there:
			checks[key] = e.Revision
		case !mayDangle(next):
			return nil, protocol.Errorf(protocol.CodeConflict, "check references", "%s: %s %q does not exist", ref.Path, ref.Kind, ref.Name).
				WithHint("it was deleted meanwhile; name another one")
		}
	}
	return checks, nil
}
