package dhcp6

import (
	"bytes"
	"net"
	"slices"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/netboot"
	"rackboot/netboot/leasing"
	"rackboot/protocol"
)

// FuzzRespond: no message makes the server panic, and each reply can be read by the
// codec and belongs to the message, through as many relays.
func FuzzRespond(f *testing.F) {
	for _, p := range []*reply{
		client(dhcpv6.MessageTypeSolicit, mac1, httpClient(), ia(1), with(dhcpv6.OptionRapidCommit)),
		client(dhcpv6.MessageTypeSolicit, mac1, pxeClient(), ia(1), ia(2), with(dhcpv6.OptionIAPD, make([]byte, 12)...), with(dhcpv6.OptionIATA, 0, 0, 0, 1)),
		client(dhcpv6.MessageTypeRequest, mac1, ours(), ia(1, "2001:db8::1005")),
		client(dhcpv6.MessageTypeRenew, mac1, ours(), ia(1, "2001:db8:1::5", "2001:db8::1005")),
		client(dhcpv6.MessageTypeRebind, mac1, ia(1, "2001:db8::5")),
		client(dhcpv6.MessageTypeConfirm, mac1, ia(1, "2001:db8::5")),
		client(dhcpv6.MessageTypeRelease, mac1, ours(), ia(1, "2001:db8::1048")),
		client(dhcpv6.MessageTypeDecline, mac1, ours(), ia(1, "2001:db8::1048")),
		client(dhcpv6.MessageTypeInformationRequest, mac1, with(dhcpv6.OptionORO, 0, 59, 0, 23), with(dhcpv6.OptionUserClass, 0, 4, 'i', 'P', 'X', 'E')),
	} {
		for how := range uint8(8) {
			f.Add(p.bytes(), how)
		}
		once := forwarded(p.bytes(), 0, "2001:db8::2", "fe80::1", raw(dhcpv6.OptionInterfaceID, []byte{7}), raw(dhcpv6.OptionClientLinkLayerAddr, []byte{0, 1, 2, 3, 4, 5, 6, 7}))
		f.Add(once, uint8(2))
		f.Add(forwarded(once, 1, "::", "fe80::2", raw(optRelayPort, []byte{0, 0})), uint8(2))
	}
	f.Add([]byte{12, 0}, uint8(0))
	actions := protocol.AnswerActions()
	f.Fuzz(func(t *testing.T, in []byte, how uint8) {
		w := newWorld(t, protocol.BootAnswer{Action: actions[int(how)%len(actions)], Token: "t", File: "f.efi", Server: "s1"})
		w.resolver.seg.RapidCommit = how&4 != 0
		asker := (&Server{}).Asker(in, peer())
		for range 2 { // the second time it meets the state of the first
			out, to := w.respond(t.Context(), in, peer(), how&8 == 0)
			if out == nil {
				continue
			}
			request, hops, err := decode(in)
			if err != nil {
				t.Fatalf("an unreadable message is answered: %v", err)
			}
			if many := len(hops) > 0; many != (asker == leasing.Asker{}) || !many && asker.Kind != byte(request.kind) {
				t.Fatalf("the first look sees %+v", asker)
			}
			if id, _ := value(request.options, dhcpv6.OptionClientID); !readable(id) {
				continue // the codec would not read the answer either, which has it byte for byte
			}
			d, err := dhcpv6.FromBytes(out)
			if err != nil {
				t.Fatalf("reply cannot be read: %v", err)
			}
			for _, h := range hops {
				r, ok := d.(*dhcpv6.RelayMessage)
				if !ok || r.HopCount != h.count || addr(r.PeerAddr.String()).Unmap() != h.peer.Unmap() {
					t.Fatalf("envelope %v for %+v", d, h)
				}
				d = r.Options.RelayMessage()
			}
			m, ok := d.(*dhcpv6.Message)
			if !ok || !bytes.Equal(m.TransactionID[:], request.xid[:]) || len(out) > maxMessage || !to.IsValid() {
				t.Fatalf("reply to %s does not fit: %v", to, d)
			}
			if m.GetOneOption(dhcpv6.OptionBootfileParam) != nil {
				t.Fatal("option 60 is sent")
			}
			if at := slices.IndexFunc(m.Options.Options, func(o dhcpv6.Option) bool { return o.Code() == dhcpv6.OptionBootfileURL }); at == len(m.Options.Options)-1 {
				t.Fatal("option 59 is the last one")
			}
			for _, n := range m.Options.IANA() {
				for _, a := range n.Options.Addresses() {
					ip := addr(a.IPv6Addr.String())
					if sc := (scope{seg: w.resolver.seg}); a.ValidLifetime > 0 && !sc.usable(ip) {
						t.Fatalf("granted %s", ip)
					}
				}
			}
		}
	})
}

// readable reports whether the codec reads a DUID, or there is none. It looks into DUIDs,
// which are opaque to a server (RFC 8415 section 11).
func readable(duid []byte) bool {
	if len(duid) == 0 {
		return true
	}
	_, err := dhcpv6.DUIDFromBytes(duid)
	return err == nil
}

// FuzzAdvert: no advertisement makes the parser panic, and what it takes is whole.
func FuzzAdvert(f *testing.F) {
	f.Add(routerSays(advertManaged|advertOther, 1800))
	f.Add(routerSays(0, 0, "2001:db8::/64", "fd00::/8"))
	f.Add(append(routerSays(0, 0), 25, 0, 0, 0))
	f.Add([]byte{icmpAdvertisement})
	f.Fuzz(func(t *testing.T, in []byte) {
		a, err := parseAdvert(in)
		if err != nil {
			if a.managed || a.onLink != nil {
				t.Fatalf("%+v of a malformed advertisement", a)
			}
			return
		}
		if len(in)%8 != 0 || len(a.onLink) > len(in)/32 {
			t.Fatalf("%d bytes have %d prefixes", len(in), len(a.onLink))
		}
		for _, p := range a.onLink {
			if !p.IsValid() || p != p.Masked() || !a.reaches(p.Addr()) {
				t.Fatalf("prefix %s", p)
			}
		}
	})
}

// FuzzNeighbour: no neighbour advertisement makes the parser panic, and what it takes is of one
// interface.
func FuzzNeighbour(f *testing.F) {
	f.Add(neighbourSays("2001:db8::1", 0x52, 0x54, 0, 0, 0, 1))
	f.Add(neighbourSays("2001:db8::1"))
	f.Add(append(neighbourSays("::"), 2, 0))
	f.Fuzz(func(t *testing.T, in []byte) {
		n, err := parseNeighbour(in)
		if err != nil && n != (neighbour{}) {
			t.Fatalf("%+v of a malformed advertisement", n)
		}
		if n.mac != "" {
			if hw, err := net.ParseMAC(n.mac); err != nil || hw[0]&1 == 1 {
				t.Fatalf("MAC address %q", n.mac)
			}
		}
	})
}

var _ netboot.LeaseStore[netboot.Lease6] = (*memLeases)(nil)
