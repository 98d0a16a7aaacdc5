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
	x.hold("server-1", true)
	x.follow("server-1", armed)
	if a := x.Resolve(client); a.Action != protocol.AnswerRefuse {
		t.Errorf("a server that was held since is answered %+v", a)
	}
	x.hold("server-1", false)
	if a := x.Resolve(client); a.Action != protocol.AnswerBoot {
		t.Errorf("after that release it is answered %+v", a)
	}
	if x.hold("unknown", false); len(x.servers) != 1 {
		t.Errorf("a server that was never named is in the index: %v", x.servers)
	}
}

// TestIndexByUUID: firmware sends the SMBIOS UUID in either byte order; two servers
// that one UUID fits are refused rather than guessed.
func TestIndexByUUID(t *testing.T) {
	server := func(name, mac, uuid string) store.Intent {
		return store.Intent{ServerIntent: protocol.ServerIntent{Server: name, BootMAC: mac, UUID: uuid, Architecture: "amd64"}}
	}
	x := newIndex()
	x.rebuild(store.Overview{Synced: true, Intents: []store.Intent{
		server("server-1", "52:54:00:00:00:01", "00112233-4455-6677-8899-aabbccddeeff"),
		server("server-2", "52:54:00:00:00:02", "a0112233-4455-6677-8899-aabbccddeeff"),
		server("server-3", "52:54:00:00:00:03", "332211a0-5544-7766-8899-aabbccddeeff"),
	}})
	for uuid, want := range map[string]string{
		"00112233-4455-6677-8899-aabbccddeeff": "server-1",
		"33221100-5544-7766-8899-aabbccddeeff": "server-1",
		"a0112233-4455-6677-8899-aabbccddeeff": "", // server-2's, and server-3's the other way
		"00112233-4455-6677-8899-aabbccddee00": "",
		"":                                     "",
	} {
		a := x.Resolve(protocol.BootClient{MAC: "52:54:00:00:00:99", UUID: uuid, Class: protocol.ClassHTTPClient})
		if (a.Action == protocol.AnswerRefuse) != (want != "") || want != "" && a.Server != want {
			t.Errorf("%q is answered %+v, want %q", uuid, a, want)
		}
	}
}
