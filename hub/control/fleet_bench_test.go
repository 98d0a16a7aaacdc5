package control

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/exporter"
	"rackboot/hub/fence"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/hub/wake"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// BenchmarkTurn is what becomes of a report of 50 installed servers: one that says the same as
// the one before, one that stands for it, one with news and the turn of its rack that follows, a turn that finds nothing
// to do, and one of the site. What each costs is to be the same in every fleet.
func BenchmarkTurn(b *testing.B) {
	for _, racks := range []int{100, 1000} {
		f := installed(b, racks)
		if err := f.control.reconcile(b.Context()); err != nil {
			b.Fatal(err)
		}
		n := uint64(0)
		report := func(b *testing.B) {
			n++
			if taken, err := f.control.Link.Report(b.Context(), f.agent, f.reportOf(n)); err != nil || !taken {
				b.Fatal(taken, err)
			}
		}
		turn := func(b *testing.B, unit string) {
			if err := f.control.turn(b.Context(), unit); err != nil {
				b.Fatal(err)
			}
		}
		rack := wake.RackUnit(f.agent.Spec.RackRef.Name)
		b.Run(fmt.Sprintf("same/racks=%d", racks), func(b *testing.B) {
			report(b)
			for b.Loop() {
				report(b)
			}
		})
		b.Run(fmt.Sprintf("as/racks=%d", racks), func(b *testing.B) {
			report(b)
			whole := n
			for b.Loop() {
				n++
				m := f.reportOf(n)
				m.Servers, m.As, m.Reads = nil, whole, make([]message.Read, inRack)
				if taken, err := f.control.Link.Report(b.Context(), f.agent, m); err != nil || !taken {
					b.Fatal(taken, err)
				}
			}
		})
		b.Run(fmt.Sprintf("news/racks=%d", racks), func(b *testing.B) {
			for b.Loop() {
				f.servers[n%inRack].PowerEpoch++
				report(b)
				if err := f.control.Outbound.Holds.Turn(b.Context(), f.agent.Spec.RackRef.Name); err != nil {
					b.Fatal(err)
				}
				turn(b, rack)
			}
		})
		b.Run(fmt.Sprintf("nothing/racks=%d", racks), func(b *testing.B) {
			for b.Loop() {
				turn(b, rack)
			}
		})
		b.Run(fmt.Sprintf("site/racks=%d", racks), func(b *testing.B) {
			for b.Loop() {
				turn(b, wake.SiteUnit)
			}
		})
		b.Run(fmt.Sprintf("sweep/racks=%d", racks), func(b *testing.B) {
			for b.Loop() {
				f.control.wake.Sweeping.Store(true)
				turn(b, wake.SiteUnit)
			}
		})
		if r, _ := f.control.reports.Server(f.servers[0].Server); r == nil {
			b.Fatal("the reports were refused")
		}
	}
}

// inRack is how many servers each rack of these fleets has.
const inRack = 50

// installedFleet is a hub whose racks have an agent and servers that are installed.
type installedFleet struct {
	control *Control
	store   *store.Store
	agent   *resource.Agent // of the first rack
	servers []resource.ServerReport
	now     time.Time
	last    []byte // that was published
	nonce   string // of the first rack's agent
}

// meets has an agent say Hello until it is heeded, and returns its nonce.
func (f *installedFleet) meets(b *testing.B, signer *wire.Signer, agent string) (nonce string) {
	b.Helper()
	for range 3 {
		up, down := message.TopicUp(agent, message.LeafHello), message.TopicDown(agent, message.LeafSync)
		data, err := wire.Seal(signer, up, message.Hello{
			Agent: agent, Session: "s", Incarnation: "i", Protocol: protocol.Version, At: f.now, Nonce: nonce, Capabilities: message.Capabilities(),
		})
		if err != nil {
			b.Fatal(err)
		}
		f.control.Link.Receive(up, data)
		var m message.Sync
		if err := wire.Open(wire.NewVerifier(wire.NewSigner(key("hub")).Public()), down, f.last, &m); err != nil {
			b.Fatal(err)
		}
		if nonce = m.Nonce; !m.Again {
			return nonce
		}
	}
	b.Fatalf("the hub never heeds %s", agent)
	return ""
}

func (f *installedFleet) reportOf(n uint64) message.Report {
	return message.Report{Session: "s", Nonce: f.nonce, Seq: n, At: f.now, Shards: 1, Servers: append([]resource.ServerReport(nil), f.servers...)}
}

// installed makes a fleet in a store in memory. One rack's agent signs its records; the
// records of the others are filed already, and nobody opens those.
func installed(b *testing.B, racks int) *installedFleet {
	b.Helper()
	f := &installedFleet{now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	mem, clock, ids := storetest.NewMemory(), func() time.Time { return f.now }, 0
	newID := func() string { ids++; return fmt.Sprintf("id%06d", ids) }
	var err error
	if f.store, err = store.Open(b.Context(), store.Config{KV: mem, Log: mem, Clock: clock, NewID: newID}); err != nil {
		b.Fatal(err)
	}
	start, err := fence.Begin(b.Context(), f.store.Meta, clock, slog.New(slog.DiscardHandler), "bench")
	if err != nil {
		b.Fatal(err)
	}
	if f.control, err = New(b.Context(), Config{
		Store: f.store, Start: start, Signer: wire.NewSigner(key("hub")), Publish: func(_ string, sealed []byte) error { f.last = sealed; return nil }, Random: &counting{},
		Clock: clock, NewID: newID, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	}); err != nil {
		b.Fatal(err)
	}
	put := func(obj resource.Object, name string) {
		m := &obj.Head().Metadata
		m.Name, m.UID = name, "u-"+name
		if err := f.store.Objects.Put(b.Context(), obj); err != nil {
			b.Fatal(err)
		}
	}
	for i := range racks {
		rack := fmt.Sprintf("r%04d", i)
		agent := rack + "-1"
		r := storetest.Rack(rack)
		r.Status.Agent, r.Status.Term = agent, 1
		put(r, rack)
		put(storetest.Segment(rack, rack), rack)
		signer := wire.NewSigner(key(agent))
		a := &resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: rack}, Key: signer.Public(), Term: 1}}
		put(a, agent)
		l := store.Ledger{Agent: agent, Peer: store.Peer{Incarnation: "i", Capabilities: message.Capabilities()}}
		if err := f.store.Ledgers.Put(b.Context(), &l); err != nil {
			b.Fatal(err)
		}
		if nonce := f.meets(b, signer, agent); i == 0 {
			f.nonce = nonce
		}
		for j := range inRack {
			name := fmt.Sprintf("%s-n%02d", rack, j)
			f.install(b, put, rack, name, fmt.Sprintf("52:54:00:%02x:%02x:%02x", i>>8, i&255, j))
			if i == 0 {
				f.servers = append(f.servers, f.record(b, signer, name))
			}
		}
		if i == 0 {
			f.agent = a
		}
	}
	return f
}

// install makes a server with what belongs to it.
func (f *installedFleet) install(b *testing.B, put func(resource.Object, string), rack, name, mac string) {
	b.Helper()
	put(storetest.BMC(name, rack), name)
	put(storetest.Server(name, name, rack, mac), name)
	c := storetest.Claim(name, name)
	c.Status.Server = name
	put(c, name)
	done := f.recordOf(name)
	put(&resource.BootConfiguration{
		Spec: resource.BootConfigurationSpec{
			Server: name, Owner: resource.Owner{Kind: resource.PurposeClaim, Name: name, UID: "u-" + name},
			BootSpec: resource.BootSpec{BootPolicy: c.Spec.BootPolicy, Image: resource.Image{Reference: "registry.example/os:1", Digest: done.ImageDigest}},
		},
		Status: resource.BootConfigurationStatus{Provisioned: &done, SignedProvisioned: []byte("filed")},
	}, name)
}

func (f *installedFleet) recordOf(name string) resource.Provisioned {
	return resource.Provisioned{
		OwnerUID: "u-" + name, Generation: 1, Server: name, ServerUID: "u-" + name, ImageDigest: "sha256:" + fmt.Sprintf("%064d", 1),
		Evidence: protocol.EvidenceInstalled, At: f.now, Attempt: "a",
	}
}

// record is a report of a server that is installed.
func (f *installedFleet) record(b *testing.B, s *wire.Signer, name string) resource.ServerReport {
	b.Helper()
	signed, err := wire.Seal(s, wire.FactProvisioned, f.recordOf(name))
	if err != nil {
		b.Fatal(err)
	}
	return resource.ServerReport{Server: name, Power: protocol.PowerOn, OwnerUID: "u-" + name, Provisioned: signed}
}

// BenchmarkScrape is what one scrape of the hub costs, and what one decoration of every server would.
func BenchmarkScrape(b *testing.B) {
	for _, racks := range []int{20, 200} {
		f := installed(b, racks)
		if err := f.control.reconcile(b.Context()); err != nil {
			b.Fatal(err)
		}
		reg := prometheus.NewRegistry()
		reg.MustRegister(f.control.Shown.exporter)
		b.Run(fmt.Sprintf("gather/racks=%d", racks), func(b *testing.B) {
			for b.Loop() {
				if _, err := reg.Gather(); err != nil {
					b.Fatal(err)
				}
			}
		})
		totals := prometheus.NewRegistry()
		c := f.control
		totals.MustRegister(exporter.New(exporter.Config{
			Store: f.store, Start: c.fence, View: c.view, Status: c.Status, Reports: c.reports, Inventory: c.Inventory, Approvals: c.Approvals, Claims: c.Owners.Claims,
			Totals: true, Began: f.now, Clock: func() time.Time { return f.now },
		}))
		b.Run(fmt.Sprintf("totals/racks=%d", racks), func(b *testing.B) {
			for b.Loop() {
				if _, err := totals.Gather(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("decorate/racks=%d", racks), func(b *testing.B) {
			for b.Loop() {
				for _, s := range store.List[*resource.Server](f.store.Objects) {
					own := *s
					f.control.Status.Decorate(&own)
				}
			}
		})
	}
}
