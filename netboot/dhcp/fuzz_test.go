package dhcp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// FuzzVendor: whatever option 43 holds, only the text of a Raspberry Pi matters.
func FuzzVendor(f *testing.F) {
	f.Add([]byte("\x09\x14\x00\x00\x11" + piText))
	f.Add([]byte{71, 4, 0, 0, 0, 0})
	f.Add([]byte{255})
	f.Fuzz(func(t *testing.T, raw []byte) {
		want := protocol.ClassPXEClient
		if bytes.Contains(raw, []byte(piText)) {
			want = protocol.ClassRaspberryPi
		}
		if got := classify(client(dhcpv4.MessageTypeDiscover, mac1, withText(60, "PXEClient"), with(93, 0, 0), with(43, raw...))); got != want {
			t.Fatalf("%x: %s", raw, got)
		}
	})
}

// FuzzHandle: no packet makes the server panic, and each reply can be read and
// belongs to the packet.
func FuzzHandle(f *testing.F) {
	http := withText(60, "HTTPClient:Arch:00016:UNDI:003000")
	for _, p := range []*dhcpv4.DHCPv4{
		client(dhcpv4.MessageTypeDiscover, mac1, http, with(93, 0, 16), with(97, 0, 1)),
		client(dhcpv4.MessageTypeDiscover, mac1, withText(60, "PXEClient"), withText(77, "\x04iPXE"), with(57, 5, 0xc0)),
		client(asking, mac1, withIP(54, ours), withIP(50, "10.99.0.60"), giaddr("10.99.0.3"), with(82, 19, 0, 5, 4, 10, 99, 0, 0)),
		client(asking, mac1, ciaddr("10.99.0.60"), with(61, 1, 2)),
		client(dhcpv4.MessageTypeDecline, mac1, withIP(54, ours), withIP(50, "10.99.0.60")),
		client(dhcpv4.MessageTypeRelease, mac1, ciaddr("10.99.0.60")),
		client(dhcpv4.MessageTypeInform, mac1, ciaddr("10.99.0.60"), with(55, 67)),
		client(dhcpv4.MessageTypeDiscover, macBMC, http, with(97, 0, 1)),
		client(dhcpv4.MessageTypeDiscover, mac1, withText(60, "PXEClient"), giaddr("10.99.0.3"), with(82, 11, 4, 10, 99, 0, 3, 1, 2, 'p', '7'), with(118, 10, 99, 0, 0)),
		client(asking, mac1, withText(60, "PXEClient"), ciaddr("10.99.0.60"), with(43, 71, 4, 0, 0, 0, 0), with(93, 0, 7)),
		client(dhcpv4.MessageTypeDiscover, "dc:a6:32:01:02:03", withText(60, "PXEClient"), with(93, 0, 0), withText(43, piText)),
		client(dhcpv4.MessageTypeDiscover, mac1, withText(77, "GRUB2"), with(52, 3)),
		client(dhcpv4.MessageTypeDiscover, mac1, withText(60, "U-Boot.armv8"), with(93, 0, 22, 0, 24)),
	} {
		for role := range uint8(3) {
			f.Add(p.ToBytes(), role<<2)
			f.Add(p.ToBytes(), role<<2|2) // boot
			f.Add(p.ToBytes(), role<<2|2<<4|2)
			f.Add(p.ToBytes(), role<<2|1<<6|2)
		}
	}
	actions := protocol.AnswerActions()
	roles := []resource.SegmentRole{resource.SegmentBoot, resource.SegmentBMC, resource.SegmentBoth}
	modes := []resource.ServiceMode{resource.ServiceFull, resource.ServiceReservations, resource.ServiceProxy, resource.ServiceNone}
	reserved := reserve(f, netboot.Reservation{Address: addr("10.99.0.10"), MAC: mac1}, netboot.Reservation{Address: addr("10.99.0.11"), Port: "p7"})
	f.Fuzz(func(t *testing.T, raw []byte, how uint8) {
		w := newWorld(t, protocol.BootAnswer{Action: actions[int(how)%len(actions)], Token: "t", File: "f.efi"})
		role, mode := roles[int(how>>2&3)%len(roles)], modes[how>>4&3]
		w.resolver.seg = withRole(role)
		w.resolver.svc = netboot.Service{Mode: mode, Reservations: reserved, Authoritative: how>>7 != 0}
		asker := (&Server{}).Asker(raw, testPeer)
		for range 2 { // the second time it meets the state of the first
			out := w.respond(t.Context(), raw, testPeer, how>>6&1 != 0)
			if out.raw == nil {
				continue
			}
			request, err := decode(raw)
			if err != nil {
				t.Fatalf("an unreadable packet is answered: %v", err)
			}
			if !bytes.HasPrefix(asker.Client[:], request.ClientHWAddr) {
				t.Fatalf("the first look sees %x, the packet is from %s", asker.Client, request.ClientHWAddr)
			}
			reply, err := dhcpv4.FromBytes(out.raw)
			if err != nil {
				t.Fatalf("reply cannot be read: %v", err)
			}
			if reply.OpCode != dhcpv4.OpcodeBootReply || reply.TransactionID != request.TransactionID ||
				reply.ClientHWAddr.String() != request.ClientHWAddr.String() || len(out.raw) < 300 || len(out.raw) > maxMessage || !out.to.IsValid() {
				t.Fatalf("reply to %s does not fit: %s", out.to, reply)
			}
			if role == resource.SegmentBMC && (reply.Options.Has(dhcpv4.OptionBootfileName) || reply.BootFileName != "" || !reply.ServerIPAddr.IsUnspecified()) {
				t.Fatalf("a BMC's reply is about booting: %s", reply)
			}
			a := addr4(reply.YourIPAddr.To4())
			if a.IsValid() && !usable(w.resolver.seg, a) && a != addr("10.99.0.10") && a != addr("10.99.0.11") {
				t.Fatalf("granted %s", a)
			}
			if a.IsValid() && (mode == resource.ServiceProxy || mode == resource.ServiceNone) || mode == resource.ServiceNone {
				t.Fatalf("answered in mode %s: %s", mode, reply)
			}
			if mode == resource.ServiceProxy && reply.MessageType() == dhcpv4.MessageTypeNak {
				t.Fatal("a proxy refuses an address")
			}
			if relay := request.Options.Get(dhcpv4.OptionRelayAgentInformation); !request.GatewayIPAddr.IsUnspecified() && !bytes.Equal(relay, reply.Options.Get(dhcpv4.OptionRelayAgentInformation)) {
				t.Fatalf("option 82 %x is not echoed", relay)
			}
			for _, text := range []string{reply.BootFileName, reply.BootFileNameOption()} {
				if strings.Contains(text, "\x00") || strings.Contains(text, "\xff") {
					t.Fatalf("file %q", text)
				}
			}
		}
	})
}
