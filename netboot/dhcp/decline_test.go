package dhcp

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol/resource"
)

// TestDeclineFlood: one client that gets addresses and declines each, as fast as it can, takes
// no other machine's, whether it says that it is one of ours or not.
func TestDeclineFlood(t *testing.T) {
	for name, macOf := range map[string]func(i int) string{
		"from one address":     func(int) string { return mac1 },
		"from any address":     func(i int) string { return fmt.Sprintf("52:54:00:99:%02x:%02x", i>>8, i&255) },
		"from eight addresses": func(i int) string { return fmt.Sprintf("52:54:00:98:00:%02x", i%8) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, lease1())
			w.resolver.seg.PoolTo = w.resolver.seg.PoolFrom.Next().Next().Next().Next() // five addresses
			for i := range 146 {
				mac, x := macOf(i), xid(byte(i))
				offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac, x))
				if offer != nil {
					ip := offer.YourIPAddr.String()
					w.send(t, client(asking, mac, x, withIP(54, ours), withIP(50, ip)))
					w.send(t, client(dhcpv4.MessageTypeDecline, mac, x, withIP(54, ours), withIP(50, ip)))
				}
				w.clock = w.clock.Add(28 * time.Second / 146)
			}
			got := map[string]bool{}
			for i := range 4 {
				mac := fmt.Sprintf("52:54:00:01:00:%02x", i)
				offer, _ := w.send(t, discoverFrom(mac))
				if offer == nil {
					t.Fatalf("machine %d gets no address", i)
				}
				if ip := offer.YourIPAddr.String(); got[ip] {
					t.Errorf("%s is offered twice", ip)
				} else {
					got[ip] = true
				}
				if bound := w.bind(t, mac); bound != offer.YourIPAddr.String() {
					t.Errorf("%s is granted, %s was offered", bound, offer.YourIPAddr)
				}
			}
		})
	}
}

// TestStrangersLeaveRoom: clients that nobody named hold no address that a machine of ours may
// need, also on a segment of BMCs, where the prefix of a MAC address is all that it takes.
func TestStrangersLeaveRoom(t *testing.T) {
	const known = "3c:ec:ef:00:00:01"
	w := newWorld(t, lease1())
	w.resolver.seg.Role = resource.SegmentBMC
	w.resolver.seg.BMCPrefixes, w.resolver.seg.BMCMACs = []string{"3c:ec:ef"}, []string{known, "3c:ec:ef:00:00:02"}
	w.resolver.seg.PoolTo = w.resolver.seg.PoolFrom.Next().Next().Next().Next() // five addresses
	given := 0
	for i := range 40 {
		if offer, _ := w.send(t, discoverFrom(fmt.Sprintf("3c:ec:ef:77:00:%02x", i))); offer != nil {
			given++
		}
	}
	if given != 3 {
		t.Errorf("strangers are offered %d of five addresses, and two BMCs are known", given)
	}
	w.bind(t, known)
	w.bind(t, "3c:ec:ef:00:00:02")
}

// TestDeclineIsProbed: the link says whether a DECLINE is true. It is believed of the exchange in
// which the address was given, and soon; of another one only if somebody answers for the address.
func TestDeclineIsProbed(t *testing.T) {
	for _, row := range []struct {
		name  string
		used  bool
		other bool // the DECLINE is of another exchange than the lease
		after time.Duration
		rest  time.Duration
	}{
		{"at once, and somebody uses it", true, false, time.Second, leasing.DeclineHold},
		{"at once, and nobody answers", false, false, time.Second, briefHold},
		{"of another exchange, and somebody uses it", true, true, time.Second, leasing.DeclineHold},
		{"of another exchange, and nobody answers", false, true, time.Second, 0},
		{"long after, and nobody answers", false, false, declineWindow + time.Second, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, lease1())
				ip := w.bind(t, mac1)
				var answer func([]byte) [][]byte
				if row.used {
					answer = squatter(stranger48(), ip)
				}
				w.link = linkTo(t, newWire(answer), newWire(nil), nil)
				w.clock = w.clock.Add(row.after)
				decline := client(dhcpv4.MessageTypeDecline, mac1, withIP(54, ours), withIP(50, ip))
				if row.other {
					decline.TransactionID[0]++
				}
				w.send(t, decline)
				l, _ := w.leases.get(ip)
				if l.Declined != (row.rest > 0) || l.Declined && !l.Expires.Equal(w.clock.Add(row.rest)) {
					t.Errorf("on disk %+v", l)
				}
				if same := w.bind(t, mac1) == ip; same != (row.rest == 0) {
					t.Errorf("it gets the same address: %t", same)
				}
			})
		})
	}
}

// TestDeclineTooOften: a client whose budget is spent loses its binding and no more: the address is
// probed before it gets it again, so that one that is really used rests.
func TestDeclineTooOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, lease1())
		for w.decliners.Allow(mac1, w.clock) {
		}
		ip := w.bind(t, mac1)
		decline := client(dhcpv4.MessageTypeDecline, mac1, withIP(54, ours), withIP(50, ip))
		w.send(t, decline)
		if again := w.bind(t, mac1); again != ip || w.pool.Count(leasing.Declined, w.clock) != 0 {
			t.Errorf("it gets %s, had %s", again, ip)
		}
		w.link = linkTo(t, newWire(squatter(stranger48(), ip)), newWire(nil), nil)
		w.send(t, decline)
		if again := w.bind(t, mac1); again == ip || w.pool.Count(leasing.Declined, w.clock) != 1 {
			t.Errorf("it gets %s, which somebody uses", again)
		}
	})
}

// TestNoAddressIsTold: a machine of ours that gets no address is told of once a minute; a stranger
// is not.
func TestNoAddressIsTold(t *testing.T) {
	w := newWorld(t, lease1())
	w.resolver.seg.PoolTo = w.resolver.seg.PoolFrom
	w.bind(t, mac2)
	for range 10 {
		w.send(t, discoverFrom(mac1))
		w.clock = w.clock.Add(8 * time.Second)
	}
	if n := len(w.notices.list); n != 2 || w.notices.list[0].Kind != netboot.NoticeNoAddress || w.notices.list[0].MAC != mac1 || w.notices.list[0].Server != lease1().Server {
		t.Errorf("told %+v", w.notices.list)
	}
	guest := lease1()
	guest.Server = ""
	w.resolver.set(guest)
	w.clock = w.clock.Add(time.Minute)
	w.send(t, discoverFrom("52:54:00:00:00:09"))
	if n := len(w.notices.list); n != 2 {
		t.Errorf("told of a stranger: %+v", w.notices.list)
	}
}
