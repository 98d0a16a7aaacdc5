package dhcp

import (
	"context"
	"net/netip"
	"time"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
)

const (
	// probeBudget bounds all probes for one DISCOVER. EDK2 takes its offer 3 s after
	// it asked at the earliest, and slow conflict checks are known to miss that.
	probeBudget = 280 * time.Millisecond
	// probeTries is how many addresses are tried for one DISCOVER.
	probeTries = 8
	// probeSlots is how many packets may wait for probes at once; the others keep
	// answering. A DISCOVER that finds none free is answered without a probe.
	probeSlots = workerCount * 3 / 4
)

// probe asks the link whether somebody else than the client uses the address.
func (s *Server) probe(ctx context.Context, r *request, addr netip.Addr) probed {
	result := s.ask(ctx, r, addr)
	s.metrics.probes.WithLabelValues(string(result)).Inc()
	return result
}

func (s *Server) ask(ctx context.Context, r *request, addr netip.Addr) probed {
	if s.link == nil {
		return probeSkipped
	}
	select {
	case s.probes <- struct{}{}:
		defer func() { <-s.probes }()
	default:
		return probeSkipped
	}
	leasing.Waits(ctx)
	by, used, err := s.link.inUse(ctx, addr, mac48(r.ClientHWAddr))
	switch {
	case err != nil:
		s.log.Debug("address not probed", "address", addr.String(), "err", err)
		return probeSkipped
	case !used:
		return probeFree
	}
	s.log.Warn("address is in use by a machine that did not get it here", "address", addr.String(), "by", by.String())
	s.answers.Notice(netboot.Notice{Kind: netboot.NoticeConflict, Address: addr, MAC: by.String()})
	return probeUsed
}

// vacate finds an address that nobody squats, beginning with one that is held for
// the client: each that is found in use rests, and the pool gives another. It
// returns no address, and why, if there is none or the time is over; the client asks
// again, and what was learned stays.
func (s *Server) vacate(ctx context.Context, r *request, sc scope, addr netip.Addr) (netip.Addr, string) {
	if s.link == nil {
		return addr, ""
	}
	s.probing.begin(r.mac)
	defer s.probing.end(r.mac)
	ctx, cancel := context.WithTimeout(ctx, probeBudget)
	defer cancel()
	for range probeTries {
		used := s.probe(ctx, r, addr) == probeUsed
		if ctx.Err() != nil {
			break
		}
		if !used {
			return addr, ""
		}
		s.pool.decline(r.mac, addr, leasing.DeclineHold, s.now())
		var ok bool
		if addr, _, ok = s.pool.offer(sc, r.mac, s.now()); !ok {
			return netip.Addr{}, resultExhausted
		}
	}
	s.pool.withdraw(r.mac)
	return netip.Addr{}, resultConflict
}

// short tells that a machine of ours got no address.
func (s *Server) short(r *request, sc scope, server string) {
	if sc.stranger || !s.shortages.Tell(r.mac, s.now()) {
		return
	}
	s.answers.Notice(netboot.Notice{Kind: netboot.NoticeNoAddress, MAC: r.mac, Server: server})
}
