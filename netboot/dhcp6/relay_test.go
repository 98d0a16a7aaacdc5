package dhcp6

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv6"
)

// forwarded wraps a message as a relay does.
func forwarded(inner []byte, count byte, link, from string, options ...dhcpv6.Option) []byte {
	l, p := addr(link).As16(), addr(from).As16()
	o := append(dhcpv6.Options(options), raw(dhcpv6.OptionRelayMsg, inner))
	return slices.Concat([]byte{byte(dhcpv6.MessageTypeRelayForward), count}, l[:], p[:], o.ToBytes())
}

func relayPeer() netip.AddrPort { return netip.MustParseAddrPort("[2001:db8::fe]:40000") }

// TestRelays: RFC 8415 section 19.3, two relays deep. Hop counts, addresses and
// Interface-IDs go back as they came; option 79 of the relay next to the client names
// it.
func TestRelays(t *testing.T) {
	w := newWorld(t, boot1())
	uuid := with(dhcpv6.OptionClientID, append([]byte{0, duidUUID}, []byte("0123456789abcdef")...)...)
	hw := slices.Concat([]byte{0, 1}, duidLLOf(mac1)[4:])
	inner := client(dhcpv6.MessageTypeSolicit, mac2, without(dhcpv6.OptionClientID), uuid, httpClient(), ia(1)).bytes()
	near := forwarded(inner, 0, "2001:db8::fd", "fe80::9", raw(dhcpv6.OptionInterfaceID, []byte("port7")), raw(dhcpv6.OptionClientLinkLayerAddr, hw))
	far := forwarded(near, 1, "::", "fe80::8", raw(dhcpv6.OptionInterfaceID, []byte{0, 1}), raw(dhcpv6.OptionClientLinkLayerAddr, slices.Concat([]byte{0, 1}, duidLLOf(mac2)[4:])))
	out, to := w.respond(t.Context(), far, relayPeer(), false)
	if to != netip.AddrPortFrom(relayPeer().Addr(), portServer) {
		t.Errorf("answer goes to %s", to)
	}
	d, err := dhcpv6.FromBytes(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		hops       uint8
		link, from string
		iface      []byte
	}{{1, "::", "fe80::8", []byte{0, 1}}, {0, "2001:db8::fd", "fe80::9", []byte("port7")}} {
		r, ok := d.(*dhcpv6.RelayMessage)
		if !ok || r.MessageType != dhcpv6.MessageTypeRelayReply || r.HopCount != want.hops || r.LinkAddr.String() != want.link || r.PeerAddr.String() != want.from || !bytes.Equal(r.Options.InterfaceID(), want.iface) {
			t.Fatalf("envelope %v", d)
		}
		d = r.Options.RelayMessage()
	}
	m, ok := d.(*dhcpv6.Message)
	if !ok || m.MessageType != dhcpv6.MessageTypeAdvertise || m.Options.BootFileURL() == "" {
		t.Fatalf("inside: %v", d)
	}
	if c := w.resolver.clients[0]; c.MAC != mac1 || c.UUID != "30313233-3435-3637-3839-616263646566" {
		t.Errorf("asked for %+v", c)
	}
}

// TestRelayLimits: which relays are answered, and where.
func TestRelayLimits(t *testing.T) {
	solicit := client(dhcpv6.MessageTypeSolicit, mac1, ia(1)).bytes()
	nested := func(n int, count func(int) byte) []byte {
		out := solicit
		for i := range n {
			out = forwarded(out, count(i), "2001:db8::fd", "fe80::9")
		}
		return out
	}
	level := func(i int) byte { return byte(i) }
	for _, row := range []struct {
		name string
		in   []byte
		from string // where it came from
		to   string // empty for silence
	}{
		{"on the link", forwarded(solicit, 0, "2001:db8::fd", "fe80::9"), "[2001:db8::fe]:40000", "[2001:db8::fe]:547"},
		{"RFC 8357: at its source port", forwarded(solicit, 0, "2001:db8::fd", "fe80::9", raw(optRelayPort, []byte{0, 0})), "[2001:db8::fe]:40000", "[2001:db8::fe]:40000"},
		{"RFC 8357 with another length", forwarded(solicit, 0, "2001:db8::fd", "fe80::9", raw(optRelayPort, []byte{7})), "[2001:db8::fe]:40000", "[2001:db8::fe]:547"},
		{"the relay is elsewhere", forwarded(solicit, 0, "2001:db8::fd", "fe80::9"), "[2001:db8:9::1]:547", "[2001:db8:9::1]:547"},
		{"RFC 6221: no link address", forwarded(solicit, 0, "::", "fe80::9"), "[fe80::fe%seg0]:547", "[fe80::fe%seg0]:547"},
		{"another link", forwarded(solicit, 0, "2001:db8:1::fd", "fe80::9"), "[2001:db8::fe]:547", ""},
		{"the inner link address decides", forwarded(forwarded(solicit, 0, "2001:db8:1::fd", "fe80::9"), 1, "2001:db8::fd", "fe80::9"), "[2001:db8::fe]:547", ""},
		{"hop count 8 (RFC 8415 7.6)", forwarded(solicit, maxHops, "2001:db8::fd", "fe80::9"), "[2001:db8::fe]:547", "[2001:db8::fe]:547"},
		{"hop count 9", forwarded(solicit, maxHops+1, "2001:db8::fd", "fe80::9"), "[2001:db8::fe]:547", ""},
		{"nine relays", nested(maxHops+1, level), "[2001:db8::fe]:547", "[2001:db8::fe]:547"},
		{"ten that count wrong", nested(maxHops+2, func(int) byte { return 0 }), "[2001:db8::fe]:547", ""},
		{"nothing inside", forwarded(nil, 0, "2001:db8::fd", "fe80::9"), "[2001:db8::fe]:547", ""},
		{"cut off", forwarded(solicit, 0, "2001:db8::fd", "fe80::9")[:60], "[2001:db8::fe]:547", ""},
		{"a header only", forwarded(solicit, 0, "2001:db8::fd", "fe80::9")[:20], "[2001:db8::fe]:547", ""},
		{"a direct client", solicit, "[fe80::9%seg0]:50000", "[fe80::9%seg0]:546"},
		{"a direct client from off the link", solicit, "[2001:db8:9::1]:546", ""},
	} {
		w := newWorld(t, lease1())
		out, to := w.respond(t.Context(), row.in, netip.MustParseAddrPort(row.from), true)
		if (out == nil) != (row.to == "") || out != nil && to.String() != row.to {
			t.Errorf("%s: %d bytes to %s", row.name, len(out), to)
		}
	}
}
