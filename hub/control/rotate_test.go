package control

import (
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

// rotateSite is a secretSite whose BMC b1 uses the Secret alone, with an agent that has
// its account.
func rotateSite(t *testing.T) (*bench, *modern, *sealbox.Key) {
	t.Helper()
	b, m := secretSite(t)
	k := sealKey(t)
	m.sealKey = k.Public()
	m.connects()
	b.settles(m)
	return b, m, k
}

// opened is what the agent opens of its document.
func (b *bench) opened(m *modern, k *sealbox.Key) message.BMCCredentials {
	b.t.Helper()
	s := b.sealed(m)
	c, err := k.Open(sealbox.Binding{Agent: m.name, BMC: "b1", Secret: s.Secret, UID: s.UID, Version: s.Version}, s)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// has reports what became of the account in the document.
func (b *bench) accountIs(m *modern, k *sealbox.Key, state resource.AccountState) func() {
	return func() {
		b.t.Helper()
		s, r := b.sealed(m), off("n1")
		r.Account = &resource.AccountReport{Secret: s.Secret, UID: s.UID, Version: s.Version, Change: b.opened(m, k).Change, State: state, Reason: "why"}
		m.reports(r)
		b.pass()
	}
}

func (b *bench) rotation(name string) *resource.Rotation {
	b.t.Helper()
	s, err := store.Get[*resource.Secret](b.store.Objects, name)
	if err != nil {
		b.t.Fatal(err)
	}
	return s.Status.Rotation
}

// stored are the names in a Secret's data.
func (b *bench) stored(name string) resource.SecretData {
	b.t.Helper()
	s, err := b.store.Secrets.Get(name)
	if err != nil {
		b.t.Fatal(err)
	}
	data, err := b.control.cfg.Vault.Open(s)
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

// A change, with the hub killed after each write.
func TestRotateAfterACrash(t *testing.T) {
	b, m, k := rotateSite(t)
	before := b.opened(m, k)
	b.dies("hub.account.next", func() {
		_, err := b.control.Inventory.RotateBMC(ctx(t), "b1", api.RotateBMC{}, "admin")
		t.Errorf("it lives: %v", err)
	})
	m.connects()
	b.settles(m)
	next := b.opened(m, k)
	if next.BMCAccount != before.BMCAccount || next.Next == nil || next.Next.Username != "admin" || len(next.Next.Password) != resource.DefaultNewPassword {
		t.Fatalf("sent is %v", next)
	}
	if v, err := b.control.Inventory.RotateBMC(ctx(t), "b1", api.RotateBMC{}, "admin"); err != nil || v == nil || *b.opened(m, k).Next != *next.Next {
		t.Fatalf("the same again: %v", err)
	}
	stale := b.rotation("bmc").ID
	b.dies("hub.account.promote", b.accountIs(m, k, resource.AccountRotated))
	m.connects()
	b.settles(m)
	if now := b.opened(m, k); now.BMCAccount != *next.Next || now.Next != nil {
		t.Fatal("the next is not the account")
	}
	if data := b.stored("bmc"); string(data["former.password"]) != before.Password || b.rotation("bmc").State != resource.RotationPromoted {
		t.Fatal("the former account is gone before the agent said that it has the next alone")
	}
	b.dies("hub.account.forget", b.accountIs(m, k, resource.AccountInUse))
	if data := b.stored("bmc"); len(data) != 2 || string(data[resource.SecretPassword]) != next.Next.Password || b.rotation("bmc").State != resource.RotationDone {
		t.Fatalf("%d values, %+v", len(data), b.rotation("bmc"))
	}

	// What is said of an earlier change says nothing of the next one.
	m.connects()
	b.settles(m)
	if _, err := b.control.Inventory.RotateBMC(ctx(t), "b1", api.RotateBMC{}, "admin"); err != nil {
		t.Fatal(err)
	}
	b.settles(m)
	s, r := b.sealed(m), off("n1")
	r.Account = &resource.AccountReport{Secret: s.Secret, UID: s.UID, Version: s.Version, Change: stale, State: resource.AccountRotated}
	m.reports(r)
	b.pass()
	if got := b.rotation("bmc"); got.State != resource.RotationUnderWay {
		t.Fatalf("%+v", got)
	}
	b.dies("hub.account.roll-back", b.accountIs(m, k, resource.AccountKept))
	m.connects()
	b.settles(m)
	if now := b.opened(m, k); now.BMCAccount != *next.Next || now.Next != nil || len(b.stored("bmc")) != 2 {
		t.Error("it is not rolled back")
	}
	if got := codes(b.bmc("b1").Status.Conditions); !strings.Contains(got, string(resource.CondRotationFailed)) {
		t.Errorf("the BMC has %q", got)
	}
}

// Both accounts are kept where the BMC refuses both; a person ends it.
func TestRotateLost(t *testing.T) {
	b, m, k := rotateSite(t)
	if _, err := b.control.Inventory.RotateBMC(ctx(t), "b1", api.RotateBMC{}, "admin"); err != nil {
		t.Fatal(err)
	}
	b.settles(m)
	b.dies("hub.account.lose", b.accountIs(m, k, resource.AccountLost))
	if data := b.stored("bmc"); len(data["next.password"]) == 0 || len(data[resource.SecretPassword]) == 0 {
		t.Error("one of them is gone")
	}
	if _, err := b.control.Inventory.RotateBMC(ctx(t), "b1", api.RotateBMC{}, "admin"); protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
		t.Errorf("once more: %v", err)
	}
	b.apply(bmcSecret(canary + "-2"))
	if b.rotation("bmc") != nil || len(b.stored("bmc")) != 2 {
		t.Error("a person's write does not end it")
	}
}

// A BMC gets a Secret of its own from the agent's file, and loses it where that fails.
func TestOwnAfterACrash(t *testing.T) {
	b, m, k := rotateSite(t)
	b.apply(storetest.BMC("b1", "r1"))
	b.settles(m)
	if _, err := b.control.Inventory.RotateBMC(ctx(t), "b1", api.RotateBMC{}, "admin"); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(protocol.HintOf(err), "bmc own") {
		t.Errorf("a local account: %v", err)
	}
	own := api.RotateBMC{Own: true, User: "rackboot"}
	for _, point := range []string{"hub.account.next", "hub.account.own"} {
		b.dies(point, func() {
			_, err := b.control.Inventory.RotateBMC(ctx(t), "b1", own, "admin")
			t.Errorf("it lives: %v", err)
		})
		m.connects()
		b.settles(m)
	}
	sent := b.opened(m, k)
	if b.bmc("b1").Spec.CredentialsRef != "secret:bmc-b1" || sent.Local == "" || sent.Username != "" || sent.Next == nil || sent.Next.Username != "rackboot" {
		t.Fatalf("it has %s, sent is %v", b.bmc("b1").Spec.CredentialsRef, sent)
	}
	b.dies("hub.account.back", b.accountIs(m, k, resource.AccountKept))
	m.connects()
	b.settles(m)
	v := b.bmc("b1")
	if resource.LocalOf(v.Spec.CredentialsRef) != sent.Local || !strings.Contains(codes(v.Status.Conditions), string(resource.CondRotationFailed)) {
		t.Errorf("it has %s and %q", v.Spec.CredentialsRef, codes(v.Status.Conditions))
	}
	if _, err := store.Get[*resource.Secret](b.store.Objects, "bmc-b1"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("its Secret is still there: %v", err)
	}
}
