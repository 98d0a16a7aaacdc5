package accounts

import (
	"slices"

	"rackboot/protocol"
)

// Site is whose certificates there are.
type Site struct {
	// Hub is the subject of the certificate that hubs show the broker. Hubs that share a store have one.
	Hub Subject
	// Agents are names: those that may connect, in any order, and twice if need be.
	Agents []string
	// Store is the subject of the certificate that hubs show the NATS servers of their store. Nil gives it no account.
	Store Subject
}

// names are the agents, in order, each once. It refuses what is not to be written down, and two of one name.
func (s Site) names() ([]string, error) {
	if err := s.Hub.check(); err != nil {
		return nil, err
	}
	if s.Store != nil {
		if err := s.Store.check(); err != nil {
			return nil, err
		}
		if s.Store.same(s.Hub) {
			return nil, refuse("the hub shows the broker and the store's servers certificates of one subject, %q, and a NATS server knows a user once", s.Hub)
		}
	}
	names := slices.Compact(slices.Sorted(slices.Values(s.Agents)))
	for _, name := range names {
		if !protocol.ValidName(name) {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%q is not the name of an agent: it has something else than a-z, 0-9 and inner -, or more than 63 of them", name).
				WithHint("no hub gives such a name: look at the hub's store with rackboot-hub check")
		}
		for _, other := range []Subject{s.Hub, s.Store} {
			if other.same(Common(name)) {
				return nil, refuse("the hub's certificate has the subject %q, and so has that of agent %s", other, name)
			}
		}
	}
	return names, nil
}
