package store

import (
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// RackOf is the name of the rack that a server is in: that of its BMC. The code
// is not_found if server or BMC do not exist.
func (s *Store) RackOf(server string) (string, error) {
	srv, err := Peek[*resource.Server](s, server)
	if err != nil {
		return "", err
	}
	bmc, err := Peek[*resource.BMC](s, srv.Spec.BMCRef.Name)
	if err != nil {
		return "", err
	}
	return bmc.Spec.RackRef.Name, nil
}

// ClaimOf is the claim that has the server, or nil. A claim that names a server
// but was not bound to it yet does not have it.
func (s *Store) ClaimOf(server string) *resource.Claim {
	for _, c := range Find(s, ClaimsByServer, server) {
		return Copy(s, c)
	}
	return nil
}

// MaintenanceOf is the maintenance that has the server, also while it ends; or nil.
func (s *Store) MaintenanceOf(server string) *resource.Maintenance {
	for _, m := range Referring[*resource.Maintenance](s, resource.KindServer, server) {
		if m.Status.State == resource.MaintenanceActive {
			return Copy(s, m)
		}
	}
	return nil
}

// HoldsOn lists the holds on a server that were not released.
func (s *Store) HoldsOn(server string) []*resource.Hold {
	var out []*resource.Hold
	for _, h := range Referring[*resource.Hold](s, resource.KindServer, server) {
		if h.Status.ReleasedAt == nil {
			out = append(out, Copy(s, h))
		}
	}
	return out
}

// users names what keeps a server from being deleted or exchanged: its claim,
// claims and maintenances that name it, and holds, also released ones that the agent has not
// acknowledged.
func (s *Store) users(server string) []string {
	who := s.referring(resource.KindServer, server, resource.KindClaim)
	for _, c := range Find(s, ClaimsByServer, server) {
		who = append(who, "Claim/"+c.Metadata.Name)
	}
	slices.Sort(who)
	return append(slices.Compact(who), s.referring(resource.KindServer, server, resource.KindMaintenance, resource.KindHold)...)
}

// joined names at most five, so that a message stays readable.
func joined(who []string) string {
	const most = 5
	if len(who) > most {
		return strings.Join(who[:most], ", ") + " and others"
	}
	return strings.Join(who, ", ")
}
