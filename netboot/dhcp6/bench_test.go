package dhcp6

import (
	"fmt"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv6"
)

// BenchmarkExchange is SOLICIT and REQUEST of 4096 machines in turn, without sockets
// and with leases in memory.
func BenchmarkExchange(b *testing.B) {
	w := newWorld(b, boot1())
	w.resolver.seg.PoolTo = addr("2001:db8::ffff:ffff")
	var asks, wants [][]byte
	for i := range 4096 {
		mac := fmt.Sprintf("52:54:00:03:%02x:%02x", i>>8, i&255)
		asks = append(asks, client(dhcpv6.MessageTypeSolicit, mac, httpClient(), ia(1)).bytes())
		wants = append(wants, client(dhcpv6.MessageTypeRequest, mac, httpClient(), ours(), ia(1), xid(9)).bytes())
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		n := i % len(asks)
		if out, _ := w.respond(b.Context(), asks[n], peer(), true); out == nil {
			b.Fatal("no ADVERTISE")
		}
		if out, _ := w.respond(b.Context(), wants[n], peer(), true); out == nil {
			b.Fatal("no REPLY")
		}
	}
}
