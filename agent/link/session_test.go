package link

import (
	"testing"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
)

// TestAnnouncements: the same hub is heard once for each of its nonces, and one that
// is played back is not.
func TestAnnouncements(t *testing.T) {
	at := func(d time.Duration) time.Time { return hubStart.Add(d) }
	var s session
	for i, tt := range []struct {
		m    message.Announce
		news bool
	}{
		{message.Announce{Hub: "a", Nonce: "1", At: at(1)}, true},
		{message.Announce{Hub: "a", Nonce: "1", At: at(2)}, false}, // again
		{message.Announce{Hub: "b", Nonce: "2", At: at(0)}, false}, // played back
		{message.Announce{Hub: "a", Nonce: "2", At: at(3)}, true},  // its link came back
		{message.Announce{Hub: "b", Nonce: "3", At: at(4)}, true},
		{message.Announce{Hub: "a", Nonce: "2", At: at(3)}, false},
	} {
		if got := s.hear(tt.m); got != tt.news {
			t.Errorf("%d: %+v: news %t", i, tt.m, got)
		}
	}
	if _, nonce := s.greet(hubStart); nonce != "3" {
		t.Errorf("nonce %q", nonce)
	}
	s.heed(message.Sync{At: at(9)})
	if s.hear(message.Announce{Hub: "d", Nonce: "4", At: at(8)}) {
		t.Error("older than what was heard since")
	}
}

// TestNonces: what the hub gave goes back in the next Hello whatever it came with; in
// everything else only what it gave to the present session.
func TestNonces(t *testing.T) {
	var s session
	s.renew("s1", nil)
	if id, nonce := s.names(); id != "s1" || nonce != "" {
		t.Errorf("%s %s", id, nonce)
	}
	s.hear(message.Announce{Hub: "a", Nonce: "announced", At: hubStart})
	if _, nonce := s.names(); nonce != "" {
		t.Errorf("an announced nonce is in a report: %s", nonce)
	}
	s.heed(message.Sync{Nonce: "n1", At: hubStart})
	if _, nonce := s.names(); nonce != "n1" {
		t.Errorf("nonce %q", nonce)
	}
	s.heed(message.Sync{At: hubStart}) // says none
	s.renew("s2", nil)
	if id, nonce := s.greet(hubStart); id != "s2" || nonce != "n1" {
		t.Errorf("Hello %s %s", id, nonce)
	}
	if _, nonce := s.names(); nonce != "" {
		t.Errorf("nonce %q of the session before", nonce)
	}
}

// TestStaleSession: an answer that is late would tell the time badly.
func TestStaleSession(t *testing.T) {
	var s session
	s.renew("s1", nil)
	s.greet(hubStart)
	s.greet(hubStart.Add(answerMax)) // said again
	if s.stale(hubStart.Add(answerMax)) || !s.stale(hubStart.Add(answerMax+1)) {
		t.Error("not told by the first Hello")
	}
	s.answer(false, store.Applied{}, 0)
	if s.stale(hubStart.Add(time.Hour)) {
		t.Error("an answered session is stale")
	}
}

// TestCaughtUp: a Hello that was wanted for a document is not said once it has come;
// the same version with another content has not.
func TestCaughtUp(t *testing.T) {
	head := protocol.Head{Epoch: 1, Version: 2}
	heads := map[string]protocol.Head{"hold": head}
	for name, tt := range map[string]struct {
		have    protocol.Head
		digest  string
		lacking bool
		want    bool
	}{
		"it has come":       {head, "d", true, true},
		"a newer has":       {protocol.Head{Epoch: 1, Version: 3}, "e", true, true},
		"an older is there": {protocol.Head{Epoch: 1, Version: 1}, "c", true, false},
		"another content":   {head, "x", true, false},
		"another reason":    {head, "d", false, false},
	} {
		var s session
		s.heed(message.Sync{Heads: heads, Digests: map[string]string{"hold": "d"}})
		in := store.Applied{Heads: map[string]protocol.Head{"hold": tt.have}, Digests: map[string]string{"hold": tt.digest}}
		s.answer(tt.lacking, in, 1)
		if got := s.caughtUp(in); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestCurrent: after an answer that names documents the disk lacks, the last of them
// makes it current.
func TestCurrent(t *testing.T) {
	one, two := protocol.Head{Epoch: 1, Version: 1}, protocol.Head{Epoch: 1, Version: 2}
	var s session
	s.heed(message.Sync{Heads: map[string]protocol.Head{"hold": two, "rack/0": two, "rack/1": one}})
	s.answer(true, store.Applied{Heads: map[string]protocol.Head{"hold": one, "rack/1": one}}, 1)
	for _, tt := range []struct {
		leaf          string
		head          protocol.Head
		last, current bool
	}{
		{"rack/1", two, false, false}, // was not to come
		{"hold", one, false, false},   // late
		{"hold", two, false, false},
		{"rack/0", two, true, true},
		{"rack/0", two, false, true},
	} {
		if last := s.applied(tt.leaf, tt.head, hubStart); last != tt.last || s.current() != tt.current {
			t.Errorf("%s %v: last %t, current %t", tt.leaf, tt.head, last, s.current())
		}
	}
}

// TestCurrentAfterRestore: what a restored hub sent before is older than what lies
// here; it is all made again.
func TestCurrentAfterRestore(t *testing.T) {
	var s session
	s.heed(message.Sync{Heads: map[string]protocol.Head{"hold": {Epoch: 1, Version: 3}}})
	s.answer(true, store.Applied{Heads: map[string]protocol.Head{"hold": {Epoch: 1, Version: 8}}}, 2)
	if s.current() {
		t.Error("current by a document that the hub has lost")
	}
	if !s.applied("hold", protocol.Head{Epoch: 2, Version: 9}, hubStart) || !s.current() {
		t.Error("not current")
	}
}
