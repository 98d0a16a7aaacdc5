package store

import (
	"sync"
	"testing"

	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/state"
	"rackboot/state/heads"
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
	s.core.mirror.applyWatched(s.core.readLogged(state.Entry{Key: "ledger.a-2", Revision: mine.Revision + 7}))
	if _, err := s.Ledgers.Get("a-2"); protocol.CodeOf(err) != protocol.CodeInternal {
		t.Errorf("an empty one: %v", err)
	}
}

// Of a ledger that was read its stored form is in memory no more, and what checkpoints say of it stays.
func TestALedgerIsInMemoryOnce(t *testing.T) {
	mem := storetest.NewMemory()
	s := open(t, mem)
	l := Ledger{Agent: "a-1", Sent: map[string]SentDoc{"hold": {Body: []byte("b")}}}
	sums := func() heads.Sum { return s.core.mirror.tally.kinds[BesideLedger] }
	for version := range uint64(3) {
		l.Version = version
		if err := s.Ledgers.Put(t.Context(), &l); err != nil {
			t.Fatal(err)
		}
		before := sums()
		if before != open(t, mem).core.mirror.tally.kinds[BesideLedger] {
			t.Fatal("a start counts something else")
		}
		for range 2 {
			got, err := s.Ledgers.Peek("a-1")
			if err != nil || got.Version != version || string(got.Sent["hold"].Body) != "b" {
				t.Fatalf("%+v, %v", got, err)
			}
			e, there := s.core.mirror.get("ledger.a-1")
			if !there || e.Value != nil || e.Revision != l.Revision || !s.core.mirror.has("ledger.a-1", l.Revision) || s.core.mirror.list(BesideLedger)[0].Value != nil {
				t.Fatalf("the mirror has %+v", e)
			}
		}
		if sums() != before {
			t.Error("checkpoints say something else")
		}
	}
	s.core.mirror.bare("ledger.a-1", 1) // it is at another revision
	s.core.mirror.bare("ledger.none", 1)
	if s.core.mirror.bury("ledger.a-1", l.Revision); sums() != (heads.Sum{}) {
		t.Errorf("after its end %+v", sums())
	}
}

// Whoever reads while others write and read never finds less than was there.
func TestLedgersAreReadAtOnce(t *testing.T) {
	s := open(t, storetest.NewMemory())
	var all sync.WaitGroup
	ended := make(chan struct{})
	for range 3 {
		all.Go(func() {
			for last := uint64(0); ; {
				l, err := s.Ledgers.Peek("a-1")
				if err != nil || l.Version < last {
					t.Errorf("version %d came after %d, %v", l.Version, last, err)
					return
				}
				last = l.Version
				select {
				case <-ended:
					return
				default:
				}
			}
		})
	}
	l := Ledger{Agent: "a-1"}
	for l.Version = range uint64(500) {
		if err := s.Ledgers.Put(t.Context(), &l); err != nil {
			t.Error(err)
			break
		}
	}
	close(ended)
	all.Wait()
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
