package discover

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"rackboot/protocol/resource"
)

const (
	// scanEvery is the time from the end of a scan to the next, with scanJitter either
	// way, so that racks do not scan in step.
	scanEvery  = 10 * time.Minute
	scanJitter = 2 * time.Minute
	// scanAtOnce and askRate bound the connections that are being made, so that a
	// switch's neighbour table and its guards against scans stay calm.
	scanAtOnce = 20
	askRate    = rate.Limit(50) // per second
	// maxTargets bounds one segment's scan, whatever the hub lists.
	maxTargets = 1024
)

// watch scans a segment until ctx ends.
func (f *Finder) watch(ctx context.Context, seg resource.SegmentIntent) {
	addrs, refused := targets(seg)
	for _, p := range refused {
		f.log.Warn("prefix is not scanned", "segment", seg.Name, "prefix", p.String(), "inside", seg.Prefix.String(), "limit", maxTargets)
	}
	for len(addrs) > 0 {
		if !f.scan(ctx, seg, addrs) {
			return
		}
		f.metrics.scans.Inc()
		pause := time.NewTimer(scanEvery - scanJitter + rand.N(2*scanJitter))
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}

// scan asks each address once. It returns when all have answered; whole is false if
// ctx ended before.
func (f *Finder) scan(ctx context.Context, seg resource.SegmentIntent, addrs []netip.Addr) (whole bool) {
	var asking sync.WaitGroup
	defer asking.Wait()
	for _, addr := range addrs {
		select {
		case <-ctx.Done():
			return false
		case f.scans <- struct{}{}:
		}
		asking.Go(func() {
			defer func() { <-f.scans }()
			if a, ok := f.ask(ctx, seg, addr); ok {
				f.answered(seg.Name, a)
			}
		})
	}
	asking.Wait()
	return ctx.Err() == nil
}

// targets are the addresses to scan, at most maxTargets, each once. refused are the
// prefixes that are not wholly among them: not inside the segment's, or too many.
func targets(seg resource.SegmentIntent) (addrs []netip.Addr, refused []netip.Prefix) {
	known := map[netip.Addr]bool{}
	for _, p := range seg.Scan {
		if !inside(seg.Prefix, p) {
			refused = append(refused, p)
			continue
		}
		for a, last := p.Masked().Addr(), lastAddr(p); ; a = a.Next() {
			if askable(seg, a) && !known[a] {
				if len(addrs) == maxTargets {
					refused = append(refused, p)
					break
				}
				known[a] = true
				addrs = append(addrs, a)
			}
			if a == last {
				break
			}
		}
	}
	return addrs, refused
}

// inside says whether p is a subnet of the segment's prefix, or all of it.
func inside(segment, p netip.Prefix) bool {
	return segment.IsValid() && segment.Addr().Is4() && p.IsValid() && p.Addr().Is4() &&
		p.Bits() >= segment.Bits() && segment.Contains(p.Addr())
}

// scanned says whether an address is in a range that is scanned.
func scanned(seg resource.SegmentIntent, addr netip.Addr) bool {
	return askable(seg, addr) && slices.ContainsFunc(seg.Scan, func(p netip.Prefix) bool {
		return inside(seg.Prefix, p) && p.Contains(addr)
	})
}

// askable says whether an address may be asked at all: one of a host in the
// segment's prefix, and not the agent's own.
func askable(seg resource.SegmentIntent, addr netip.Addr) bool {
	if !addr.Is4() || !seg.Prefix.IsValid() || !seg.Prefix.Addr().Is4() || !seg.Prefix.Contains(addr) || addr == seg.Address {
		return false
	}
	// RFC 3021: a /31 has neither network nor broadcast address.
	return seg.Prefix.Bits() >= 31 || addr != seg.Prefix.Masked().Addr() && addr != lastAddr(seg.Prefix)
}

// lastAddr is the highest address of an IPv4 prefix.
func lastAddr(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().As4()
	n := binary.BigEndian.Uint32(b[:]) | ^uint32(0)>>p.Bits()
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}
