package control

import (
	"crypto/ed25519"
	"slices"
	"testing"
	"time"

	"rackboot/hub/link"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/agentpackage"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// An agent with an open order gets the manifest in its document and may fetch the programs that it names; another agent, and
// one without an order, may not. When the order has ended, the next document names them no more.
func TestMayFetchProgram(t *testing.T) {
	b := newBench(t, &movingTag{})
	second := &resource.Rack{}
	second.Metadata.Name = "r2"
	second.Default()
	b.apply(append(storetest.Site(), second)...)
	one, two := b.join("r1"), b.join("r2")
	signed, err := agentpackage.Sign(agentpackage.Manifest{
		Version: "0.2.0", Protocol: protocol.Version, MadeAt: time.Now().UTC(), Binaries: []agentpackage.Binary{{Architecture: "amd64", SHA256: isoDigest("a"), Size: 7}},
	}, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	pack := store.AgentPackage{Digest: wire.Digest(signed), Manifest: signed}
	if err := b.store.AgentPackages.Put(t.Context(), &pack); err != nil {
		t.Fatal(err)
	}
	order := func(change func(*resource.Agent)) {
		t.Helper()
		a, err := store.Get[*resource.Agent](b.store.Objects, one)
		if err != nil {
			t.Fatal(err)
		}
		change(a)
		if err := b.store.Objects.Put(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		b.pass()
	}
	may := func(what, agent string, want bool) {
		t.Helper()
		if err := b.control.Env.MayFetchISO(agent, isoDigest("a")); (err == nil) != want || err != nil && protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("%s: %v", what, err)
		}
	}
	b.pass()
	for _, agent := range []string{one, two} {
		m := b.modern(agent)
		m.caps = append(m.caps, message.CapUpgrade)
		m.connects()
	}
	may("no order", one, false)
	order(func(a *resource.Agent) {
		a.Status.Order = &resource.AgentOrder{ID: "up1", Kind: resource.AgentOrderUpgrade, Package: pack.Digest, At: b.now, NotAfter: b.now.Add(time.Hour)}
	})
	may("ordered", one, true)
	may("another agent", two, false)
	may("nobody", "", false)
	var doc message.RackDoc
	l, err := b.store.Ledgers.Get(one)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.control.Link.Open(message.TopicDown(one, link.RackLeaf(0)), l.Sent[link.RackLeaf(0)].Body, &doc); err != nil {
		t.Fatal(err)
	}
	if u := doc.Rack.Upgrade; u == nil || u.Order != "up1" || !slices.Equal(u.Manifest, signed) {
		t.Errorf("the document has %+v", u)
	}
	order(func(a *resource.Agent) {
		at := b.now
		a.Status.Order.EndedAt = &at
	})
	may("its order has ended", one, false)
}
