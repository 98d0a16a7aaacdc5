package dhcp6

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/protocol"
)

// The parts of a reply that are always the same. The DUID is of agent1/rack1, the
// client's a DUID-LL of mac1, and its address the hash of mac1.
const (
	hexClient   = "0001 000a 0003 0001 525400123456"
	hexServer   = "0002 0012 0004 3f917e1eebf68ecdbbc1a0004361acec"
	hexPrefer   = "0007 0001 ff"
	hexIA       = "0003 002e 01000000 00000708 00000b40 0005 0018 20010db8000000000000000000001048 00000e10 00000e10 000d 0002 0000"
	hexVendor   = "0010 0010 00000157 000a 48545450436c69656e74" // enterprise 343, "HTTPClient"
	hexDNS      = "0017 0010 20010db8000000000000000000000001"
	adv, reply7 = "02 010203", "07 010209"
)

func hexURL(u string) string {
	return hex.EncodeToString([]byte{0, 59, 0, byte(len(u))}) + hex.EncodeToString([]byte(u))
}

// TestGolden compares whole messages byte for byte: the order of options is a
// promise. Option 59 has another one after it whose code begins with zero, because
// EDK2 reads the URL up to the first zero byte; 60 never occurs; and only UEFI HTTP
// boot gets a vendor class.
func TestGolden(t *testing.T) {
	refuse := protocol.BootAnswer{Action: protocol.AnswerRefuse, Server: "s1"}
	for _, row := range []struct {
		name   string
		answer protocol.BootAnswer
		class  opt
		boot   []string
	}{
		{"UEFI HTTP boot", boot1(), httpClient(), []string{hexURL("http://[2001:db8::1]/b/tok/uki.efi"), hexVendor}},
		{"UEFI HTTP boot refused", refuse, httpClient(), []string{hexURL("http://[2001:db8::1]/b/refused/refused.efi"), hexVendor}},
		{"PXE", boot1(), pxeClient(), []string{hexURL("tftp://[2001:db8::1]/b/tok/uki.efi")}},
		{"PXE refused", refuse, pxeClient(), []string{hexURL("tftp://[2001:db8::1]/b/refused/refused.efi")}},
		{"iPXE", boot1(), with(dhcpv6.OptionUserClass, 0, 4, 'i', 'P', 'X', 'E'), []string{hexURL("http://[2001:db8::1]/b/tok/uki.efi")}},
		{"iPXE refused", refuse, with(dhcpv6.OptionUserClass, 0, 4, 'i', 'P', 'X', 'E'), nil},
		{"U-Boot by HTTP", boot1(), with(dhcpv6.OptionClientArchType, 0, 24), []string{hexURL("http://[2001:db8::1]/b/tok/uki.efi")}},
		{"an operating system", boot1(), with(dhcpv6.OptionORO, 0, 23), nil},
		{"an installer that asks where to report", boot1(), with(dhcpv6.OptionORO, 0, 59), []string{hexURL("http://[2001:db8::1]/b/tok/")}},
	} {
		w := newWorld(t, row.answer)
		check := func(p *reply, head ...string) {
			t.Helper()
			out, _ := w.respond(t.Context(), p.bytes(), peer(), true)
			parts := append(head, row.boot...)
			want, err := hex.DecodeString(strings.ReplaceAll(strings.Join(append(parts, hexDNS), ""), " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out, want) {
				t.Errorf("%s:\n got %x\nwant %x", row.name, out, want)
			}
		}
		check(client(dhcpv6.MessageTypeSolicit, mac1, row.class, ia(1)), adv, hexClient, hexServer, hexPrefer, hexIA)
		check(client(dhcpv6.MessageTypeRequest, mac1, row.class, ours(), ia(1), xid(9)), reply7, hexClient, hexServer, hexIA)
		check(client(dhcpv6.MessageTypeInformationRequest, mac1, row.class, xid(9)), reply7, hexClient, hexServer)
	}
}

// TestStringsEnd: as EDK2 does, the URL is read up to the first zero byte, wherever
// it lies.
func TestStringsEnd(t *testing.T) {
	for name, class := range map[string]opt{"HTTP": httpClient(), "PXE": pxeClient(), "iPXE": with(dhcpv6.OptionUserClass, 0, 4, 'i', 'P', 'X', 'E')} {
		w := newWorld(t, boot1())
		out, _ := w.respond(t.Context(), client(dhcpv6.MessageTypeSolicit, mac1, class, ia(1)).bytes(), peer(), true)
		at := bytes.Index(out, []byte("://"))
		end := bytes.IndexByte(out[max(at, 0):], 0)
		if at < 0 || end < 0 || !strings.HasSuffix(string(out[at:at+end]), "/b/tok/uki.efi") {
			t.Errorf("%s: %q", name, out)
		}
	}
}
