package control

import (
	"reflect"
	"slices"

	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/wire"
)

// peerOf is what a Hello says of its agent. That an agent echoes nonces is never
// forgotten, so that an old Hello cannot turn it off.
func peerOf(known store.Peer, m protocol.Hello) store.Peer {
	p := store.Peer{Incarnation: m.Incarnation, Protocol: m.Protocol, Version: m.Version, Capabilities: m.Capabilities, Approvals: m.Approvals}
	if known.Can(protocol.CapNonce) && !p.Can(protocol.CapNonce) {
		p.Capabilities = append(slices.Clone(p.Able()), protocol.CapNonce)
	}
	return p
}

func samePeer(a, b store.Peer) bool {
	return a.Incarnation == b.Incarnation && a.Protocol == b.Protocol && a.Version == b.Version && slices.Equal(a.Capabilities, b.Capabilities) && reflect.DeepEqual(a.Approvals, b.Approvals)
}

// sealed is the digest of a document as it goes out.
func sealed(s store.SentDoc) string {
	if s.Sealed != "" {
		return s.Sealed
	}
	return wire.Digest(s.Body)
}

// peers are the agents of the racks as the ledgers know them.
func (c *Control) peers(racks []*protocol.Rack) map[string]plan.Peer {
	out := make(map[string]plan.Peer, len(racks))
	for _, r := range racks {
		if l, err := c.cfg.Store.PeekLedger(r.Status.Agent); err == nil && r.Status.Agent != "" {
			out[r.Status.Agent] = plan.Peer{Incarnation: l.Peer.Incarnation, Capabilities: l.Peer.Able()}
		}
	}
	return out
}
