package dhcp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
)

// kinds are one client of each class.
func kinds() map[protocol.ClientClass][]opt {
	return map[protocol.ClientClass][]opt{
		protocol.ClassNone:        nil,
		protocol.ClassHTTPClient:  {withText(60, "HTTPClient:Arch:00016:UNDI:003000"), with(93, 0, 16)},
		protocol.ClassPXEClient:   {withText(60, "PXEClient:Arch:00007:UNDI:003000"), with(93, 0, 7)},
		protocol.ClassIPXE:        {withText(60, "PXEClient:Arch:00007:UNDI:003010"), withText(77, "iPXE")},
		protocol.ClassGRUB:        {withText(77, "GRUB2")},
		protocol.ClassUBoot:       {withText(60, "U-Boot.armv8"), with(93, 0, 22)},
		protocol.ClassRaspberryPi: {withText(60, "PXEClient:Arch:00041:UNDI:002001"), with(93, 0, 41)},
	}
}

// TestEveryAnswer is what sections 1.1, 1.2 and 3 ask of an OFFER and of its ACK,
// whoever asks and whatever is decided.
func TestEveryAnswer(t *testing.T) {
	uuid := append([]byte{0}, bytes.Repeat([]byte{7}, 16)...)
	for _, class := range protocol.ClientClasses() {
		opts, ok := kinds()[class]
		if !ok {
			t.Fatalf("no client of class %s", class)
		}
		for _, action := range []protocol.AnswerAction{protocol.AnswerLease, protocol.AnswerBoot, protocol.AnswerRefuse} {
			w := newWorld(t, protocol.BootAnswer{Action: action, Server: "s1", Token: "t", File: "boot.efi"})
			// EDK2's 1472 bytes, and an option 52 whose fields hold no options.
			asks := append([]opt{with(57, 5, 0xc0), with(97, uuid...), with(52, 3)}, opts...)
			offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1, asks...))
			if offer == nil {
				t.Errorf("%s, %s: silence", class, action)
				continue
			}
			if got := classify(client(dhcpv4.MessageTypeDiscover, mac1, asks...)); got != class {
				t.Errorf("%s is taken for %s", class, got)
			}
			ack, _ := w.send(t, client(asking, mac1, append(asks, withIP(54, ours), withIP(50, offer.YourIPAddr.String()))...))
			if ack == nil || ack.MessageType() != dhcpv4.MessageTypeAck || !ack.YourIPAddr.Equal(offer.YourIPAddr) {
				t.Errorf("%s, %s: offered %s, then %v (EDK2 sends DECLINE)", class, action, offer.YourIPAddr, ack)
				continue
			}
			for _, p := range []*dhcpv4.DHCPv4{offer, ack} {
				checkAnswer(t, class, action, p, uuid)
			}
			if offer.BootFileNameOption() != ack.BootFileNameOption() {
				t.Errorf("%s, %s: OFFER %q, ACK %q", class, action, offer.BootFileNameOption(), ack.BootFileNameOption())
			}
		}
	}
}

func checkAnswer(t *testing.T, class protocol.ClientClass, action protocol.AnswerAction, p *dhcpv4.DHCPv4, uuid []byte) {
	t.Helper()
	bad := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s of %s, %s: "+format, append([]any{p.MessageType(), class, action}, args...)...)
	}
	has := func(code uint8) bool { return p.Options.Has(dhcpv4.GenericOptionCode(code)) }
	if p.ServerIdentifier().String() != ours {
		bad("server identifier %s (EDK2 drops it without)", p.ServerIdentifier())
	}
	if len(p.DNS()) == 0 {
		bad("no option 6: another server's lease with one is preferred where the BMC holds the URI")
	}
	if !has(51) || !has(1) {
		bad("no lease time or no netmask: EDK2 takes seven days")
	}
	if has(52) || has(13) {
		bad("has option 52 or 13")
	}
	if has(66) != (class == protocol.ClassRaspberryPi && action == protocol.AnswerBoot) {
		bad("option 66: %t", has(66))
	}
	if !bytes.Equal(p.Options.Get(dhcpv4.OptionClientMachineIdentifier), uuid) {
		bad("option 97 is not echoed")
	}
	for code, v := range p.Options {
		if len(v) > 255 {
			bad("option %d has %d bytes: EDK2 joins no parts", code, len(v))
		}
	}
	if len(p.ToBytes()) > 1472 {
		bad("%d bytes", len(p.ToBytes()))
	}
	raw := p.Options.Get(dhcpv4.OptionBootfileName)
	if class == protocol.ClassPXEClient && action == protocol.AnswerBoot && !bytes.HasSuffix(raw, []byte{0}) {
		bad("option 67 is %q, without a NUL (quirk 15)", raw)
	}
	if url := p.BootFileNameOption(); strings.Contains(url, "://") && !strings.HasPrefix(url, "http://10.99.0.1:8080/") {
		bad("%s is not at an IP literal (quirk 19)", url)
	}
	if strings.Contains(p.BootFileNameOption(), "?") {
		bad("identity in a query, which shim loses")
	}
}
