package store

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Guard judges a resource as it is stored, before the operation that ends it; what is ended is at the
// revision that was judged. An error ends the operation.
type Guard func(resource.Object) error

// AtRevision is a Guard that wants the resource unchanged: another revision is a
// conflict.
func AtRevision(revision uint64) Guard {
	return func(obj resource.Object) error {
		if have := obj.Head().Metadata.Revision; have != revision {
			return protocol.Errorf(protocol.CodeConflict, "compare revisions", "%s %q has revision %d, not %d",
				obj.Head().Kind, obj.Head().Metadata.Name, have, revision).
				WithHint("somebody has changed it; read it again, and repeat what is still right")
		}
		return nil
	}
}

func guarded(obj resource.Object, guards []Guard) error {
	for _, g := range guards {
		if err := g(obj); err != nil {
			return err
		}
	}
	return nil
}
