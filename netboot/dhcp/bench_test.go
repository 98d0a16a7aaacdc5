package dhcp

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
)

// benchWorld serves as many known machines as given, all of which have a lease.
func benchWorld(b *testing.B, machines int) (*world, []string) {
	w := newWorld(b, protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: "0123456789abcdef", File: "boot.efi"})
	w.resolver.seg.Prefix = netip.MustParsePrefix("10.99.0.0/16")
	w.resolver.seg.PoolFrom = netip.MustParseAddr("10.99.1.0")
	w.resolver.seg.PoolTo = netip.MustParseAddr("10.99.250.0")
	macs := make([]string, machines)
	for i := range macs {
		macs[i] = fmt.Sprintf("52:54:00:%02x:%02x:%02x", i>>16, i>>8&255, i&255)
		w.bind(b, macs[i])
	}
	w.evidence.events = nil
	return w, macs
}

func BenchmarkOffer(b *testing.B) {
	for _, machines := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("machines=%d", machines), func(b *testing.B) {
			w, macs := benchWorld(b, machines)
			packets := make([][]byte, len(macs))
			for i, mac := range macs {
				packets[i] = client(dhcpv4.MessageTypeDiscover, mac, withText(60, "HTTPClient:Arch:00016:UNDI:003000"), with(57, 5, 0xc0)).ToBytes()
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if out, _ := w.handle(b.Context(), packets[i%len(packets)], testPeer); out == nil {
					b.Fatal("no offer")
				}
				i++
				if len(w.evidence.events) > 1000 {
					w.evidence.events = w.evidence.events[:0]
				}
			}
		})
	}
}

// BenchmarkOfferTraced is BenchmarkOffer with somebody who takes each exchange.
func BenchmarkOfferTraced(b *testing.B) {
	w, macs := benchWorld(b, 100)
	raw := client(dhcpv4.MessageTypeDiscover, macs[0], withText(60, "HTTPClient:Arch:00016:UNDI:003000"), with(57, 5, 0xc0)).ToBytes()
	for _, traced := range []bool{false, true} {
		b.Run(fmt.Sprintf("traced=%t", traced), func(b *testing.B) {
			n := 0
			w.restart(b, func(c *Config) {
				if traced {
					c.Trace = func(netboot.Exchange) { n++ }
				}
			})
			b.ReportAllocs()
			for b.Loop() {
				if out, _ := w.handle(b.Context(), raw, testPeer); out == nil {
					b.Fatal("no offer")
				}
				if len(w.evidence.events) > 1000 {
					w.evidence.events = w.evidence.events[:0]
				}
			}
			if traced && n == 0 {
				b.Fatal("nothing was traced")
			}
		})
	}
}

// BenchmarkDORA is the four-way exchange without socket and disk.
func BenchmarkDORA(b *testing.B) {
	w, macs := benchWorld(b, 1000)
	class := withText(60, "HTTPClient:Arch:00016:UNDI:003000")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		mac := macs[i%len(macs)]
		x := xid(byte(i))
		raw, _ := w.handle(b.Context(), client(dhcpv4.MessageTypeDiscover, mac, class, x).ToBytes(), testPeer)
		offer, err := dhcpv4.FromBytes(raw)
		if err != nil {
			b.Fatal(err)
		}
		raw, _ = w.handle(b.Context(), client(asking, mac, class, x, withIP(54, ours), withIP(50, offer.YourIPAddr.String())).ToBytes(), testPeer)
		if ack, err := dhcpv4.FromBytes(raw); err != nil || ack.MessageType() != dhcpv4.MessageTypeAck {
			b.Fatal("no ack")
		}
		i++
		if len(w.evidence.events) > 1000 {
			w.evidence.events = w.evidence.events[:0]
		}
	}
}

// BenchmarkLoopbackDORA is the four-way exchange over UDP, by clients that are
// their own relays, with a lease store that costs nothing.
func BenchmarkLoopbackDORA(b *testing.B) {
	resolver := &fixedResolver{seg: testSegment(), answer: lease1()}
	resolver.seg.Prefix = netip.MustParsePrefix("10.99.0.0/16")
	resolver.seg.PoolTo = netip.MustParseAddr("10.99.250.0")
	s, err := New(Config{Segment: "rack1", Listen: loopback(), Resolver: resolver, Leases: newMemLeases(), Evidence: noEvidence{}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	server := net.UDPAddrFromAddrPort(addrPort(s.Addr()))
	var next atomic.Uint32
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		c, err := net.DialUDP("udp4", nil, server)
		if err != nil {
			b.Error(err)
			return
		}
		defer c.Close()
		buf := make([]byte, 1500)
		exchange := func(p *dhcpv4.DHCPv4) *dhcpv4.DHCPv4 {
			giaddr("127.0.0.1")(p)
			p.Options[82] = []byte{19, 0}
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			if _, err := c.Write(p.ToBytes()); err != nil {
				b.Error(err)
				return nil
			}
			n, err := c.Read(buf)
			if err != nil {
				b.Error(err)
				return nil
			}
			reply, _ := dhcpv4.FromBytes(buf[:n])
			return reply
		}
		for pb.Next() {
			i := next.Add(1)
			mac := fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8&63, i&255)
			offer := exchange(client(dhcpv4.MessageTypeDiscover, mac))
			if offer == nil {
				return
			}
			ack := exchange(client(asking, mac, withIP(54, ours), withIP(50, offer.YourIPAddr.String())))
			if ack == nil || ack.MessageType() != dhcpv4.MessageTypeAck {
				b.Error("no ack")
				return
			}
		}
	})
	cancel()
	if err := <-done; err != nil {
		b.Error(err)
	}
}

type noEvidence struct{}

func (noEvidence) Record(netboot.Event) {}
