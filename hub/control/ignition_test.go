package control

import (
	"bytes"
	"strings"
	"testing"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
)

func userDataSecret(content string) *resource.Secret {
	s := &resource.Secret{Spec: resource.SecretSpec{Type: resource.SecretIgnition, Data: resource.SecretData{resource.SecretUserData: resource.Plain(content)}}}
	s.Metadata.Name = "node"
	s.Default()
	return s
}

// ignite is user data with a name in it.
func ignite(name string) string {
	return `{"ignition":{"version":"3.4.0"},"passwd":{"users":[{"name":"` + name + `"}]}}`
}

func claimWithData(name, server string) *resource.Claim {
	c := storetest.Claim(name, server)
	c.Spec.IgnitionSecretRef = &resource.Ref{Name: "node"}
	return c
}

// dataSite is a site whose server n1 is claimed with user data, with an agent that opens
// it with a key.
func dataSite(t *testing.T, content string) (*bench, *modern, *sealbox.Key) {
	t.Helper()
	return dataSiteOf(t, content, claimWithData("c1", "n1"))
}

// dataSiteOf is dataSite with something else that has n1 boot with user data.
func dataSiteOf(t *testing.T, content string, what resource.Object) (*bench, *modern, *sealbox.Key) {
	t.Helper()
	b := newBench(t, &movingTag{})
	b.kek = strings.Repeat("5e", 32)
	b.restart()
	b.apply(append(storetest.Site(), userDataSecret(content))...)
	m, key := b.modern(b.join("r1")), sealKey(t)
	m.sealKey = key.Public()
	m.connects()
	b.settles(m)
	b.apply(what)
	b.settles(m)
	b.settles(m)
	return b, m, key
}

// travels is the user data in the document of server n1; nil without any.
func (b *bench) travels(m *modern) *message.IgnitionIntent {
	b.t.Helper()
	for _, s := range b.rack(m).Servers {
		if s.Server == "n1" && s.Boot != nil {
			return s.Boot.Ignition
		}
	}
	return nil
}

// pulled is what an agent is given, and opens.
func (b *bench) pulled(m *modern, key *sealbox.Key, agent string) (string, error) {
	b.t.Helper()
	in := b.travels(m)
	if in == nil {
		b.t.Fatal("no user data in the document")
	}
	got, err := b.control.Env.Ignition(ctx(b.t), api.IgnitionRequest{Sealed: in.Sealed}, agent)
	if err != nil {
		return "", err
	}
	if sealbox.Digest(got.Body) != in.Sealed || int64(len(got.Body)) != in.Size {
		b.t.Error("what is given is not what the document says")
	}
	cl := b.claim("c1")
	plain, err := key.OpenIgnition(sealbox.IgnitionBinding{Agent: m.name, Server: "n1", OwnerUID: cl.Metadata.UID, IgnitionRef: in.Ref()}, got.Body)
	return string(plain), err
}

// User data is fixed by the configuration, sealed once for each key of the agent, given to
// that agent alone, and gone with the claim.
func TestUserDataSealed(t *testing.T) {
	b, m, key := dataSite(t, ignite(canary))
	cfg, err := store.Get[*resource.BootConfiguration](b.store.Objects, "c1")
	if err != nil || cfg.Spec.Ignition == nil || cfg.Spec.Ignition.Version != 1 || strings.Contains(cfg.Spec.Ignition.Digest, canary) {
		t.Fatalf("%+v, %v", cfg, err)
	}
	first := b.travels(m)
	if got, err := b.pulled(m, key, m.name); err != nil || got != ignite(canary) {
		t.Errorf("%q, %v", got, err)
	}
	for _, who := range []string{"", "r2-1", "hub", "admin", "r1-2"} {
		if _, err := b.pulled(m, key, who); protocol.CodeOf(err) != protocol.CodeDenied {
			t.Errorf("given to %q: %v", who, err)
		}
	}
	if _, err := b.control.Env.Ignition(ctx(t), api.IgnitionRequest{}, m.name); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("given without a digest: %v", err)
	}
	b.settles(m)
	if again := b.travels(m); *again != *first {
		t.Error("sealed again without a change")
	}

	// The Secret changes: the claim says so, and the server's stays what it is.
	b.apply(userDataSecret(ignite("other")))
	b.settles(m)
	if got := codes(b.claim("c1").Status.Conditions); !strings.Contains(got, string(resource.CondReprovisionRequired)) {
		t.Errorf("after another version the claim has %q", got)
	}
	if got, err := b.pulled(m, key, m.name); err != nil || got != ignite(canary) {
		t.Errorf("after another version: %q, %v", got, err)
	}

	// Another key of the agent: the version that is fixed is gone, and another is not given
	// in its place.
	next := sealKey(t)
	m.sealKey = next.Public()
	m.connects()
	b.settles(m)
	if in := b.travels(m); in != nil && in.Sealed != "" {
		t.Errorf("%+v", in)
	}
	if got := codes(b.claim("c1").Status.Conditions); !strings.Contains(got, string(resource.CondUserDataNotSealed)) {
		t.Errorf("the claim has %q", got)
	}
	if _, err := b.control.Env.Ignition(ctx(t), api.IgnitionRequest{Sealed: first.Sealed}, m.name); err != nil {
		t.Errorf("what was sealed before, for the same agent: %v", err) // which it cannot open
	}
}

// Another key of the agent, as after a replacement: it is sealed again.
func TestUserDataSealedAgain(t *testing.T) {
	b, m, key := dataSite(t, ignite(canary))
	first := b.travels(m)
	next := sealKey(t)
	m.sealKey = next.Public()
	m.connects()
	b.settles(m)
	if got, err := b.pulled(m, next, m.name); err != nil || got != ignite(canary) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := b.pulled(m, key, m.name); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("the old key opens it: %v", err)
	}
	if b.travels(m).Sealed == first.Sealed {
		t.Error("the document names what was sealed before")
	}
	if v := b.store.Ignitions.Peek("c1"); v == nil || bytes.Contains(v.Body, []byte(canary)) {
		t.Errorf("the store has %+v", v)
	}
}

// Butane is rendered at the hub; an agent that is too old is sent no boot.
func TestUserDataOfButane(t *testing.T) {
	b, m, key := dataSite(t, "variant: fcos\nversion: 1.5.0\npasswd:\n  users:\n    - name: "+canary+"\n")
	if got, err := b.pulled(m, key, m.name); err != nil || !strings.HasPrefix(got, `{"ignition":{"version":"3.4.0"}`) || !strings.Contains(got, canary) {
		t.Errorf("%q, %v", got, err)
	}
	var rest []message.Capability
	for _, c := range m.caps {
		if c != message.CapBootIgnition {
			rest = append(rest, c)
		}
	}
	m.caps = rest
	m.connects()
	b.settles(m)
	if b.travels(m) != nil {
		t.Error("sent to an agent that does not deliver it")
	}
	if got := codes(b.server("n1").Status.Conditions); !strings.Contains(got, string(resource.CondAgentTooOld)) {
		t.Errorf("the server has %q", got)
	}
}

// A Secret that cannot be used is a condition and nothing else, without a word of it;
// corrected, the claim goes on.
func TestUserDataInvalid(t *testing.T) {
	b, m, key := dataSite(t, canary+" is no user data") // a store that does not check
	if got := codes(b.claim("c1").Status.Conditions); !strings.Contains(got, string(resource.CondUserDataInvalid)) || b.configs() != 0 {
		t.Errorf("the claim has %q and %d configurations", got, b.configs())
	}
	for _, c := range b.claim("c1").Status.Conditions {
		if strings.Contains(c.Message, canary) {
			t.Errorf("it says %s", c.Message)
		}
	}
	b.apply(userDataSecret(ignite("core")))
	b.settles(m)
	b.settles(m)
	if got, err := b.pulled(m, key, m.name); err != nil || got != ignite("core") {
		t.Errorf("%q, %v", got, err)
	}
}

// A crash between sealing and the document is completed by the next start, with the
// same bytes.
func TestUserDataSealedAndDied(t *testing.T) {
	b, m, _ := dataSite(t, ignite(canary))
	key := sealKey(t)
	m.sealKey = key.Public()
	m.connects()
	b.dies("hub.ignition.sealed", b.pass)
	kept := b.store.Ignitions.Peek("c1")
	if kept == nil || kept.Key != sealbox.ID(key.Public()) {
		t.Fatalf("kept is %+v", kept)
	}
	m.connects()
	b.settles(m)
	if in := b.travels(m); in == nil || in.Sealed != kept.Sealed {
		t.Errorf("sealed twice: %+v", in)
	}
	if got, err := b.pulled(m, key, m.name); err != nil || got != ignite(canary) {
		t.Errorf("%q, %v", got, err)
	}
}
