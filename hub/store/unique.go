package store

import (
	"fmt"
	"slices"

	"rackboot/protocol/resource"
)

// place is which server has a unique value, and where.
type place struct {
	server, path string
}

// unique checks that a packet and a BMC's system each lead to one server: MAC
// addresses and UUIDs are unique over all servers, systems over the servers of
// a BMC. What collides is reported at the object of the set.
func (c *checker) unique(items []applyItem, inSet map[string]resource.Object) {
	taken := map[string]place{}                // in the set
	systems := map[string][]*resource.Server{} // in the set, by BMC
	for i, it := range items {
		srv, ok := it.next.(*resource.Server)
		if !ok {
			continue
		}
		claim := func(what string, stored Key[*resource.Server], value, path string) {
			if value == "" {
				return
			}
			first, clash := taken[value]
			for _, other := range staying(Find(c.sets.objects, stored, value), inSet) {
				first, clash = place{other.Metadata.Name, pathOf(other, value)}, true
				break
			}
			if clash {
				c.add(i, path, "%s %s is already %s of server %q", what, value, first.path, first.server)
				return
			}
			taken[value] = place{srv.Metadata.Name, path}
		}
		claim("MAC address", ServersByMAC, srv.Spec.BootMAC, "spec.bootMAC")
		for n, m := range srv.Spec.MACs {
			claim("MAC address", ServersByMAC, m, macPath(n))
		}
		claim("UUID", ServersByUUID, srv.Spec.UUID, "spec.uuid")

		bmc := srv.Spec.BMCRef.Name
		others := append(staying(Referring[*resource.Server](c.sets.objects, resource.KindBMC, bmc), inSet), systems[bmc]...)
		for _, other := range others {
			if srv.Spec.SystemURI == "" || other.Spec.SystemURI == "" || srv.Spec.SystemURI == other.Spec.SystemURI {
				c.add(i, "spec.systemURI", "server %q has the same BMC %q; give each its own systemURI", other.Metadata.Name, bmc)
				break
			}
		}
		systems[bmc] = append(systems[bmc], srv)
	}
}

// staying are the stored servers that the set does not replace.
func staying(servers []*resource.Server, inSet map[string]resource.Object) []*resource.Server {
	return slices.DeleteFunc(servers, func(s *resource.Server) bool { return inSet[keyOf(resource.KindServer, s.Metadata.Name)] != nil })
}

// pathOf is where a server has a MAC address or UUID first.
func pathOf(s *resource.Server, value string) string {
	if s.Spec.BootMAC == value {
		return "spec.bootMAC"
	}
	if n := slices.Index(s.Spec.MACs, value); n >= 0 {
		return macPath(n)
	}
	return "spec.uuid"
}

func macPath(n int) string { return fmt.Sprintf("spec.macs[%d]", n) }
