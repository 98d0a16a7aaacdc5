package broker

import (
	"github.com/nats-io/nats-server/v2/server"

	"rackboot/protocol"
)

// Cut ends the connections of an agent and says how many there were. The agent
// connects again unless [Config].Refuse is true for it from before the call; then
// no connection of it is left when Cut returns. Errors: invalid for a name that is
// not an agent's; internal.
func (b *Broker) Cut(agent string) (int, error) {
	const op = "broker.Cut"
	if !protocol.ValidName(agent) {
		return 0, protocol.Errorf(protocol.CodeInvalid, op, "%q is not an agent id", agent)
	}
	s := b.server.Load()
	list, err := s.Connz(&server.ConnzOptions{Username: true, User: agent, Limit: s.NumClients() + 1})
	if err != nil {
		return 0, protocol.Errorf(protocol.CodeInternal, op, "cannot list the connections of %s: %w", agent, err)
	}
	cut := 0
	for _, c := range list.Conns {
		if s.DisconnectClientByID(c.Cid) == nil { // else it has gone by itself
			cut++
		}
	}
	return cut, nil
}
