package store

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
)

// fleetStore is a store with n servers, 50 to a rack.
func fleetStore(b *testing.B, n int) *Store {
	b.Helper()
	mem := storetest.NewMemory()
	id := 0
	s, err := Open(b.Context(), Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { id++; return fmt.Sprintf("01b%d", id) }})
	if err != nil {
		b.Fatal(err)
	}
	var set []resource.Object
	for i := range n {
		bmc, rack := fmt.Sprintf("b%d", i), fmt.Sprintf("r%d", i/50)
		if i%50 == 0 {
			set = append(set, storetest.Rack(rack), storetest.Segment("boot-"+rack, rack))
		}
		set = append(set, storetest.BMC(bmc, rack),
			storetest.Server(fmt.Sprintf("n%d", i), bmc, "boot-"+rack, fmt.Sprintf("52:54:00:00:%02x:%02x", i/256, i%256)))
	}
	if _, err := s.Sets.Apply(b.Context(), set, ApplyOptions{}); err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkListServers(b *testing.B) {
	s := fleetStore(b, 1000)
	for b.Loop() {
		if len(List[*resource.Server](s.Objects)) != 1000 {
			b.Fatal("servers are missing")
		}
	}
}

// BenchmarkCreateHold places holds on a fleet in which 1000 lie already.
func BenchmarkCreateHold(b *testing.B) {
	s := fleetStore(b, 1000)
	for i := range 1000 {
		if _, err := s.Holds.Create(b.Context(), storetest.Hold("admin", "old", fmt.Sprintf("n%d", i))); err != nil {
			b.Fatal(err)
		}
	}
	i := 0
	for b.Loop() {
		i++
		h, err := s.Holds.Create(b.Context(), storetest.Hold("admin", fmt.Sprintf("k%d", i), "n1"))
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Objects.Remove(b.Context(), h); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApplyOneServer(b *testing.B) {
	s := fleetStore(b, 1000)
	for b.Loop() {
		if _, err := s.Sets.Apply(b.Context(), []resource.Object{storetest.Server("n1", "b1", "boot-r0", "52:54:00:00:00:01")}, ApplyOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens a store of 10,000 servers in memory.
func BenchmarkOpen(b *testing.B) {
	s := fleetStore(b, 10_000)
	mem := s.core.kv.(*storetest.Memory)
	for b.Loop() {
		if _, err := Open(b.Context(), Config{KV: mem, Log: mem, Clock: time.Now, NewID: rand.Text}); err != nil {
			b.Fatal(err)
		}
	}
	entries, _, err := mem.List(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	rules, size := 0, 0
	for _, e := range entries {
		if aside(e.Key) {
			rules, size = rules+1, size+len(e.Key)+len(e.Value)
		}
	}
	b.ReportMetric(float64(rules), "rules")
	b.ReportMetric(float64(size)/1e6, "MB-of-rules")
	b.ReportMetric(float64(len(entries)-rules), "others")
}

// BenchmarkImport imports a fleet of which each server has a BMC, a claim and its
// configuration, into an empty store in memory.
func BenchmarkImport(b *testing.B) {
	const servers = 2000
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	fleet := func() (objs []resource.Object) {
		add := func(o resource.Object, name string) {
			m := &o.Head().Metadata
			m.Name, m.UID, m.Generation, m.CreatedAt = name, "u-"+name, 1, &now
			objs = append(objs, o)
		}
		add(storetest.Rack("r1"), "r1")
		add(storetest.Segment("boot", "r1"), "boot")
		for i := range servers {
			name := fmt.Sprintf("n%d", i)
			add(storetest.BMC("b-"+name, "r1"), "b-"+name)
			add(storetest.Server(name, "b-"+name, "boot", fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&255)), name)
			c := storetest.Claim(name, name)
			c.Status.Server = name
			add(c, name)
			add(&resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: name, Owner: resource.Owner{Name: name, UID: "u-" + name}}}, name)
		}
		return objs
	}
	for b.Loop() {
		mem := storetest.NewMemory()
		s, err := Open(b.Context(), Config{KV: mem, Log: mem, Clock: time.Now, NewID: rand.Text})
		if err != nil {
			b.Fatal(err)
		}
		res, err := s.Sets.Import(b.Context(), fleet(), ImportOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for i, r := range res {
			if r.Err != nil {
				b.Fatal(i, r.Err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/import")
}

// BenchmarkKept is what an open store keeps in memory for each of 5,000 installed servers in racks of 50, with their BMCs, claims
// and configurations.
func BenchmarkKept(b *testing.B) {
	const servers = 5000
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	mem := storetest.NewMemory()
	s, err := Open(b.Context(), Config{KV: mem, Log: mem, Clock: time.Now, NewID: rand.Text})
	if err != nil {
		b.Fatal(err)
	}
	put := func(o resource.Object, name string, labels map[string]string) {
		m := &o.Head().Metadata
		m.Name, m.UID, m.Generation, m.CreatedAt, m.Labels = name, rand.Text(), 1, &now, labels
		if err := s.Objects.Put(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
	image := resource.Image{Reference: "registry.example/os:1", Digest: "sha256:" + strings.Repeat("1", 64), Architecture: "amd64"}
	for _, kind := range []resource.ArtefactKind{"kernel", "initrd", "uki"} {
		image.Artefacts = append(image.Artefacts, resource.Artefact{Kind: kind, Digest: "sha256:" + strings.Repeat("2", 64), MediaType: "application/octet-stream", Size: 1 << 20})
	}
	for i := range servers {
		rack, name := fmt.Sprintf("r%04d", i/50), fmt.Sprintf("r%04d-s%02d", i/50, i%50)
		if i%50 == 0 {
			put(storetest.Rack(rack), rack, nil)
			put(storetest.Segment("boot-"+rack, rack), "boot-"+rack, nil)
		}
		labels := map[string]string{"row": fmt.Sprint(i / 500), "model": "x"}
		put(storetest.BMC(name, rack), name, labels)
		put(storetest.Server(name, name, "boot-"+rack, fmt.Sprintf("52:54:00:00:%02x:%02x", i>>8, i&255)), name, labels)
		c := storetest.Claim(name, name)
		c.Status.Server = name
		put(c, name, labels)
		record := resource.Provisioned{OwnerUID: c.Metadata.UID, Generation: 1, Server: name, ImageDigest: image.Digest, At: now, Attempt: rand.Text()}
		put(&resource.BootConfiguration{
			Spec:   resource.BootConfigurationSpec{Server: name, Owner: resource.Owner{Kind: resource.PurposeClaim, Name: name, UID: c.Metadata.UID}, BootSpec: resource.BootSpec{BootPolicy: c.Spec.BootPolicy, Image: image}},
			Status: resource.BootConfigurationStatus{Provisioned: &record, SignedProvisioned: bytes.Repeat([]byte("s"), 300)},
		}, name, nil)
	}
	s = nil
	for b.Loop() {
		before := inUse()
		opened, err := Open(b.Context(), Config{KV: mem, Log: mem, Clock: time.Now, NewID: rand.Text})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(inUse()-before)/servers, "B/server")
		runtime.KeepAlive(opened)
	}
}

// inUse is what the heap has after a collection, in bytes.
func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what was in pools goes with the second
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
