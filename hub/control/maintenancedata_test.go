package control

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/hub/events"
	"rackboot/hub/grants"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/protocol/sealbox"
)

func firmwareWithData(name string) *resource.Maintenance {
	m := firmwareUpdate(name, resource.MaintenanceEnforced)
	m.Spec.Boot.IgnitionSecretRef = &resource.Ref{Name: "node"}
	return m
}

// maintainedSite is a site with an agent that opens user data, and a maintenance of n1
// that names some.
func maintainedSite(t *testing.T, content string) (*bench, *modern, *sealbox.Key) {
	t.Helper()
	return dataSiteOf(t, content, firmwareWithData("m1"))
}

// A maintenance's user data is as a claim's: fixed when it begins, sealed for the agent
// and bound to the maintenance, sealed again for another key although it has been booted,
// since each of its boots is from the network, and gone with it.
func TestMaintenanceUserData(t *testing.T) {
	b, m, key := maintainedSite(t, ignite(canary))
	uid := b.maintenance("m1").Metadata.UID
	opened := func(key *sealbox.Key) string {
		t.Helper()
		in := b.travels(m)
		if in == nil || in.Sealed == "" {
			t.Fatalf("%+v travels", in)
		}
		got, err := b.control.Env.Ignition(ctx(t), api.IgnitionRequest{Sealed: in.Sealed}, m.name)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := key.OpenIgnition(sealbox.IgnitionBinding{Agent: m.name, Server: "n1", OwnerUID: uid, IgnitionRef: in.Ref()}, got.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(plain)
	}
	if got := opened(key); got != ignite(canary) {
		t.Errorf("%q", got)
	}
	cfg, err := store.Get[*resource.BootConfiguration](b.store.Objects, grants.MaintenanceName(uid))
	if err != nil || cfg.Spec.Ignition == nil {
		t.Fatalf("%+v, %v", cfg, err)
	}
	cfg.Status.SignedProvisioned = []byte("a record of its first boot")
	if err := b.store.Objects.Put(ctx(t), cfg); err != nil {
		t.Fatal(err)
	}
	next := sealKey(t)
	m.sealKey = next.Public()
	m.connects()
	b.settles(m)
	b.settles(m)
	if got := opened(next); got != ignite(canary) {
		t.Errorf("for another key: %q", got)
	}

	// Another version of the Secret changes nothing that runs, and is said.
	b.apply(userDataSecret(ignite("other")))
	b.settles(m)
	if got := opened(next); got != ignite(canary) {
		t.Errorf("after another version: %q", got)
	}
	one := b.maintenance("m1")
	b.control.Status.Decorate(one)
	if got := codes(one.Status.Conditions); !strings.Contains(got, string(resource.CondReprovisionRequired)) {
		t.Errorf("after another version it has %q", got)
	}
	if _, err := b.store.Delete(ctx(t), resource.KindSecret, "node"); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("the Secret is deleted under it: %v", err)
	}

	if _, err := b.store.Delete(ctx(t), resource.KindMaintenance, "m1"); err != nil {
		t.Fatal(err)
	}
	b.settles(m)
	r := off("n1")
	r.OwnerUID, r.Released = uid, true
	m.reports(r)
	b.settles(m)
	b.settles(m)
	if v := b.store.Ignitions.Peek(grants.MaintenanceName(uid)); v != nil {
		t.Errorf("what was sealed is kept: %+v", v)
	}
	if ops := b.trail.of("Maintenance/m1"); !slices.Equal(ops, []string{"maintain", "maintain", "maintain"}) {
		t.Errorf("the audit log has %v", ops)
	}
	last := b.trail.entries[len(b.trail.entries)-1]
	if last.Caller != events.HubName || last.Detail != "server n1: m1 has ended; the server is Available" {
		t.Errorf("the last entry is %+v", last)
	}
	for _, e := range b.trail.entries {
		if strings.Contains(e.Detail, canary) {
			t.Errorf("entry %+v", e)
		}
	}
}

// User data that cannot be used is an event on the maintenance and nothing else: it is
// known before the server is taken.
func TestMaintenanceUserDataInvalid(t *testing.T) {
	b, m, key := maintainedSite(t, canary+" is no user data") // a store that does not check
	s := b.maintenance("m1").Status
	if s.State != resource.MaintenanceError || !strings.HasPrefix(s.Message, "UserDataInvalid: ") || strings.Contains(s.Message, canary) || b.configs() != 0 {
		t.Fatalf("%+v, %d configurations", s, b.configs())
	}
	if in := m.intent("n1"); in.Owner.UID != "" || in.Power != "" {
		t.Errorf("%+v", in)
	}
	b.apply(userDataSecret(ignite("core")))
	b.settles(m)
	b.settles(m)
	if s := b.maintenance("m1").Status; s.State != resource.MaintenanceActive || s.Message != "" {
		t.Errorf("after the correction %+v", s)
	}
	if in := b.travels(m); in == nil || in.Sealed == "" {
		t.Errorf("%+v travels to the holder of %v", in, key.Public())
	}
}

// An agent that has given no key: the maintenance has the server, and says what it waits
// for.
func TestMaintenanceUserDataNotSealed(t *testing.T) {
	b := newBench(t, &movingTag{})
	b.kek = strings.Repeat("5e", 32)
	b.restart()
	b.apply(append(storetest.Site(), userDataSecret(ignite("core")))...)
	m := b.modern(b.join("r1"))
	m.connects()
	b.apply(firmwareWithData("m1"))
	for range 4 {
		b.settles(m)
	}
	if s := b.maintenance("m1").Status; s.State != resource.MaintenanceActive || !strings.HasPrefix(s.Message, "UserDataNotSealed: agent ") {
		t.Errorf("%+v", s)
	}
	m.sealKey = sealKey(t).Public()
	m.connects()
	b.settles(m)
	b.settles(m)
	if s := b.maintenance("m1").Status; s.Message != "" || b.travels(m).Sealed == "" {
		t.Errorf("with a key: %+v, %+v", s, b.travels(m))
	}
}

// Where one stands, of those that wait for the same server.
func TestMaintenancePosition(t *testing.T) {
	b, m := modernSite(t)
	for _, name := range []string{"m1", "m2", "m3"} {
		one := firmwareUpdate(name, resource.MaintenanceEnforced)
		if name == "m3" {
			one.Spec.Priority = 5
		}
		b.apply(one)
		b.settles(m)
	}
	for name, want := range map[string]int{"m1": 0, "m2": 2, "m3": 1} {
		if s := b.maintenance(name).Status; s.Position != want || (want == 0) != (s.State == resource.MaintenanceActive) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	const want = `
# HELP rackboot_hub_maintenances Maintenances by state.
# TYPE rackboot_hub_maintenances gauge
rackboot_hub_maintenances{state="Active"} 1
rackboot_hub_maintenances{state="AwaitingApproval"} 0
rackboot_hub_maintenances{state="Denied"} 0
rackboot_hub_maintenances{state="Error"} 0
rackboot_hub_maintenances{state="Queued"} 2
`
	if err := testutil.GatherAndCompare(b.reg, strings.NewReader(want), "rackboot_hub_maintenances"); err != nil {
		t.Error(err)
	}
	if got := told(b, resource.EventMaintenance); len(got) != 4 { // a place in the queue is none
		t.Errorf("events %v", got)
	}
}
