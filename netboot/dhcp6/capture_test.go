package dhcp6

import (
	"encoding/hex"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/protocol"
)

// What OVMF 2022.11 sent on a link whose router advertisements have the flag M: HTTP
// boot, and half a second later the IPv6 driver below it, with the same DUID and an
// IAID of its own.
const (
	ovmfHTTP = "01b325ff0001000e0001000131d979c3525400123456000800020000" + "0003000c376b4aaeffffffffffffffff" +
		"00060008003b003c00170010" + "003e0003010300" + "003d00020010" +
		"00100027000001570021" + "48545450436c69656e743a417263683a30303031363a554e44493a303033303030"
	ovmfDriver = "01b425ff0001000e0001000131d979c3525400123456000800020000" + "0003000cb7ac7e7effffffffffffffff" + "000600020017"
)

// TestOVMF replays them, and reads the ADVERTISE for HTTP boot as HttpBootDhcp6.c does.
func TestOVMF(t *testing.T) {
	w := newWorld(t, boot1())
	ask := func(text string) ([]byte, *dhcpv6.Message) {
		t.Helper()
		in, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := w.respond(t.Context(), in, peer(), true)
		m, err := dhcpv6.MessageFromBytes(out)
		if err != nil || m.MessageType != dhcpv6.MessageTypeAdvertise {
			t.Fatalf("%x: %v", out, err)
		}
		return out, m
	}
	_, m := ask(ovmfHTTP)
	c := w.resolver.clients[0]
	if c.MAC != mac1 || c.Class != protocol.ClassHTTPClient || len(c.Archs) != 1 || c.Archs[0] != 16 {
		t.Errorf("the agent is asked of %+v", c)
	}
	var order []dhcpv6.OptionCode
	for _, o := range m.Options.Options {
		order = append(order, o.Code())
	}
	// 59 is not bounded by its length, so that one of a code below 256 follows it; 16
	// has the word at its seventh byte, 23 is preferred, 60 is read as a size.
	want := []dhcpv6.OptionCode{
		dhcpv6.OptionClientID, dhcpv6.OptionServerID, dhcpv6.OptionPreference, dhcpv6.OptionIANA,
		dhcpv6.OptionBootfileURL, dhcpv6.OptionVendorClass, dhcpv6.OptionDNSRecursiveNameServer,
	}
	if len(order) != len(want) {
		t.Fatalf("options %v", order)
	}
	for i := range want {
		if order[i] != want[i] {
			t.Errorf("option %d is %s, want %s", i, order[i], want[i])
		}
	}
	class := m.Options.GetOne(dhcpv6.OptionVendorClass).ToBytes()
	if len(class) < 16 || string(class[6:16]) != "HTTPClient" || string(class[:4]) != "\x00\x00\x01\x57" {
		t.Errorf("option 16 is %x", class)
	}
	if u := m.Options.BootFileURL(); u != "http://[2001:db8::1]/b/tok/uki.efi" {
		t.Errorf("option 59 is %q", u)
	}
	if st := m.Options.OneIANA().Options.Status(); st == nil || st.StatusCode != 0 {
		t.Errorf("the IA has status %v", st)
	}

	_, driver := ask(ovmfDriver)
	if leased(driver) != leased(m) || driver.Options.BootFileURL() != "" || driver.Options.OneIANA().IaId != [4]byte{0xb7, 0xac, 0x7e, 0x7e} {
		t.Errorf("the driver gets %s", driver.Summary())
	}
}
