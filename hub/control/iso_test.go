package control

import (
	"slices"
	"strings"
	"testing"

	"rackboot/hub/events"
	"rackboot/hub/link"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func isoDigest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

// names puts a document into an agent's ledger, as it is sent, whose server boots an
// environment with a file.
func (b *bench) names(agent, digest string) {
	b.t.Helper()
	doc := &message.RackDoc{Servers: []message.ServerIntent{{Server: "n1", Boot: &message.BootIntent{
		Env: &message.EnvIntent{Name: "debian-12", ISOs: []resource.EnvISO{{File: "A.iso", Digest: digest, Size: 1}}},
	}}, {Server: "n2"}}}
	body, err := wire.Seal(b.hub, message.TopicDown(agent, link.RackLeaf(0)), doc)
	if err != nil {
		b.t.Fatal(err)
	}
	l, err := b.store.Ledgers.Get(agent)
	if err != nil {
		b.t.Fatal(err)
	}
	l.Sent[link.RackLeaf(0)] = store.SentDoc{Body: body, Sealed: wire.Digest(body)}
	if err := b.store.Ledgers.Put(b.t.Context(), &l); err != nil {
		b.t.Fatal(err)
	}
}

// An agent may fetch what a document names that it was sent: not what another rack's
// names, not what its earlier one named, and nothing once its term is over.
func TestMayFetchISO(t *testing.T) {
	b := newBench(t, &movingTag{})
	second := &resource.Rack{}
	second.Metadata.Name = "r2"
	second.Default()
	b.apply(append(storetest.Site(), second)...)
	one, two := b.join("r1"), b.join("r2")
	b.names(one, isoDigest("a"))
	b.names(two, isoDigest("b"))
	may := func(what, agent, digest string, want bool) {
		t.Helper()
		err := b.control.Env.MayFetchISO(agent, digest)
		if (err == nil) != want || err != nil && (protocol.CodeOf(err) != protocol.CodeDenied || protocol.HintOf(err) == "") {
			t.Errorf("%s: %v", what, err)
		}
	}
	may("its own", one, isoDigest("a"), true)
	may("the other rack's", one, isoDigest("b"), false)
	may("the other rack's agent", two, isoDigest("a"), false)
	may("nobody's", "", isoDigest("a"), false)
	may("an agent that does not exist", "r1-9", isoDigest("a"), false)
	may("no digest", one, "", false)
	b.names(one, isoDigest("c"))
	may("of an earlier document", one, isoDigest("a"), false)
	may("of the new one", one, isoDigest("c"), true)
	b.restart()
	may("after a restart of the hub", one, isoDigest("c"), true)
	needed, err := b.control.Env.ISODigests()
	if err != nil || len(needed) != 2 || !needed[isoDigest("b")] || !needed[isoDigest("c")] {
		t.Errorf("%v, %v", needed, err)
	}
	if _, err := b.control.Members.ReplaceAgent(t.Context(), "r1", api.EndRequest{Reason: "broken"}, "ann"); err != nil {
		t.Fatal(err)
	}
	may("its term is over", one, isoDigest("c"), false)

	l, err := b.store.Ledgers.Get(two)
	if err != nil {
		t.Fatal(err)
	}
	l.Sent[link.RackLeaf(0)] = store.SentDoc{Body: []byte("x"), Sealed: wire.Digest([]byte("x"))}
	if err := b.store.Ledgers.Put(t.Context(), &l); err != nil {
		t.Fatal(err)
	}
	if needed, err := b.control.Env.ISODigests(); err == nil {
		t.Errorf("a document cannot be read, and this is needed: %v", needed)
	}
}

// What is in the book is what environments are compiled from, and what becomes of it is an
// event.
func TestFleetISOs(t *testing.T) {
	b := newBench(t, &movingTag{})
	row := store.ISO{ISOFile: resource.ISOFile{File: "A.iso", Digest: isoDigest("a"), Size: 7}}
	if err := b.store.ISOs.Put(t.Context(), &row); err != nil {
		t.Fatal(err)
	}
	want := resource.EnvISO{File: "A.iso", Digest: isoDigest("a"), Size: 7}
	if got := b.control.view.Rack("r1").Env.ISOs; len(got) != 1 || got["A.iso"] != want {
		t.Errorf("%+v", got)
	}
	b.control.Env.ISOEvent(t.Context(), "A.iso was uploaded")
	if !slices.ContainsFunc(b.control.Events.After(0, 100), func(e api.EventRecord) bool { return e.Code == resource.EventUploadedFile && e.Agent == events.HubName }) {
		t.Error("no event")
	}
}
