package dhcp

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

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
