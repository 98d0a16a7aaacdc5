package dhcp

import (
	"context"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
)

// request answers a DHCPREQUEST by the state of the client, which RFC 2131
// section 4.3.2 tells from the fields:
//
//	SELECTING    option 54 and 50, ciaddr 0
//	INIT-REBOOT  option 50, ciaddr 0, no option 54
//	RENEWING     ciaddr, neither option; unicast
//	REBINDING    ciaddr, neither option; broadcast
func (s *Server) request(ctx context.Context, r *request, seg protocol.SegmentIntent) (*dhcpv4.DHCPv4, string) {
	want := r.asked
	if !want.IsValid() {
		want = r.ciaddr
	}
	held := s.pool.address(r.mac, s.now())
	if !held.IsValid() {
		held = want
	}
	a := s.decide(r, seg, held)
	switch {
	case r.server.IsValid() && r.server != seg.Address:
		s.pool.withdraw(r.mac)
		return nil, resultElsewhere
	case a.Action == protocol.AnswerSilence:
		return nil, resultSilence
	case !want.IsValid():
		return nil, resultIgnored
	case r.server.IsValid():
		return s.selecting(ctx, r, seg, a, want)
	case r.asked.IsValid() && !r.ciaddr.IsValid():
		return s.initReboot(ctx, r, seg, a)
	case r.ciaddr.IsValid():
		return s.renewing(ctx, r, seg, a)
	}
	return nil, resultIgnored
}

// selecting: the client took our offer. If the agent was restarted since, the
// offer is forgotten, and the address is granted if it is still free.
func (s *Server) selecting(ctx context.Context, r *request, seg protocol.SegmentIntent, a protocol.BootAnswer, want netip.Addr) (*dhcpv4.DHCPv4, string) {
	if !usable(seg, want) {
		return nak(r, seg, "address is not in the pool"), resultNak
	}
	switch s.pool.look(r.mac, want, s.now()) {
	case holdOther:
		return nak(r, seg, "another address was offered"), resultNak
	case holdForeign:
		return nak(r, seg, "address is in use"), resultNak
	case holdSame, holdNothing:
	}
	return s.grant(ctx, r, seg, a, want)
}

// initReboot: the client remembers an address. One that we know nothing of may
// have been granted before our leases were lost; it gets silence, and a NAK only
// if the address cannot be its own.
func (s *Server) initReboot(ctx context.Context, r *request, seg protocol.SegmentIntent, a protocol.BootAnswer) (*dhcpv4.DHCPv4, string) {
	if !seg.Prefix.Contains(r.asked) {
		return nak(r, seg, "address is not on this network"), resultNak
	}
	switch s.pool.look(r.mac, r.asked, s.now()) {
	case holdSame:
		if usable(seg, r.asked) {
			return s.grant(ctx, r, seg, a, r.asked)
		}
		return nak(r, seg, "address is no longer in the pool"), resultNak
	case holdOther:
		return nak(r, seg, "another address is leased"), resultNak
	case holdForeign:
		return nak(r, seg, "address is in use"), resultNak
	case holdNothing:
	}
	return nil, resultUnknown
}

// renewing is RENEWING and REBINDING. A running system keeps its address where
// that is possible at all: a lease that was lost is granted anew if the address
// is in the pool and free, because the client uses it now.
func (s *Server) renewing(ctx context.Context, r *request, seg protocol.SegmentIntent, a protocol.BootAnswer) (*dhcpv4.DHCPv4, string) {
	if !seg.Prefix.Contains(r.ciaddr) {
		return nak(r, seg, "address is not on this network"), resultNak
	}
	switch s.pool.look(r.mac, r.ciaddr, s.now()) {
	case holdOther:
		return nak(r, seg, "another address is leased"), resultNak
	case holdForeign:
		return nak(r, seg, "address is in use"), resultNak
	case holdSame, holdNothing:
	}
	if !usable(seg, r.ciaddr) {
		return nil, resultUnknown
	}
	return s.grant(ctx, r, seg, a, r.ciaddr)
}

// grant writes the lease and only then makes the ACK (RFC 2131 section 3.1 step
// 4). Without the write there is no ACK: the client asks again.
func (s *Server) grant(ctx context.Context, r *request, seg protocol.SegmentIntent, a protocol.BootAnswer, addr netip.Addr) (*dhcpv4.DHCPv4, string) {
	now := s.now()
	old, ok := s.pool.claim(r.mac, addr, now)
	if !ok {
		return nak(r, seg, "address is in use"), resultNak
	}
	d := leaseTime(seg)
	l := netboot.Lease{Segment: s.cfg.Segment, Address: addr, MAC: r.mac, Server: a.Server, Expires: now.Add(d)}
	if err := s.put(ctx, l); err != nil {
		s.pool.withdraw(r.mac)
		s.log.Error("lease not stored", "mac", r.mac, "address", addr.String(), "err", err)
		return nil, resultStoreError
	}
	s.pool.commit(l)
	if s.cfg.Granted != nil {
		s.cfg.Granted(l)
	}
	if old.IsValid() {
		s.forget(ctx, netboot.Lease{Segment: s.cfg.Segment, Address: old, MAC: r.mac})
	}
	p := newReply(r, seg, dhcpv4.MessageTypeAck)
	if r.ciaddr.IsValid() {
		p.ClientIPAddr = r.ClientIPAddr
	}
	network(p, seg, isBMCs(seg, a))
	lease(p, addr, d)
	if err := bootData(p, r, seg, a); err != nil {
		s.log.Error("dhcp boot data not made", "mac", r.mac, "server", a.Server, "err", err, "hint", protocol.HintOf(err))
		return nil, resultUnsendable
	}
	return p, resultAck
}

// put writes a lease. The write outlives the server's stop, so that what is on
// disk and what the client was told stay the same.
func (s *Server) put(ctx context.Context, l netboot.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	return s.cfg.Leases.Put(ctx, l)
}

// forget deletes the lease of an address that its MAC left. A lease that stays is
// harmless: loading prefers the newer one of a MAC.
func (s *Server) forget(ctx context.Context, l netboot.Lease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	if err := s.cfg.Leases.Delete(ctx, l); err != nil {
		s.log.Warn("old lease not deleted", "mac", l.MAC, "address", l.Address.String(), "err", err)
	}
}
