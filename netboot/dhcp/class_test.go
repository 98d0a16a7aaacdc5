package dhcp

import (
	"slices"
	"strings"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
)

func TestClassify(t *testing.T) {
	const (
		http = "HTTPClient:Arch:00016:UNDI:003000"
		pxe  = "PXEClient:Arch:00007:UNDI:003000"
	)
	for _, row := range []struct {
		name string // and where the case comes from
		opts []opt
		want protocol.ClientClass
	}{
		{"no option 60: an operating system", nil, protocol.ClassNone},
		{"EDK2 HTTP boot (OVMF capture)", []opt{withText(60, http), with(93, 0, 16)}, protocol.ClassHTTPClient},
		{"EDK2 PXE (OVMF capture)", []opt{withText(60, pxe), with(93, 0, 7)}, protocol.ClassPXEClient},
		{"option 60 wins over an HTTP architecture (quirk 2)", []opt{withText(60, pxe), with(93, 0, 16)}, protocol.ClassPXEClient},
		{"option 60 wins over a PXE architecture (quirk 2)", []opt{withText(60, http), with(93, 0, 7)}, protocol.ClassHTTPClient},
		{"option 60 twice is concatenated (RFC 3396)", []opt{withText(60, pxe+pxe)}, protocol.ClassPXEClient},
		{"class in the middle of another word", []opt{withText(60, "XPXEClient")}, protocol.ClassNone},
		{"iPXE user class without length (iPXE dhcp.c)", []opt{withText(60, pxe), withText(77, "iPXE")}, protocol.ClassIPXE},
		{"iPXE user class in RFC 3004 form", []opt{withText(60, pxe), withText(77, "\x04iPXE")}, protocol.ClassIPXE},
		{"iPXE second in RFC 3004 form", []opt{withText(60, pxe), withText(77, "\x03foo\x04iPXE")}, protocol.ClassIPXE},
		{"FlexBoot: option 175 only (warewulf3 104)", []opt{withText(60, pxe), with(175, 0xb0, 1, 1)}, protocol.ClassIPXE},
		{"another user class", []opt{withText(60, pxe), withText(77, "\x03foo")}, protocol.ClassPXEClient},
		{"user class with a length beyond its end", []opt{withText(60, http), withText(77, "\x09iPXE")}, protocol.ClassHTTPClient},
		{"user class with length zero", []opt{with(77, 0, 0, 0)}, protocol.ClassNone},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := Classify(client(dhcpv4.MessageTypeDiscover, mac1, row.opts...)); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestMachineUUID(t *testing.T) {
	for _, row := range []struct {
		name, value, want string
	}{
		{"wire order is kept", "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10", "01020304-0506-0708-090a-0b0c0d0e0f10"},
		{"all zero: QEMU without -uuid (OVMF capture)", strings.Repeat("\x00", 17), ""},
		{"all ones: boards without SMBIOS data", "\x00" + strings.Repeat("\xff", 16), ""},
		{"another type", "\x01" + strings.Repeat("\x01", 16), ""},
		{"too short", "\x00\x01", ""},
		{"absent", "", ""},
	} {
		if got := machineUUID(client(dhcpv4.MessageTypeDiscover, mac1, withText(97, row.value))); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestArchs(t *testing.T) {
	for _, row := range []struct {
		name  string
		value []byte
		want  []uint16
	}{
		{"one", []byte{0, 16}, []uint16{16}},
		{"a list (RFC 4578 section 2.1)", []byte{0, 7, 0, 9}, []uint16{7, 9}},
		{"an odd length", []byte{0, 7, 0}, []uint16{7}},
		{"absent", nil, nil},
	} {
		if got := archs(client(dhcpv4.MessageTypeDiscover, mac1, with(93, row.value...))); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
}
