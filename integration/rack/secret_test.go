package rack

import (
	"strings"
	"testing"
	"time"

	"rackboot/agent"
	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
)

// seal seals an account for the BMC of server i, as the hub does.
func (b *bench) seal(i int, version uint64, password string, change func(*sealbox.Binding)) *message.SealedCredentials {
	b.t.Helper()
	k, err := sealbox.ParseKey(b.key.Seed())
	if err != nil {
		b.t.Fatal(err)
	}
	to := sealbox.Binding{Agent: agentID, BMC: b.intents[i].BMC.Name, Secret: "bmc", UID: "secret-uid", Version: version}
	if change != nil {
		change(&to)
	}
	s, err := sealbox.Seal(k.Public(), to, message.BMCCredentials{BMCAccount: resource.BMCAccount{Username: "admin", Password: password}})
	if err != nil {
		b.t.Fatal(err)
	}
	s.Secret, s.UID, s.Version = "bmc", "secret-uid", version
	return s
}

// central gives every server credentials that were sealed.
func (b *bench) central(version uint64, password string) {
	b.t.Helper()
	for i := range b.intents {
		b.intents[i].BMC.CredentialsRef, b.intents[i].BMC.Sealed = "secret:bmc", b.seal(i, version, password, nil)
	}
}

// applied is what the agent says of the RackDoc that it was sent last.
func (b *bench) applied(a *agent.Agent) (m message.Applied) {
	b.t.Helper()
	b.send(a)
	if !b.open(message.LeafApplied, &m) || m.Doc != message.LeafRack+"/0" {
		b.t.Fatalf("answered with %+v", m)
	}
	return m
}

// reads waits for a read of server i that began after now and succeeded.
func (b *bench) reads(i int) {
	b.t.Helper()
	now := time.Now()
	b.until("a read", i, func(r resource.ServerReport) bool {
		return r.Observation.StartedAt.After(now) && r.Observation.Code == ""
	})
}

// TestSealedAttacks: each row is a document of the hub's in which the credentials of the
// first server are not what they should be. That entry is rejected alone, what was in
// force for it stays, also over a restart with no hub, and the agent says so.
func TestSealedAttacks(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2, bmcsim.Plain())
	b.every = 100 * time.Millisecond
	b.central(1, "secret")
	a, stop := b.start(nil)
	if m := b.applied(a); len(m.Rejected) > 0 {
		t.Fatalf("%+v", m)
	}
	b.reads(0)
	b.reads(1)
	other, err := sealbox.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	account := message.BMCCredentials{BMCAccount: resource.BMCAccount{Username: "admin", Password: "wrong"}}
	binding := sealbox.Binding{Agent: agentID, BMC: b.intents[0].BMC.Name, Secret: "bmc", UID: "secret-uid", Version: 2}
	strange, err := sealbox.Seal(other.Public(), binding, account)
	if err != nil {
		t.Fatal(err)
	}
	good := b.intents[0].BMC
	for _, row := range []struct {
		name   string
		sealed *message.SealedCredentials
	}{
		{"another agent's", b.seal(0, 2, "wrong", func(to *sealbox.Binding) { to.Agent = "rack-b-1" })},
		{"for another key", strange},
		{"another BMC's", b.intents[1].BMC.Sealed},
		{"another secret's", b.seal(0, 2, "wrong", func(to *sealbox.Binding) { to.Secret = "other" })},
		{"an older version as the next", b.seal(0, 2, "wrong", func(to *sealbox.Binding) { to.Version = 1 })},
		{"a flipped bit", func() *message.SealedCredentials {
			s := b.seal(0, 2, "wrong", nil)
			s.Ciphertext[7] ^= 1
			return s
		}()},
		{"far too long", &message.SealedCredentials{Secret: "bmc", UID: "secret-uid", Version: 2, Enc: good.Sealed.Enc, Ciphertext: make([]byte, 64<<10)}},
		{"none at all", nil},
		{"of a secret that the BMC does not name", func() *message.SealedCredentials {
			s := b.seal(0, 2, "wrong", func(to *sealbox.Binding) { to.Secret = "other" })
			s.Secret = "other"
			return s
		}()},
	} {
		b.intents[0].BMC.Sealed = row.sealed
		m := b.applied(a)
		if len(m.Rejected) != 1 || m.Rejected[0].Server != b.servers[0].Name || strings.Contains(m.Rejected[0].Reason, "wrong") {
			t.Errorf("%s: rejected are %+v", row.name, m.Rejected)
		}
		b.conds(row.name, contains(string(resource.CondCredentialsSealed)+": "+message.LeafRack+"/0: "+b.servers[0].Name))
		b.reads(0)
	}
	stop()
	b.link.mute(true)
	a, stop = b.start(nil)
	b.reads(0)
	b.reads(1)
	b.link.mute(false)
	b.intents[0].BMC = good
	if m := b.applied(a); len(m.Rejected) > 0 {
		t.Errorf("the right ones: %+v", m)
	}
	b.conds("the end of it", lacks(string(resource.CondCredentialsSealed)))
	stop()
}

// TestSealedVersions: the account follows the newest document, whichever version of the
// Secret that has; a question that was played back brings no older one.
func TestSealedVersions(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	b.calls.whole.Store(true)
	b.every = 100 * time.Millisecond
	b.central(1, "secret")
	first := b.intents[0].BMC
	a, _ := b.start(nil)
	b.applied(a)
	b.reads(0)
	b.incarnation() // the hub's time is known

	b.servers[0].BMC.SetCredentials("admin", "second")
	b.until("the refusal of the first", 0, has(resource.CondBMCDenied))
	b.central(2, "second")
	b.applied(a)
	b.reads(0)
	second := b.intents[0].BMC
	answer := func(id string, way message.BMCIntent) (m message.Answer) {
		t.Helper()
		b.deliver(a, message.LeafAsk, message.Ask{ID: id, Kind: message.AskInventory, BMC: way, NotAfter: time.Now().Add(time.Minute)})
		b.eventually("the answer to "+id, func() bool {
			var n int
			m, n = b.answer(id)
			return n > 0
		})
		return m
	}
	if m := answer("present", second); m.Code != "" {
		t.Errorf("%+v", m)
	}
	if m := answer("played back", first); m.Code != protocol.CodeDenied || !strings.Contains(m.Message, "older") {
		t.Errorf("%+v", m)
	}
	stranger := second
	stranger.Name = "somebody-else"
	if m := answer("of another BMC", stranger); m.Code != protocol.CodeDenied {
		t.Errorf("%+v", m)
	}
	stranger.Sealed = nil
	if m := answer("nothing sealed", stranger); m.Code != protocol.CodeNotFound || m.Condition != resource.CondCredentialsSealed {
		t.Errorf("%+v", m)
	}

	// The hub was restored from a copy: its newer document has the older version, which the
	// BMC has refused between.
	b.servers[0].BMC.SetCredentials("admin", "secret")
	b.intents[0].BMC = first
	if m := b.applied(a); len(m.Rejected) > 0 {
		t.Errorf("%+v", m)
	}
	b.reads(0)

	// From the folder again, and nothing of the Secret is kept.
	b.intents[0].BMC.CredentialsRef, b.intents[0].BMC.Sealed = "local:bmc", nil
	b.applied(a)
	b.reads(0)
	b.intents[0].BMC.CredentialsRef = "secret:bmc"
	if m := b.applied(a); len(m.Rejected) != 1 {
		t.Errorf("%+v", m)
	}
}
