package store

import (
	"fmt"
	"slices"

	"rackboot/protocol"
)

// place is which server has a unique value, and where.
type place struct {
	server, path string
}

// unique checks that a packet and a BMC's system each lead to one server: MAC
// addresses and UUIDs are unique over all servers, systems over the servers of
// a BMC. What collides is reported at the object of the set.
func (c *checker) unique(items []applyItem, inSet map[string]protocol.Object) {
	taken := map[string]place{}                // in the set
	systems := map[string][]*protocol.Server{} // in the set, by BMC
	for i, it := range items {
		srv, ok := it.next.(*protocol.Server)
		if !ok {
			continue
		}
		claim := func(what string, stored Key[*protocol.Server], value, path string) {
			if value == "" {
				return
			}
			first, clash := taken[value]
			for _, other := range staying(Find(c.store, stored, value), inSet) {
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
		others := append(staying(Referring[*protocol.Server](c.store, protocol.KindBMC, bmc), inSet), systems[bmc]...)
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
func staying(servers []*protocol.Server, inSet map[string]protocol.Object) []*protocol.Server {
	return slices.DeleteFunc(servers, func(s *protocol.Server) bool { return inSet[keyOf(protocol.KindServer, s.Metadata.Name)] != nil })
}

// pathOf is where a server has a MAC address or UUID first.
func pathOf(s *protocol.Server, value string) string {
	if s.Spec.BootMAC == value {
		return "spec.bootMAC"
	}
	if n := slices.Index(s.Spec.MACs, value); n >= 0 {
		return macPath(n)
	}
	return "spec.uuid"
}

func macPath(n int) string { return fmt.Sprintf("spec.macs[%d]", n) }
