package dhcp

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

var update = flag.Bool("update", false, "write the golden replies")

// TestGoldenReplies compares whole replies, byte for byte, with testdata. A
// change of a golden file is a change of what firmware sees.
func TestGoldenReplies(t *testing.T) {
	const (
		http = "HTTPClient:Arch:00016:UNDI:003000"
		pxe  = "PXEClient:Arch:00007:UNDI:003000"
	)
	boot := protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "s1", Token: "tok3n", File: "boot.efi"}
	refuse := protocol.BootAnswer{Action: protocol.AnswerRefuse, Server: "s1"}
	report := lease1()
	report.Token = "tok3n"
	uuid := append([]byte{0}, bytes.Repeat([]byte{7}, 16)...)
	discover := func(opts ...opt) *dhcpv4.DHCPv4 {
		return client(dhcpv4.MessageTypeDiscover, mac1, append(opts, with(97, uuid...), flagged)...)
	}
	silence := protocol.BootAnswer{Action: protocol.AnswerSilence}
	bmc, both := withRole(resource.SegmentBMC), withRole(resource.SegmentBoth)
	bmcs := client(dhcpv4.MessageTypeDiscover, macBMC, withText(60, pxe), with(97, uuid...), flagged)
	renewed := func(opts ...opt) *dhcpv4.DHCPv4 {
		return client(asking, mac1, append(opts, ciaddr("10.99.0.60"))...)
	}
	renewal := client(dhcpv4.MessageTypeRequest, macBMC, ciaddr("10.99.0.60"), withText(60, http))
	for _, row := range []struct {
		name   string
		answer protocol.BootAnswer
		packet *dhcpv4.DHCPv4
		to     string
		seg    resource.SegmentIntent
	}{
		{"offer-http-boot", boot, discover(withText(60, http)), "255.255.255.255:68", testSegment()},
		{"offer-http-refuse", refuse, discover(withText(60, http)), "255.255.255.255:68", testSegment()},
		{"offer-pxe-refuse", refuse, discover(withText(60, pxe)), "255.255.255.255:68", testSegment()},
		{"offer-pxe-boot", boot, discover(withText(60, pxe)), "255.255.255.255:68", testSegment()},
		{"offer-ipxe-refuse", refuse, discover(withText(60, pxe), withText(77, "iPXE")), "255.255.255.255:68", testSegment()},
		{"ack-pxe-boot", boot, renewed(withText(60, pxe)), "10.99.0.60:68", testSegment()},
		{"offer-ipxe-boot", boot, discover(withText(60, pxe), withText(77, "iPXE")), "255.255.255.255:68", testSegment()},
		{"offer-grub-boot", boot, discover(withText(77, "GRUB2")), "255.255.255.255:68", testSegment()},
		{"offer-uboot-tftp", boot, discover(withText(60, "U-Boot.armv8"), with(93, 0, 22)), "255.255.255.255:68", testSegment()},
		{"offer-uboot-http", boot, discover(withText(60, "U-Boot.armv8"), with(93, 0, 24)), "255.255.255.255:68", testSegment()},
		{"offer-uboot-refuse", refuse, discover(withText(60, "U-Boot.armv8"), with(93, 0, 22)), "255.255.255.255:68", testSegment()},
		{"offer-raspberry-boot", boot, discover(withText(60, "PXEClient:Arch:00041:UNDI:002001"), with(93, 0, 41)), "255.255.255.255:68", testSegment()},
		{"offer-relay-server-id", boot, discover(withText(60, pxe), giaddr("10.99.0.3"), with(82, 11, 4, 10, 99, 0, 3, 1, 2, 'p', '7')), "10.99.0.3:67", testSegment()},
		{"offer-subnet-selection", lease1(), discover(giaddr("10.1.0.3"), with(118, 10, 99, 0, 0)), "10.1.0.3:67", testSegment()},
		{"offer-plain", lease1(), discover(with(61, 1, 2, 3)), "255.255.255.255:68", testSegment()},
		{"offer-plain-report", report, discover(with(55, 1, 3, 67)), "255.255.255.255:68", testSegment()},
		{"offer-plain-of-booting", boot, discover(with(55, 1, 3, 67)), "255.255.255.255:68", testSegment()},
		{"offer-plain-not-asked", report, discover(with(55, 1, 3)), "255.255.255.255:68", testSegment()},
		{"offer-relayed", lease1(), discover(giaddr("10.99.0.3"), with(82, 1, 2, 'p', '7')), "10.99.0.3:67", testSegment()},
		{"offer-relay-port", lease1(), discover(giaddr("10.99.0.3"), with(82, 1, 2, 'p', '7', 19, 0)), "10.99.0.3:4242", testSegment()},
		{"offer-forged-82", lease1(), discover(with(82, 19, 0)), "255.255.255.255:68", testSegment()},
		{"nak-wrong-network", lease1(), client(dhcpv4.MessageTypeRequest, mac1, withIP(50, "192.168.1.5"), with(61, 1, 2, 3)), "255.255.255.255:68", testSegment()},
		{"nak-relayed", lease1(), client(asking, mac1, withIP(50, "192.168.1.5"), giaddr("10.99.0.3"), with(82, 1, 2, 'p', '7')), "10.99.0.3:67", testSegment()},
		{"ack-inform", lease1(), client(dhcpv4.MessageTypeInform, mac1, ciaddr("10.99.0.20")), "10.99.0.20:68", testSegment()},
		{"offer-bmc", silence, bmcs, "255.255.255.255:68", bmc},
		{"ack-bmc", silence, renewal, "10.99.0.60:68", bmc},
		{"offer-bmc-on-both", silence, bmcs, "255.255.255.255:68", both},
		{"offer-server-on-both", boot, discover(withText(60, http)), "255.255.255.255:68", both},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, row.answer)
			w.resolver.seg = row.seg
			got, to := w.handle(t.Context(), row.packet.ToBytes(), testPeer)
			if to.String() != row.to {
				t.Errorf("goes to %s, want %s", to, row.to)
			}
			file := filepath.Join("testdata", row.name+".hex")
			if *update {
				if err := os.WriteFile(file, []byte(dump(got)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != dump(got) {
				t.Errorf("got\n%swant\n%s", dump(got), want)
			}
		})
	}
}

// dump is the header in one part and each option on a line, so that a diff can be read.
func dump(b []byte) string {
	if len(b) < 240 {
		return hex.Dump(b)
	}
	var out strings.Builder
	out.WriteString("header " + hex.EncodeToString(b[:44]) + "\n")
	out.WriteString("sname  " + hex.EncodeToString(bytes.TrimRight(b[44:108], "\x00")) + "\n")
	out.WriteString("file   " + hex.EncodeToString(bytes.TrimRight(b[108:236], "\x00")) + "\n")
	out.WriteString("cookie " + hex.EncodeToString(b[236:240]) + "\n")
	rest := b[240:]
	for len(rest) >= 2 && rest[0] != 255 && len(rest) >= 2+int(rest[1]) {
		n := 2 + int(rest[1])
		out.WriteString("option " + hex.EncodeToString(rest[:n]) + "\n")
		rest = rest[n:]
	}
	out.WriteString("end    " + hex.EncodeToString(rest) + "\n")
	return out.String()
}
