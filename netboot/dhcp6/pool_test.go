package dhcp6

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"pgregory.net/rapid"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestLeasesAreUnique: whatever machines do, with restarts between, no address has
// two machines and no machine two addresses, on disk as in what was granted.
func TestLeasesAreUnique(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, lease1())
		w.resolver.seg.PoolTo = addr("2001:db8::1007")
		macs := make([]string, 10)
		for i := range macs {
			macs[i] = fmt.Sprintf("52:54:00:00:00:%02x", i)
		}
		type grant struct {
			mac   string
			until time.Time
		}
		granted := map[string]grant{}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			mac := rapid.SampledFrom(macs).Draw(rt, "mac")
			want := nth(addr("2001:db8::0fff"), uint64(rapid.IntRange(0, 9).Draw(rt, "want"))).String()
			w.resolver.answer.Server = rapid.SampledFrom([]string{"s1", ""}).Draw(rt, "server")
			kind := rapid.SampledFrom([]dhcpv6.MessageType{
				dhcpv6.MessageTypeSolicit, dhcpv6.MessageTypeRequest, dhcpv6.MessageTypeRenew, dhcpv6.MessageTypeRebind,
				dhcpv6.MessageTypeRelease, dhcpv6.MessageTypeDecline,
			}).Draw(rt, "kind")
			if rapid.IntRange(0, 9).Draw(rt, "restart") == 0 {
				w.restart(t)
			}
			w.clock = w.clock.Add(time.Duration(rapid.IntRange(0, 1200).Draw(rt, "seconds")) * time.Second)
			opts := []opt{ia(1, want), xid(byte(rapid.IntRange(0, 255).Draw(rt, "xid")))}
			if kind != dhcpv6.MessageTypeSolicit && kind != dhcpv6.MessageTypeRebind {
				opts = append(opts, ours())
			}
			m := w.ask(t, client(kind, mac, opts...))
			if kind == dhcpv6.MessageTypeRelease || kind == dhcpv6.MessageTypeDecline {
				if m != nil {
					delete(granted, want)
				}
				continue
			}
			a := leased(m)
			if a == "" || m.MessageType != dhcpv6.MessageTypeReply {
				continue
			}
			if g, ok := granted[a]; ok && g.mac != mac && w.clock.Before(g.until) {
				rt.Fatalf("%s has %s until %s, and %s gets it at %s", g.mac, a, g.until, mac, w.clock)
			}
			for other, g := range granted {
				if g.mac == mac && other != a {
					delete(granted, other) // the client was told that it ends
				}
			}
			l, ok := w.leases.get(a)
			if !ok || l.Client != mac || l.Declined {
				rt.Fatalf("granted %s, on disk %+v", a, l)
			}
			granted[a] = grant{mac, l.Expires}
		}
		byID := map[string]netip.Addr{}
		for a, b := range w.pool.ByAddr {
			if b.Addr != a {
				rt.Fatalf("%s has the binding of %s", a, b.Addr)
			}
			if b.State == leasing.Declined || b.State == leasing.Leaving {
				continue
			}
			if was, ok := byID[b.Client]; ok {
				rt.Fatalf("%s has %s and %s", b.Client, was, a)
			}
			if byID[b.Client] = a; w.pool.ByClient[b.Client] != b {
				rt.Fatalf("%s is not the binding of %s", a, b.Client)
			}
		}
		guests, resting := 0, 0
		for _, b := range w.pool.ByClient {
			if b.Guest {
				guests++
			}
		}
		for _, b := range w.pool.ByAddr {
			if b.State == leasing.Declined {
				resting++
			}
		}
		if guests != w.pool.guests || resting != w.pool.resting {
			rt.Fatalf("counted %d guests and %d resting, want %d and %d", w.pool.guests, w.pool.resting, guests, resting)
		}
	})
}

// TestConcurrent: workers that answer at the same time give each machine one address,
// its own.
func TestConcurrent(t *testing.T) {
	w := newWorld(t, lease1())
	w.resolver.seg.PoolTo = addr("2001:db8::101f")
	const machines, tries = 32, 4
	got := make([][tries]string, machines)
	var all sync.WaitGroup
	for i := range machines {
		mac := fmt.Sprintf("52:54:00:04:00:%02x", i)
		for n := range tries {
			all.Go(func() {
				out, _ := w.respond(t.Context(), client(dhcpv6.MessageTypeRequest, mac, ours(), ia(byte(n)), xid(byte(n))).bytes(), peer(), true)
				if m, err := dhcpv6.MessageFromBytes(out); err == nil {
					got[i][n] = leased(m)
				}
			})
		}
	}
	all.Wait()
	owner := map[string]int{}
	for i, addrs := range got {
		for _, a := range addrs {
			if was, ok := owner[a]; a == "" || a != addrs[0] || ok && was != i {
				t.Fatalf("machine %d gets %v; %q is of machine %d", i, addrs, a, was)
			}
			owner[a] = i
		}
	}
	if len(owner) != machines || len(w.leases.leases) != machines {
		t.Errorf("%d addresses, %d on disk", len(owner), len(w.leases.leases))
	}
}

// TestFlood: random DUIDs get no more than the guests' share, leave room for machines
// of ours, and fill neither memory nor disk.
func TestFlood(t *testing.T) {
	for _, row := range []struct {
		to     string
		guests int
	}{{"2001:db8::1007", 4}, {"2001:db8::ffff:ffff:ffff", maxGuests}} {
		w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerLease})
		w.resolver.seg.PoolTo = addr(row.to)
		got := 0
		for i := range maxGuests + 100 {
			mac := fmt.Sprintf("52:54:00:01:%02x:%02x", i>>8, i&255)
			if leased(w.ask(t, client(dhcpv6.MessageTypeRequest, mac, ours(), ia(1)))) != "" {
				got++
			}
		}
		if got != row.guests || len(w.leases.leases) != row.guests || len(w.pool.ByAddr) != row.guests {
			t.Errorf("pool to %s: %d guests, %d on disk", row.to, got, len(w.leases.leases))
		}
		w.clock = w.clock.Add(time.Second)
		w.resolver.set(lease1())
		w.bind(t, mac1)
		// Whose lease ended goes for who comes: on disk too.
		w.resolver.set(protocol.BootAnswer{Action: protocol.AnswerLease})
		w.clock = w.clock.Add(leasing.GuestLease)
		for i := range 3 {
			w.bind(t, fmt.Sprintf("52:54:00:02:00:%02x", i))
		}
		if n := len(w.leases.leases); n != row.guests+1 || w.leases.deleted < 3 || w.pool.guests != row.guests {
			t.Errorf("pool to %s: %d on disk, %d deleted, %d guests", row.to, n, w.leases.deleted, w.pool.guests)
		}
	}
}

// TestDeclined: an address that was found in use rests, also after a restart, and a
// client that declines everything cannot empty the pool.
func TestDeclined(t *testing.T) {
	w := newWorld(t, lease1())
	w.resolver.seg.PoolTo = addr("2001:db8::1007")
	first := w.bind(t, mac1)
	w.ask(t, client(dhcpv6.MessageTypeDecline, mac1, ours(), ia(1, first)))
	if l, _ := w.leases.get(first); !l.Declined || !l.Expires.Equal(w.clock.Add(leasing.DeclineHold)) {
		t.Errorf("on disk %+v", l)
	}
	w.restart(t)
	if a := w.bind(t, mac1); a == first {
		t.Error("the declined address is granted")
	}
	for i := range 20 {
		a := w.bind(t, mac1, xid(byte(i)))
		w.ask(t, client(dhcpv6.MessageTypeDecline, mac1, ours(), ia(1, a)))
		w.clock = w.clock.Add(20 * time.Second)
	}
	if n := w.pool.Count(leasing.Declined, w.clock); n != 2 { // a quarter of eight
		t.Errorf("%d addresses rest", n)
	}
	w.clock = w.clock.Add(leasing.DeclineHold)
	w.restart(t)
	if w.forget(t.Context()); w.pool.Count(leasing.Declined, w.clock) != 0 || len(w.leases.leases) > 1 {
		t.Errorf("after the rest: %v", w.leases.leases)
	}
}

// TestStable: the address comes from the identity, and survives restart, expiry and
// release; another pool gives another one, and the old lease goes.
func TestStable(t *testing.T) {
	w := newWorld(t, lease1())
	a := leased(w.ask(t, client(dhcpv6.MessageTypeSolicit, mac1, ia(1))))
	w.restart(t)
	if got := w.bind(t, mac1); got != a {
		t.Errorf("after a restart between ADVERTISE and REQUEST: %s, was %s", got, a)
	}
	w.ask(t, client(dhcpv6.MessageTypeRelease, mac1, ours(), ia(1, a)))
	w.clock = w.clock.Add(24 * time.Hour)
	w.restart(t)
	if got := w.bind(t, mac1); got != a {
		t.Errorf("a day later: %s, was %s", got, a)
	}
	w.resolver.seg.PoolFrom = addr("2001:db8::1f00")
	got := w.bind(t, mac1)
	if _, still := w.leases.get(a); got == a || still {
		t.Errorf("in another pool: %s; lease of %s on disk: %v", got, a, still)
	}
	if p := newPool([]netboot.Lease6{{Address: addr(a), Client: mac1, Expires: w.clock}, {Address: addr(got), Client: mac1, Expires: w.clock.Add(1)}}, w.clock); p.ByClient[mac1].Addr.String() != got {
		t.Error("the older of two leases is loaded")
	}
}

// TestPoolRange: ranges that give nothing, and one that ends with the last address.
func TestPoolRange(t *testing.T) {
	for _, row := range []struct {
		from, to string
		size     uint64
	}{
		{"2001:db8::10", "2001:db8::1f", 16},
		{"2001:db8::", "2001:db8::ffff:ffff:ffff:ffff", 1<<64 - 1},
		{"2001:db8::10", "2001:db8::f", 0},
		{"2001:db8::10", "2001:db8:0:1::10", 0},
		{"10.0.0.1", "10.0.0.9", 0},
	} {
		sc := scope{seg: resource.SegmentIPv6Intent{Prefix: netip.MustParsePrefix("2001:db8::/64"), PoolFrom: addr(row.from), PoolTo: addr(row.to)}}
		if _, size := sc.pool(); size != row.size {
			t.Errorf("%s to %s: %d", row.from, row.to, size)
		}
		a, ok := newPool(nil, time.Time{}).free(sc, mac1, time.Time{})
		if ok != (row.size > 0) || ok && !sc.usable(a) {
			t.Errorf("%s to %s: %s", row.from, row.to, a)
		}
	}
	sc := scope{seg: testSegment()}
	sc.seg.PoolFrom = addr("2001:db8::")
	sc.seg.DNS = []netip.Addr{addr("2001:db8::53")}
	for _, a := range []string{"2001:db8::", "2001:db8::1", "2001:db8::53", "2001:db8:1::7"} {
		if sc.usable(addr(a)) {
			t.Errorf("%s is usable", a)
		}
	}
}

// TestStoreFails: no lease on disk, no REPLY.
func TestStoreFails(t *testing.T) {
	w := newWorld(t, lease1())
	w.leases.broken = true
	if m := w.ask(t, client(dhcpv6.MessageTypeRequest, mac1, ours(), ia(1))); m != nil {
		t.Errorf("granted without the disk: %s", m.Summary())
	}
	w.leases.broken = false
	a := w.bind(t, mac1)
	w.leases.broken = true
	for _, kind := range []dhcpv6.MessageType{dhcpv6.MessageTypeRenew, dhcpv6.MessageTypeDecline} {
		if m := w.ask(t, client(kind, mac1, ours(), ia(1, a))); m != nil {
			t.Errorf("%s without the disk: %s", kind, m.Summary())
		}
	}
}

// TestDeclinesAreBounded: one client declines as many addresses as its budget allows, soon after
// they were granted; what comes on top, or later, is answered and changes nothing.
func TestDeclinesAreBounded(t *testing.T) {
	w := newWorld(t, lease1())
	got := map[string]bool{}
	for range 146 {
		a := w.bind(t, mac1)
		got[a] = true
		if r := w.ask(t, client(dhcpv6.MessageTypeDecline, mac1, ours(), ia(1, a))); r == nil {
			t.Fatal("a DECLINE is not answered")
		}
	}
	if n := w.pool.Count(leasing.Declined, w.clock); n != 3 || len(got) != 4 {
		t.Errorf("%d addresses rest of %d that it had", n, len(got))
	}
	w.clock = w.clock.Add(time.Hour)
	a := w.bind(t, mac1)
	w.clock = w.clock.Add(declineWindow + time.Second)
	w.ask(t, client(dhcpv6.MessageTypeDecline, mac1, ours(), ia(1, a)))
	if l, _ := w.leases.get(a); l.Declined {
		t.Errorf("a late DECLINE is believed: %+v", l)
	}
}
