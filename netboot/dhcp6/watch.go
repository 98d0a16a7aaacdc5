package dhcp6

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// hear notes advertisements until the socket is closed. One that was forwarded, or
// does not come from a link-local address, is forged (RFC 4861 section 6.1.2).
func (s *Server) hear(ctx context.Context) error {
	buf, failed := make([]byte, advertSize), 0
	for {
		n, from, hops, err := s.adverts.Read(buf)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if failed++; errors.Is(err, net.ErrClosed) || failed >= leasing.ReadErrors {
				return protocol.Errorf(protocol.CodeUnavailable, "router advertisements", "reading: %w", err)
			}
			if !leasing.Pause(ctx, leasing.ReadRetry) {
				return nil
			}
			continue
		}
		failed = 0
		if n > 0 && buf[0] == icmpNeighbour {
			if hops != hopLimit {
				err = errNeighbour
			} else {
				err = s.neighbour(buf[:n])
			}
			if err != nil {
				s.log.Debug("neighbour advertisement ignored", "from", from.String(), "hops", hops, "err", err)
			}
			continue
		}
		a, err := parseAdvert(buf[:n])
		if err != nil || hops != hopLimit || !from.IsLinkLocalUnicast() {
			s.log.Debug("router advertisement ignored", "from", from.String(), "hops", hops, "err", err)
			continue
		}
		s.routers.saw(router{advert: a, addr: from.WithZone(""), at: s.now()})
	}
}

// checkRouters asks for advertisements and judges them, until ctx ends. Where it
// cannot ask, as on an interface that is not up yet, it judges nothing: unasked, a
// router may be silent for half an hour.
func (s *Server) checkRouters(ctx context.Context) {
	failed := false
	for {
		for asked := 0; asked < routerTries; {
			wait := routerInterval
			if err := s.adverts.Solicit(); err == nil {
				asked, failed = asked+1, false
			} else {
				if !failed && ctx.Err() == nil {
					s.log.Warn("no router solicitation sent", "err", err)
				}
				asked, failed, wait = 0, true, routerRetry
			}
			if !leasing.Pause(ctx, wait) {
				return
			}
		}
		s.judgeRouters()
		if !leasing.Pause(ctx, routerCheck-routerWait) {
			return
		}
	}
}

func (s *Server) judgeRouters() {
	in, ok := s.cfg.Resolver.Segment(s.cfg.Segment)
	if !ok || in.IPv6 == nil || in.IPv6.Mode == resource.IPv6None {
		return
	}
	seg := *in.IPv6
	var route, managed, other bool
	var last netip.Addr
	for _, r := range s.routers.now(s.now()) {
		route, managed, other, last = route || r.reaches(seg.Address), managed || r.managed, other || r.other, r.addr
	}
	switch routerRule(seg.Mode, route, managed, other) {
	case findingNoRoute:
		s.missing(netboot.NoticeNoRouter, netip.Addr{}, "no router advertisement gives a route to the agent; firmware waits 10 s for one, and what it boots has none")
	case findingUnmanaged:
		s.missing(netboot.NoticeUnmanaged, last, "router advertisements do not send clients to DHCPv6")
	case findingFine:
	}
}

func (s *Server) missing(kind netboot.NoticeKind, a netip.Addr, what string) {
	if s.routers.tell(kind, s.now()) {
		s.log.Warn("router advertisements are wrong", "problem", what, "router", a.String())
		s.answers.Notice(netboot.Notice{Kind: kind, Address: a})
	}
}
