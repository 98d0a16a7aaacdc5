package link

import (
	"reflect"
	"slices"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// peerOf is what a Hello says of its agent.
func peerOf(m message.Hello) store.Peer {
	return store.Peer{Incarnation: m.Incarnation, Protocol: m.Protocol, Version: m.Version, Capabilities: m.Capabilities, Approvals: m.Approvals}
}

func samePeer(a, b store.Peer) bool {
	return a.Incarnation == b.Incarnation && a.Protocol == b.Protocol && a.Version == b.Version && slices.Equal(a.Capabilities, b.Capabilities) && reflect.DeepEqual(a.Approvals, b.Approvals)
}

// Peers are the agents of the racks as the ledgers know them.
func (c *Ledgers) Peers(racks []*resource.Rack) map[string]plan.Peer {
	out := make(map[string]plan.Peer, len(racks))
	for _, r := range racks {
		for _, agent := range []string{r.Status.Agent, r.Status.Standby} {
			if l, err := c.cfg.Store.Ledgers.Peek(agent); err == nil && agent != "" {
				out[agent] = plan.Peer{Incarnation: l.Peer.Incarnation, Capabilities: l.Peer.Capabilities}
			}
		}
	}
	return out
}
