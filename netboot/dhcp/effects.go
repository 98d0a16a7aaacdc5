package dhcp

import (
	"context"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// service is the segment's now.
func (s *Server) service() netboot.Service {
	if sv, ok := s.cfg.Resolver.(netboot.Servicer); ok {
		return sv.Service(s.cfg.Segment)
	}
	return netboot.Service{}
}

// resolve asks who the client is and freezes the answer.
func (s *Server) resolve(r *request, addr netip.Addr, byUUID bool) (told protocol.BootAnswer, who *protocol.BootClient) {
	defer func() { r.told, r.asker = told, who }()
	now := s.now()
	client := r.client(s.cfg.Segment, addr)
	if !byUUID {
		client.UUID = ""
	}
	key := freezeKey{mac: r.mac, xid: r.xid(), class: r.class}
	if a, ok := s.frozen.get(key, now); ok {
		return a, &client
	}
	if a, ok := s.promised.get(key, now); ok {
		return a, &client
	}
	a := s.cfg.Resolver.Resolve(client)
	keep := s.frozen
	if a.Server == "" {
		keep = s.promised
	}
	switch a.Action {
	case protocol.AnswerBoot:
		a = keep.put(key, s.unloop(r, a), now)
	case protocol.AnswerLease, protocol.AnswerRefuse:
		a = keep.put(key, a, now)
	case protocol.AnswerSilence:
	default:
		s.log.Error("resolver gave no answer", "mac", r.mac, "action", a.Action)
		a.Action = protocol.AnswerSilence
	}
	return a, &client
}

// seen records a boot client with the address that it holds or is offered.
func (s *Server) seen(r *request, who *protocol.BootClient, addr netip.Addr) {
	if who == nil || r.kind != dhcpv4.MessageTypeDiscover && r.kind != dhcpv4.MessageTypeRequest {
		return
	}
	who.Address = addr
	s.cfg.Evidence.Record(netboot.Event{Kind: protocol.EvidenceDHCP, Client: *who, Remote: r.peer.Addr(), At: s.now()})
}

// traced tells the caller what became of a packet whose client was decided about.
func (s *Server) traced(r *request, result string) {
	if s.cfg.Trace == nil || r.asker == nil {
		return
	}
	s.cfg.Trace(netboot.Exchange{
		Source: protocol.TraceDHCP, At: s.now(), Asked: typeLabel(r.kind), Client: *r.asker, Answered: result, Decision: r.told,
	})
}

// notice tells the caller what somebody should know.
func (s *Server) notice(n netboot.Notice) {
	if s.cfg.Notify != nil {
		n.Segment, n.At = s.cfg.Segment, s.now()
		s.cfg.Notify(n)
	}
}

// made is the last step of a reply: what the answer says about booting.
func (s *Server) made(p *dhcpv4.DHCPv4, r *request, seg resource.SegmentIntent, a protocol.BootAnswer, result string) (*dhcpv4.DHCPv4, string) {
	if err := bootData(p, r, seg, a); err != nil {
		s.log.Error("dhcp boot data not made", "mac", r.mac, "server", a.Server, "err", err, "hint", protocol.HintOf(err))
		return nil, resultUnsendable
	}
	return p, result
}

// ended tells the caller that the client has the address no more.
func (s *Server) ended(l netboot.Lease) {
	if s.cfg.Ended != nil {
		s.cfg.Ended(l)
	}
}

// put writes a lease. The write outlives the server's stop, so that what is on
// disk and what the client was told stay the same.
func (s *Server) put(ctx context.Context, l netboot.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leasing.StoreTimeout)
	defer cancel()
	return s.cfg.Leases.Put(ctx, l)
}

// forget deletes the lease of an address that its MAC left. A lease that stays is
// harmless: loading prefers the newer one of a MAC.
func (s *Server) forget(ctx context.Context, l netboot.Lease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leasing.StoreTimeout)
	defer cancel()
	if err := s.cfg.Leases.Delete(ctx, l); err != nil {
		s.log.Warn("old lease not deleted", "mac", l.MAC, "address", l.Address.String(), "err", err)
	}
}
