package dhcp

import (
	"bytes"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestRoute is section 3, "Destination of replies", and quirks 13 and 14.
func TestRoute(t *testing.T) {
	const broadcast = "255.255.255.255:68"
	wrong := withIP(50, "192.168.1.5")
	for _, row := range []struct {
		name   string
		packet *dhcpv4.DHCPv4
		to     string
		frame  bool
	}{
		{"broadcast bit set (EDK2)", client(dhcpv4.MessageTypeDiscover, mac1, flagged), broadcast, false},
		{"broadcast bit clear (iPXE): a frame to chaddr", client(dhcpv4.MessageTypeDiscover, mac1), "", true},
		{"NAK, broadcast bit clear", client(asking, mac1, wrong), broadcast, false},
		{"NAK of a renewal: broadcast although ciaddr is there", client(asking, mac1, ciaddr("192.168.1.5")), broadcast, false},
		{"RENEWING", client(asking, mac1, ciaddr("10.99.0.60")), "10.99.0.60:68", false},
		{"REBINDING with the broadcast bit", client(asking, mac1, ciaddr("10.99.0.60"), flagged), "10.99.0.60:68", false},
		{"relayed: port 67, not 68 (FreeRADIUS 591, systemd 2743)", client(dhcpv4.MessageTypeDiscover, mac1, giaddr("10.99.0.3")), "10.99.0.3:67", false},
		{"relayed renewal: through the relay", client(asking, mac1, ciaddr("10.99.0.60"), giaddr("10.99.0.3")), "10.99.0.3:67", false},
		{"relayed NAK", client(asking, mac1, wrong, giaddr("10.99.0.3")), "10.99.0.3:67", false},
		{"relay with a source port of its own (RFC 8357)", client(dhcpv4.MessageTypeDiscover, mac1, giaddr("10.99.0.3"), with(82, 19, 0)), "10.99.0.3:4242", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, lease1())
			out := w.respond(t.Context(), row.packet.ToBytes(), testPeer, false)
			p, err := dhcpv4.FromBytes(out.raw)
			if err != nil {
				t.Fatal(err)
			}
			if row.frame {
				row.to = p.YourIPAddr.String() + ":68"
				if !bytes.Equal(out.mac, row.packet.ClientHWAddr) || out.from.String() != "10.99.0.1:67" {
					t.Errorf("frame from %s to %s", out.from, out.mac)
				}
			}
			if out.to.String() != row.to || (out.mac != nil) != row.frame {
				t.Errorf("goes to %s (%s), want %s", out.to, out.mac, row.to)
			}
			flags := row.packet.Flags
			if p.MessageType() == dhcpv4.MessageTypeNak && !row.packet.GatewayIPAddr.IsUnspecified() {
				flags |= flagBroadcast
			}
			if p.Flags != flags {
				t.Errorf("flags %#x, want %#x (pdhcp 3)", p.Flags, flags)
			}
		})
	}
}

// TestRelayEcho: option 82 comes back byte for byte and last, in each reply (RFC
// 3046 section 2.2; quirk 13), with what it asks for.
func TestRelayEcho(t *testing.T) {
	info := []byte{1, 4, 0, 0, 0, 7, 2, 3, 's', 'w', '1', 5, 4, 10, 99, 0, 0, 11, 4, 10, 99, 0, 3, 200, 1, 1}
	opts := []opt{giaddr("10.1.1.1"), with(82, info...), with(61, 1, 2, 3)}
	w := newWorld(t, lease1())
	for _, row := range []struct {
		packet *dhcpv4.DHCPv4
		want   dhcpv4.MessageType
	}{
		{client(dhcpv4.MessageTypeDiscover, mac1, opts...), dhcpv4.MessageTypeOffer},
		{client(asking, mac1, append(opts, withIP(54, "10.99.0.3"), withIP(50, "10.99.0.60"))...), dhcpv4.MessageTypeNak}, // not what was offered
		{client(asking, mac1, append(opts, withIP(50, "10.7.0.5"))...), dhcpv4.MessageTypeNak},
		{client(asking, mac2, append(opts, withIP(54, "10.99.0.3"), withIP(50, "10.99.0.61"))...), dhcpv4.MessageTypeAck},
		{client(dhcpv4.MessageTypeInform, mac1, append(opts, ciaddr("10.99.0.60"))...), dhcpv4.MessageTypeAck},
	} {
		out := w.respond(t.Context(), row.packet.ToBytes(), testPeer, false)
		if out.raw == nil {
			t.Fatalf("%s gets silence", row.packet.MessageType())
		}
		p, err := dhcpv4.FromBytes(out.raw)
		if err != nil {
			t.Fatal(err)
		}
		if p.MessageType() != row.want {
			t.Errorf("%s gets %s, want %s", row.packet.MessageType(), p.MessageType(), row.want)
		}
		last := append(append([]byte{82, byte(len(info))}, info...), optionEnd)
		if got := bytes.TrimRight(out.raw, "\x00"); !bytes.HasSuffix(got, last) {
			t.Errorf("%s ends with %x", p.MessageType(), got[len(got)-len(last):])
		}
		if p.ServerIdentifier().String() != "10.99.0.3" { // RFC 5107
			t.Errorf("%s has server identifier %s", p.MessageType(), p.ServerIdentifier())
		}
		if !bytes.Equal(p.Options.Get(dhcpv4.OptionClientIdentifier), []byte{1, 2, 3}) { // RFC 6842
			t.Errorf("%s lacks the client identifier", p.MessageType())
		}
	}
	if n := testutil.ToFloat64(w.metrics.Packets.WithLabelValues("request", resultElsewhere)); n != 0 {
		t.Error("the relay's server identifier counts as another server's")
	}
}

// TestSubnets is which subnet a relayed packet belongs to (RFC 3527, RFC 3011).
func TestSubnets(t *testing.T) {
	here, there := []byte{10, 99, 0, 0}, []byte{10, 98, 0, 0}
	link := func(a []byte) opt { return with(82, append([]byte{5, 4}, a...)...) }
	for _, row := range []struct {
		name string
		opts []opt
		want bool
	}{
		{"giaddr here", []opt{giaddr("10.99.0.3")}, true},
		{"giaddr elsewhere", []opt{giaddr("10.98.0.3")}, false},
		{"option 118 here wins over giaddr", []opt{giaddr("10.98.0.3"), with(118, here...)}, true},
		{"option 118 elsewhere wins over giaddr", []opt{giaddr("10.99.0.3"), with(118, there...)}, false},
		{"link selection wins over option 118", []opt{giaddr("10.98.0.3"), with(118, there...), link(here)}, true},
		{"link selection elsewhere", []opt{giaddr("10.99.0.3"), with(118, here...), link(there)}, false},
		{"link selection without a relay is forged", []opt{link(there)}, true},
		{"a malformed option 82 says nothing", []opt{giaddr("10.99.0.3"), with(82, 5, 9, 1)}, true},
	} {
		w := newWorld(t, lease1())
		reply, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1, row.opts...))
		if (reply != nil) != row.want {
			t.Errorf("%s: answered %v", row.name, reply != nil)
		}
	}
}

// TestProxy is section 3, "ProxyDHCP": boot data beside another server's leases.
func TestProxy(t *testing.T) {
	const (
		http = "HTTPClient:Arch:00016:UNDI:003000"
		pxe  = "PXEClient:Arch:00007:UNDI:003000"
	)
	boot := protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: "tok3n", File: "boot.efi"}
	refuse := protocol.BootAnswer{Action: protocol.AnswerRefuse, Server: "s1"}
	uuid := append([]byte{0}, bytes.Repeat([]byte{7}, 16)...)
	const localMenu = 29 // bytes of the menu
	for _, row := range []struct {
		name   string
		mode   resource.ServiceMode
		boot   bool // came to port 4011
		answer protocol.BootAnswer
		packet *dhcpv4.DHCPv4
		want   dhcpv4.MessageType
		class  string // option 60
		file   string
		menu   int // bytes of option 43
		to     string
	}{
		{"PXE", resource.ServiceProxy, false, boot, client(dhcpv4.MessageTypeDiscover, mac1, withText(60, pxe), flagged), dhcpv4.MessageTypeOffer, "PXEClient", "b/tok3n/boot.efi", 4, "255.255.255.255:68"},
		{"PXE, broadcast bit clear: no address to send a frame to", resource.ServiceProxy, false, boot, client(dhcpv4.MessageTypeDiscover, mac1, withText(60, pxe)), dhcpv4.MessageTypeOffer, "PXEClient", "b/tok3n/boot.efi", 4, "255.255.255.255:68"},
		{"HTTP", resource.ServiceProxy, false, boot, client(dhcpv4.MessageTypeDiscover, mac1, withText(60, http)), dhcpv4.MessageTypeOffer, "HTTPClient", "http://10.99.0.1:8080/b/tok3n/boot.efi", 0, "255.255.255.255:68"},
		{"iPXE", resource.ServiceProxy, false, boot, client(dhcpv4.MessageTypeDiscover, mac1, withText(60, pxe), withText(77, "iPXE")), dhcpv4.MessageTypeOffer, "PXEClient", "http://10.99.0.1:8080/b/tok3n/boot.efi", 4, "255.255.255.255:68"},
		{"PXE refused", resource.ServiceProxy, false, refuse, client(dhcpv4.MessageTypeDiscover, mac1, withText(60, pxe)), dhcpv4.MessageTypeOffer, "PXEClient", "", localMenu, "255.255.255.255:68"},
		{"HTTP refused", resource.ServiceProxy, false, refuse, client(dhcpv4.MessageTypeDiscover, mac1, withText(60, http)), dhcpv4.MessageTypeOffer, "HTTPClient", "http://10.99.0.1:8080/b/refused/refused.efi", 0, "255.255.255.255:68"},
		{"iPXE refused: it has the other server's answer", resource.ServiceProxy, false, refuse, client(dhcpv4.MessageTypeDiscover, mac1, withText(60, pxe), withText(77, "iPXE")), 0, "", "", 0, ""},
		{"an operating system", resource.ServiceProxy, false, lease1(), client(dhcpv4.MessageTypeDiscover, mac1), 0, "", "", 0, ""},
		{"a machine that is not ours", resource.ServiceProxy, false, protocol.BootAnswer{Action: protocol.AnswerSilence}, client(dhcpv4.MessageTypeDiscover, mac1, withText(60, pxe)), 0, "", "", 0, ""},
		{"REQUEST at port 67", resource.ServiceProxy, false, boot, client(asking, mac1, withText(60, pxe), withIP(54, ours), withIP(50, "10.99.0.60")), 0, "", "", 0, ""},
		{"INIT-REBOOT on the wrong network: never authoritative", resource.ServiceProxy, false, boot, client(asking, mac1, withIP(50, "192.168.1.5")), 0, "", "", 0, ""},
		{"INFORM", resource.ServiceProxy, false, boot, client(dhcpv4.MessageTypeInform, mac1, ciaddr("10.99.0.60")), 0, "", "", 0, ""},
		{"REQUEST at 4011 (section 1.4, Binl)", resource.ServiceProxy, true, boot, client(asking, mac1, withText(60, pxe), ciaddr("10.99.0.60")), dhcpv4.MessageTypeAck, "PXEClient", "b/tok3n/boot.efi", 4, "10.99.0.60:4242"},
		{"REQUEST at 4011 without ciaddr", resource.ServiceProxy, true, boot, client(asking, mac1, withText(60, pxe)), dhcpv4.MessageTypeAck, "PXEClient", "b/tok3n/boot.efi", 4, "10.99.0.7:4242"},
		{"REQUEST at 4011, beside full DHCP (quirk 1)", resource.ServiceFull, true, boot, client(asking, mac1, withText(60, pxe), ciaddr("10.99.0.60")), dhcpv4.MessageTypeAck, "PXEClient", "b/tok3n/boot.efi", 4, "10.99.0.60:4242"},
		{"REQUEST at 4011, refused", resource.ServiceFull, true, refuse, client(asking, mac1, withText(60, pxe), ciaddr("10.99.0.60")), dhcpv4.MessageTypeAck, "PXEClient", "", localMenu, "10.99.0.60:4242"},
		{"REQUEST at 4011 for an address elsewhere: forged", resource.ServiceFull, true, boot, client(asking, mac1, withText(60, pxe), ciaddr("192.0.2.9")), 0, "", "", 0, ""},
		{"DISCOVER at 4011", resource.ServiceProxy, true, boot, client(dhcpv4.MessageTypeDiscover, mac1, withText(60, pxe)), 0, "", "", 0, ""},
		{"relayed to 4011", resource.ServiceProxy, true, boot, client(asking, mac1, withText(60, pxe), giaddr("10.99.0.3")), 0, "", "", 0, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, row.answer)
			w.resolver.svc = netboot.Service{Mode: row.mode, Authoritative: true}
			with(97, uuid...)(row.packet)
			out := w.respond(t.Context(), row.packet.ToBytes(), testPeer, row.boot)
			if len(w.pool.ByAddr) != 0 {
				t.Error("an address is held")
			}
			if out.raw == nil {
				if row.want != 0 {
					t.Fatal("silence")
				}
				return
			}
			p, err := dhcpv4.FromBytes(out.raw)
			if err != nil {
				t.Fatal(err)
			}
			if p.MessageType() != row.want || out.to.String() != row.to || out.mac != nil {
				t.Fatalf("%s to %s", p.MessageType(), out.to)
			}
			for _, code := range []uint8{51, 58, 59, 1, 3, 6, 13, 66} {
				if p.Options.Has(dhcpv4.GenericOptionCode(code)) {
					t.Errorf("has option %d", code)
				}
			}
			if !p.YourIPAddr.IsUnspecified() || p.ServerIPAddr.String() != ours || p.ServerIdentifier().String() != ours {
				t.Errorf("yiaddr %s, siaddr %s, option 54 %s", p.YourIPAddr, p.ServerIPAddr, p.ServerIdentifier())
			}
			if got := string(p.Options.Get(dhcpv4.OptionClassIdentifier)); got != row.class {
				t.Errorf("option 60 is %q", got)
			}
			if p.BootFileName != row.file || p.BootFileNameOption() != row.file {
				t.Errorf("file %q, option 67 %q", p.BootFileName, p.BootFileNameOption())
			}
			if got := p.Options.Get(dhcpv4.OptionVendorSpecificInformation); len(got) != row.menu {
				t.Errorf("option 43 is %x", got)
			}
			if !bytes.Equal(p.Options.Get(dhcpv4.OptionClientMachineIdentifier), uuid) {
				t.Error("option 97 is not echoed")
			}
		})
	}
}
