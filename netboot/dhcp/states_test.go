package dhcp

import (
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
)

const (
	ours   = "10.99.0.1"
	asking = dhcpv4.MessageTypeRequest
)

// TestRequestStates is the table of RFC 2131 section 4.3.2. mac1 holds an address
// ("own"), and so does mac2 ("other").
func TestRequestStates(t *testing.T) {
	for _, row := range []struct {
		name   string
		packet func(own, other string) *dhcpv4.DHCPv4
		want   dhcpv4.MessageType // MessageTypeNone is silence
		result string
	}{
		{"SELECTING ours", func(own, _ string) *dhcpv4.DHCPv4 { return client(asking, mac1, withIP(54, ours), withIP(50, own)) }, dhcpv4.MessageTypeAck, resultAck},
		{"SELECTING another server: silence", func(own, _ string) *dhcpv4.DHCPv4 {
			return client(asking, mac1, withIP(54, "10.99.0.2"), withIP(50, own))
		}, dhcpv4.MessageTypeNone, resultElsewhere},
		{"SELECTING an address that we did not offer", func(_, _ string) *dhcpv4.DHCPv4 {
			return client(asking, mac1, withIP(54, ours), withIP(50, "10.99.0.99"))
		}, dhcpv4.MessageTypeNak, resultNak},
		{"SELECTING an address outside the pool", func(_, _ string) *dhcpv4.DHCPv4 {
			return client(asking, mac1, withIP(54, ours), withIP(50, "10.99.0.5"))
		}, dhcpv4.MessageTypeNak, resultNak},
		{"SELECTING somebody else's address", func(_, other string) *dhcpv4.DHCPv4 {
			return client(asking, "52:54:00:00:00:09", withIP(54, ours), withIP(50, other))
		}, dhcpv4.MessageTypeNak, resultNak},
		{"INIT-REBOOT known and equal", func(own, _ string) *dhcpv4.DHCPv4 { return client(asking, mac1, withIP(50, own)) }, dhcpv4.MessageTypeAck, resultAck},
		{"INIT-REBOOT known and different", func(_, _ string) *dhcpv4.DHCPv4 { return client(asking, mac1, withIP(50, "10.99.0.99")) }, dhcpv4.MessageTypeNak, resultNak},
		{"INIT-REBOOT wrong network", func(_, _ string) *dhcpv4.DHCPv4 { return client(asking, mac1, withIP(50, "10.98.0.50")) }, dhcpv4.MessageTypeNak, resultNak},
		{"INIT-REBOOT unknown, after leases were lost: silence", func(_, _ string) *dhcpv4.DHCPv4 {
			return client(asking, "52:54:00:00:00:09", withIP(50, "10.99.0.99"))
		}, dhcpv4.MessageTypeNone, resultUnknown},
		{"INIT-REBOOT unknown, address in use by another", func(_, other string) *dhcpv4.DHCPv4 {
			return client(asking, "52:54:00:00:00:09", withIP(50, other))
		}, dhcpv4.MessageTypeNak, resultNak},
		{"RENEWING", func(own, _ string) *dhcpv4.DHCPv4 { return client(asking, mac1, ciaddr(own)) }, dhcpv4.MessageTypeAck, resultAck},
		{"RENEWING a lease that we lost", func(_, _ string) *dhcpv4.DHCPv4 {
			return client(asking, "52:54:00:00:00:09", ciaddr("10.99.0.99"))
		}, dhcpv4.MessageTypeAck, resultAck},
		{"RENEWING an address of ours that is in no pool: silence", func(_, _ string) *dhcpv4.DHCPv4 {
			return client(asking, "52:54:00:00:00:09", ciaddr("10.99.0.5"))
		}, dhcpv4.MessageTypeNone, resultUnknown},
		{"REBINDING somebody else's address", func(_, other string) *dhcpv4.DHCPv4 {
			return client(asking, "52:54:00:00:00:09", ciaddr(other), flagged)
		}, dhcpv4.MessageTypeNak, resultNak},
		{"REBINDING on the wrong network", func(_, _ string) *dhcpv4.DHCPv4 {
			return client(asking, mac1, ciaddr("10.98.0.50"), flagged)
		}, dhcpv4.MessageTypeNak, resultNak},
		{"REBINDING ours", func(own, _ string) *dhcpv4.DHCPv4 { return client(asking, mac1, ciaddr(own), flagged) }, dhcpv4.MessageTypeAck, resultAck},
		{"SELECTING with ciaddr, as some BMCs do", func(own, _ string) *dhcpv4.DHCPv4 {
			return client(asking, mac1, withIP(54, ours), ciaddr(own))
		}, dhcpv4.MessageTypeAck, resultAck},
		{"INIT-REBOOT of our own address", func(_, _ string) *dhcpv4.DHCPv4 {
			return client(asking, "52:54:00:00:00:09", withIP(50, ours))
		}, dhcpv4.MessageTypeNone, resultUnknown},
		{"neither address", func(_, _ string) *dhcpv4.DHCPv4 { return client(asking, mac1) }, dhcpv4.MessageTypeNone, resultIgnored},
		{"relayed from another subnet (RFC 3527)", func(own, _ string) *dhcpv4.DHCPv4 {
			return client(asking, mac1, withIP(54, ours), withIP(50, own), giaddr("10.99.0.3"), with(82, 5, 4, 10, 98, 0, 0))
		}, dhcpv4.MessageTypeNone, resultSubnet},
		{"relayed, link selection is ours (RFC 3527)", func(own, _ string) *dhcpv4.DHCPv4 {
			return client(asking, mac1, withIP(54, ours), withIP(50, own), giaddr("10.1.1.1"), with(82, 5, 4, 10, 99, 0, 0))
		}, dhcpv4.MessageTypeAck, resultAck},
		{"relayed from another subnet by giaddr", func(own, _ string) *dhcpv4.DHCPv4 {
			return client(asking, mac1, withIP(54, ours), withIP(50, own), giaddr("10.1.1.1"))
		}, dhcpv4.MessageTypeNone, resultSubnet},
		{"a loopback relay, from the network: forged", func(own, _ string) *dhcpv4.DHCPv4 {
			return client(asking, mac1, withIP(54, ours), withIP(50, own), giaddr("127.0.0.1"), with(82, 19, 0))
		}, dhcpv4.MessageTypeNone, resultSubnet},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, lease1())
			own, other := w.bind(t, mac1), w.bind(t, mac2)
			before := testutil.ToFloat64(w.metrics.Packets.WithLabelValues("request", row.result))
			p := row.packet(own, other)
			xid(9)(p)
			reply, to := w.send(t, p)
			got := dhcpv4.MessageTypeNone
			if reply != nil {
				got = reply.MessageType()
			}
			if got != row.want {
				t.Fatalf("got %s, want %s", got, row.want)
			}
			if n := testutil.ToFloat64(w.metrics.Packets.WithLabelValues("request", row.result)) - before; n != 1 {
				t.Errorf("result %s counted %v times", row.result, n)
			}
			if got == dhcpv4.MessageTypeAck && !p.ClientIPAddr.IsUnspecified() && to.String() != p.ClientIPAddr.String()+":68" {
				t.Errorf("ACK of a renewal goes to %s", to)
			}
		})
	}
}

// TestAuthoritative: only a server that is alone refuses what it knows nothing of.
func TestAuthoritative(t *testing.T) {
	for _, row := range []struct {
		name          string
		authoritative bool
		opts          []opt
		want          dhcpv4.MessageType
	}{
		{"INIT-REBOOT outside the pool", false, []opt{withIP(50, "10.99.0.5")}, dhcpv4.MessageTypeNone},
		{"INIT-REBOOT outside the pool", true, []opt{withIP(50, "10.99.0.5")}, dhcpv4.MessageTypeNak},
		{"REBINDING outside the pool: it may be another server's", false, []opt{ciaddr("10.99.0.5"), flagged}, dhcpv4.MessageTypeNone},
		{"REBINDING outside the pool", true, []opt{ciaddr("10.99.0.5"), flagged}, dhcpv4.MessageTypeNak},
		{"INIT-REBOOT in the pool: our leases may be lost (quirk 17)", true, []opt{withIP(50, "10.99.0.60")}, dhcpv4.MessageTypeNone},
	} {
		w := newWorld(t, lease1())
		w.resolver.svc.Authoritative = row.authoritative
		got := dhcpv4.MessageTypeNone
		if reply, _ := w.send(t, client(asking, mac1, row.opts...)); reply != nil {
			got = reply.MessageType()
		}
		if got != row.want {
			t.Errorf("%s, authoritative %v: %s, want %s", row.name, row.authoritative, got, row.want)
		}
	}
}

// TestInform is section 3, "INFORM".
func TestInform(t *testing.T) {
	for _, row := range []struct {
		name, ciaddr string
		want         bool
	}{
		{"an address of the network, pool or not", "10.99.0.5", true},
		{"no address", "0.0.0.0", false},
		{"an address elsewhere: forged", "192.0.2.9", false},
		{"the address that the packet comes from", testPeer.Addr().String(), true},
	} {
		w := newWorld(t, lease1())
		ack, to := w.send(t, client(dhcpv4.MessageTypeInform, mac1, ciaddr(row.ciaddr)))
		if (ack != nil) != row.want {
			t.Errorf("%s: answered %v", row.name, ack != nil)
		}
		if ack != nil && (to.String() != row.ciaddr+":68" || !ack.YourIPAddr.IsUnspecified() || ack.Options.Has(dhcpv4.OptionIPAddressLeaseTime)) {
			t.Errorf("%s: %s to %s", row.name, ack.Summary(), to)
		}
	}
}

// TestShrunkPool: a lease of ours that the pool does not have any more is refused,
// so that its machine asks for another one at once.
func TestShrunkPool(t *testing.T) {
	w := newWorld(t, lease1())
	ip := w.bind(t, mac1)
	w.resolver.seg.PoolFrom = addr("10.99.0.90")
	if reply, _ := w.send(t, client(asking, mac1, ciaddr(ip))); reply == nil || reply.MessageType() != dhcpv4.MessageTypeNak {
		t.Errorf("got %v", reply)
	}
	if got := w.bind(t, mac1); !usable(w.resolver.seg, addr(got)) {
		t.Errorf("then it gets %s", got)
	}
}

func TestAckOnlyAfterPut(t *testing.T) {
	w := newWorld(t, lease1())
	offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1))
	if _, ok := w.leases.get(offer.YourIPAddr.String()); ok {
		t.Error("an offer is stored")
	}
	request := client(asking, mac1, withIP(54, ours), withIP(50, offer.YourIPAddr.String()))
	w.leases.broken = true
	if reply, _ := w.send(t, request); reply != nil {
		t.Fatalf("the store is broken, and the reply is %s", reply.MessageType())
	}
	w.leases.broken = false
	w.leases.putGate = make(chan struct{})
	acked := make(chan []byte)
	go func() {
		raw, _ := w.handle(t.Context(), request.ToBytes(), testPeer)
		acked <- raw
	}()
	select {
	case <-acked:
		t.Fatal("ACK before Put returned")
	case w.leases.putGate <- struct{}{}: // Put waits for exactly this
	}
	if raw := <-acked; raw == nil {
		t.Fatal("no ACK after Put")
	}
	l, ok := w.leases.get(offer.YourIPAddr.String())
	if !ok || l.MAC != mac1 || l.Server != "s1" || !l.Expires.Equal(w.clock.Add(time.Hour)) {
		t.Errorf("stored %+v", l)
	}
}

// TestFrozenAnswer: UEFI takes the URL from the OFFER; a policy that changes
// before the REQUEST must not show in the ACK.
func TestFrozenAnswer(t *testing.T) {
	boot := protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: "one", File: "boot.efi"}
	w := newWorld(t, boot)
	class := withText(60, "HTTPClient:Arch:00016:UNDI:003000")
	offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1, class))
	w.resolver.set(protocol.BootAnswer{Action: protocol.AnswerRefuse})
	ask := func(x byte) string {
		ack, _ := w.send(t, client(asking, mac1, class, xid(x), withIP(54, ours), withIP(50, offer.YourIPAddr.String())))
		return ack.BootFileNameOption()
	}
	if got := ask(4); got != offer.BootFileNameOption() {
		t.Errorf("same xid: ACK says %q, OFFER %q", got, offer.BootFileNameOption())
	}
	if got := ask(5); got != "http://10.99.0.1:8080/b/refused/refused.efi" {
		t.Errorf("another xid: ACK says %q", got)
	}
	w.clock = w.clock.Add(leasing.FreezeFor)
	if got := ask(4); got != "http://10.99.0.1:8080/b/refused/refused.efi" {
		t.Errorf("after %s: ACK says %q", leasing.FreezeFor, got)
	}
}

// TestSilence: nothing on the wire, nothing held, but counted and seen.
func TestSilence(t *testing.T) {
	w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerSilence})
	for _, p := range []*dhcpv4.DHCPv4{
		client(dhcpv4.MessageTypeDiscover, mac1, withText(60, "HTTPClient")),
		client(asking, mac1, withIP(54, ours), withIP(50, "10.99.0.60")),
		client(asking, mac1, withIP(50, "192.168.0.1")),
		client(dhcpv4.MessageTypeInform, mac1, ciaddr("10.99.0.60")),
	} {
		if reply, _ := w.send(t, p); reply != nil {
			t.Errorf("%s is answered", p.MessageType())
		}
	}
	if len(w.pool.ByAddr) != 0 || len(w.pool.ByClient) != 0 {
		t.Error("silence holds an address")
	}
	if n := testutil.ToFloat64(w.metrics.Packets.WithLabelValues("discover", resultSilence)); n != 1 {
		t.Errorf("counted %v", n)
	}
	events := w.evidence.all()
	if len(events) != 3 || events[0].Client.Class != protocol.ClassHTTPClient || events[1].Client.Class != protocol.ClassNone {
		t.Errorf("evidence %+v", events)
	}
}

func TestEvidence(t *testing.T) {
	w := newWorld(t, lease1())
	ip := w.bind(t, mac1)
	events := w.evidence.all()
	if len(events) != 2 {
		t.Fatalf("%d events", len(events))
	}
	for _, e := range events {
		want := netboot.Event{Kind: protocol.EvidenceDHCP, At: w.clock, Remote: testPeer.Addr()}
		if e.Kind != want.Kind || !e.At.Equal(want.At) || e.Remote != want.Remote || e.Client.MAC != mac1 ||
			e.Client.Segment != "rack1" || e.Client.Address.String() != ip || e.Client.XID != 0x01020304 {
			t.Errorf("event %+v", e)
		}
	}
}
