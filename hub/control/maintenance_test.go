package control

import (
	"strings"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

func (b *bench) maintenance(name string) *resource.Maintenance {
	b.t.Helper()
	m, err := store.Get[*resource.Maintenance](b.store.Objects, name)
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

func firmwareUpdate(name string, p resource.MaintenancePolicy) *resource.Maintenance {
	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{
		ServerRef: resource.Ref{Name: "n1"}, Policy: p, Reason: "BIOS 2.1",
		Boot: resource.MaintenanceBoot{Image: "registry.example/fw:1", BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP}},
	}}
	m.Metadata.Name = name
	m.Default()
	return m
}

// intent is a server's entry in the newest documents that the agent was sent.
func (m *modern) intent(server string) message.ServerIntent {
	m.b.t.Helper()
	var d message.RackDoc
	m.listens()
	if err := wire.Open(m.hub, message.TopicDown(m.name, "rack/0"), m.bodies["rack/0"], &d); err != nil {
		m.b.t.Fatal(err)
	}
	for _, s := range d.Servers {
		if s.Server == server {
			return s
		}
	}
	m.b.t.Fatalf("no entry of %s", server)
	return message.ServerIntent{}
}

// told are the messages of events of a code.
func told(b *bench, code resource.EventCode) (out []string) {
	for _, e := range b.control.Events.After(0, 1000) {
		if e.Code == code {
			out = append(out, e.Message)
		}
	}
	return out
}

// The seed's table of lifetimes: a claim, a maintenance and a new claim own one boot
// configuration each; a claim's is as it was after a maintenance; deletion takes one's
// own. Discovery is not among them yet.
func TestLifetimesOfConfigurations(t *testing.T) {
	b, m := modernSite(t)
	names := func() string {
		var out []string
		for _, c := range store.List[*resource.BootConfiguration](b.store.Objects) {
			out = append(out, string(c.Spec.Owner.Kind)+":"+c.Spec.Owner.Name)
		}
		return strings.Join(out, " ")
	}
	step := func(when, want string) {
		t.Helper()
		b.pass()
		m.listens()
		b.pass()
		if got := names(); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	released := func() {
		t.Helper()
		in := m.intent("n1")
		r := off("n1")
		r.OwnerUID, r.Released = in.Owner.UID, true
		if !in.Releasing {
			t.Fatalf("it is not asked to release: %+v", in)
		}
		m.reports(r)
	}
	b.apply(storetest.Claim("c1", "n1"))
	step("new claim", "claim:c1")
	claim := b.claim("c1").Metadata.UID
	was, err := store.Get[*resource.BootConfiguration](b.store.Objects, "c1")
	if err != nil {
		t.Fatal(err)
	}

	b.apply(firmwareUpdate("m1", resource.MaintenanceOwnerApproval))
	step("asks the owner", "claim:c1")
	if in := m.intent("n1"); b.maintenance("m1").Status.State != resource.MaintenanceAwaitingApproval || in.Owner.UID != claim {
		t.Fatalf("%+v %+v", b.maintenance("m1").Status, in)
	}
	if _, err := b.store.Maintenances.Judge(ctx(t), "m1", resource.MaintenanceApproval{By: "ann", Reason: " "}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("without a reason: %v", err)
	}
	if _, err := b.store.Maintenances.Judge(ctx(t), "m1", resource.MaintenanceApproval{By: "ann", Reason: "go on"}); err != nil {
		t.Fatal(err)
	}
	step("maintenance", "claim:c1 maintenance:m1")
	in := m.intent("n1")
	uid := b.maintenance("m1").Metadata.UID
	if in.Owner.UID != uid || in.Owner.Kind != resource.PurposeMaintenance || !in.PowerCycle || in.Boot == nil || in.Boot.Owner.Kind != resource.PurposeMaintenance {
		t.Fatalf("%+v", in)
	}
	var g message.Grant
	if err := wire.Open(m.hub, wire.FactGrant, in.Boot.Grant, &g); err != nil || !g.Repeat || g.Purpose != resource.PurposeMaintenance || g.OwnerUID != uid {
		t.Fatalf("grant %+v: %v", g, err)
	}
	if _, err := b.store.Maintenances.Judge(ctx(t), "m1", resource.MaintenanceApproval{By: "ann", Reason: "no", Denied: true}); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("denied after it began: %v", err)
	}
	s, err := store.Get[*resource.Server](b.store.Objects, "n1")
	if err != nil {
		t.Fatal(err)
	}
	if b.control.Status.Decorate(s); s.Status.Phase != resource.PhaseMaintenance {
		t.Errorf("phase %s", s.Status.Phase)
	}

	if _, err := b.store.Delete(ctx(t), resource.KindMaintenance, "m1"); err != nil {
		t.Fatal(err)
	}
	step("maintenance ends", "claim:c1 maintenance:m1")
	released()
	step("maintenance has ended", "claim:c1")
	if in := m.intent("n1"); in.Owner.UID != claim || in.Boot == nil || in.Releasing {
		t.Fatalf("back at the claim: %+v", in)
	}
	if is, err := store.Get[*resource.BootConfiguration](b.store.Objects, "c1"); err != nil || is.Metadata.UID != was.Metadata.UID || string(is.Spec.Grant) != string(was.Spec.Grant) {
		t.Errorf("the claim's configuration has changed: %v", err)
	}

	// The claim is deleted under a maintenance: it ends after it.
	b.apply(firmwareUpdate("m2", resource.MaintenanceEnforced))
	step("enforced", "claim:c1 maintenance:m2")
	if _, err := b.store.Claims.Delete(ctx(t), "c1", store.HoldRelease{}); err != nil {
		t.Fatal(err)
	}
	step("claim deleted under it", "claim:c1 maintenance:m2")
	if _, err := b.store.Delete(ctx(t), resource.KindMaintenance, "m2"); err != nil {
		t.Fatal(err)
	}
	step("both end", "claim:c1 maintenance:m2")
	released()
	step("the claim ends now", "claim:c1")
	released()
	step("Available", "")

	b.apply(storetest.Claim("c1", "n1"))
	step("new claim of the same name", "claim:c1")
	if is, err := store.Get[*resource.BootConfiguration](b.store.Objects, "c1"); err != nil || is.Status.Provisioned != nil || is.Metadata.UID == was.Metadata.UID {
		t.Errorf("%+v %v", is, err)
	}
	got := strings.Join(told(b, resource.EventMaintenance), "\n")
	for _, want := range []string{"m1 is AwaitingApproval: server n1 has claim c1", "m1 is Active", "m1 has ended; the server is Reserved", "m2 is Active", "m2 has ended"} {
		if !strings.Contains(got, want) {
			t.Errorf("no event %q in\n%s", want, got)
		}
	}
}

// An image that cannot be booted is an event on the maintenance and nothing else.
func TestMaintenanceImage(t *testing.T) {
	images := &flakyRegistry{bare: true}
	b := newBench(t, images)
	b.apply(storetest.Site()...)
	m := b.modern(b.join("r1"))
	m.connects()
	b.pass()
	m.listens()
	b.apply(firmwareUpdate("m1", resource.MaintenanceEnforced))
	b.pass()
	b.pass()
	if s := b.maintenance("m1").Status; s.State != resource.MaintenanceError || !strings.HasPrefix(s.Message, "ImageInvalid: ") {
		t.Fatalf("%+v", s)
	}
	if in := m.intent("n1"); b.configs() != 0 || in.Owner.UID != "" || in.Power != "" {
		t.Errorf("%d configurations, %+v", b.configs(), in)
	}
	if got := told(b, resource.EventMaintenance); !strings.Contains(strings.Join(got, "\n"), "m1 is Error: ImageInvalid") {
		t.Errorf("events %v", got)
	}
	images.bare = false
	b.now = b.now.Add(2*time.Second + time.Second)
	b.pass()
	b.pass()
	if s := b.maintenance("m1").Status; s.State != resource.MaintenanceActive || b.configs() != 1 {
		t.Errorf("after the correction %+v, %d configurations", s, b.configs())
	}

	// One that has not begun is deleted at once, and nothing is asked for it any more.
	b.apply(firmwareUpdate("m2", resource.MaintenanceEnforced))
	b.pass()
	if s := b.maintenance("m2").Status; s.State != resource.MaintenanceQueued || s.Message != "server n1 has maintenance m1" {
		t.Errorf("%+v", s)
	}
	if _, err := b.store.Delete(ctx(t), resource.KindMaintenance, "m2"); err != nil {
		t.Fatal(err)
	}
	b.pass()
	if n := b.control.boots.images.Remembered(); n != 1 {
		t.Errorf("%d images are remembered for one maintenance", n)
	}
}
