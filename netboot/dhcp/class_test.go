package dhcp

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/internal/doctable"
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
		{"arch 24 and HTTPClient: option 60 wins", []opt{withText(60, http), with(93, 0, 24)}, protocol.ClassHTTPClient},
		{"an unknown architecture before a known one", []opt{withText(60, pxe), with(93, 3, 0xe7, 0, 22)}, protocol.ClassUBoot},
		{"an odd length of option 93 (insomniacslk gives nil)", []opt{withText(60, pxe), with(93, 0, 41, 0)}, protocol.ClassRaspberryPi},
		{"option 60 twice is concatenated (RFC 3396)", []opt{withText(60, pxe+pxe)}, protocol.ClassPXEClient},
		{"class in the middle of another word", []opt{withText(60, "XPXEClient")}, protocol.ClassNone},
		{"iPXE user class without length (iPXE dhcp.c)", []opt{withText(60, pxe), withText(77, "iPXE")}, protocol.ClassIPXE},
		{"iPXE user class in RFC 3004 form", []opt{withText(60, pxe), withText(77, "\x04iPXE")}, protocol.ClassIPXE},
		{"iPXE user class with a NUL", []opt{withText(60, pxe), withText(77, "iPXE\x00")}, protocol.ClassIPXE},
		{"a raw value that reads as a list too: first byte is the length less one", []opt{withText(60, pxe), withText(77, "\x05iPXE!")}, protocol.ClassPXEClient},
		{"gPXE", []opt{withText(60, pxe), withText(77, "gPXE")}, protocol.ClassIPXE},
		{"iPXE started by HTTP boot", []opt{withText(60, http), withText(77, "iPXE")}, protocol.ClassIPXE},
		{"GRUB, raw (coreos grub bootp.c)", []opt{withText(77, "GRUB2")}, protocol.ClassGRUB},
		{"GRUB in RFC 3004 form", []opt{withText(60, http), withText(77, "\x05GRUB2")}, protocol.ClassGRUB},
		{"U-Boot by option 60", []opt{withText(60, "U-Boot.armv8")}, protocol.ClassUBoot},
		{"U-Boot by architecture (section 1.5)", []opt{withText(60, "PXEClient:Arch:00022:UNDI:003000"), with(93, 0, 22)}, protocol.ClassUBoot},
		{"U-Boot without option 60", []opt{with(93, 0, 21)}, protocol.ClassUBoot},
		{"Raspberry Pi 4: arch 0 and its maker's prefix", []opt{from("dc:a6:32:01:02:03"), withText(60, "PXEClient:Arch:00000:UNDI:002001"), with(93, 0, 0)}, protocol.ClassRaspberryPi},
		{"Raspberry Pi 5: arch 41", []opt{withText(60, "PXEClient:Arch:00041:UNDI:002001"), with(93, 0, 41)}, protocol.ClassRaspberryPi},
		{"Raspberry Pi by its text in option 43", []opt{withText(60, "PXEClient:Arch:00000:UNDI:002001"), with(93, 0, 0), withText(43, "\x09\x14\x00\x00\x11Raspberry Pi Boot")}, protocol.ClassRaspberryPi},
		{"an operating system on a Raspberry Pi", []opt{from("b8:27:eb:01:02:03")}, protocol.ClassNone},
		{"UEFI on a Raspberry Pi", []opt{from("b8:27:eb:01:02:03"), withText(60, "PXEClient:Arch:00011:UNDI:003000"), with(93, 0, 11)}, protocol.ClassPXEClient},
		{"a PC with arch 0", []opt{withText(60, "PXEClient:Arch:00000:UNDI:002001"), with(93, 0, 0)}, protocol.ClassPXEClient},
		{"iPXE second in RFC 3004 form", []opt{withText(60, pxe), withText(77, "\x03foo\x04iPXE")}, protocol.ClassIPXE},
		{"FlexBoot: option 175 only (warewulf3 104)", []opt{withText(60, pxe), with(175, 0xb0, 1, 1)}, protocol.ClassIPXE},
		{"another user class", []opt{withText(60, pxe), withText(77, "\x03foo")}, protocol.ClassPXEClient},
		{"user class with a length beyond its end", []opt{withText(60, http), withText(77, "\x09iPXE")}, protocol.ClassHTTPClient},
		{"user class with length zero", []opt{with(77, 0, 0, 0)}, protocol.ClassNone},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := classify(client(dhcpv4.MessageTypeDiscover, mac1, row.opts...)); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestClassTable(t *testing.T) {
	firmware := doctable.Words(protocol.FirmwareBIOS, protocol.FirmwareUEFI, protocol.FirmwareUBoot, protocol.FirmwareOpenFirmware,
		protocol.FirmwareEPAPR, protocol.FirmwareOPAL, protocol.FirmwareS390, protocol.FirmwareRaspberryPi, "")
	doctable.Of(t, "class.go", "classRule").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.Words(saidHTTP, saidPXE, saidUBoot, saidOther), firmware, doctable.YesNo()}, func(in []string) string {
		return string(classRule(in[0] == "yes", in[1] == "yes", said(in[2]), protocol.BootFirmware(in[3]), in[4] == "yes"))
	})
}

// FuzzUserClass: the raw form is always found, and no list runs past its end.
func FuzzUserClass(f *testing.F) {
	for _, s := range []string{"iPXE", "\x04iPXE", "\x03foo\x04iPXE", "\x09iPXE", "\x00", "\x05iPXE!", "GRUB2"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !hasUserClass(raw, userClassIPXE) {
			if string(raw) == userClassIPXE {
				t.Fatal("the raw form is not found")
			}
			return
		}
		if !bytes.Contains(raw, []byte(userClassIPXE)) {
			t.Fatalf("found in %q", raw)
		}
	})
}

func TestPortName(t *testing.T) {
	for _, row := range []struct {
		relay []byte
		want  string
	}{
		{nil, ""},
		{[]byte{1, 2, 'p', '7'}, "p7"},
		{[]byte{2, 3, 's', 'w', '1'}, "sw1"},
		{[]byte{1, 2, 'p', '7', 2, 3, 's', 'w', '1'}, "sw1/p7"},
		{[]byte{1, 2, 0, 7, 2, 3, 's', 'w', '1'}, "sw1/0x0007"},
	} {
		r, err := parse(client(dhcpv4.MessageTypeDiscover, mac1, giaddr("10.99.0.3"), with(82, row.relay...)).ToBytes(), testPeer)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.client("rack1", netip.Addr{}).Port; got != row.want {
			t.Errorf("%v: got %q, want %q", row.relay, got, row.want)
		}
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
		if got := archs(row.value); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
}
