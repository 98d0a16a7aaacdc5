package dhcp

import (
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
)

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
	} {
		for role := range uint8(3) {
			f.Add(p.ToBytes(), role<<2)
		}
	}
	actions := protocol.AnswerActions()
	roles := []protocol.SegmentRole{protocol.SegmentBoot, protocol.SegmentBMC, protocol.SegmentBoth}
	f.Fuzz(func(t *testing.T, raw []byte, action uint8) {
		w := newWorld(t, protocol.BootAnswer{Action: actions[int(action)%len(actions)], Token: "t", File: "f.efi"})
		role := roles[int(action>>2)%len(roles)]
		w.resolver.seg = withRole(role)
		for range 2 { // the second time it meets the state of the first
			out, to := w.handle(t.Context(), raw, testPeer)
			if out == nil {
				continue
			}
			request, err := dhcpv4.FromBytes(raw)
			if err != nil {
				t.Fatalf("an unreadable packet is answered: %v", err)
			}
			reply, err := dhcpv4.FromBytes(out)
			if err != nil {
				t.Fatalf("reply cannot be read: %v", err)
			}
			if reply.OpCode != dhcpv4.OpcodeBootReply || reply.TransactionID != request.TransactionID ||
				reply.ClientHWAddr.String() != request.ClientHWAddr.String() || len(out) < 300 || len(out) > maxMessage || !to.IsValid() {
				t.Fatalf("reply to %s does not fit: %s", to, reply)
			}
			if role == protocol.SegmentBMC && (reply.Options.Has(dhcpv4.OptionBootfileName) || reply.BootFileName != "" || !reply.ServerIPAddr.IsUnspecified()) {
				t.Fatalf("a BMC's reply is about booting: %s", reply)
			}
			if a := addr4(reply.YourIPAddr.To4()); a.IsValid() && !usable(w.resolver.seg, a) {
				t.Fatalf("granted %s", a)
			}
		}
	})
}
