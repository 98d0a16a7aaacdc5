package store

import (
	"errors"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// TestAdmit says which error each fence is.
func TestAdmit(t *testing.T) {
	have := message.Fence{Number: 5, Hub: "b"}
	for _, tt := range []struct {
		doc  message.Fence
		want error
	}{
		{message.Fence{}, ErrFenced},
		{have, nil},
		{message.Fence{Number: 4, Hub: "a"}, ErrFenced},
		{message.Fence{Number: 5, Hub: "a"}, ErrFenced},
		{message.Fence{Number: 6, Hub: "c"}, ErrAhead},
	} {
		if err := admit(decide.Arrives(tt.doc, have, mark{}, mark{}, false)); !errors.Is(err, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.doc, err, tt.want)
		}
	}
	if err := admit(decide.Arrives(have, message.Fence{}, mark{}, mark{}, false)); !errors.Is(err, ErrAhead) {
		t.Errorf("the first fence of all: %v", err)
	}
}

// TestFenceIsDurable: a hub that was taken over from is refused after a restart too,
// and its documents change nothing.
func TestFenceIsDurable(t *testing.T) {
	dir := t.TempDir()
	s, db := opened(t, dir)
	for _, f := range []message.Fence{{Number: 5, Hub: "b"}, {Number: 4, Hub: "a"}, {Number: 5, Hub: "c"}} {
		if err := s.Term.Follow(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = opened(t, dir)
	if f, err := s.Term.Fence(); err != nil || f != (message.Fence{Number: 5, Hub: "b"}) {
		t.Fatalf("%+v, %v", f, err)
	}
	doc := message.HoldDoc{
		Head: protocol.Head{Epoch: 1, Version: 9}, Fence: message.Fence{Number: 4, Hub: "a"},
		Holds: []resource.ActiveHold{{ID: "h", HoldSpec: resource.HoldSpec{Server: "n1"}}},
	}
	if _, _, err := s.Documents.ApplyHolds(time.Now(), doc, "d"); !errors.Is(err, ErrFenced) || protocol.HintOf(err) == "" {
		t.Errorf("holds: %v", err)
	}
	if _, _, err := s.Documents.ApplyRack(message.RackDoc{Head: doc.Head, Fence: doc.Fence}, "d", nil); !errors.Is(err, ErrFenced) {
		t.Errorf("rack: %v", err)
	}
	if a, err := s.Documents.Applied(); err != nil || len(a.Heads) != 0 {
		t.Errorf("applied %+v, %v", a, err)
	}
	doc.Fence = message.Fence{Number: 5, Hub: "b"}
	if _, _, err := s.Documents.ApplyHolds(time.Now(), doc, "d"); err != nil {
		t.Error(err)
	}
	if a, err := s.Documents.Applied(); err != nil || a.Heads["hold"] != doc.Head || a.Digests["hold"] != "d" || a.Fence.Number != 5 || a.Incarnation != "id-1" {
		t.Errorf("applied %+v, %v", a, err)
	}
}

// TestRenew: the identity changes once for each copy, requests under way end as
// unknown in the same transaction, and numbers of events go on.
func TestRenew(t *testing.T) {
	dir := t.TempDir()
	s, db := opened(t, dir)
	s.happen(t, 3)
	_, _, err := s.Servers.Step("n1", func(v View) decide.Plan {
		v.Record.Requests = []decide.RequestState{
			{Request: resource.Request{ID: "r1"}, Outcome: resource.OutcomePending},
			{Request: resource.Request{ID: "r2"}, Outcome: resource.OutcomeDone},
		}
		return decide.Plan{Record: v.Record, Persist: true}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Identity.Renew(time.Now(), "another"); err != nil {
		t.Fatal(err)
	}
	if id, err := s.Identity.Incarnation(); err != nil || id != "id-1" {
		t.Fatalf("another's renewal was taken: %s, %v", id, err)
	}
	for range 2 { // a repeated Sync
		if err := s.Identity.Renew(time.Now(), "id-1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = opened(t, dir)
	v, err := s.Servers.View("n1")
	if err != nil || v.Incarnation != "id-2" {
		t.Fatalf("%+v, %v", v, err)
	}
	if q := v.Record.Requests; q[0].Outcome != resource.OutcomeUnknown || q[1].Outcome != resource.OutcomeDone {
		t.Errorf("requests %+v", q)
	}
	if b := s.backlog(t, 10); b.Head != 4 || b.Events[3].Code != resource.EventRequestEnded || b.Events[3].Server != "n1" {
		t.Errorf("%+v", b)
	}
}

// TestOldDatabase opens one that the release before wrote: it has no key for the
// last number of an event and none for the fence, and may have dropped events.
func TestOldDatabase(t *testing.T) {
	dir := t.TempDir()
	_, db := opened(t, dir)
	old := map[string]string{
		"meta/incarnation": "old-id",
		"meta/acked":       "7",
		"doc/hold":         `{"head":{"epoch":1,"version":3},"digest":"sha256:x"}`,
		"rack":             `{"name":"rack-a","softTimeout":1,"settleWindow":1,"pollInterval":1}`,
		"hold/n1/h1":       `{"id":"h1","server":"n1","key":"k","owner":"o","mode":"soft","enforcedAt":"2026-11-20T08:00:00Z"}`,
		"record/n1":        `{"server":"n1","shown":{"epoch":4}}`,
		eventKey(10):       `{"seq":10,"at":"2026-11-20T08:00:00Z","code":"Stopped"}`,
		eventKey(11):       `{"seq":11,"at":"2026-11-20T08:00:00Z","code":"Stopped"}`,
	}
	err := db.Update(func(x state.Txn) error {
		for k, v := range old {
			if err := x.Set(k, []byte(v)); err != nil {
				return err
			}
		}
		return x.Delete(keyLast)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ := opened(t, dir)
	v, err := s.Servers.View("n1")
	if err != nil || v.Incarnation != "old-id" || len(v.Holds) != 1 || v.Record.Shown.Epoch != 4 || !v.Synced {
		t.Fatalf("%+v, %v", v, err)
	}
	a, err := s.Documents.Applied()
	if err != nil || a.Digests["hold"] != "sha256:x" || a.Fence != (message.Fence{}) {
		t.Errorf("%+v, %v", a, err)
	}
	s.happen(t, 1)
	b := s.backlog(t, 10)
	if b.Head != 12 || b.Tail != 8 || len(b.Events) != 4 || b.Events[0].Code != resource.EventLost || b.Events[0].From != 8 || b.Events[0].Seq != 9 {
		t.Errorf("%+v", b)
	}
}
