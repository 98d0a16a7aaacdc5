package control

import (
	"bytes"
	"strings"
	"testing"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
)

const canary = "canary-9f1c"

func sealKey(t *testing.T) *sealbox.Key {
	t.Helper()
	k, err := sealbox.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func bmcSecret(password string) *resource.Secret {
	s := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretBMC, Data: resource.SecretData{
		resource.SecretUsername: resource.Plain("admin"), resource.SecretPassword: resource.Plain(password),
	}}}
	s.Metadata.Name = "bmc"
	s.Default()
	return s
}

// secretSite is a site whose BMC b1 has central credentials, with an agent that has
// given no key yet.
func secretSite(t *testing.T) (*bench, *modern) {
	t.Helper()
	b := newBench(t, &movingTag{})
	b.kek = strings.Repeat("5e", 32)
	b.restart()
	objs := storetest.Site()
	objs[2].(*resource.BMC).Spec.CredentialsRef = "secret:bmc"
	b.apply(append(objs, bmcSecret(canary+"-1"))...)
	m := b.modern(b.join("r1"))
	m.connects()
	b.settles(m)
	return b, m
}

func (b *bench) settles(m *modern) {
	b.t.Helper()
	b.pass()
	m.listens()
	b.pass()
	m.listens()
}

// sealed is what the agent's document has for BMC b1.
func (b *bench) sealed(m *modern) *message.SealedCredentials {
	b.t.Helper()
	for _, s := range b.rack(m).Servers {
		if s.BMC.Name == "b1" {
			return s.BMC.Sealed
		}
	}
	b.t.Fatal("no server of b1 is in the document")
	return nil
}

// opensAs opens it as an agent does.
func opensAs(k *sealbox.Key, agent string, s *message.SealedCredentials) (string, error) {
	if s == nil {
		return "", protocol.Errorf(protocol.CodeNotFound, "", "nothing is sealed")
	}
	c, err := k.Open(sealbox.Binding{Agent: agent, BMC: "b1", Secret: s.Secret, UID: s.UID, Version: s.Version}, s)
	return c.Password, err
}

// Sealing follows the agent's key and the Secret's version, and nothing else.
func TestSealing(t *testing.T) {
	b, m := secretSite(t)
	if s := b.sealed(m); s != nil {
		t.Errorf("sealed for a key that nobody gave: %+v", s)
	}
	if got := codes(b.bmc("b1").Status.Conditions); got != string(resource.CondSecretNotSealed) {
		t.Errorf("the BMC has %q", got)
	}
	if got := codes(b.server("n1").Status.Conditions); !strings.Contains(got, string(resource.CondSecretNotSealed)) {
		t.Errorf("the server has %q", got)
	}
	first := sealKey(t)
	m.sealKey = first.Public()
	m.connects()
	b.settles(m)
	sealed := b.sealed(m)
	if got, err := opensAs(first, m.name, sealed); err != nil || got != canary+"-1" || sealed.Version != 1 {
		t.Fatalf("%v, %v", sealed, err)
	}
	if got := codes(b.bmc("b1").Status.Conditions); got != "" {
		t.Errorf("the BMC has %q", got)
	}

	// The document stays the same to the byte, also over a restart of the hub.
	head := b.rack(m).Head
	b.settles(m)
	if b.rack(m).Head != head {
		t.Error("another document without a change")
	}
	b.restart()
	m.connects()
	b.settles(m)
	if again := b.sealed(m); !bytes.Equal(again.Ciphertext, sealed.Ciphertext) {
		t.Error("sealed again without a change")
	}

	// The next version.
	b.apply(bmcSecret(canary + "-2"))
	b.settles(m)
	next := b.sealed(m)
	if got, err := opensAs(first, m.name, next); err != nil || got != canary+"-2" || next.Version != 2 || next.UID != sealed.UID {
		t.Errorf("%v, %v", next, err)
	}

	// Another key of the agent: an old Hello does not bring the first one back.
	old := m.message()
	second := sealKey(t)
	m.sealKey = second.Public()
	m.connects()
	b.settles(m)
	if got, err := opensAs(second, m.name, b.sealed(m)); err != nil || got != canary+"-2" {
		t.Errorf("the new key: %v", err)
	}
	if _, err := opensAs(first, m.name, b.sealed(m)); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("the old key: %v", err)
	}
	old.Nonce = ""
	m.says(message.LeafHello, old)
	b.settles(m)
	if a, err := store.Get[*resource.Agent](b.store.Objects, m.name); err != nil || !bytes.Equal(a.Spec.SealKey, second.Public()) {
		t.Errorf("a Hello that was played back changed the key (%v)", err)
	}

	// Local credentials again: nothing of the Secret is left for the BMC.
	local := storetest.BMC("b1", "r1")
	b.apply(local)
	b.settles(m)
	if b.store.Credentials.Peek("b1") != nil || b.sealed(m) != nil {
		t.Error("what was sealed is still there")
	}
}

// Another agent gets everything for its own key, and the one before can open nothing of
// it, whatever name it takes.
func TestSealedForTheNextAgent(t *testing.T) {
	b, m := secretSite(t)
	first := sealKey(t)
	m.sealKey = first.Public()
	m.connects()
	b.settles(m)
	before := b.sealed(m)
	if _, err := b.store.Delete(b.t.Context(), resource.KindAgent, m.name); err != nil {
		t.Fatal(err)
	}
	b.pass()
	n := b.modern(b.join("r1"))
	second := sealKey(t)
	n.sealKey = second.Public()
	n.connects()
	b.settles(n)
	after := b.sealed(n)
	if got, err := opensAs(second, n.name, after); err != nil || got != canary+"-1" {
		t.Fatalf("the new agent: %v", err)
	}
	for _, name := range []string{m.name, n.name} {
		if _, err := opensAs(first, name, after); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("the old agent as %s: %v", name, err)
		}
		if _, err := opensAs(second, name, before); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("the new agent with the old one's as %s: %v", name, err)
		}
	}
}

// A hub that cannot decrypt sends what it has sealed before, says what is wrong, and
// goes on when the key is back.
func TestSealingWithoutTheKey(t *testing.T) {
	b, m := secretSite(t)
	k := sealKey(t)
	m.sealKey = k.Public()
	m.connects()
	b.settles(m)
	b.apply(bmcSecret(canary + "-2")) // and before it is sealed:
	kek := b.kek
	b.kek = ""
	b.restart()
	m.connects()
	b.settles(m)
	if got, err := opensAs(k, m.name, b.sealed(m)); err != nil || got != canary+"-1" {
		t.Errorf("%v", err)
	}
	conds := b.bmc("b1").Status.Conditions
	if codes(conds) != string(resource.CondSecretNotSealed) || strings.Contains(conds[0].Message, canary) || conds[0].Message == "" {
		t.Errorf("the BMC has %+v", conds)
	}
	s, err := store.Get[*resource.Secret](b.store.Objects, "bmc")
	if err != nil {
		t.Fatal(err)
	}
	b.control.Status.Decorate(s)
	if codes(s.Status.Conditions) != string(resource.CondSecretUnreadable) || len(s.Status.UsedBy) != 1 || s.Status.UsedBy[0] != "BMC/b1" {
		t.Errorf("the secret has %+v", s.Status)
	}
	b.kek = kek
	b.restart()
	m.connects()
	b.settles(m)
	if got, err := opensAs(k, m.name, b.sealed(m)); err != nil || got != canary+"-2" {
		t.Errorf("%v", err)
	}
}

// A crash between sealing and the document is completed by the next start, with the
// same bytes.
func TestSealedAndDied(t *testing.T) {
	b, m := secretSite(t)
	k := sealKey(t)
	m.sealKey = k.Public()
	m.connects()
	b.dies("hub.secret.sealed", b.pass)
	kept := b.store.Credentials.Peek("b1")
	if kept == nil {
		t.Fatal("nothing was kept")
	}
	m.connects()
	b.settles(m)
	if s := b.sealed(m); s == nil || !bytes.Equal(s.Ciphertext, kept.Ciphertext) {
		t.Error("sealed twice")
	}
}

// Who accepts a BMC names a Secret that exists and is an account.
func TestAcceptWithSecret(t *testing.T) {
	b, _ := secretSite(t)
	other := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretGeneric, Data: resource.SecretData{"a": resource.Plain("b")}}}
	other.Metadata.Name = "other"
	b.apply(other)
	for ref, want := range map[string]protocol.Code{"secret:bmc": "", "local:x": "", "secret:none": protocol.CodeInvalid, "secret:other": protocol.CodeInvalid} {
		if err := b.control.Inventory.CheckSecret(ref); protocol.CodeOf(err) != want {
			t.Errorf("%s: %v", ref, err)
		}
	}
}
