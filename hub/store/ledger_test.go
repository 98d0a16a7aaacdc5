package store

import (
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/state"
)

// A ledger is decoded once for each revision, and what a caller does to its copy
// changes nobody else's.
func TestLedgerCopies(t *testing.T) {
	s := open(t, storetest.NewMemory())
	l, err := s.Ledgers.Get("a-1")
	if err != nil || l.Revision != 0 || l.Sent == nil || l.Acked == nil {
		t.Fatalf("a new ledger is %+v, %v", l, err)
	}
	l.Sent["hold"] = SentDoc{Head: protocol.Head{Epoch: 1, Version: 1}, Body: []byte("b"), Fence: 3, Sealed: "sha256:x"}
	l.Peer = Peer{Incarnation: "i", Protocol: 2, Version: "v", Capabilities: message.Capabilities()}
	if err := s.Ledgers.Put(t.Context(), &l); err != nil {
		t.Fatal(err)
	}
	one, err := s.Ledgers.Peek("a-1")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := s.Ledgers.Peek("a-1"); again != one {
		t.Error("decoded twice")
	}
	if got := one.Sent["hold"]; got.Fence != 3 || got.Sealed != "sha256:x" || one.Peer.Incarnation != "i" || one.Revision != l.Revision {
		t.Errorf("read back as %+v", one)
	}
	mine, err := s.Ledgers.Get("a-1")
	if err != nil {
		t.Fatal(err)
	}
	mine.Acked["hold"] = protocol.Head{Epoch: 1, Version: 1}
	delete(mine.Sent, "hold")
	if again, _ := s.Ledgers.Peek("a-1"); len(again.Acked) != 0 || len(again.Sent) != 1 {
		t.Errorf("a caller's change is everybody's: %+v", again)
	}
	if err := s.Ledgers.Put(t.Context(), &mine); err != nil {
		t.Fatal(err)
	}
	if again, _ := s.Ledgers.Peek("a-1"); len(again.Acked) != 1 || again.Revision != mine.Revision {
		t.Errorf("an old decoding was kept: %+v", again)
	}
	// Somebody else's write, which comes by the watch.
	s.core.mirror.applyWatched(s.core.readLogged(state.Entry{Key: "ledger.a-1", Value: []byte(`{"agent":"a-1","version":9}`), Revision: mine.Revision + 5}))
	if again, _ := s.Ledgers.Peek("a-1"); again.Version != 9 || again.Sent == nil {
		t.Errorf("the watch's ledger is not read: %+v", again)
	}
	s.core.mirror.applyWatched(s.core.readLogged(state.Entry{Key: "ledger.a-2", Value: []byte(`{`), Revision: mine.Revision + 6}))
	if _, err := s.Ledgers.Get("a-2"); protocol.CodeOf(err) != protocol.CodeInternal {
		t.Errorf("one that cannot be read: %v", err)
	}
}

// An agent can do what it announced, and nothing else.
func TestPeerCan(t *testing.T) {
	if (Peer{}).Can(message.CapRequestReboot) {
		t.Error("an agent that was never greeted can reboot")
	}
	p := Peer{Capabilities: []message.Capability{message.CapAsk}}
	if !p.Can(message.CapAsk) || p.Can(message.CapRequestReboot) {
		t.Errorf("%+v", p)
	}
}
