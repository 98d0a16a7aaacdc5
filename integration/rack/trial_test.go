package rack

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	bmcsim "rackboot/bmc/sim"
	"rackboot/netboot/firmware"
	"rackboot/protocol/resource"
)

// TestTrialLeases: a lease that was given under changed segments outlives their
// roll-back, and a restart; it is renewed where its address fits the segment in force,
// and refused where it does not.
func TestTrialLeases(t *testing.T) {
	t.Parallel()
	const first, last = "127.77.0.50", "127.77.0.51"
	for name, tt := range map[string]struct {
		pool string // of the segment before the change
		want dhcpv4.MessageType
	}{
		"fits":         {last, dhcpv4.MessageTypeAck},
		"does not fit": {"127.77.0.49", dhcpv4.MessageTypeNak},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1, bmcsim.Plain())
			b.trial = 10 * time.Second // in which a lease is taken, on a busy machine too
			pool := func(to string) func(*resource.SegmentIntent) {
				return func(s *resource.SegmentIntent) {
					s.PoolFrom, s.PoolTo = netip.MustParseAddr("127.77.0.40"), netip.MustParseAddr(to)
				}
			}
			b.change = pool(tt.pool)
			a, stop := b.start(nil)
			b.send(a)
			b.incarnation()
			b.link.mute(true)
			b.change = func(s *resource.SegmentIntent) {
				pool(last)(s)
				s.PoolFrom = netip.MustParseAddr(first)
				s.Routers = []netip.Addr{netip.MustParseAddr("127.77.0.1")}
			}
			b.send(a)
			mac, err := net.ParseMAC(b.servers[0].MAC)
			if err != nil {
				t.Fatal(err)
			}
			client := firmware.Client{MAC: mac, Server: net.UDPAddrFromAddrPort(b.dhcp), Speed: speed}
			lease, err := client.Plain(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if lease.Address.Less(netip.MustParseAddr(first)) {
				t.Fatalf("%s was not given under the change", lease.Address)
			}
			b.eventually("the roll-back", func() bool { return b.agentHas(resource.CondSegmentRolledBack) })
			if got := b.renew(mac, lease.Address); got != tt.want {
				t.Errorf("%s is renewed with %s, want %s", lease.Address, got, tt.want)
			}
			stop()
			b.start(nil)
			b.eventually("the condition after a restart", func() bool { return b.agentHas(resource.CondSegmentRolledBack) })
			if got := b.renew(mac, lease.Address); got != tt.want {
				t.Errorf("after a restart %s is renewed with %s, want %s", lease.Address, got, tt.want)
			}
		})
	}
}

// renew sends the REQUEST of a client in state REBINDING through a relay (RFC 2131
// section 4.3.2) that listens where it sent from (RFC 8357).
func (b *bench) renew(mac net.HardwareAddr, addr netip.Addr) dhcpv4.MessageType {
	b.t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(b.t.Context(), "udp4", net.JoinHostPort(b.ip, "0"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close()
	p, err := dhcpv4.New(
		dhcpv4.WithHwAddr(mac), dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(addr.AsSlice()),
		dhcpv4.WithGatewayIP(net.ParseIP(b.ip).To4()), dhcpv4.WithGeneric(dhcpv4.OptionRelayAgentInformation, []byte{19, 0}),
	)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := conn.WriteTo(p.ToBytes(), net.UDPAddrFromAddrPort(b.dhcp)); err != nil {
		b.t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(eventual)); err != nil {
		b.t.Fatal(err)
	}
	var buf [1500]byte
	n, _, err := conn.ReadFrom(buf[:])
	if err != nil {
		b.t.Fatalf("no answer to a renewal of %s: %v", addr, err)
	}
	reply, err := dhcpv4.FromBytes(buf[:n])
	if err != nil {
		b.t.Fatal(err)
	}
	return reply.MessageType()
}
