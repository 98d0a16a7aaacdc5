package store

import (
	"fmt"

	"rackboot/protocol"
)

// holder is which server has a unique value, and where.
type holder struct {
	server, path string
	index        int // in the set, or -1 if it is only stored
}

// unique checks that a packet and a BMC's system each lead to one server: MAC
// addresses and UUIDs are unique over all servers, systems over the servers of
// a BMC. What collides is reported at the object of the set.
func (c *checker) unique(items []applyItem) {
	index := map[string]int{}
	var all []*protocol.Server
	for i, it := range items {
		if srv, ok := it.next.(*protocol.Server); ok {
			index[srv.Metadata.Name] = i
		}
	}
	for _, srv := range List[*protocol.Server](c.store) {
		if _, replaced := index[srv.Metadata.Name]; !replaced {
			all = append(all, srv)
		}
	}
	for _, it := range items {
		if srv, ok := it.next.(*protocol.Server); ok {
			all = append(all, srv)
		}
	}
	taken := map[string]holder{}
	systems := map[string][]holder{} // BMC -> its servers so far
	for _, srv := range all {
		at := -1
		if i, ok := index[srv.Metadata.Name]; ok {
			at = i
		}
		claim := func(what, value, path string) {
			if value == "" {
				return
			}
			first, clash := taken[value]
			if !clash {
				taken[value] = holder{srv.Metadata.Name, path, at}
			} else if at >= 0 {
				c.add(at, path, "%s %s is already %s of server %q", what, value, first.path, first.server)
			}
		}
		claim("MAC address", srv.Spec.BootMAC, "spec.bootMAC")
		for n, m := range srv.Spec.MACs {
			claim("MAC address", m, fmt.Sprintf("spec.macs[%d]", n))
		}
		claim("UUID", srv.Spec.UUID, "spec.uuid")

		bmc := srv.Spec.BMCRef.Name
		for _, other := range systems[bmc] {
			if at >= 0 && (srv.Spec.SystemURI == "" || other.path == "" || srv.Spec.SystemURI == other.path) {
				c.add(at, "spec.systemURI", "server %q has the same BMC %q; give each its own systemURI", other.server, bmc)
				break
			}
		}
		systems[bmc] = append(systems[bmc], holder{srv.Metadata.Name, srv.Spec.SystemURI, at})
	}
}
