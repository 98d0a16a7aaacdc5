package dhcp

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func reserve(tb testing.TB, list ...netboot.Reservation) *netboot.Reservations {
	tb.Helper()
	rs, err := netboot.NewReservations(list)
	if err != nil {
		tb.Fatal(err)
	}
	return rs
}

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

// TestReserved is section 3, "Identity": who gets which address. The pool is
// 10.99.0.50 to 99; mac1 has 10.99.0.10, the UUID 10.99.0.11, the port 10.99.0.60.
func TestReserved(t *testing.T) {
	uuid := with(97, append([]byte{0}, 4, 3, 2, 1, 6, 5, 8, 7, 9, 10, 11, 12, 13, 14, 15, 16)...)
	other := with(97, append([]byte{0}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)...)
	zero := with(97, make([]byte, 17)...)
	relayed := []opt{giaddr("10.99.0.3"), with(82, 1, 2, 'p', '7')}
	for _, row := range []struct {
		name string
		mode resource.ServiceMode
		mac  string
		opts []opt
		want string // "" is silence, "pool" any address of the pool that is not reserved
	}{
		{"by MAC, outside the pool", "", mac1, nil, "10.99.0.10"},
		{"by MAC, not by the client identifier (quirk 7)", "", mac1, []opt{with(61, 255, 1, 2, 3)}, "10.99.0.10"},
		{"by MAC before UUID and port", "", mac1, append([]opt{uuid}, relayed...), "10.99.0.10"},
		{"by UUID", "", mac2, []opt{uuid}, "10.99.0.11"},
		{"by UUID in the other byte order", "", mac2, []opt{other}, "10.99.0.11"},
		{"by no zero UUID", "", mac2, []opt{zero}, "pool"},
		{"by port, inside the pool", "", mac2, relayed, "10.99.0.60"},
		{"a port that no relay vouches for", "", mac2, []opt{with(82, 1, 2, 'p', '7')}, "pool"},
		{"nothing reserved", "", mac2, nil, "pool"},
		{"reservations only: reserved", resource.ServiceReservations, mac1, nil, "10.99.0.10"},
		{"reservations only: not reserved", resource.ServiceReservations, mac2, nil, ""},
		{"no service", resource.ServiceNone, mac1, nil, ""},
		{"a mode of a newer hub", "authoritative", mac1, nil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, lease1())
			w.resolver.svc = netboot.Service{Mode: row.mode, Reservations: reserve(t,
				netboot.Reservation{Address: addr("10.99.0.10"), MAC: mac1},
				netboot.Reservation{Address: addr("10.99.0.11"), UUID: "01020304-0506-0708-090a-0b0c0d0e0f10"},
				netboot.Reservation{Address: addr("10.99.0.60"), Port: "p7"})}
			offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, row.mac, row.opts...))
			if offer == nil {
				if row.want != "" {
					t.Fatal("silence")
				}
				return
			}
			got := offer.YourIPAddr.String()
			if row.want == "pool" && usable(w.resolver.seg, addr(got)) && got != "10.99.0.60" {
				return
			}
			if got != row.want {
				t.Fatalf("offered %s, want %s", got, row.want)
			}
			ack, _ := w.send(t, client(asking, row.mac, append(row.opts, withIP(54, ours), withIP(50, got))...))
			if ack == nil || ack.MessageType() != dhcpv4.MessageTypeAck {
				t.Fatalf("the offer is not granted: %v", ack)
			}
		})
	}
}

// TestReservationMoves: a lease that runs meets a new reservation (section 3,
// "RENEWING", and quirk 17).
func TestReservationMoves(t *testing.T) {
	t.Run("of the machine itself", func(t *testing.T) {
		w := newWorld(t, lease1())
		old := w.bind(t, mac1)
		w.resolver.svc.Reservations = reserve(t, netboot.Reservation{Address: addr("10.99.0.10"), MAC: mac1})
		for _, o := range [][]opt{{ciaddr(old)}, {withIP(50, old)}, {withIP(54, ours), withIP(50, old)}} {
			if reply, _ := w.send(t, client(asking, mac1, o...)); reply == nil || reply.MessageType() != dhcpv4.MessageTypeNak {
				t.Errorf("the old address gets %v", reply)
			}
		}
		if got := w.bind(t, mac1); got != "10.99.0.10" {
			t.Errorf("then it gets %s", got)
		}
		if _, ok := w.leases.get(old); ok {
			t.Errorf("the store still has %s", old)
		}
		w.restart(t)
		if ack, _ := w.send(t, client(asking, mac1, withIP(50, "10.99.0.10"))); ack == nil || ack.MessageType() != dhcpv4.MessageTypeAck {
			t.Errorf("INIT-REBOOT after a restart gets %v", ack)
		}
	})
	t.Run("while another machine uses it", func(t *testing.T) {
		w := newWorld(t, lease1())
		taken := w.bind(t, mac2)
		w.resolver.svc.Reservations = reserve(t, netboot.Reservation{Address: addr(taken), MAC: mac1})
		got := w.bind(t, mac1)
		if got == taken {
			t.Fatal("two machines have one address")
		}
		if ack, _ := w.send(t, client(asking, mac1, ciaddr(got))); ack.MessageType() != dhcpv4.MessageTypeAck {
			t.Errorf("its renewal gets %s while the other one stays", ack.MessageType())
		}
		if nak, _ := w.send(t, client(asking, mac2, ciaddr(taken))); nak.MessageType() != dhcpv4.MessageTypeNak {
			t.Errorf("the other one's renewal gets %s", nak.MessageType())
		}
		w.send(t, client(dhcpv4.MessageTypeRelease, mac2, ciaddr(taken), withIP(54, ours)))
		if nak, _ := w.send(t, client(asking, mac1, ciaddr(got))); nak.MessageType() != dhcpv4.MessageTypeNak {
			t.Errorf("once it is free, renewal gets %s", nak.MessageType())
		}
		if again := w.bind(t, mac1); again != taken {
			t.Errorf("then it gets %s", again)
		}
	})
	t.Run("lost with the leases", func(t *testing.T) {
		w := newWorld(t, lease1())
		w.resolver.svc.Reservations = reserve(t, netboot.Reservation{Address: addr("10.99.0.10"), MAC: mac1})
		if ack, _ := w.send(t, client(asking, mac1, withIP(50, "10.99.0.10"))); ack == nil || ack.MessageType() != dhcpv4.MessageTypeAck {
			t.Errorf("INIT-REBOOT with a reservation needs no lease: %v", ack)
		}
	})
}

// TestDeclinedReservation is quirk 16: a reservation is never locked, not by its
// machine, not by what rested before it was reserved, not after a restart.
func TestDeclinedReservation(t *testing.T) {
	w := newWorld(t, lease1())
	ip := w.bind(t, mac1)
	decline := client(dhcpv4.MessageTypeDecline, mac1, withIP(54, ours), withIP(50, ip))
	w.send(t, decline)
	if w.pool.Count(leasing.Declined, w.clock) != 1 {
		t.Fatal("nothing rests")
	}
	w.resolver.svc.Reservations = reserve(t, netboot.Reservation{Address: addr(ip), MAC: mac1})
	for range 3 {
		if got := w.bind(t, mac1); got != ip {
			t.Fatalf("offered %s, reserved is %s", got, ip)
		}
		w.send(t, decline)
		w.restart(t)
	}
	if w.pool.Count(leasing.Declined, w.clock) != 0 {
		t.Error("the reservation rests")
	}
	if got := w.notices.kinds(); !slices.Equal(got, []netboot.NoticeKind{netboot.NoticeDeclined, netboot.NoticeDeclined, netboot.NoticeDeclined}) {
		t.Errorf("told %v", got)
	}
}

// TestGuests: machines that are not ours but may have a lease hold half of the pool
// at most, for ten minutes, and never the address that one of ours is remembered by.
func TestGuests(t *testing.T) {
	w := newWorld(t, lease1())
	w.resolver.seg.PoolTo = addr("10.99.0.57") // eight addresses
	known := w.bind(t, mac1)
	w.send(t, client(dhcpv4.MessageTypeRelease, mac1, ciaddr(known), withIP(54, ours)))
	guest := protocol.BootAnswer{Action: protocol.AnswerLease, Reason: "open discovery"}
	w.resolver.set(guest)
	flood := func() (granted int) {
		for i := range 40 {
			offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, fmt.Sprintf("02:00:00:00:00:%02x", i), xid(byte(i))))
			if offer == nil {
				continue
			}
			granted++
			if got := offer.IPAddressLeaseTime(0); got != leasing.GuestLease {
				t.Errorf("a guest's lease time is %s", got)
			}
			if offer.YourIPAddr.String() == known {
				t.Error("a guest is offered the address of a machine of ours")
			}
		}
		return granted
	}
	if n := flood(); n != 4 {
		t.Errorf("%d guests", n)
	}
	if reply, _ := w.send(t, client(asking, "02:00:00:00:01:00", withIP(54, ours), withIP(50, "10.99.0.57"))); reply != nil && reply.MessageType() != dhcpv4.MessageTypeNak {
		t.Error("a guest too many is granted what it was not offered")
	}
	w.clock = w.clock.Add(leasing.OfferHold)
	if n := flood(); n == 0 || n > 4 {
		t.Errorf("%d guests after the first left", n)
	}
	if len(w.pool.guests.bindings) > 4 || len(w.pool.ByClient) > 8 {
		t.Errorf("%d guests, %d bindings are remembered", len(w.pool.guests.bindings), len(w.pool.ByClient))
	}
	if n, _ := w.answers.Kept(); n != 1 {
		t.Errorf("guests are frozen among machines of ours: %d", n)
	}
	w.resolver.set(lease1())
	if got := w.bind(t, mac1); got != known {
		t.Errorf("after the flood mac1 gets %s, before %s", got, known)
	}
	for i := range 3 {
		w.bind(t, fmt.Sprintf("52:54:00:00:00:%02x", i))
	}
}

// TestUnknownFlood: who gets silence holds nothing and evicts nothing.
func TestUnknownFlood(t *testing.T) {
	w := newWorld(t, lease1())
	w.resolver.seg.PoolTo = addr("10.99.0.51")
	ip := w.bind(t, mac1)
	w.send(t, client(dhcpv4.MessageTypeRelease, mac1, ciaddr(ip), withIP(54, ours)))
	w.resolver.set(protocol.BootAnswer{Action: protocol.AnswerSilence})
	for i := range 200 {
		p := client(dhcpv4.MessageTypeDiscover, mac2)
		p.ClientHWAddr[4], p.ClientHWAddr[5] = byte(i>>4), byte(i)
		if reply, _ := w.send(t, p); reply != nil {
			t.Fatal("an unknown machine is answered")
		}
	}
	if n, _ := w.answers.Kept(); len(w.pool.ByAddr) != 1 || n != 1 {
		t.Errorf("%d bindings, %d frozen answers", len(w.pool.ByAddr), n)
	}
	w.resolver.set(lease1())
	if got := w.bind(t, mac1); got != ip {
		t.Errorf("the flood cost mac1 its address: %s, before %s", got, ip)
	}
}
