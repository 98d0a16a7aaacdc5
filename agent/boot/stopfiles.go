package boot

import (
	"net/netip"

	"rackboot/netboot"
	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// openStop opens a file of a server's stop image.
func (b *segment) openStop(server string, e indexed, name string) (*netboot.File, error) {
	const op = "open stop image"
	r := b.room
	now := r.cfg.Clock()
	if e.held || e.missing || e.orders.Explain(now) {
		return nil, protocol.Errorf(protocol.CodeDenied, op, "%s may not have %s now", server, name)
	}
	c, err := r.stopChain(e, true)
	if err != nil {
		if c, err = r.stopChain(e, false); err != nil {
			return nil, protocol.Errorf(protocol.CodeNotFound, op, "%w", err)
		}
	}
	found, waits, ok := chain.LookupStop(c, name, server, r.index.powerOffAfter())
	if !ok {
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "the stop image has no %s", name)
	}
	if waits {
		r.cfg.Servers.Saw(server, decide.Event{StopImage: true, At: now})
		return rendered(found.Text, now), nil
	}
	return b.blob(found.Digest, name, r.started)
}

// stopAt is the token of the stop image of the machine that has an address.
func (b *segment) stopAt(remote netip.Addr) (token string, ok bool) {
	client, ok := b.leased.of(remote, b.room.cfg.Clock())
	if !ok {
		return "", false
	}
	return b.room.index.stopOf(client)
}
