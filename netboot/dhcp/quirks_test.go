package dhcp

import (
	"bytes"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/protocol"
)

// TestPXE is section 1.4 and quirks 1, 5, 11 and 15, for OFFER and ACK alike.
func TestPXE(t *testing.T) {
	const pxe = "PXEClient:Arch:00007:UNDI:003000"
	local := "\x06\x01\x03\x0a\x04\x00PXE\x08\x07\x00\x00\x01\x0a\x63\x00\x01\x09\x08\x00\x00\x05Local\xff"
	for _, row := range []struct {
		name   string
		answer protocol.BootAnswer
		menu   string // option 43
		file   string
	}{
		{"boot: no detour to port 4011", protocol.BootAnswer{Action: protocol.AnswerBoot, Token: "t", File: "shimx64.efi"}, "\x06\x01\x08\xff", "b/t/shimx64.efi"},
		{"boot: `file` is full (127 bytes)", protocol.BootAnswer{Action: protocol.AnswerBoot, Token: "t", File: strings.Repeat("f", 123)}, "\x06\x01\x08\xff", "b/t/" + strings.Repeat("f", 123)},
		{"refuse: boot from local disk (section 3.1)", protocol.BootAnswer{Action: protocol.AnswerRefuse}, local, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.answer.Server = "s1"
			w := newWorld(t, row.answer)
			for _, p := range []*dhcpv4.DHCPv4{
				client(dhcpv4.MessageTypeDiscover, mac1, withText(60, pxe), with(57, 5, 0xc0)),
				client(asking, mac1, withText(60, pxe), with(57, 5, 0xc0), withIP(54, ours), withIP(50, offered1)),
			} {
				reply, _ := w.send(t, p)
				if reply == nil {
					t.Fatalf("%s gets silence", p.MessageType())
				}
				if got := string(reply.Options.Get(dhcpv4.OptionVendorSpecificInformation)); got != row.menu {
					t.Errorf("option 43 is %x", got)
				}
				if got := string(reply.Options.Get(dhcpv4.OptionClassIdentifier)); got != "PXEClient" {
					t.Errorf("option 60 is %q", got)
				}
				if reply.BootFileName != row.file || reply.ServerIPAddr.String() != ours {
					t.Errorf("file %q, siaddr %s: shim reads nothing else", reply.BootFileName, reply.ServerIPAddr)
				}
				if v := reply.Options.Get(dhcpv4.OptionBootfileName); row.file != "" && string(v) != row.file+"\x00" || row.file == "" && v != nil {
					t.Errorf("option 67 is %q", v)
				}
				for _, code := range []uint8{13, 66} {
					if reply.Options.Has(dhcpv4.GenericOptionCode(code)) {
						t.Errorf("has option %d", code)
					}
				}
				if reply.ServerHostName != "" {
					t.Error("sname is set")
				}
			}
		})
	}
	t.Run("path of 128 bytes: not sent", func(t *testing.T) {
		w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerBoot, Token: "t", File: strings.Repeat("f", 124)})
		if reply, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1, withText(60, pxe))); reply != nil {
			t.Errorf("sent %s", reply.Summary())
		}
		if n := testutil.ToFloat64(w.metrics.Packets.WithLabelValues("discover", resultUnsendable)); n != 1 {
			t.Errorf("counted %v", n)
		}
	})
}

// TestPadding is quirk 23: ours have END at the end, padding behind it only,
// and no PAD before (old U-Boot).
func TestPadding(t *testing.T) {
	w := newWorld(t, lease1())
	out := w.respond(t.Context(), client(dhcpv4.MessageTypeDiscover, mac1).ToBytes(), testPeer, false)
	options := out.raw[optionsAt:]
	for len(options) > 0 && options[0] != optionEnd {
		if options[0] == optionPad {
			t.Fatal("PAD before END")
		}
		options = options[2+int(options[1]):]
	}
	if len(out.raw) != 300 || len(options) == 0 || len(bytes.Trim(options[1:], "\x00")) != 0 {
		t.Errorf("%d bytes, END and padding %x", len(out.raw), options)
	}
}

// TestTwoInterfaces is quirk 22: the ports of one machine ask at the same time and
// have an address each; a shared UUID does not join them.
func TestTwoInterfaces(t *testing.T) {
	w := newWorld(t, lease1())
	uuid := with(97, append([]byte{0}, bytes.Repeat([]byte{7}, 16)...)...)
	one, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1, uuid))
	two, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac2, uuid))
	if one.YourIPAddr.Equal(two.YourIPAddr) {
		t.Errorf("both are offered %s", one.YourIPAddr)
	}
}

// TestStages is quirk 7: firmware, loader and system of one machine send other client
// identifiers and have one address.
func TestStages(t *testing.T) {
	w := newWorld(t, lease1())
	var first net.IP
	for _, o := range [][]opt{
		{withText(60, "HTTPClient")},
		{withText(60, "PXEClient"), withText(77, "iPXE"), with(61, 1, 0x52, 0x54, 0, 0x12, 0x34, 0x56)},
		{withText(77, "GRUB2")},
		{with(61, 255, 1, 2, 3, 4, 0, 2, 0, 0, 0xab, 0x11, 1, 2, 3, 4, 5, 6, 7, 8)},
	} {
		offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1, o...))
		if first == nil {
			first = offer.YourIPAddr
		}
		if !offer.YourIPAddr.Equal(first) {
			t.Errorf("offered %s, before %s", offer.YourIPAddr, first)
		}
	}
}

// TestOddRequests are what firmware sends and a server must live with.
func TestOddRequests(t *testing.T) {
	const http = "HTTPClient:Arch:00016:UNDI:003000"
	for name, o := range map[string][]opt{
		"a garbage byte in option 55 (EDK2 index 24)": {with(55, 1, 3, 0xeb, 0, 255)},
		"option 57 of the wrong length":               {with(57, 1)},
		"option 57 of zero":                           {with(57, 0, 0)},
		"option 93 of an odd length":                  {with(93, 0, 16, 7)},
		"an empty option 61":                          {with(61)},
		"option 97 of the wrong length":               {with(97, 0, 1)},
		"secs that iPXE abuses":                       {func(p *dhcpv4.DHCPv4) { p.NumSeconds = 0xffff }},
		"other flags than broadcast":                  {func(p *dhcpv4.DHCPv4) { p.Flags = 0x7fff }},
		"hops":                                        {func(p *dhcpv4.DHCPv4) { p.HopCount = 16 }},
	} {
		w := newWorld(t, protocol.BootAnswer{Action: protocol.AnswerBoot, Token: "t", File: "f.efi"})
		offer, _ := w.send(t, client(dhcpv4.MessageTypeDiscover, mac1, append(o, withText(60, http))...))
		if offer == nil || offer.BootFileNameOption() != "http://10.99.0.1:8080/b/t/f.efi" {
			t.Errorf("%s: %v", name, offer)
		}
	}
}

// TestBootPort runs a server with its boot server's port: the answer comes from
// there and goes to the port that was asked from.
func TestBootPort(t *testing.T) {
	reg := prometheus.NewRegistry()
	boot, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(loopback()))
	if err != nil {
		t.Fatal(err)
	}
	at := boot.LocalAddr().(*net.UDPAddr)
	seg := testSegment()
	run(t, Config{
		Segment: "rack1", Listen: loopback(), BootConn: boot, Leases: newMemLeases(), Evidence: &memEvidence{}, Registerer: reg,
		Resolver: &fixedResolver{seg: seg, answer: protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: "t", File: "f.efi"}},
	})
	c, err := net.DialUDP("udp4", nil, at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write(client(asking, mac1, withText(60, "PXEClient"), ciaddr("127.0.0.1")).ToBytes()); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1500)
	n, err := c.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	ack, err := dhcpv4.FromBytes(buf[:n])
	if err != nil || ack.MessageType() != dhcpv4.MessageTypeAck || ack.BootFileName != "b/t/f.efi" {
		t.Errorf("got %v, %v", ack, err)
	}
}

// TestBootPortTaken: the server does without it.
func TestBootPortTaken(t *testing.T) {
	taken, err := listen(netip.MustParseAddrPort("127.0.0.1:0"), "")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s, err := New(Config{
		Segment: "rack1", Listen: loopback(), BootListen: addrPort(taken.LocalAddr()),
		Resolver: &fixedResolver{}, Leases: newMemLeases(), Evidence: &memEvidence{},
	})
	if err != nil || s.boot != nil {
		t.Fatalf("%v", err)
	}
	_ = s.conn.Close()
}
