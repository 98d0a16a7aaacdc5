package control

import (
	"strings"
	"testing"
	"time"

	"rackboot/hub/approval"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
)

// wipeSite is a site that wants an approval of one for each wipe, with a maintenance that
// discards the disks of n1.
func wipeSite(t *testing.T, approvers int) (*bench, *modern) {
	t.Helper()
	b, m, _ := envSite(t)
	if approvers > 0 {
		b.policy = approval.Policy{resource.ApproveWipe: approvers}
	}
	return wipeSiteOf(t, b, m)
}

// wipeSiteOf starts the hub, with a maintenance that discards the disks of n1.
func wipeSiteOf(t *testing.T, b *bench, m *modern) (*bench, *modern) {
	t.Helper()
	b.restart()
	m.connects()
	b.settles(m)
	b.apply(debianEnv("decommission", func(s *resource.BootEnvSpec) { s.Destructive = true }))
	b.apply(envObject(&resource.Maintenance{Spec: resource.MaintenanceSpec{
		ServerRef: resource.Ref{Name: "n1"}, Reason: "sold", Boot: resource.MaintenanceBoot{BootEnv: &resource.Ref{Name: "decommission"}},
	}}, "m1"))
	for range 3 {
		b.settles(m)
	}
	return b, m
}

func (b *bench) maintenanceNow() resource.MaintenanceStatus {
	b.t.Helper()
	m, err := store.Get[*resource.Maintenance](b.store.Objects, "m1")
	if err != nil {
		b.t.Fatal(err)
	}
	return m.Status
}

func (b *bench) maintenanceUID() string {
	b.t.Helper()
	m, err := store.Get[*resource.Maintenance](b.store.Objects, "m1")
	if err != nil {
		b.t.Fatal(err)
	}
	return m.Metadata.UID
}

// Nothing is made for a maintenance that wipes before the class is approved.
func TestWipeApproved(t *testing.T) {
	b, m := wipeSite(t, 1)
	if s := b.maintenanceNow(); s.State != resource.MaintenanceQueued || !strings.Contains(s.Message, "rackctl approve list") || b.boot(m) != nil {
		t.Fatalf("%+v", s)
	}
	r := b.one(resource.ApprovalPending)
	if r.Class != resource.ApproveWipe || len(r.Targets) != 1 || r.Targets[0] != "n1" || len(r.Asked) != 1 || r.Asked[0] == "" || !strings.Contains(r.Reason, "sold") {
		t.Errorf("%+v", r)
	}
	if want := (resource.ApprovedBoot{Server: "n1", Owner: b.maintenanceUID(), BootEnv: "decommission"}); len(r.Boots) != 1 || r.Boots[0] != want {
		t.Errorf("approves %+v, not %+v", r.Boots, want)
	}
	if _, err := b.grant(r, "alice"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		b.settles(m)
	}
	if in := b.boot(m); b.maintenanceNow().State != resource.MaintenanceActive || in == nil || in.Env == nil || in.Env.Name != "decommission" {
		t.Errorf("%+v, %+v", b.maintenanceNow(), in)
	}
}

// A wipe that is refused is not asked for again before the maintenance is changed.
func TestWipeDenied(t *testing.T) {
	b, m := wipeSite(t, 1)
	r := b.one(resource.ApprovalPending)
	if _, err := b.control.Approvals.Deny(ctx(t), r.ID, "alice", "not this one", true); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		b.settles(m)
	}
	if s := b.maintenanceNow(); s.State != resource.MaintenanceDenied || b.boot(m) != nil || len(b.approvals(resource.ApprovalPending)) > 0 {
		t.Errorf("%+v, %+v", s, b.approvals(resource.ApprovalPending))
	}
}

// Where the class needs no approval, the right to apply it was judged when it came.
func TestWipeWithoutApproval(t *testing.T) {
	b, m := wipeSite(t, 0)
	if in := b.boot(m); in == nil || in.Env == nil {
		t.Errorf("%+v", b.maintenanceNow())
	}
}

// The approval of a maintenance is not that of a later one of the same server and name.
func TestWipeApprovedForOne(t *testing.T) {
	b, m := wipeSite(t, 1)
	r := b.one(resource.ApprovalPending)
	if _, err := b.grant(r, "alice"); err != nil {
		t.Fatal(err)
	}
	old, err := store.Get[*resource.Maintenance](b.store.Objects, "m1")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.store.Objects.Remove(ctx(t), old); err != nil {
		t.Fatal(err)
	}
	b.apply(envObject(&resource.Maintenance{Spec: old.Spec}, "m1"))
	for range 3 {
		b.settles(m)
	}
	if s := b.maintenanceNow(); s.State != resource.MaintenanceQueued || b.boot(m) != nil {
		t.Errorf("%+v", s)
	}
	if again := b.one(resource.ApprovalPending); again.Boots[0].Owner != b.maintenanceUID() || again.Boots[0].Owner == r.Boots[0].Owner {
		t.Errorf("%+v", again.Boots)
	}
}

// Where the agent knows a destructive key the approval travels to it, signed. If it ended
// before the boot began, the agent says so and another one is asked for; if that is denied,
// none any more.
func TestWipeTravels(t *testing.T) {
	b, m, _ := envSite(t)
	b.knowsDestructive(m, false)
	wipeSiteOf(t, b, m)
	if _, err := b.grant(b.one(resource.ApprovalPending), "alice"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		b.settles(m)
	}
	if got := m.carried(); len(got) != 1 || got[0].Class != resource.ApproveWipe || got[0].Boots[0].Owner != b.maintenanceUID() || len(got[0].Validate()) > 0 {
		t.Fatalf("carried: %+v", got)
	}
	if b.maintenanceNow().State != resource.MaintenanceActive {
		t.Fatalf("%+v", b.maintenanceNow())
	}
	b.now = b.now.Add(time.Hour + time.Second)
	waits := off("n1")
	waits.OwnerUID, waits.Conditions = b.maintenanceUID(), []resource.ConditionState{{Code: resource.CondWipeNotApproved}}
	look := func() {
		m.connects()
		m.reports(waits, off("n2"))
		b.pass()
		b.pass()
	}
	look()
	r := b.one(resource.ApprovalPending)
	if len(r.Boots) != 1 || r.Boots[0].Owner != b.maintenanceUID() {
		t.Fatalf("%+v", r)
	}
	if _, err := b.control.Approvals.Deny(ctx(t), r.ID, "alice", "too late", true); err != nil {
		t.Fatal(err)
	}
	look()
	if open := b.approvals(resource.ApprovalPending); len(open) > 0 || b.maintenanceNow().State != resource.MaintenanceActive {
		t.Errorf("asked again after it was denied: %+v, %+v", open, b.maintenanceNow())
	}
}

// A claim whose agent does not install it again without an approval is asked for.
func TestInstallAgainIsAskedFor(t *testing.T) {
	b, m := approvalSite(t, false)
	b.apply(storetest.Claim("c1", "n1"))
	b.pass()
	b.pass()
	m.listens()
	uid := b.claim("c1").Metadata.UID
	waits := off("n1")
	waits.OwnerUID, waits.Conditions = uid, []resource.ConditionState{{Code: resource.CondInstallNotApproved}}
	m.reports(waits, off("n2"))
	b.pass()
	r := b.one(resource.ApprovalPending)
	if r.Class != resource.ApproveReprovision || len(r.Boots) != 1 || r.Boots[0] != (resource.ApprovedBoot{Server: "n1", Owner: uid}) {
		t.Fatalf("%+v", r)
	}
	if _, err := b.grant(r, "alice"); err != nil {
		t.Fatal(err)
	}
	b.pass()
	m.listens()
	if got := m.carried(); len(got) != 1 || got[0].Boots[0].Owner != uid {
		t.Errorf("carried: %+v", got)
	}
	m.reports(waits, off("n2"))
	b.pass()
	if open := b.approvals(resource.ApprovalPending); len(open) > 0 {
		t.Errorf("asked again while it travels: %+v", open)
	}
}
