package dhcp6

import (
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv6"
)

// TestIdentify: who a message is from. The rows follow facts on firmware and RFC 8415
// section 11.
func TestIdentify(t *testing.T) {
	const u, swapped = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10", "\x04\x03\x02\x01\x06\x05\x08\x07\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"
	const uuid, other = "01020304-0506-0708-090a-0b0c0d0e0f10", "04030201-0605-0807-090a-0b0c0d0e0f10"
	link := func(v string) dhcpv6.Options {
		return dhcpv6.Options{raw(dhcpv6.OptionClientLinkLayerAddr, []byte(v))}
	}
	const m6, ll = "\x52\x54\x00\x12\x34\x56", "fe80::5054:ff:fe12:3456"
	for _, row := range []struct {
		name   string
		duid   string
		near   dhcpv6.Options
		source string
		want   who
		key    string
	}{
		{"option 79 before all (RFC 6939)", "\x00\x03\x00\x01\x52\x54\x00\x00\x00\x09", link("\x00\x01" + m6), ll, who{mac: mac1}, mac1},
		{"DUID-LL", "\x00\x03\x00\x01" + m6, nil, "fe80::1", who{mac: mac1}, mac1},
		{"DUID-LLT", "\x00\x01\x00\x01\x00\x00\x00\x09" + m6, nil, "fe80::1", who{mac: mac1}, mac1},
		{"DUID-LL before the link-local address", "\x00\x03\x00\x01" + m6, nil, "fe80::5054:ff:fe00:9", who{mac: mac1}, mac1},
		{"EDK2: DUID-UUID, address made of the MAC", "\x00\x04" + u, nil, ll, who{mac1, uuid}, mac1},
		{"DUID-UUID through a relay with option 79", "\x00\x04" + u, link("\x00\x01" + m6), "fe80::1", who{mac1, uuid}, mac1},
		{"DUID-UUID alone", "\x00\x04" + u, nil, "fe80::1", who{uuid: uuid}, "uuid:" + uuid},
		{"the same in the other byte order", "\x00\x04" + swapped, nil, "fe80::1", who{uuid: other}, "uuid:" + uuid},
		{"a zero UUID is nobody's", "\x00\x04" + string(make([]byte, 16)), nil, "fe80::1", who{}, ""},
		{"a short UUID", "\x00\x04" + u[:15], nil, "fe80::1", who{}, ""},
		{"DUID-EN says nothing", "\x00\x02\x00\x00\xab\x11" + m6, nil, "fe80::1", who{}, ""},
		{"DUID-LL of Infiniband", "\x00\x03\x00\x20" + m6, nil, "fe80::1", who{}, ""},
		{"DUID-LL of eight bytes", "\x00\x03\x00\x01" + m6 + "\x01\x02", nil, "fe80::1", who{}, ""},
		{"a group address", "\x00\x03\x00\x01\x53\x54\x00\x12\x34\x56", nil, "fe80::1", who{}, ""},
		{"a zero address", "\x00\x03\x00\x01\x00\x00\x00\x00\x00\x00", nil, "fe80::1", who{}, ""},
		{"cut off", "\x00\x01\x00\x01\x00", nil, "fe80::1", who{}, ""},
		{"option 79 of another hardware type", "", link("\x00\x20" + m6), "fe80::1", who{}, ""},
		{"option 79 cut off", "", link("\x00"), "fe80::1", who{}, ""},
		{"not link-local", "", nil, "2001:db8::5054:ff:fe12:3456", who{}, ""},
		{"nothing", "", nil, "fe80::1", who{}, ""},
	} {
		w := identify([]byte(row.duid), row.near, addr(row.source))
		if w != row.want || w.key() != row.key {
			t.Errorf("%s: %+v %s", row.name, w, w.key())
		}
	}
}

// TestOneAddress: firmware, iPXE and system have different DUIDs and IAIDs and one
// address (fact 1.3; quirk 25: two IAIDs in one boot).
func TestOneAddress(t *testing.T) {
	w := newWorld(t, lease1())
	uuid := with(dhcpv6.OptionClientID, append([]byte{0, duidUUID}, []byte("0123456789abcdef")...)...)
	first := w.bind(t, mac1)
	if again := leased(w.ask(t, client(dhcpv6.MessageTypeSolicit, mac1, ia(77), xid(7)))); again != first {
		t.Errorf("another IAID: %s, was %s", again, first)
	}
	from := func(source string) string {
		to := peer()
		out, _ := w.respond(t.Context(), client(dhcpv6.MessageTypeSolicit, mac1, without(dhcpv6.OptionClientID), uuid, ia(9)).bytes(), netipPort(source, to.Port()), true)
		m, err := dhcpv6.MessageFromBytes(out)
		if err != nil {
			t.Fatal(err)
		}
		return leased(m)
	}
	if got := from("fe80::5054:ff:fe12:3456"); got != first {
		t.Errorf("another DUID: %s, was %s", got, first)
	}
	if got := from("fe80::1"); got == first {
		t.Error("another machine has its address")
	}
	if n := len(w.leases.leases); n != 1 {
		t.Errorf("%d leases on disk", n)
	}
	m := w.ask(t, client(dhcpv6.MessageTypeSolicit, mac2, ia(1), ia(2), xid(8), with(dhcpv6.OptionIATA, 0, 0, 0, 3), with(dhcpv6.OptionIAPD, make([]byte, 12)...)))
	ias := m.Options.IANA()
	if len(ias) != 2 || len(ias[0].Options.Addresses()) != 1 || ias[0].Options.Status().StatusCode != 0 || len(ias[1].Options.Addresses()) != 0 || ias[1].Options.Status().StatusCode != 2 {
		t.Errorf("two IAs: %v", ias)
	}
	if m.GetOneOption(dhcpv6.OptionIATA) == nil || m.GetOneOption(dhcpv6.OptionIAPD) == nil {
		t.Errorf("IA_TA and IA_PD without a status: %s", m.Summary())
	}
}
