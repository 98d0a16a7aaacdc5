package control

import (
	"strings"
	"testing"
	"time"

	"rackboot/hub/images"
	"rackboot/hub/plan"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// discoverySite is a site whose rack discovers n1 and n2, with an agent in step.
func discoverySite(t *testing.T, images images.Registry, change func(*resource.RackDiscovery)) (*bench, *modern) {
	t.Helper()
	b := newBench(t, images)
	objs := storetest.Site()
	r := objs[0].(*resource.Rack)
	r.Spec.Discovery = &resource.RackDiscovery{Image: "registry.example/probe:1"}
	r.Default()
	if change != nil {
		change(r.Spec.Discovery)
	}
	b.apply(objs...)
	m := b.modern(b.join("r1"))
	m.connects()
	b.pass()
	m.listens()
	b.pass()
	return b, m
}

// discovery is the configuration of a server's discovery; nil is none.
func (b *bench) discovery(server string) *resource.BootConfiguration {
	b.t.Helper()
	cfg, err := store.Get[*resource.BootConfiguration](b.store.Objects, plan.DiscoveryName(b.server(server)))
	if protocol.CodeOf(err) == protocol.CodeNotFound {
		return nil
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return cfg
}

// shown is a server as people see it.
func (b *bench) shown(server string) *resource.Server {
	s := b.server(server)
	b.control.Status.Decorate(s)
	return s
}

func hostOf() *protocol.HostInventory {
	return &protocol.HostInventory{MemoryBytes: 64 << 30, Disks: []protocol.HostDisk{{Name: "sda", Bytes: 1 << 40}}}
}

// found is a report that the image has reported.
func found(uid string) resource.ServerReport {
	r := off("n1")
	r.OwnerUID = uid
	r.Attempt = &resource.AttemptReport{ID: "a1", State: resource.AttemptSucceeded, Number: 1, Intended: protocol.TargetPxe, Observed: protocol.TargetUefiHTTP, Evidence: protocol.EvidenceDiscovered}
	r.Image = &protocol.ImageReport{State: protocol.ProbeDiscovered, At: time.Date(2026, 11, 20, 9, 5, 0, 0, time.UTC), Digest: "sha256:i", Bytes: 40, Inventory: hostOf()}
	return r
}

// Seed 000, Discovery lifecycle; facts boot-policy row 4: always Pxe, by a configuration
// of its own, which is gone before the server is Available. The hub dies after each of
// its writes.
func TestDiscoveryLifecycle(t *testing.T) {
	for _, die := range []string{"", "hub.discovery.configured", "hub.discovery.kept", "hub.discovery.ends", "hub.discovery.unconfigured"} {
		t.Run("dies at "+die, func(t *testing.T) {
			b, m := discoverySite(t, &movingTag{}, func(d *resource.RackDiscovery) { d.MaxAttempts = 5 })
			step := func(point string) {
				t.Helper()
				if die == point && die != "" {
					b.dies(point, b.pass)
					m.connects()
				}
				b.pass()
				m.listens()
				b.pass()
			}
			if die == "hub.discovery.configured" {
				if _, err := b.store.Delete(ctx(t), resource.KindServer, "n1"); err != nil {
					t.Fatal(err)
				}
				b.apply(storetest.Server("n1", "b1", "boot", "52:54:00:00:00:01"))
			}
			step("hub.discovery.configured")
			cfg := b.discovery("n1")
			if cfg == nil || cfg.Spec.Owner.Kind != resource.PurposeDiscovery || cfg.Spec.BootPolicy.FirstBoot != resource.FirstBootPxe {
				t.Fatalf("%+v", cfg)
			}
			in := m.intent("n1")
			if in.Owner.UID != cfg.Spec.Owner.UID || in.Power != resource.WantOn || in.PowerCycle || in.Boot == nil || in.Boot.BootPolicy.FirstBoot != resource.FirstBootPxe {
				t.Fatalf("%+v", in)
			}
			var g message.Grant
			if err := wire.Open(m.hub, wire.FactGrant, in.Boot.Grant, &g); err != nil || g.Repeat || g.Purpose != resource.PurposeDiscovery || g.MaxAttempts != 5 || g.FirstBoot != resource.FirstBootPxe {
				t.Fatalf("grant %+v: %v", g, err)
			}
			if s := b.shown("n1"); s.Status.Phase != resource.PhaseDiscovery || s.Status.Claim != "" {
				t.Errorf("%+v", s.Status)
			}
			b.apply(storetest.Claim("c1", "n1"))
			b.pass()
			if c := b.claim("c1"); c.Status.Server != "" || !strings.Contains(c.Status.Conditions[0].Message, "not discovered yet") {
				t.Errorf("%+v", c.Status)
			}

			late := found(cfg.Spec.Owner.UID)
			late.Image.Inventory = nil
			m.reports(late)
			step("none")
			if b.discovery("n1") == nil || b.server("n1").Status.Discovered != nil {
				t.Error("it has ended before the inventory has come")
			}
			m.reports(found(cfg.Spec.Owner.UID))
			if die == "hub.discovery.ends" {
				step(die) // in the same pass
			} else {
				step("hub.discovery.kept")
			}
			d := b.server("n1").Status.Discovered
			if d == nil || d.Inventory == nil || d.Inventory.MemoryBytes != 64<<30 || d.Method != protocol.TargetUefiHTTP || d.ImageDigest != cfg.Spec.Image.Digest || d.UID != cfg.Spec.Owner.UID {
				t.Fatalf("%+v", d)
			}
			if in := m.intent("n1"); !in.Releasing || in.Owner.UID != cfg.Spec.Owner.UID || in.Boot != nil || b.shown("n1").Status.Phase == resource.PhaseAvailable {
				t.Fatalf("it does not end: %+v", in)
			}
			if c := b.claim("c1"); c.Status.Server != "" {
				t.Error("bound before it was proved Off")
			}
			if _, err := b.store.Claims.Delete(ctx(t), "c1", store.HoldRelease{}); err != nil {
				t.Fatal(err)
			}
			r := off("n1")
			r.OwnerUID, r.Released = cfg.Spec.Owner.UID, true
			m.reports(r)
			step("hub.discovery.unconfigured")
			if b.discovery("n1") != nil {
				t.Fatal("the configuration is left")
			}
			m.reports(off("n1"))
			s := b.shown("n1")
			if in := m.intent("n1"); in.Owner.UID != "" || in.Power != "" || in.Discovery != "" || s.Status.Phase != resource.PhaseAvailable || s.Status.Discovered == nil {
				t.Errorf("%+v; %s", in, s.Status.Phase)
			}
			b.apply(storetest.Claim("c1", "n1"))
			b.pass()
			if b.claim("c1").Status.Server != "n1" {
				t.Errorf("%+v", b.claim("c1").Status)
			}
			if _, err := b.control.Owners.Discovery.Discover(ctx(t), "n1", "ann"); protocol.CodeOf(err) != protocol.CodeConflict {
				t.Errorf("discovered again under a claim: %v", err)
			}
		})
	}
}

// Facts boot-policy row 25: a discovery that was given up is so until somebody asks.
func TestDiscoveryGivenUp(t *testing.T) {
	b, m := discoverySite(t, &movingTag{}, nil)
	first := b.discovery("n1").Spec.Owner.UID
	r := off("n1")
	r.OwnerUID = first
	r.Conditions = []resource.ConditionState{{Code: resource.CondDiscoveryFailed, Message: "3 of 3 attempts; the last: NoDHCP: nobody asked"}}
	m.reports(r)
	b.dies("hub.discovery.given-up", b.pass)
	m.connects()
	b.pass()
	m.listens()
	r.Conditions, r.Released = nil, true
	m.reports(r)
	b.pass()
	b.pass()
	m.listens()
	m.reports(off("n1"))
	for range 3 {
		b.now = b.now.Add(time.Hour)
		b.pass()
	}
	s := b.shown("n1")
	if b.discovery("n1") != nil || s.Status.Phase != resource.PhaseError || !strings.Contains(codes(s.Status.Conditions), "DiscoveryFailed") ||
		!strings.HasPrefix(s.Status.Discovery.Reason, "3 of 3 attempts; the last: NoDHCP") {
		t.Fatalf("%s %s", s.Status.Phase, codes(s.Status.Conditions))
	}
	b.apply(storetest.Claim("c1", "n1"))
	b.pass()
	if c := b.claim("c1"); c.Status.Server != "" || !strings.Contains(c.Status.Conditions[0].Message, "was given up") {
		t.Errorf("%+v", c.Status)
	}
	b.dies("hub.discovery.asked", func() { _, _ = b.control.Owners.Discovery.Discover(ctx(t), "n1", "ann") })
	if s, err := b.control.Owners.Discovery.Discover(ctx(t), "n1", "bob"); err != nil || s.Status.Discovery.AskedBy != "ann" {
		t.Errorf("asked again: %+v, %v", s, err)
	}
	m.connects()
	b.pass()
	if cfg := b.discovery("n1"); cfg == nil || cfg.Spec.Owner.UID == first {
		t.Errorf("%+v", cfg)
	}
	if got := strings.Join(told(b, resource.EventDiscovery), "; "); !strings.Contains(got, "has ended") {
		t.Error(got)
	}
}

// A failing image is a condition and an event, and nothing else.
func TestDiscoveryImage(t *testing.T) {
	images := &flakyRegistry{bare: true}
	b, m := discoverySite(t, images, nil)
	s := b.shown("n1")
	if in := m.intent("n1"); b.configs() != 0 || in.Owner.UID != "" || in.Power != "" || !strings.Contains(codes(s.Status.Conditions), "ImageInvalid") || s.Status.Phase != resource.PhaseInitial {
		t.Fatalf("%d configurations, %+v, %s %s", b.configs(), in, s.Status.Phase, codes(s.Status.Conditions))
	}
	b.pass()
	if got := told(b, resource.EventDiscovery); len(got) != 2 || !strings.HasPrefix(got[0], "waits: ImageInvalid") { // n1 and n2
		t.Errorf("%q", got)
	}
	images.bare = false
	b.now = b.now.Add(2*time.Second + time.Second)
	b.pass()
	b.pass()
	if s := b.shown("n1"); b.configs() != 2 || strings.Contains(codes(s.Status.Conditions), "ImageInvalid") {
		t.Errorf("%d configurations, %s", b.configs(), codes(s.Status.Conditions))
	}
	if images.asked != 2 || b.control.boots.images.Remembered() != 1 {
		t.Errorf("the registry was asked %d times for one image; %d are remembered", images.asked, b.control.boots.images.Remembered())
	}
	for _, name := range []string{"n1", "n2"} { // as if both were done
		s := b.server(name)
		s.Status.Discovered = &resource.Discovered{}
		if err := b.store.Objects.Put(ctx(t), s); err != nil {
			t.Fatal(err)
		}
	}
	b.pass()
	if n := b.control.boots.images.Remembered(); n != 0 {
		t.Errorf("%d images are remembered for nobody", n)
	}
}

// An agent that cannot, and one that has lost its disk in the middle.
func TestDiscoveryAndTheAgent(t *testing.T) {
	b, m := discoverySite(t, &movingTag{}, nil)
	first := b.discovery("n1")
	if first.Status.GrantFor != m.incarnation {
		t.Fatalf("%+v", first.Status)
	}
	m.incarnation = "disk-b"
	clear(m.applied)
	clear(m.digests)
	m.connects()
	b.pass()
	m.listens()
	b.pass()
	if cfg := b.discovery("n1"); cfg == nil || cfg.Spec.Owner.UID == first.Spec.Owner.UID || cfg.Status.GrantFor != "disk-b" {
		t.Errorf("%+v", cfg)
	}

	// A server that goes takes its discovery along.
	n := b.configs()
	if _, err := b.store.Delete(ctx(t), resource.KindServer, "n2"); err != nil {
		t.Fatal(err)
	}
	b.pass()
	if b.configs() != n-1 {
		t.Errorf("%d configurations, were %d", b.configs(), n)
	}

	old := newBench(t, &movingTag{})
	objs := storetest.Site()
	objs[0].(*resource.Rack).Spec.Discovery = &resource.RackDiscovery{Image: "registry.example/probe:1"}
	objs[0].Default()
	old.apply(objs...)
	m = old.modern(old.join("r1"))
	m.caps = few()
	m.connects()
	old.pass()
	m.listens()
	if s := old.shown("n1"); old.configs() != 0 || !strings.Contains(codes(s.Status.Conditions), "AgentTooOld") {
		t.Errorf("%d configurations, %s", old.configs(), codes(s.Status.Conditions))
	}
}

// Without spec.discovery nothing of all this is; and what is taken away ends.
func TestNoDiscovery(t *testing.T) {
	b, m := modernSite(t)
	m.reports(off("n1"))
	if s := b.shown("n1"); b.configs() != 0 || s.Status.Phase != resource.PhaseAvailable {
		t.Errorf("%s, %d configurations", s.Status.Phase, b.configs())
	}
	if _, err := b.control.Owners.Discovery.Discover(ctx(t), "n1", "ann"); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("%v", err)
	}
	b, m = discoverySite(t, &movingTag{}, nil)
	b.apply(storetest.Rack("r1"))
	b.pass()
	if in := m.intent("n1"); !in.Releasing || b.discovery("n1").Metadata.DeletedAt == nil {
		t.Errorf("%+v", in)
	}
}
