package netboot

import (
	"net/netip"
	"testing"

	"rackboot/protocol"
)

const (
	uuidWire    = "01020304-0506-0708-090a-0b0c0d0e0f10"
	uuidSwapped = "04030201-0605-0807-090a-0b0c0d0e0f10"
)

// TestReservationOf: identity by MAC first, the UUID in both byte orders.
func TestReservationOf(t *testing.T) {
	rs, err := NewReservations([]Reservation{
		{Address: netip.MustParseAddr("10.99.0.10"), MAC: "52-54-00-00-00-0A"},
		{Address: netip.MustParseAddr("10.99.0.11"), UUID: "01020304-0506-0708-090A-0B0C0D0E0F10"},
		{Address: netip.MustParseAddr("10.99.0.12"), Port: "sw1/p7"},
		{Address: netip.MustParseAddr("10.99.0.13"), MAC: "52:54:00:00:00:0d", UUID: "11111111-0000-0000-0000-000000000000", Port: "sw1/p8"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		client protocol.BootClient
		want   string
	}{
		{"by MAC", protocol.BootClient{MAC: "52:54:00:00:00:0a"}, "10.99.0.10"},
		{"by UUID", protocol.BootClient{MAC: "x", UUID: uuidWire}, "10.99.0.11"},
		{"by UUID in the other byte order", protocol.BootClient{MAC: "x", UUID: uuidSwapped}, "10.99.0.11"},
		{"by port", protocol.BootClient{MAC: "x", Port: "sw1/p7"}, "10.99.0.12"},
		{"the MAC before UUID and port", protocol.BootClient{MAC: "52:54:00:00:00:0a", UUID: uuidWire, Port: "sw1/p7"}, "10.99.0.10"},
		{"the UUID before the port", protocol.BootClient{MAC: "x", UUID: uuidWire, Port: "sw1/p7"}, "10.99.0.11"},
		{"another interface of a machine whose interface is named", protocol.BootClient{MAC: "x", UUID: "11111111-0000-0000-0000-000000000000"}, ""},
		{"another machine at the port of one that is named", protocol.BootClient{MAC: "x", Port: "sw1/p8"}, ""},
		{"nobody", protocol.BootClient{MAC: "x"}, ""},
	} {
		r, ok := rs.Of(row.client)
		if ok != (row.want != "") || ok && r.Address.String() != row.want {
			t.Errorf("%s: %+v, %v", row.name, r, ok)
		}
	}
	if r, ok := rs.At(netip.MustParseAddr("10.99.0.12")); !ok || r.Port != "sw1/p7" {
		t.Errorf("At: %+v", r)
	}
	var none *Reservations
	if _, ok := none.Of(protocol.BootClient{}); ok {
		t.Error("nil has a reservation")
	}
	if _, ok := none.At(netip.Addr{}); ok {
		t.Error("nil has a reserved address")
	}
}

func TestNewReservationsRefuses(t *testing.T) {
	a, b := netip.MustParseAddr("10.99.0.10"), netip.MustParseAddr("10.99.0.11")
	const mac = "52:54:00:00:00:0a"
	for name, list := range map[string][]Reservation{
		"IPv6":               {{Address: netip.MustParseAddr("fe80::1"), MAC: mac}},
		"no machine":         {{Address: a}},
		"an address twice":   {{Address: a, MAC: mac}, {Address: a, Port: "p"}},
		"a MAC twice":        {{Address: a, MAC: mac}, {Address: b, MAC: "52-54-00-00-00-0a"}},
		"a malformed MAC":    {{Address: a, MAC: "52:54"}},
		"an 8-byte MAC":      {{Address: a, MAC: "00:00:00:00:00:00:00:01"}},
		"a UUID twice":       {{Address: a, UUID: uuidWire}, {Address: b, UUID: uuidSwapped}},
		"the zero UUID":      {{Address: a, UUID: "00000000-0000-0000-0000-000000000000"}},
		"the all-ones UUID":  {{Address: a, UUID: "ffffffff-ffff-ffff-ffff-ffffffffffff"}},
		"a UUID without '-'": {{Address: a, UUID: "0102030405060708090a0b0c0d0e0f100000"}},
		"a short UUID":       {{Address: a, UUID: "0102"}},
		"a port twice":       {{Address: a, Port: "p"}, {Address: b, Port: "p"}},
	} {
		if _, err := NewReservations(list); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
