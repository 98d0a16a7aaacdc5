package dhcp6

import (
	"context"
	"net/netip"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// decide finds the answer for a client, and the client to record as seen, nil if it is none.
func (s *Server) decide(r *request, seg resource.SegmentIntent, addr netip.Addr) (protocol.BootAnswer, *protocol.BootClient) {
	asking := r.kind == dhcpv6.MessageTypeInformationRequest
	r.question = &leasing.Question{
		Client: r.client(s.cfg.Segment, addr), ID: r.id, First: asking || r.kind == dhcpv6.MessageTypeSolicit, Information: asking,
	}
	return s.answers.Decide(seg, r.question)
}

// seen records a boot client with the address that it holds or is offered.
func (s *Server) seen(r *request, who *protocol.BootClient, addr netip.Addr) {
	switch r.kind {
	case dhcpv6.MessageTypeSolicit, dhcpv6.MessageTypeRequest, dhcpv6.MessageTypeInformationRequest:
		s.answers.Seen(who, addr, r.peer.Addr())
	default:
	}
}

// made is the last step of a reply: what the answer says about booting.
func (s *Server) made(p *reply, r *request, sc scope, a protocol.BootAnswer, result string) (*reply, string) {
	if err := p.parameters(r, s.cfg.Segment, sc, a); err != nil {
		s.log.Error("dhcpv6 boot data not made", "client", r.id, "server", a.Server, "err", err, "hint", protocol.HintOf(err))
		return nil, resultUnsendable
	}
	return p, result
}

// ended tells the caller that nobody has the address any more.
func (s *Server) ended(l netboot.Lease6) {
	if s.cfg.Ended != nil {
		s.cfg.Ended(l)
	}
}

// put writes a lease.
func (s *Server) put(ctx context.Context, l netboot.Lease6) error {
	err := s.records.Put(ctx, l)
	if err != nil {
		s.log.Error("lease not stored", "client", l.Client, "address", l.Address.String(), "err", err)
	}
	return err
}

// forget deletes the leases of addresses that nobody has any more. One that stays is
// harmless: loading prefers the newer one of a machine.
func (s *Server) forget(ctx context.Context) {
	for {
		a, ok := s.pool.dropped(s.now())
		if !ok {
			return
		}
		s.remove(ctx, a)
		s.pool.Left(a)
	}
}

func (s *Server) remove(ctx context.Context, a netip.Addr) {
	l := netboot.Lease6{Segment: s.cfg.Segment, Address: a}
	s.ended(l)
	if err := s.records.Delete(ctx, l); err != nil {
		s.log.Warn("old lease not deleted", "address", a.String(), "err", err)
	}
}

// grant holds the address for the client's identity association and has the lease on
// disk when it returns an empty result.
func (s *Server) grant(ctx context.Context, r *request, ia association, a netip.Addr, server string, d time.Duration) (result string) {
	l := s.leaseOf(r, a, server, s.now().Add(d))
	if s.put(ctx, l) != nil {
		s.pool.withdraw(r.id)
		return resultStoreError
	}
	if !s.pool.commit(l, r.holder(ia), s.now()) {
		return resultUnknown
	}
	if s.cfg.Granted != nil {
		s.cfg.Granted(l)
	}
	return ""
}
