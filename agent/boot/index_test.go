package boot

import (
	"testing"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// TestIndexKeepsTheGateShut: a step that read the store before a hold was enforced
// ends after the index was rebuilt with it, and a rebuild that read the store before
// a step ends after it.
func TestIndexKeepsTheGateShut(t *testing.T) {
	client := protocol.BootClient{MAC: "52:54:00:00:00:01", Class: protocol.ClassHTTPClient, Archs: []uint16{16}}
	armed := &decide.Attempt{Token: "token-2", Order: decide.Order{File: "boot.efi", Target: protocol.TargetUefiHTTP}, Stage: decide.Stage{State: resource.AttemptPowerRequested, PowerOn: started()}}
	before := store.Overview{Synced: true, Intents: []store.Intent{{ServerIntent: message.ServerIntent{
		Server: "server-1", BootMAC: client.MAC, Architecture: "amd64",
	}}}, Records: []store.Standing{{Server: "server-1", Attempt: &decide.Attempt{Token: "token-1", Stage: decide.Stage{State: resource.AttemptFailed}, Order: decide.Order{Target: protocol.TargetHdd}}}}}
	held := before
	held.Holds = []decide.Hold{{ActiveHold: resource.ActiveHold{ID: "hold-1", HoldSpec: resource.HoldSpec{Server: "server-1"}}}}

	x := NewIndex()
	x.rebuild(before)
	x.follow("server-1", decide.Record{Attempt: armed})
	x.rebuild(before) // it read the store before the step
	if a := x.Resolve(client); a.Action != protocol.AnswerBoot {
		t.Errorf("an older attempt came back: %+v", a)
	}
	if _, _, ok := x.token("token-2"); !ok {
		t.Error("the token is lost")
	}
	x.rebuild(held)
	x.follow("server-1", decide.Record{Attempt: armed}) // its step read the store before the hold
	if a := x.Resolve(client); a.Action != protocol.AnswerRefuse {
		t.Errorf("a held server is answered %+v", a)
	}
	x.rebuild(before)
	if a := x.Resolve(client); a.Action != protocol.AnswerBoot {
		t.Errorf("after the release it is answered %+v", a)
	}
	x.hold("server-1", true)
	x.follow("server-1", decide.Record{Attempt: armed})
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

// started is an On that the BMC took.
func started() decide.PowerOn { return decide.PowerOn{Sent: time.Unix(1, 0), Taken: time.Unix(1, 0)} }

// TestIndexByUUID: firmware sends the SMBIOS UUID in either byte order; two servers
// that one UUID fits are refused rather than guessed.
func TestIndexByUUID(t *testing.T) {
	server := func(name, mac, uuid string) store.Intent {
		return store.Intent{ServerIntent: message.ServerIntent{Server: name, BootMAC: mac, UUID: uuid, Architecture: "amd64"}}
	}
	x := NewIndex()
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

// TestIndexOfStrangers: design 5, serve gate: a machine that no server names is the only
// one whose discovery is open on its segment, with all that it asks in that attempt.
func TestIndexOfStrangers(t *testing.T) {
	server := func(name, segment string) store.Intent {
		return store.Intent{ServerIntent: message.ServerIntent{Server: name, Segment: segment, BootMAC: "02:00:00:00:00:" + name, Architecture: "amd64"}}
	}
	opens := func(token string) *decide.Attempt {
		return &decide.Attempt{Token: token, Order: decide.Order{File: "boot.efi", Target: protocol.TargetPxe, Purpose: resource.PurposeDiscovery}, Stage: decide.Stage{State: resource.AttemptPowerRequested, PowerOn: started()}}
	}
	asks := func(mac string, class protocol.ClientClass) protocol.BootClient {
		return protocol.BootClient{Segment: "a", MAC: mac, Class: class, Archs: []uint16{7}}
	}
	x := NewIndex()
	var refused []string
	x.ambiguous = func(_ protocol.BootClient, servers []string) { refused = servers }
	x.rebuild(store.Overview{Synced: true, Intents: []store.Intent{server("01", "a"), server("02", "a"), server("03", "b")}})
	expect := func(when string, c protocol.BootClient, action protocol.AnswerAction, server, token string) {
		t.Helper()
		if a := x.Resolve(c); a.Action != action || a.Server != server || a.Token != token {
			t.Errorf("%s: %+v, token %q", when, a, a.Token)
		}
	}
	const stranger, other = "02:00:00:00:99:01", "02:00:00:00:99:02"
	expect("nothing is open", asks(stranger, protocol.ClassPXEClient), protocol.AnswerSilence, "", "")
	x.follow("03", decide.Record{Attempt: opens("t3")})
	expect("on another segment", asks(stranger, protocol.ClassPXEClient), protocol.AnswerSilence, "", "")
	claim := opens("claim")
	claim.Order.Purpose = resource.PurposeClaim
	x.follow("02", decide.Record{Attempt: claim})
	expect("a claim's first boot", asks(stranger, protocol.ClassPXEClient), protocol.AnswerSilence, "", "")
	x.follow("02", decide.Record{})

	x.follow("01", decide.Record{Attempt: opens("t1")})
	expect("an operating system", asks(stranger, protocol.ClassNone), protocol.AnswerSilence, "", "")
	expect("the only one", asks(stranger, protocol.ClassPXEClient), protocol.AnswerBoot, "01", "t1")
	expect("its operating system", asks(stranger, protocol.ClassNone), protocol.AnswerLease, "01", "t1")
	if token, ok := x.tokenOf(protocol.BootClient{MAC: stranger}); !ok || token != "t1" {
		t.Errorf("by its lease: %q", token)
	}
	x.hold("01", true)
	expect("held", asks(other, protocol.ClassPXEClient), protocol.AnswerSilence, "", "")
	x.hold("01", false)
	x.follow("02", decide.Record{Attempt: opens("t2")})
	expect("one of two", asks(other, protocol.ClassPXEClient), protocol.AnswerRefuse, "", "")
	if len(refused) != 2 || refused[0] != "01" || refused[1] != "02" {
		t.Errorf("refused for %v", refused)
	}
	expect("the first one stays", asks(stranger, protocol.ClassPXEClient), protocol.AnswerBoot, "01", "t1")
	expect("one that is named", asks("02:00:00:00:00:02", protocol.ClassPXEClient), protocol.AnswerBoot, "02", "t2")
	served := opens("t2")
	served.Stage.State, served.Marks.Served = resource.AttemptConsumed, true
	x.follow("02", decide.Record{Attempt: served})
	expect("the other has its file", asks(other, protocol.ClassPXEClient), protocol.AnswerBoot, "01", "t1")
	x.follow("01", decide.Record{Attempt: opens("t4")})
	expect("the next attempt", asks(stranger, protocol.ClassNone), protocol.AnswerSilence, "", "")
}
