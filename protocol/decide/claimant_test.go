package decide

import (
	"strings"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

func TestClaimTable(t *testing.T) {
	doctable.Of(t, "claimant.go", "claimRule").Hold(t,
		[][]string{doctable.YesNo(), doctable.Words(comparedNone, comparedSame, comparedAgrees, comparedUnknown, comparedDiffers, comparedLess), doctable.YesNo()},
		func(in []string) []string {
			return doctable.Words(claimRule(in[0] == "yes", compared(in[1]), in[2] == "yes"))
		})
}

const (
	realMAC, nextMAC = "52:54:00:00:00:01", "52:54:00:00:00:02"
	realUUID         = "4c4c4544-0051-3010-8052-b4c04f333333"
	swappedUUID      = "44454c4c-5100-1030-8052-b4c04f333333"
	otherUUID        = "11111111-2222-3333-4444-555555555555"
)

// TestClaim: each row is what one more machine sends while a boot is under way that the
// first machine has begun. The real server raises nothing in any stage of any chain, in
// either byte order of option 97; who sends something else is told from it.
func TestClaim(t *testing.T) {
	ovmf := protocol.BootClient{MAC: realMAC, UUID: realUUID, Class: protocol.ClassHTTPClient, Archs: []uint16{16}}
	with := func(c protocol.BootClient, change func(*protocol.BootClient)) protocol.BootClient {
		change(&c)
		return c
	}
	known := System{UUIDs: []string{realUUID}, Architecture: "amd64"}
	for _, row := range []struct {
		name  string
		known System
		first *protocol.BootClient
		later bool
		c     protocol.BootClient
		want  Claimed
	}{
		{"nobody came before", known, nil, false, ovmf, ClaimedFirst},
		{"the UUID in its other byte order", known, nil, false, with(ovmf, func(c *protocol.BootClient) { c.UUID = swappedUUID }), ClaimedFirst},
		{"no UUID, as OVMF without -uuid", known, nil, false, with(ovmf, func(c *protocol.BootClient) { c.UUID = "" }), ClaimedFirst},
		{"nothing is known of it", System{}, nil, false, with(ovmf, func(c *protocol.BootClient) { c.UUID = otherUUID }), ClaimedFirst},
		{"an option 97 of another machine", known, nil, false, with(ovmf, func(c *protocol.BootClient) { c.UUID = otherUUID }), ClaimedForeign},
		{"a processor of another family", known, nil, false, with(ovmf, func(c *protocol.BootClient) { c.Archs = []uint16{19} }), ClaimedForeign},
		{"another port of the relay than is known", System{Port: "sw1/7"}, nil, false, with(ovmf, func(c *protocol.BootClient) { c.Port = "sw1/9" }), ClaimedForeign},
		{"of another machine, after the real one", known, &ovmf, true, with(ovmf, func(c *protocol.BootClient) { c.UUID = otherUUID }), ClaimedForeign},

		{"again", known, &ovmf, false, ovmf, ClaimedSame},
		{"iPXE, which sends other types", known, &ovmf, true, with(ovmf, func(c *protocol.BootClient) { c.Class, c.Archs = protocol.ClassIPXE, []uint16{7} }), ClaimedSame},
		{"GRUB, which sends no UUID", known, &ovmf, true, with(ovmf, func(c *protocol.BootClient) { c.Class, c.UUID, c.Archs = protocol.ClassGRUB, "", nil }), ClaimedSame},
		{"the installer by another interface", known, &ovmf, true, protocol.BootClient{MAC: nextMAC, Class: protocol.ClassNone}, ClaimedSame},
		{"firmware by the next interface", known, &ovmf, false, with(ovmf, func(c *protocol.BootClient) { c.MAC = nextMAC }), ClaimedSame},

		{"another UUID, where none is known", System{}, &ovmf, false, with(ovmf, func(c *protocol.BootClient) { c.UUID = otherUUID }), ClaimedSecond},
		{"another UUID, after the boot file", System{}, &ovmf, true, with(ovmf, func(c *protocol.BootClient) { c.UUID = otherUUID }), ClaimedSecond},
		{"another port, where none is known", System{}, &ovmf, true, with(ovmf, func(c *protocol.BootClient) { c.Port = "sw1/9" }), ClaimedSame},
		{"firmware that sends no UUID now", known, &ovmf, false, with(ovmf, func(c *protocol.BootClient) { c.UUID = "" }), ClaimedSecond},
		{"firmware by an interface without a UUID", known, &ovmf, false, protocol.BootClient{MAC: nextMAC, Class: protocol.ClassHTTPClient, Archs: []uint16{16}}, ClaimedSecond},
	} {
		var pin *Claimant
		if row.first != nil {
			p := ClaimantOf(*row.first, time.Unix(1, 0))
			pin = &p
		}
		if got := Claim(row.known, pin, row.later, ClaimantOf(row.c, time.Unix(2, 0))); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	first := with(ovmf, func(c *protocol.BootClient) { c.Port = "sw1/7" })
	pin := ClaimantOf(first, time.Unix(1, 0))
	if got := Claim(System{}, &pin, true, ClaimantOf(with(first, func(c *protocol.BootClient) { c.Port = "sw1/9" }), time.Unix(2, 0))); got != ClaimedSecond {
		t.Errorf("two ports of the relay: %s", got)
	}
}

// TestClaimants: only the first of each kind is kept, and both are told of.
func TestClaimants(t *testing.T) {
	var cs Claimants
	one, two := Claimant{MAC: realMAC, UUID: realUUID, At: time.Unix(1, 0)}, Claimant{MAC: realMAC, UUID: otherUUID, At: time.Unix(2, 0)}
	if !cs.Note(ClaimedFirst, one) || cs.Note(ClaimedFirst, two) || cs.Note(ClaimedSame, two) || cs.words() != "" {
		t.Errorf("the pin is %v, disputed: %q", cs.Pin, cs.words())
	}
	if !cs.Note(ClaimedForeign, two) || !cs.Note(ClaimedSecond, two) || cs.Note(ClaimedSecond, one) {
		t.Error("a second one is not news, or news twice")
	}
	for _, want := range []string{realUUID, otherUUID, "too"} {
		if !strings.Contains(cs.words(), want) {
			t.Errorf("%q does not say %q", cs.words(), want)
		}
	}
}

// TestTellsMachine: UUIDs that name no machine are not compared with option 97.
func TestTellsMachine(t *testing.T) {
	for uuid, want := range map[string]bool{
		realUUID: true, "": false, "00000000-0000-0000-0000-000000000000": false, "ffffffff-ffff-ffff-ffff-ffffffffffff": false,
		"00000000-0000-0000-0000-3cecef000001": false, "00000000-0000-0000-0001-3cecef000001": true,
	} {
		if protocol.TellsMachine(uuid) != want {
			t.Errorf("%q: %v", uuid, !want)
		}
	}
}
