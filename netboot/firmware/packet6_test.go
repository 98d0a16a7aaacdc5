package firmware

import (
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv6"
)

func option6(code dhcpv6.OptionCode, v ...byte) []byte {
	return dhcpv6.Options{&dhcpv6.OptionGeneric{OptionCode: code, OptionData: v}}.ToBytes()
}

// TestRead6: what EDK2 takes of an ADVERTISE (HttpBootDhcp6.c). The URL is not bounded
// by its option's length.
func TestRead6(t *testing.T) {
	c := &Client{MAC: net.HardwareAddr{0x52, 0x54, 0, 1, 2, 3}}
	x := c.newExchange6(prefixHTTP)
	xid := []byte{1, 2, 3}
	const uri = "http://[2001:db8::1]/b/t/boot.efi"
	url := option6(dhcpv6.OptionBootfileURL, []byte(uri)...)
	class := func(enterprise byte, word string) []byte {
		return option6(dhcpv6.OptionVendorClass, append([]byte{0, 0, 0, enterprise, 0, byte(len(word))}, word...)...)
	}
	dns := option6(dhcpv6.OptionDNSRecursiveNameServer, make([]byte, 16)...)
	lease := func(status ...byte) []byte {
		ia := append(slices.Clone(x.iaid[:]), make([]byte, 8)...)
		ia = append(ia, (&dhcpv6.Options{&dhcpv6.OptIAAddress{IPv6Addr: net.ParseIP("2001:db8::1000"), ValidLifetime: 1e9}}).ToBytes()...)
		return option6(dhcpv6.OptionIANA, append(ia, status...)...)
	}
	noAddress := option6(dhcpv6.OptionStatusCode, 0, 2)
	head := slices.Concat([]byte{byte(dhcpv6.MessageTypeAdvertise)}, xid, option6(dhcpv6.OptionClientID, x.duid...), option6(dhcpv6.OptionServerID, 0, 3, 0, 1))
	addr := netip.MustParseAddr("2001:db8::1000")
	for _, row := range []struct {
		name string
		raw  []byte
		ok   bool
		want offer6
	}{
		{"59, then 16", slices.Concat(head, lease(), url, class(0, "HTTPClient")), true, offer6{addr: addr, http: true, uri: uri}},
		{"any enterprise, and more behind the word", slices.Concat(head, lease(), url, class(87, "HTTPClient:Arch")), true, offer6{addr: addr, http: true, uri: uri}},
		{"59 last runs on", slices.Concat(head, lease(), class(0, "HTTPClient"), url), true, offer6{addr: addr, http: true, uri: uri + "\xff"}},
		{"16 without 59 is dropped", slices.Concat(head, lease(), class(0, "HTTPClient")), false, offer6{}},
		{"16 too short for the word", slices.Concat(head, lease(), url, class(0, "HTTP")), true, offer6{addr: addr, uri: uri}},
		{"DNS", slices.Concat(head, lease(), url, class(0, "HTTPClient"), dns), true, offer6{addr: addr, http: true, uri: uri, dns: true}},
		{"no address by status is a proxy's", slices.Concat(head, lease(noAddress...), url, class(0, "HTTPClient")), true, offer6{http: true, uri: uri}},
		{"no IA is a proxy's", slices.Concat(head, url, class(0, "HTTPClient")), true, offer6{http: true, uri: uri}},
		{"too long", slices.Concat(head, lease(), url, class(0, "HTTPClient"), option6(99, make([]byte, maxMessage6)...)), false, offer6{}},
		{"cut off", slices.Concat(head, lease(), url)[:len(head)+20], false, offer6{}},
		{"for another client", slices.Concat([]byte{byte(dhcpv6.MessageTypeAdvertise)}, xid, option6(dhcpv6.OptionServerID, 0, 3), lease(), url), false, offer6{}},
		{"of another exchange", slices.Concat([]byte{byte(dhcpv6.MessageTypeAdvertise), 9, 9, 9}, head[4:], lease(), url), false, offer6{}},
		{"another type", slices.Concat([]byte{byte(dhcpv6.MessageTypeReply)}, head[1:], lease(), url), false, offer6{}},
	} {
		o, ok := x.read(row.raw, dhcpv6.MessageTypeAdvertise, xid)
		if ok != row.ok || ok && (o.addr != row.want.addr || o.http != row.want.http || o.uri != row.want.uri || o.dns != row.want.dns) {
			t.Errorf("%s: %t, %+v", row.name, ok, o)
		}
	}
}

// FuzzRead6: no message makes the reader panic, and what it takes is of the exchange.
func FuzzRead6(f *testing.F) {
	c := &Client{MAC: net.HardwareAddr{0x52, 0x54, 0, 1, 2, 3}}
	x := c.newExchange6(prefixHTTP)
	f.Add(x.packet(dhcpv6.MessageTypeAdvertise, []byte{0, 3, 0, 1}, netip.MustParseAddr("2001:db8::1")))
	f.Add([]byte{2, 0, 0, 0, 0, 59, 0, 200, 'h'})
	f.Add((&socket6{link: netip.IPv6Loopback(), peer: netip.IPv6Loopback()}).forward([]byte{2, 0, 0, 0}))
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, m := range [][]byte{in, unwrap(in)} {
			if len(m) < 4 {
				continue
			}
			if o, ok := x.read(m, dhcpv6.MessageTypeAdvertise, m[1:4]); ok && (len(o.server) == 0 || len(m) > maxMessage6) {
				t.Fatalf("taken: %+v", o)
			}
		}
	})
}
