package store

import "rackboot/protocol/resource"

// RackOf is the name of the rack that a server is in: that of its BMC. The code
// is not_found if server or BMC do not exist.
func (objs *Objects) RackOf(server string) (string, error) {
	srv, err := Peek[*resource.Server](objs, server)
	if err != nil {
		return "", err
	}
	bmc, err := Peek[*resource.BMC](objs, srv.Spec.BMCRef.Name)
	if err != nil {
		return "", err
	}
	return bmc.Spec.RackRef.Name, nil
}

// serversIn is how many servers a rack has.
func (objs *Objects) serversIn(rack string) (n int) {
	for _, b := range Referring[*resource.BMC](objs, resource.KindRack, rack) {
		n += len(Referring[*resource.Server](objs, resource.KindBMC, b.Metadata.Name))
	}
	return n
}

// AgentOf is the agent that serves a server's rack; nil without one.
func (objs *Objects) AgentOf(server string) *resource.Agent {
	rack, err := objs.RackOf(server)
	if err != nil {
		return nil
	}
	r, err := Peek[*resource.Rack](objs, rack)
	if err != nil || r.Status.Agent == "" {
		return nil
	}
	a, err := Peek[*resource.Agent](objs, r.Status.Agent)
	if err != nil {
		return nil
	}
	return a
}
