package boot

import (
	"testing"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
)

// Where nobody knows a server's architecture, its firmware's own word counts, over documents that come
// later; and nothing else does: no BIOS, no other machine, and not against what somebody knows. What it
// said last is told in any case.
func TestHeardArchitecture(t *testing.T) {
	const mac, uefiARM, uefiX64, bios = "52:54:00:00:00:01", 11, 7, 0
	const uuid, other = "4c4c4544-0042-4a10-8053-b4c04f563333", "4c4c4544-0000-2010-8020-b4c04f4d3132"
	overview := func(arch string) store.Overview {
		return store.Overview{Synced: true, Intents: []store.Intent{{ServerIntent: message.ServerIntent{Server: "n1", BootMAC: mac, UUID: uuid, Architecture: arch}}}}
	}
	asks := func(mac string, arch uint16) protocol.BootClient {
		return protocol.BootClient{MAC: mac, Class: protocol.ClassPXEClient, Archs: []uint16{arch}}
	}
	x := NewIndex()
	is := func() string { return x.servers["n1"].cpu() }
	x.rebuild(overview(""))
	for _, c := range []protocol.BootClient{
		asks("52:54:00:00:00:02", uefiARM), asks(mac, bios),
		{MAC: mac, Class: protocol.ClassNone},
		{MAC: mac, UUID: other, Class: protocol.ClassPXEClient, Archs: []uint16{uefiARM}},                // a neighbour with the address
		{MAC: "52:54:00:00:00:02", UUID: uuid, Class: protocol.ClassPXEClient, Archs: []uint16{uefiARM}}, // and one with the UUID
	} {
		if x.Resolve(c); is() != "" {
			t.Fatalf("%+v makes it %q", c, is())
		}
	}
	x.Resolve(asks(mac, uefiARM))
	x.rebuild(overview(""))
	if is() != "arm64" {
		t.Errorf("it is %q", is())
	}
	x.rebuild(overview("amd64"))
	if x.Resolve(asks(mac, uefiARM)); is() != "amd64" {
		t.Errorf("against what is known: %q", is())
	}
	if got := x.heardOf("n1"); got != "arm64" {
		t.Errorf("%q was heard", got)
	}
	x.Resolve(asks(mac, uefiX64))
	x.rebuild(overview(""))
	if is() != "amd64" || x.heardOf("n1") != "amd64" {
		t.Errorf("then it is %q", is())
	}
	if got := x.heardOf("n2"); got != "" {
		t.Errorf("of a server that there is not: %q", got)
	}
}
