package dhcp

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"

	"rackboot/netboot/leasing"
	"rackboot/protocol/resource"
)

func discoverFrom(mac string) *dhcpv4.DHCPv4 { return client(dhcpv4.MessageTypeDiscover, mac) }

func TestStableAddress(t *testing.T) {
	w := newWorld(t, lease1())
	first, _ := w.send(t, discoverFrom(mac1))
	again, _ := w.send(t, discoverFrom(mac1)) // two offers with two addresses end in DECLINE (tinypxe 1)
	if !first.YourIPAddr.Equal(again.YourIPAddr) {
		t.Errorf("repeated DISCOVER got %s, then %s", first.YourIPAddr, again.YourIPAddr)
	}
	w.restart(t) // the offer is not on disk
	after, _ := w.send(t, discoverFrom(mac1))
	if !first.YourIPAddr.Equal(after.YourIPAddr) {
		t.Errorf("after a restart %s, before %s", after.YourIPAddr, first.YourIPAddr)
	}
	ip := w.bind(t, mac1)
	w.clock = w.clock.Add(48 * time.Hour) // expired, and remembered
	w.restart(t)
	if got := w.bind(t, mac1); got != ip {
		t.Errorf("after expiry and restart %s, before %s", got, ip)
	}
}

func TestSelectingAfterRestart(t *testing.T) {
	w := newWorld(t, lease1())
	offer, _ := w.send(t, discoverFrom(mac1))
	w.restart(t)
	ack, _ := w.send(t, client(asking, mac1, withIP(54, ours), withIP(50, offer.YourIPAddr.String())))
	if ack == nil || ack.MessageType() != dhcpv4.MessageTypeAck {
		t.Errorf("got %v", ack)
	}
}

func TestExhaustion(t *testing.T) {
	w := newWorld(t, lease1())
	w.resolver.seg.PoolFrom = netip.MustParseAddr("10.99.0.254") // a router
	w.resolver.seg.PoolTo = netip.MustParseAddr("10.99.0.255")   // the broadcast address
	if reply, _ := w.send(t, discoverFrom(mac1)); reply != nil {
		t.Errorf("offered %s", reply.YourIPAddr)
	}
	w.resolver.seg.PoolFrom = netip.MustParseAddr("10.99.0.253")
	w.bind(t, mac1)
	if reply, _ := w.send(t, discoverFrom(mac2)); reply != nil {
		t.Errorf("offered %s twice", reply.YourIPAddr)
	}
	if n := testutil.ToFloat64(w.metrics.Packets.WithLabelValues("discover", resultExhausted)); n != 2 {
		t.Errorf("counted %v", n)
	}
	w.clock = w.clock.Add(time.Hour) // the lease ends, and its address is the only one
	if got := w.bind(t, mac2); got != "10.99.0.253" {
		t.Errorf("got %s", got)
	}
}

func TestDecline(t *testing.T) {
	w := newWorld(t, lease1())
	ip := w.bind(t, mac1)
	decline := func(mac string) { w.send(t, client(dhcpv4.MessageTypeDecline, mac, withIP(54, ours), withIP(50, ip))) }
	decline(mac2)
	if again, _ := w.send(t, discoverFrom(mac1)); again.YourIPAddr.String() != ip {
		t.Fatal("a stranger declined the address")
	}
	decline(mac1)
	w.restart(t)
	if other := w.bind(t, mac1); other == ip {
		t.Fatal("the declined address is offered again, after a restart")
	}
	if reply, _ := w.send(t, client(asking, mac2, withIP(54, ours), withIP(50, ip))); reply.MessageType() != dhcpv4.MessageTypeNak {
		t.Errorf("the declined address is granted: %s", reply.MessageType())
	}
	w.clock = w.clock.Add(leasing.DeclineHold)
	if reply, _ := w.send(t, client(asking, mac2, withIP(54, ours), withIP(50, ip))); reply.MessageType() != dhcpv4.MessageTypeAck {
		t.Errorf("after %s the address is still blocked", leasing.DeclineHold)
	}
}

func TestRelease(t *testing.T) {
	w := newWorld(t, lease1())
	w.resolver.seg.PoolTo = w.resolver.seg.PoolFrom.Next() // two addresses
	ip := w.bind(t, mac1)
	if n := w.pool.Count(leasing.Leased, w.clock); n != 1 {
		t.Errorf("%d leases", n)
	}
	w.send(t, client(dhcpv4.MessageTypeRelease, mac2, ciaddr(ip), withIP(54, ours)))
	if n := w.pool.Count(leasing.Leased, w.clock); n != 1 {
		t.Error("a stranger released the lease")
	}
	w.send(t, client(dhcpv4.MessageTypeRelease, mac1, ciaddr(ip), withIP(54, ours)))
	if n := w.pool.Count(leasing.Leased, w.clock); n != 0 {
		t.Errorf("%d leases after RELEASE", n)
	}
	w.restart(t)
	if other := w.bind(t, mac2); other == ip {
		t.Error("the remembered address was given away while another was free")
	}
	if again := w.bind(t, mac1); again != ip {
		t.Errorf("binding memory lost: %s, before %s", again, ip)
	}
}

// TestMovedMAC: an address that was replaced leaves the store, so that a load does
// not bring it back.
func TestMovedMAC(t *testing.T) {
	w := newWorld(t, lease1())
	old := w.bind(t, mac1)
	w.clock = w.clock.Add(2 * time.Hour)
	ack, _ := w.send(t, client(asking, mac1, ciaddr("10.99.0.99")))
	if ack == nil || ack.MessageType() != dhcpv4.MessageTypeAck {
		t.Fatalf("got %v", ack)
	}
	if _, ok := w.leases.get(old); ok {
		t.Errorf("the store still has %s", old)
	}
	if b := w.pool.ByAddr[addr(old)]; b != nil {
		t.Errorf("%s is still held: %+v", old, b)
	}
}

// TestLeavingAddress: nobody is granted an address whose old lease is still to be
// deleted; the deletion would hit the new one.
func TestLeavingAddress(t *testing.T) {
	w := newWorld(t, lease1())
	old := w.bind(t, mac1)
	w.clock = w.clock.Add(2 * time.Hour)
	sc := scope{seg: w.resolver.seg}
	if got, ok := w.pool.claim(sc, mac1, addr("10.99.0.99"), w.clock); !ok || got.String() != old {
		t.Fatalf("claimed, leaves %s, %v", got, ok)
	}
	if _, ok := w.pool.claim(sc, mac2, addr(old), w.clock); ok {
		t.Error("another MAC has it before it is deleted")
	}
	w.pool.Left(addr(old))
	if _, ok := w.pool.claim(sc, mac2, addr(old), w.clock); !ok {
		t.Error("it is held for ever")
	}
}

// TestPoolProperty: whatever clients do, no address is held by two of them.
func TestPoolProperty(t *testing.T) {
	seg := testSegment()
	seg.PoolTo = netip.MustParseAddr("10.99.0.53")
	rapid.Check(t, func(t *rapid.T) {
		p := newPool(nil)
		now := time.Unix(1e9, 0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			mac := fmt.Sprintf("52:54:00:00:00:%02x", rapid.IntRange(0, 6).Draw(t, "mac"))
			addr := nth(seg.PoolFrom, rapid.Uint32Range(0, 3).Draw(t, "addr"))
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				if got, _, ok := p.offer(scope{seg: seg}, mac, now); ok && !usable(seg, got) {
					t.Fatalf("offered %s", got)
				}
			case 1:
				holder := p.ByAddr[addr]
				_, ok := p.claim(scope{seg: seg}, mac, addr, now)
				if foreign := holder != nil && holder.Client != mac && holder.Taken(now); ok && foreign {
					t.Fatalf("%s took %s from %s", mac, addr, holder.Client)
				}
				if ok {
					p.commit(leaseFor(mac, addr, now.Add(time.Hour)), scope{}, dhcpv4.TransactionID{}, now)
				}
			case 2:
				p.decline(mac, addr, leasing.DeclineHold, now)
			case 3:
				p.release(mac, addr, now)
			case 4:
				p.withdraw(mac)
			case 5:
				now = now.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "minutes")) * time.Minute)
			}
			for mac, b := range p.ByClient {
				if b.Client != mac || p.ByAddr[b.Addr] != b {
					t.Fatalf("bindings of %s do not agree", mac)
				}
			}
			if len(p.ByAddr) > 4 {
				t.Fatalf("%d bindings of 4 addresses", len(p.ByAddr))
			}
		}
	})
}

func TestUsable(t *testing.T) {
	seg := testSegment()
	seg.PoolFrom, seg.PoolTo = netip.MustParseAddr("10.98.255.0"), netip.MustParseAddr("10.99.1.0")
	seg.DNS = []netip.Addr{netip.MustParseAddr("10.99.0.53")}
	for addr, want := range map[string]bool{
		"10.99.0.2": true, "10.99.0.0": false, "10.99.0.255": false, "10.99.0.1": false,
		"10.99.0.254": false, "10.99.0.53": false, "10.98.255.9": false, "10.99.1.0": false, "fe80::1": false,
	} {
		if got := usable(seg, netip.MustParseAddr(addr)); got != want {
			t.Errorf("usable(%s) is %v", addr, got)
		}
	}
	if _, n := poolRange(resource.SegmentIntent{}); n != 0 {
		t.Errorf("an empty segment has %d addresses", n)
	}
}
