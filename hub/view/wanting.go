package view

import (
	"slices"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// Wanting are those of claims that are to get a server. It changes the list.
func Wanting(claims []*resource.Claim) []*resource.Claim {
	return slices.DeleteFunc(claims, func(c *resource.Claim) bool { return c.Status.Server != "" || c.Metadata.DeletedAt != nil })
}

// WantingAny are the claims to which the site gives a server: who selects one, or names one that is in
// no rack.
func (r *Reader) WantingAny() []*resource.Claim {
	return slices.DeleteFunc(Wanting(store.Find(r.cfg.Store.Objects, store.ClaimsUnbound, store.Any)), func(cl *resource.Claim) bool {
		return cl.Spec.ServerRef != nil && r.InRack(cl.Spec.ServerRef.Name)
	})
}

// InRack reports whether a server is in a rack that there is, which has turns.
func (r *Reader) InRack(server string) bool {
	rack, err := r.cfg.Store.Objects.RackOf(server)
	if err == nil {
		_, err = store.Peek[*resource.Rack](r.cfg.Store.Objects, rack)
	}
	return err == nil
}
