package control

import (
	"crypto/ed25519"
	"testing"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// With another key the hub signs again what agents may still use: the grant of a
// configuration, and that of what its server may return to.
func TestRegrant(t *testing.T) {
	network := func(g *resource.ServerGroup) {
		g.Spec.BootPolicy.Boot, g.Spec.Rollout.FallbackAfter = resource.BootNetwork, 2
	}
	b, _, agent := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers(network))
	c1 := fromWorkers("c1", "n1")
	c1.Spec.BootPolicy.Boot = resource.BootNetwork
	b.apply(c1)
	b.pass()
	b.proves(agent, "c1")
	b.apply(entryOf("2.0"))
	b.pass()
	was := b.configOf("c1")
	if was.Spec.Former == nil || was.Spec.Former.Generation != 1 {
		t.Fatalf("%+v", was.Spec.Former)
	}
	b.past = []ed25519.PublicKey{b.hub.Public()}
	b.hub = wire.NewSigner(key("another"))
	b.restart()
	b.pass()
	now := b.configOf("c1")
	v := wire.NewVerifier(b.hub.Public())
	for generation, raw := range map[uint64][2][]byte{1: {was.Spec.Former.Grant, now.Spec.Former.Grant}, 2: {was.Spec.Grant, now.Spec.Grant}} {
		var before, after message.Grant
		if err := wire.Open(wire.NewVerifier(b.past...), wire.FactGrant, raw[0], &before); err != nil {
			t.Fatal(err)
		}
		if err := wire.Open(v, wire.FactGrant, raw[1], &after); err != nil || after != before || after.Generation != generation {
			t.Errorf("generation %d: %+v, %v", generation, after, err)
		}
	}
}
