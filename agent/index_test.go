package agent

import (
	"testing"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// TestIndexKeepsTheGateShut: a step that read the store before a hold was enforced
// ends after the index was rebuilt with it, and a rebuild that read the store before
// a step ends after it.
func TestIndexKeepsTheGateShut(t *testing.T) {
	client := protocol.BootClient{MAC: "52:54:00:00:00:01", Class: protocol.ClassHTTPClient, Archs: []uint16{16}}
	armed := &decide.Attempt{Token: "token-2", File: decide.BootFile, Intended: protocol.TargetUefiHTTP, State: protocol.AttemptPowerRequested}
	before := store.Overview{Synced: true, Intents: []store.Intent{{ServerIntent: protocol.ServerIntent{
		Server: "server-1", BootMAC: client.MAC, Architecture: "amd64",
	}}}, Records: []decide.Record{{Server: "server-1", Attempt: &decide.Attempt{Token: "token-1", State: protocol.AttemptFailed, Intended: protocol.TargetHdd}}}}
	held := before
	held.Holds = []decide.Hold{{ActiveHold: protocol.ActiveHold{ID: "hold-1", Server: "server-1"}}}

	x := newIndex()
	x.rebuild(before)
	x.follow("server-1", armed)
	x.rebuild(before) // it read the store before the step
	if a := x.Resolve(client); a.Action != protocol.AnswerBoot {
		t.Errorf("an older attempt came back: %+v", a)
	}
	if _, _, ok := x.token("token-2"); !ok {
		t.Error("the token is lost")
	}
	x.rebuild(held)
	x.follow("server-1", armed) // its step read the store before the hold
	if a := x.Resolve(client); a.Action != protocol.AnswerRefuse {
		t.Errorf("a held server is answered %+v", a)
	}
	x.rebuild(before)
	if a := x.Resolve(client); a.Action != protocol.AnswerBoot {
		t.Errorf("after the release it is answered %+v", a)
	}
}
