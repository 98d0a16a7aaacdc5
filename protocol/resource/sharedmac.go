package resource

import "slices"

// LabelFrom says of a Server that it was made from an inventory.
const (
	LabelFrom     = "rackboot/from"
	FromInventory = "inventory"
)

// SharedMAC is an address of a server that was seen at another as well: a network card that shows
// what every card of its kind shows.
type SharedMAC struct {
	MAC    string `json:"mac"`
	Server string `json:"server"` // the other one
}

// DropsShared says whether an address that was seen at another server as well does not count for this
// one. What somebody has applied counts.
func (s *Server) DropsShared() bool { return s.Metadata.Labels[LabelFrom] == FromInventory }

// CountedMACs are the addresses by which the server is known on its segment: those of its spec, without
// the shared ones where they do not count. A server that would have none keeps its boot MAC.
func (s *Server) CountedMACs() (boot string, others []string) {
	if len(s.Status.SharedMACs) == 0 || !s.DropsShared() {
		return s.Spec.BootMAC, s.Spec.MACs
	}
	counted := slices.DeleteFunc(append([]string{s.Spec.BootMAC}, s.Spec.MACs...), func(mac string) bool {
		return slices.ContainsFunc(s.Status.SharedMACs, func(m SharedMAC) bool { return m.MAC == mac })
	})
	if len(counted) == 0 {
		return s.Spec.BootMAC, nil
	}
	return counted[0], counted[1:]
}
