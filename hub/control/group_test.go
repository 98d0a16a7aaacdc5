package control

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// digestRegistry has every image by its digest: a UKI, but for those that are bare.
type digestRegistry struct {
	down bool
	bare map[string]bool // references without anything that boots
	gone map[string]bool // references that the registry says it has not
}

func (d *digestRegistry) Resolve(_ context.Context, ref, arch string) (resource.Image, error) {
	_, digest := resource.SplitImage(ref)
	switch {
	case d.down:
		return resource.Image{}, protocol.Errorf(protocol.CodeUnavailable, "resolve", "registry does not answer")
	case digest == "" || d.gone[ref]:
		return resource.Image{}, protocol.Errorf(protocol.CodeNotFound, "resolve", "%s is not there", ref)
	}
	img := resource.Image{Reference: ref, Digest: digest, Architecture: arch, Artefacts: []resource.Artefact{{Kind: resource.ArtefactUKI, Digest: digest, Size: 1}}}
	if d.bare[ref] {
		img.Artefacts[0].Kind = resource.ArtefactISO
	}
	return img, nil
}

func (d *digestRegistry) Require(img resource.Image, method protocol.BootTarget) error {
	return image.Require(img, method)
}

// imageOf is the reference of a version's image.
func imageOf(version string) string {
	return "r.example/os@sha256:" + fmt.Sprintf("%064x", len(version)*1000+int(version[0]))
}

func entryOf(version string, change ...func(*resource.BootImage)) *resource.BootImage {
	b := &resource.BootImage{Spec: resource.BootImageSpec{
		Catalogue: "stable", Version: version, MaxIgnition: "3.4.0", Architectures: map[string]resource.BootImageArch{"amd64": {Image: imageOf(version)}},
	}}
	b.Metadata.Name = "os-" + strings.ReplaceAll(version, ".", "-")
	b.Default()
	for _, c := range change {
		c(b)
	}
	return b
}

func workers(change ...func(*resource.ServerGroup)) *resource.ServerGroup {
	g := &resource.ServerGroup{Spec: resource.ServerGroupSpec{
		Selector: resource.Selector{MatchLabels: map[string]string{"row": "7"}}, Catalogue: "stable",
		BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP},
	}}
	g.Metadata.Name = "workers"
	g.Default()
	for _, c := range change {
		c(g)
	}
	return g
}

func optIn(mode resource.OptIn) *resource.ManagedBootImages {
	m := &resource.ManagedBootImages{Spec: resource.ManagedBootImagesSpec{Mode: mode}}
	m.Metadata.Name = resource.ManagedBootImagesName
	m.Default()
	return m
}

// groupSite is a site with three servers of group workers, for which all is managed.
func groupSite(t *testing.T, objs ...resource.Object) (*bench, *digestRegistry, string) {
	t.Helper()
	reg := &digestRegistry{bare: map[string]bool{}, gone: map[string]bool{}}
	b := newBench(t, reg)
	b.feature, b.version, b.kek = true, "1.0", strings.Repeat("5e", 32)
	b.restart()
	site := append(storetest.Site(), storetest.BMC("b3", "r1"), storetest.Server("n3", "b3", "boot", "52:54:00:00:00:03"))
	for _, o := range site {
		if s, ok := o.(*resource.Server); ok {
			s.Metadata.Labels = map[string]string{"row": "7"}
		}
	}
	b.apply(append(site, objs...)...)
	agent := b.join("r1")
	b.greets(agent)
	b.pass()
	return b, reg, agent
}

// What a group says of an image that it cannot take has the cause: what was fetched, and what came instead.
func TestGroupSaysTheCause(t *testing.T) {
	files := &mirrorOf{fails: map[string]error{"https://m.example/initramfs": protocol.Errorf(protocol.CodeInvalid, "fetch file", "it has sha256:cc, and not sha256:bb")}, bad: map[string]error{}, has: map[string]bool{}}
	entry := bootImageOf("os-1")
	entry.Spec.Catalogue, entry.Spec.MaxIgnition = "stable", "3.4.0"
	b, reg, _ := groupSite(t)
	b.catalogue = files
	b.restart()
	says := func(when, want string) {
		t.Helper()
		for range 3 {
			b.pass()
		}
		g := b.group()
		for _, c := range g.Status.Conditions {
			if c.Code == resource.CondImagesDegraded && strings.Contains(c.Message, want) {
				return
			}
		}
		t.Errorf("%s: %+v", when, g.Status.Conditions)
	}
	b.apply(optIn(resource.OptInAll), entry, workers())
	says("a file with another sum", "it has sha256:cc, and not sha256:bb")
	reg.gone[imageOf("2.0")] = true
	b.apply(entryOf("2.0"))
	says("an image that the registry has not", imageOf("2.0")+" is not there")
}

func fromWorkers(name, server string) *resource.Claim {
	c := storetest.Claim(name, server)
	c.Spec.Image, c.Spec.ImageFrom = "", &resource.ImageFrom{Group: "workers"}
	return c
}

func (b *bench) group() *resource.ServerGroup {
	b.t.Helper()
	g, err := store.Get[*resource.ServerGroup](b.store.Objects, "workers")
	if err != nil {
		b.t.Fatal(err)
	}
	b.control.Status.Decorate(g)
	return g
}

func (b *bench) groupRevision(n int) *resource.GroupRevision {
	b.t.Helper()
	r, err := store.Get[*resource.GroupRevision](b.store.Objects, resource.GroupRevisionName("workers", n))
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// history is the versions of the revisions with their causes, and the current number.
func (b *bench) history() string {
	b.t.Helper()
	g := b.group()
	out := ""
	for _, r := range b.historyOf(g) {
		out += fmt.Sprintf("%d:%s/%s ", r.Spec.Number, r.Spec.Version, r.Spec.Cause)
	}
	return fmt.Sprintf("%s@%d", out, g.Status.Revision)
}

func (b *bench) wantHistory(when, want string) {
	b.t.Helper()
	if got := b.history(); got != want {
		b.t.Errorf("%s: history %q, want %q", when, got, want)
	}
}

// proves has the agent report that a claim's server booted its configuration, now.
func (b *bench) proves(agent, claim string) {
	b.t.Helper()
	cfg := b.configOf(claim)
	if cfg == nil {
		b.t.Fatalf("claim %s has no configuration: %+v", claim, b.claim(claim).Status.Conditions)
	}
	r := on(cfg.Spec.Server)
	r.OwnerUID, r.Power = cfg.Spec.Owner.UID, protocol.PowerOn
	r.Attempt = &resource.AttemptReport{State: resource.AttemptSucceeded, Evidence: protocol.EvidenceInstalled}
	srv, err := store.Peek[*resource.Server](b.store.Objects, cfg.Spec.Server)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Provisioned = seal(b.t, key(agent), wire.FactProvisioned, resource.Provisioned{
		OwnerUID: cfg.Spec.Owner.UID, Generation: cfg.Metadata.Generation, Server: cfg.Spec.Server, ServerUID: srv.Metadata.UID,
		ImageDigest: cfg.Spec.Image.Digest, Evidence: protocol.EvidenceInstalled, At: b.now,
	})
	b.reports(agent, r)
	b.pass()
}

// soaks lets the time go by after which what was booted is verified.
func (b *bench) soaks() {
	b.now = b.now.Add(11 * time.Minute)
	b.pass()
}

func (b *bench) wantConds(when string, want ...resource.ConditionCode) {
	b.t.Helper()
	got := codes(b.group().Status.Conditions)
	var words []string
	for _, w := range want {
		words = append(words, string(w))
	}
	if got != strings.Join(words, " ") {
		b.t.Errorf("%s: conditions %q, want %q: %+v", when, got, words, b.group().Status.Conditions)
	}
}

// boots are claim, revision and image version of every configuration.
func (b *bench) boots() (out string) {
	for _, cfg := range store.List[*resource.BootConfiguration](b.store.Objects) {
		out += fmt.Sprintf("%s:%d ", cfg.Metadata.Name, cfg.Spec.Revision)
	}
	return strings.TrimSpace(out)
}

// Seed 001 and facts/boot-images §5 rows 5 and 21: a group gets a numbered revision of the
// newest entry; a canary boots it first; with that proof the entry is stamped, and the
// others follow.
func TestGroupFirstBoot(t *testing.T) {
	b, _, agent := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), entryOf("2.0"), workers())
	b.wantHistory("at first", "1:2.0/catalogue @1")
	b.apply(fromWorkers("c1", "n1"), fromWorkers("c2", "n2"))
	b.pass()
	if got := b.boots(); got != "c1:1" {
		t.Errorf("before it was proved: %q", got)
	}
	if got := b.claim("c2").Status.Conditions; codes(got) != "WaitingForStamp" || !strings.Contains(got[0].Message, "no server has booted os-2-0 yet") {
		t.Errorf("%+v", got)
	}
	b.wantConds("it waits", resource.CondWaitingForStamp)
	b.proves(agent, "c1")
	if got := b.boots(); got != "c1:1" || b.group().Status.Verified != 0 {
		t.Errorf("before the canary has soaked: %q", got)
	}
	b.wantConds("it soaks", resource.CondWaitingForStamp)
	b.soaks()
	entry, err := store.Peek[*resource.BootImage](b.store.Objects, "os-2-0")
	if err != nil || entry.Status.Stamp == nil || entry.Status.Stamp.Server != "n1" || entry.Status.Stamp.HubVersion != "1.0" || entry.Status.Stamp.Evidence != protocol.EvidenceInstalled {
		t.Fatalf("%+v, %v", entry, err)
	}
	if got := b.boots(); got != "c1:1 c2:1" {
		t.Errorf("after it was proved: %q", got)
	}
	b.wantConds("proved")
	g := b.group()
	if g.Status.Verified != 1 || !b.groupRevision(1).Status.Verified || *g.Status.Counts != (resource.GroupCounts{Servers: 3, Current: 1, Unknown: 2}) {
		t.Errorf("%+v, %+v", g.Status, g.Status.Counts)
	}
	if e := g.Status.Enrolment; e == nil || !e.Managed || e.Mode != resource.OptInAll || !e.Explicit {
		t.Errorf("%+v", e)
	}
}

// Seed 001: what is installed is not touched by a newer image; who joins boots the newest
// that is proved, and one canary at a time what is not.
func TestGroupNewImage(t *testing.T) {
	b, _, agent := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers(func(g *resource.ServerGroup) {
		g.Spec.Rollout.Canary = resource.CanarySpec{MatchLabels: map[string]string{"canary": "yes"}}
	}))
	canary := storetest.Server("n1", "b1", "boot", "52:54:00:00:00:01")
	canary.Metadata.Labels = map[string]string{"row": "7", "canary": "yes"}
	b.apply(canary, fromWorkers("c1", "n1"))
	b.pass()
	b.proves(agent, "c1")
	b.soaks()
	b.apply(entryOf("2.0"), fromWorkers("c2", "n2"))
	b.pass()
	b.wantHistory("a newer one", "1:1.0/catalogue 2:2.0/catalogue @2")
	if got := b.boots(); got != "c1:1 c2:1" {
		t.Errorf("who is no canary boots the verified one: %q", got)
	}
	if got := codes(b.claim("c1").Status.Conditions); strings.Contains(got, "Reprovision") {
		t.Errorf("an installed claim has %q", got)
	}
	if c := b.group().Status.Counts; c.Older != 1 {
		t.Errorf("%+v", c)
	}
	// Opted out, the group keeps the image that it has (row 4).
	b.apply(optIn(resource.OptInNone), entryOf("3.0"))
	b.pass()
	b.wantHistory("opted out", "1:1.0/catalogue 2:2.0/catalogue @2")
	b.wantConds("opted out", resource.CondWaitingForStamp)
	// Row 23: the catalogue is set back, and the group follows.
	b.apply(optIn(resource.OptInAll))
	for _, name := range []string{"os-2-0", "os-3-0"} {
		if _, err := b.store.Delete(ctx(t), resource.KindBootImage, name); err != nil {
			t.Fatal(err)
		}
	}
	b.pass()
	b.wantHistory("set back", "1:1.0/catalogue 2:2.0/catalogue 3:1.0/catalogue @3")
}

// With boot: Network the configuration follows while nothing is in flight.
func TestGroupNetworkFollows(t *testing.T) {
	network := func(g *resource.ServerGroup) { g.Spec.BootPolicy.Boot = resource.BootNetwork }
	b, _, agent := groupSite(t, optIn(resource.OptInAll), entryOf("1.0"), workers(network))
	c1 := fromWorkers("c1", "n1")
	c1.Spec.BootPolicy.Boot = resource.BootNetwork
	b.apply(c1)
	b.pass()
	b.proves(agent, "c1")
	b.soaks()
	was := b.configOf("c1")
	b.apply(entryOf("2.0"))
	b.pass()
	now := b.configOf("c1")
	if now.Spec.Revision != 2 || now.Metadata.Generation != 2 || string(now.Spec.Grant) == string(was.Spec.Grant) {
		t.Errorf("%+v", now)
	}
	if c := b.group().Status.Counts; c.Older != 1 || c.Current != 0 {
		t.Errorf("what was booted before is known: %+v", c)
	}
	for generation, degraded := range map[uint64]bool{1: false, 2: true} {
		r := on("n1")
		r.OwnerUID, r.Power = now.Spec.Owner.UID, protocol.PowerOn
		r.Fallback = &resource.FallbackReport{Generation: generation, Failed: 1, Since: &b.now}
		r.Conditions = []resource.ConditionState{{Code: resource.CondFellBack, Message: "no root file system"}}
		b.reports(agent, r)
		b.pass()
		if got := codes(b.group().Status.Conditions); strings.Contains(got, string(resource.CondImagesDegraded)) != degraded {
			t.Errorf("configuration %d failed, and that of now is 2: %s", generation, got)
		}
	}
	b.proves(agent, "c1")
	if c := b.group().Status.Counts; c.Current != 1 {
		t.Errorf("%+v", c)
	}
}

// Rows 7 and 8, and the feature switch: who is passed over, and what it boots then.
func TestGroupSkipped(t *testing.T) {
	own := func(g *resource.ServerGroup) { g.Spec.Image = imageOf("9.mine") }
	for name, c := range map[string]struct {
		feature bool
		objs    []resource.Object
		skip    resource.SkipReason
		history string
		conds   string
	}{
		"nobody has said a mode":   {true, []resource.Object{workers()}, resource.SkipOptedOut, "@0", ""},
		"the switch is off":        {false, []resource.Object{optIn(resource.OptInAll), workers()}, resource.SkipFeatureOff, "@0", ""},
		"somebody else manages it": {true, []resource.Object{optIn(resource.OptInAll), workers(func(g *resource.ServerGroup) { g.Spec.ManagedBy = "argocd/site-7" })}, resource.SkipOwner, "@0", "GroupSkipped"},
		"an image of its own":      {true, []resource.Object{optIn(resource.OptInAll), workers(own)}, resource.SkipCustomImage, "1:/manual @1", "GroupSkipped"},
		"no server":                {true, []resource.Object{optIn(resource.OptInAll), workers(func(g *resource.ServerGroup) { g.Spec.Selector.MatchLabels = map[string]string{"row": "8"} })}, resource.SkipArchitecture, "@0", "GroupSkipped"},
		"an image of its own, and no server": {true, []resource.Object{optIn(resource.OptInAll), workers(own, func(g *resource.ServerGroup) {
			g.Spec.Selector.MatchLabels = map[string]string{"row": "8"}
		})}, resource.SkipCustomImage, "@0", "BootImageUpdateDeferred GroupSkipped"},
		"no server, but declared": {true, []resource.Object{optIn(resource.OptInAll), workers(func(g *resource.ServerGroup) {
			g.Spec.Selector.MatchLabels, g.Spec.Architectures = map[string]string{"row": "8"}, []string{"amd64"}
		})}, "", "1:1.0/catalogue @1", "WaitingForStamp"},
	} {
		t.Run(name, func(t *testing.T) {
			b, _, _ := groupSite(t, entryOf("1.0"))
			b.feature = c.feature
			b.restart()
			b.apply(c.objs...)
			b.pass()
			g := b.group()
			if e := g.Status.Enrolment; e == nil || e.Skipped != c.skip || codes(g.Status.Conditions) != c.conds {
				t.Errorf("%+v, %+v", e, g.Status.Conditions)
			}
			b.wantHistory(name, c.history)
		})
	}
}

// historyOf are the revisions of a group in order of number.
func (b *bench) historyOf(g *resource.ServerGroup) (list []*resource.GroupRevision) {
	for _, r := range store.List[*resource.GroupRevision](b.store.Objects) {
		if r.Spec.GroupUID == g.Metadata.UID {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *resource.GroupRevision) int { return a.Spec.Number - b.Spec.Number })
	return list
}
