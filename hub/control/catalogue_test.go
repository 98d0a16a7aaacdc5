package control

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// mirrorOf is a catalogue whose files are there as soon as they were fetched, unless they
// fail.
type mirrorOf struct {
	fails   map[string]error // by URL
	bad     map[string]error // by digest, what they are not
	has     map[string]bool
	fetched []string
}

func (m *mirrorOf) Fetch(_ context.Context, f resource.BootImageFile) (resource.BootImageVerified, error) {
	m.fetched = append(m.fetched, f.URL)
	if err := m.fails[f.URL]; err != nil {
		return resource.BootImageVerified{}, err
	}
	digest := "sha256:" + f.SHA256
	m.has[digest] = true
	return resource.BootImageVerified{At: time.Unix(1, 0).UTC(), Size: 7, Digest: digest}, nil
}

func (m *mirrorOf) Has(digest string) bool { return m.has[digest] }

func (m *mirrorOf) Inspect(a resource.Artefact, _ string) error { return m.bad[a.Digest] }

func bootImageOf(name string) *resource.BootImage {
	b := &resource.BootImage{Spec: resource.BootImageSpec{Catalogue: "os", Version: "1.0", Architectures: map[string]resource.BootImageArch{
		"amd64": {Files: []resource.BootImageFile{
			{Kind: resource.ArtefactKernel, URL: "https://m.example/kernel", SHA256: strings.Repeat("a", 64)},
			{Kind: resource.ArtefactInitramfs, URL: "https://m.example/initramfs", SHA256: strings.Repeat("b", 64)},
		}},
		"arm64": {Image: "registry.example/os@" + exampleDigest},
	}}}
	b.Metadata.Name = name
	b.Default()
	return b
}

// catalogueSite is a site with an entry, and a claim of it.
func catalogueSite(t *testing.T, caps ...message.Capability) (*bench, *modern, *mirrorOf) {
	t.Helper()
	files := &mirrorOf{fails: map[string]error{}, bad: map[string]error{}, has: map[string]bool{}}
	b := newBench(t, &movingTag{})
	b.catalogue = files
	b.restart()
	b.apply(append(storetest.Site(), bootImageOf("os-1"))...)
	m := b.modern(b.join("r1"))
	m.caps = append(slices.Clone(m.caps), caps...)
	m.connects()
	m.reports(off("n1"), off("n2"))
	claim := storetest.Claim("c1", "n1")
	claim.Spec.Image = "bootimage/os-1"
	b.apply(claim)
	return b, m, files
}

func (b *bench) entry() *resource.BootImage {
	b.t.Helper()
	e, err := store.Get[*resource.BootImage](b.store.Objects, "os-1")
	if err != nil {
		b.t.Fatal(err)
	}
	b.control.Status.Decorate(e)
	return e
}

// A server is told to boot an entry when all of its files are verified; the agent may fetch
// them then, and no other.
func TestBootImageOfClaim(t *testing.T) {
	b, m, files := catalogueSite(t, message.CapBootChain, message.CapBootFiles)
	digest := "sha256:" + strings.Repeat("a", 64)
	if err := b.control.Env.MayFetchISO(m.name, digest); protocol.CodeOf(err) != protocol.CodeDenied {
		t.Errorf("before any document: %v", err)
	}
	b.settles(m)
	b.settles(m)
	boot := b.boot(m)
	if boot == nil || boot.Image.Source != resource.ImageFromHub || boot.Image.Reference != "bootimage/os-1" || len(boot.Image.Artefacts) != 2 {
		t.Fatalf("%+v; the claim has %+v", boot, b.claim("c1").Status)
	}
	if err := b.control.Env.MayFetchISO(m.name, digest); err != nil {
		t.Error(err)
	}
	if got := codes(b.claim("c1").Status.Conditions); strings.Contains(got, string(resource.CondReprovisionRequired)) || strings.Contains(got, string(resource.CondImageUnverified)) {
		t.Errorf("the claim has %s", got)
	}
	if e := b.entry(); len(e.Status.Verified) != 2 || len(e.Status.Conditions) != 0 {
		t.Errorf("%+v", e.Status)
	}
	// After a restart nothing that is there is fetched again; what was lost is.
	b.restart()
	m.connects()
	b.settles(m)
	if len(files.fetched) != 2 {
		t.Errorf("fetched %v", files.fetched)
	}
	delete(files.has, digest)
	b.restart()
	m.connects()
	b.settles(m)
	if !slices.Equal(files.fetched[2:], []string{"https://m.example/kernel"}) {
		t.Errorf("fetched %v", files.fetched)
	}
	needed, err := b.control.Env.ISODigests()
	if err != nil || !needed[digest] || len(needed) != 2 {
		t.Errorf("%v, %v", needed, err)
	}
}

// An agent that gets no files from the hub is sent no boot of them.
func TestBootImageAgentTooOld(t *testing.T) {
	b, m, _ := catalogueSite(t, message.CapBootChain)
	m.caps = slices.DeleteFunc(m.caps, func(c message.Capability) bool { return c == message.CapBootFiles })
	m.connects()
	b.settles(m)
	b.settles(m)
	if boot := b.boot(m); boot != nil {
		t.Errorf("%+v", boot)
	}
	if got := codes(b.claim("c1").Status.Conditions); !strings.Contains(got, string(resource.CondAgentTooOld)) {
		t.Errorf("the claim has %q", got)
	}
}

// What is not verified is a condition of entry and claim, an event once, and is tried again
// with a pause until it heals; then it is booted. What was proved stays proved.
func TestBootImageUnverified(t *testing.T) {
	b, m, files := catalogueSite(t, message.CapBootChain, message.CapBootFiles)
	files.fails["https://m.example/initramfs"] = protocol.Errorf(protocol.CodeInvalid, "fetch file", "it has another sum").WithHint("take another entry")
	events := func() (n int) {
		for _, e := range b.control.Events.After(0, 1000) {
			if e.Code == resource.EventBootImage {
				n++
			}
		}
		return n
	}
	for range 3 {
		b.settles(m)
	}
	e := b.entry()
	if len(e.Status.Verified) != 1 || len(e.Status.Conditions) != 1 || e.Status.Conditions[0].Code != resource.CondImageUnverified ||
		!strings.Contains(e.Status.Conditions[0].Message, "initramfs for amd64") || !strings.Contains(e.Status.Conditions[0].Message, "take another entry") {
		t.Errorf("%+v", e.Status)
	}
	claim := b.claim("c1")
	b.control.Status.Decorate(claim)
	if got := codes(claim.Status.Conditions); !strings.Contains(got, string(resource.CondImageUnverified)) || b.boot(m) != nil {
		t.Errorf("the claim has %q; boot %+v", got, b.boot(m))
	}
	if n := events(); n != 1 || len(files.fetched) != 2 {
		t.Errorf("%d events; fetched %v", n, files.fetched)
	}
	if got := b.control.boots.images.States(); got["failed"] != 1 || got["verified"] != 0 {
		t.Errorf("%v", got)
	}
	delete(files.fails, "https://m.example/initramfs")
	b.now = b.now.Add(5 * time.Second)
	b.settles(m)
	b.settles(m)
	if b.boot(m) == nil || len(b.entry().Status.Conditions) != 0 || events() != 2 || len(files.fetched) != 3 {
		t.Errorf("boot %+v, %+v, %d events, fetched %v", b.boot(m), b.entry().Status, events(), files.fetched)
	}
}

// A file that is not what its kind says is not verified, whatever its sum.
func TestBootImageIsInspected(t *testing.T) {
	b, m, files := catalogueSite(t, message.CapBootChain, message.CapBootFiles)
	files.bad["sha256:"+strings.Repeat("a", 64)] = protocol.Errorf(protocol.CodeInvalid, "inspect", "it is no kernel")
	b.settles(m)
	b.settles(m)
	if e := b.entry(); len(e.Status.Verified) != 0 || b.boot(m) != nil || !strings.Contains(e.Status.Conditions[0].Message, "no kernel") {
		t.Errorf("%+v", e.Status)
	}
}

// An OCI entry is resolved as a claim's own image is, and is what the claim says.
func TestBootImageOfRegistry(t *testing.T) {
	b, m, files := catalogueSite(t, message.CapBootChain)
	server, err := store.Get[*resource.Server](b.store.Objects, "n2")
	if err != nil {
		t.Fatal(err)
	}
	server.Spec.Architecture, server.Metadata.Revision, server.Status = "arm64", 0, resource.ServerStatus{}
	claim := storetest.Claim("c2", "n2")
	claim.Spec.Image = "bootimage/os-1"
	b.apply(server, claim)
	b.settles(m)
	b.settles(m)
	cfg := b.configOf("c2")
	if cfg.Spec.Image.Reference != "registry.example/os@"+exampleDigest || cfg.Spec.Image.BootImage != "os-1" || cfg.Spec.Image.Source != resource.ImageFromRegistry {
		t.Errorf("%+v", cfg.Spec.Image)
	}
	if got := codes(b.claim("c2").Status.Conditions); strings.Contains(got, string(resource.CondReprovisionRequired)) {
		t.Errorf("the claim has %s", got)
	}
	if slices.ContainsFunc(files.fetched, func(u string) bool { return strings.Contains(u, "registry") }) {
		t.Errorf("fetched %v", files.fetched)
	}
}

// A hub that dies when a file was proved, and before the next one, goes on there.
func TestBootImageCrash(t *testing.T) {
	b, m, files := catalogueSite(t, message.CapBootChain, message.CapBootFiles)
	b.dies("hub.catalogue.verified", func() { b.settles(m) })
	m.connects()
	b.settles(m)
	b.settles(m)
	if boot := b.boot(m); boot == nil || !slices.Equal(files.fetched, []string{"https://m.example/kernel", "https://m.example/initramfs"}) {
		t.Errorf("%+v; fetched %v", boot, files.fetched)
	}
}
