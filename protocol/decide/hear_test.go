package decide

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

func TestHearTable(t *testing.T) {
	yes := doctable.YesNo()
	doctable.Of(t, "hear.go", "hearRule").HoldOne(t, [][]string{yes, yes, yes}, func(in []string) string {
		if hearRule(in[0] == "yes", in[1] == "yes", in[2] == "yes") {
			return "yes"
		}
		return "no"
	})
}

// Every number of option 93 says amd64 or arm64, or nothing; and only of the machine with the server's
// address and UUID.
func TestHears(t *testing.T) {
	const mac, uuid, swapped, other = "52:54:00:00:00:01", "4c4c4544-0042-4a10-8053-b4c04f563333", "44454c4c-4200-104a-8053-b4c04f563333", "4c4c4544-0000-2010-8020-b4c04f4d3132"
	client := func(class protocol.ClientClass, uuid string, archs ...uint16) protocol.BootClient {
		return protocol.BootClient{MAC: mac, Class: class, UUID: uuid, Archs: archs}
	}
	says := map[uint16]string{7: "amd64", 9: "amd64", 16: "amd64", 17: "amd64", 11: "arm64", 19: "arm64"} // facts netboot 1.6
	for n := range uint16(300) {
		for _, class := range []protocol.ClientClass{protocol.ClassPXEClient, protocol.ClassHTTPClient} {
			if got := Hears(true, System{}, client(class, "", n)); got != says[n] {
				t.Errorf("%s with %d says %q, want %q", class, n, got, says[n])
			}
		}
	}
	for _, row := range []struct {
		what  string
		own   bool
		known System
		of    protocol.BootClient
		want  string
	}{
		{"the server's UUID", true, System{UUIDs: []string{uuid}}, client(protocol.ClassPXEClient, uuid, 11), "arm64"},
		{"in its other byte order", true, System{UUIDs: []string{uuid}}, client(protocol.ClassPXEClient, swapped, 11), "arm64"},
		{"without one, as U-Boot and some NICs send", true, System{UUIDs: []string{uuid}}, client(protocol.ClassPXEClient, "", 11), "arm64"},
		{"another UUID", true, System{UUIDs: []string{uuid}}, client(protocol.ClassPXEClient, other, 11), ""},
		{"a UUID where none is known", true, System{}, client(protocol.ClassPXEClient, other, 11), "arm64"},
		{"no address of the server's", false, System{UUIDs: []string{uuid}}, client(protocol.ClassPXEClient, uuid, 11), ""},
		{"against what is known", true, System{Architecture: "amd64"}, client(protocol.ClassPXEClient, "", 11), "arm64"},
		{"another port of the relay", true, System{Port: "sw1/7"}, protocol.BootClient{MAC: mac, Class: protocol.ClassPXEClient, Port: "sw1/9", Archs: []uint16{11}}, ""},
		{"no type at all", true, System{}, client(protocol.ClassPXEClient, ""), ""},
	} {
		if got := Hears(row.own, row.known, row.of); got != row.want {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
	}
}
