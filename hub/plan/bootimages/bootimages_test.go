package bootimages

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// day is when these tests are.
func day() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }

func group(change ...func(*resource.ServerGroup)) *resource.ServerGroup {
	g := &resource.ServerGroup{Spec: resource.ServerGroupSpec{Catalogue: "stable", Selector: resource.Selector{MatchLabels: map[string]string{"row": "7"}}}}
	g.Metadata.Name, g.Metadata.UID, g.Metadata.Labels = "workers", "uid-g", map[string]string{"managed": "yes"}
	g.Default()
	for _, c := range change {
		c(g)
	}
	return g
}

func entry(version string) *resource.BootImage {
	b := &resource.BootImage{Spec: resource.BootImageSpec{Catalogue: "stable", Version: version, Architectures: map[string]resource.BootImageArch{"amd64": {Image: "r.example/os@sha256:" + strings.Repeat("a", 64)}}}}
	b.Metadata.Name = "os-" + strings.ReplaceAll(version, ".", "-")
	return b
}

func images(digit string) map[string]resource.Image {
	return map[string]resource.Image{"amd64": {Digest: "sha256:" + strings.Repeat(digit, 64), Architecture: "amd64"}}
}

func revision(n int, e *resource.BootImage, digit string) *resource.GroupRevision {
	r := &resource.GroupRevision{Spec: resource.GroupRevisionSpec{Group: "workers", GroupUID: "uid-g", Number: n, Images: images(digit)}}
	if e != nil {
		r.Spec.BootImage, r.Spec.Version, r.Spec.BootImageDigest = e.Metadata.Name, e.Spec.Version, e.Digest()
	}
	r.Spec.BootPolicy.Default()
	return r
}

// facts/boot-images §5 rows 1, 2, 7, 8, 9: default off, the effective mode and its origin,
// owners named, custom images left alone.
func TestEnrol(t *testing.T) {
	managed := func(mode resource.OptIn, labels map[string]string) *resource.ManagedBootImages {
		m := &resource.ManagedBootImages{Spec: resource.ManagedBootImagesSpec{Mode: mode}}
		if labels != nil {
			m.Spec.Selector = &resource.Selector{MatchLabels: labels}
		}
		m.Default()
		return m
	}
	amd := []string{"amd64"}
	for name, c := range map[string]struct {
		in       EnrolIn
		skipped  resource.SkipReason
		mode     resource.OptIn
		explicit bool
		message  string
	}{
		"nobody has said a mode (row 1)":       {EnrolIn{true, nil, group(), amd}, resource.SkipOptedOut, resource.OptInNone, false, "keeps the image"},
		"the switch is off (seed)":             {EnrolIn{false, managed("All", nil), group(), amd}, resource.SkipFeatureOff, resource.OptInAll, true, "hub's file"},
		"Enabled is All (row 1)":               {EnrolIn{true, managed("Enabled", nil), group(), amd}, "", resource.OptInAll, true, ""},
		"Disabled is None (row 1)":             {EnrolIn{true, managed("Disabled", nil), group(), amd}, resource.SkipOptedOut, resource.OptInNone, true, ""},
		"MatchSelector that matches (row 1)":   {EnrolIn{true, managed("MatchSelector", map[string]string{"managed": "yes"}), group(), amd}, "", resource.OptInPartial, true, ""},
		"Partial that does not match":          {EnrolIn{true, managed("Partial", map[string]string{"managed": "no"}), group(), amd}, resource.SkipNotSelected, resource.OptInPartial, true, "labels"},
		"Partial with nothing in it (row 2)":   {EnrolIn{true, managed("Partial", map[string]string{}), group(), amd}, resource.SkipNotSelected, resource.OptInPartial, true, ""},
		"somebody else manages it (row 7)":     {EnrolIn{true, managed("All", nil), group(func(g *resource.ServerGroup) { g.Spec.ManagedBy = "argocd/site-7" }), amd}, resource.SkipOwner, resource.OptInAll, true, "argocd/site-7"},
		"an image of one's own (row 8)":        {EnrolIn{true, managed("All", nil), group(func(g *resource.ServerGroup) { g.Spec.Image = "mine" }), amd}, resource.SkipCustomImage, resource.OptInAll, true, "group adopt workers"},
		"it was adopted (row 8)":               {EnrolIn{true, managed("All", nil), group(adopted("mine", "mine")), amd}, "", resource.OptInAll, true, ""},
		"another than was adopted (row 8)":     {EnrolIn{true, managed("All", nil), group(adopted("other", "mine")), amd}, resource.SkipCustomImage, resource.OptInAll, true, "other"},
		"no server and none declared (row 9)":  {EnrolIn{true, managed("All", nil), group(), nil}, resource.SkipArchitecture, resource.OptInAll, true, "declare spec.architectures"},
		"a mode of a newer release, not known": {EnrolIn{true, managed("Sometimes", nil), group(), amd}, resource.SkipOptedOut, "Sometimes", true, ""},
	} {
		got := Enrol(c.in)
		if got.Skipped != c.skipped || got.Managed != (c.skipped == "") || got.Mode != c.mode || got.Explicit != c.explicit || !strings.Contains(got.Message, c.message) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func adopted(says, word string) func(*resource.ServerGroup) {
	return func(g *resource.ServerGroup) {
		g.Spec.Image, g.Status.Adopted = says, &resource.GroupAdoption{Image: word}
	}
}

// Rows 9 (architecture declared or from the servers, mixed groups) and OCPBUGS-25725 (an
// empty group works).
func TestArchitectures(t *testing.T) {
	server := func(name, arch string) *resource.Server {
		s := &resource.Server{}
		s.Metadata.Name, s.Spec.Architecture = name, arch
		return s
	}
	mixed := []*resource.Server{server("n1", "arm64"), server("n2", "amd64"), server("n3", ""), server("n4", "arm64")}
	known, wrong := Architectures(group(), mixed)
	if strings.Join(known, " ") != "amd64 arm64" || wrong != nil {
		t.Errorf("of the servers: %v, %v", known, wrong)
	}
	declared := group(func(g *resource.ServerGroup) { g.Spec.Architectures = []string{"arm64"} })
	if known, wrong = Architectures(declared, mixed); strings.Join(known, " ") != "arm64" || strings.Join(wrong, " ") != "n2" {
		t.Errorf("declared: %v, %v", known, wrong)
	}
	if known, _ = Architectures(declared, nil); strings.Join(known, " ") != "arm64" {
		t.Errorf("declared and empty: %v", known)
	}
}

// Rows 21 (reject list, pin) and 23 (a catalogue that is set back is followed).
func TestChoose(t *testing.T) {
	old, now, next := entry("9.2.1"), entry("9.10.0"), entry("10.0")
	beta := entry("11.0")
	beta.Spec.Catalogue = "testing"
	odd := entry("12.0")
	odd.Spec.Version = "latest"
	going := entry("13.0")
	going.Metadata.DeletedAt = new(day())
	all := []*resource.BootImage{next, old, beta, odd, going, now}
	for name, c := range map[string]struct {
		entries []*resource.BootImage
		group   *resource.ServerGroup
		current *resource.GroupRevision
		want    Chosen
		entry   *resource.BootImage
	}{
		"numbers as numbers":        {all[1:], group(), revision(1, old, "a"), ChooseTake, now},
		"the first":                 {all, group(), nil, ChooseTake, next},
		"it has the newest":         {all, group(), revision(1, next, "a"), ChooseCurrent, next},
		"rejected":                  {all, group(func(g *resource.ServerGroup) { g.Status.Rejected = map[string]resource.GroupReject{"os-10-0": {}} }), revision(1, old, "a"), ChooseTake, now},
		"pinned":                    {all, group(func(g *resource.ServerGroup) { g.Status.Pinned = &resource.GroupPin{Revision: 1} }), revision(1, old, "a"), ChoosePinned, nil},
		"the newest vanished":       {[]*resource.BootImage{old, now}, group(), revision(2, next, "a"), ChooseTake, now},
		"all vanished: it stays":    {nil, group(), revision(2, next, "a"), ChooseNothing, nil},
		"altered under its name":    {[]*resource.BootImage{altered(next)}, group(), revision(2, next, "a"), ChooseTake, altered(next)},
		"nothing in this catalogue": {[]*resource.BootImage{beta}, group(), nil, ChooseNothing, nil},
	} {
		what, got, _ := Choose(c.entries, c.group, c.current)
		if what != c.want || (got == nil) != (c.entry == nil) || got != nil && got.Digest() != c.entry.Digest() {
			t.Errorf("%s: %s, %+v", name, what, got)
		}
	}
}

func altered(b *resource.BootImage) *resource.BootImage {
	c := *b
	c.Spec.Architectures = map[string]resource.BootImageArch{"amd64": {Image: "r.example/os@sha256:" + strings.Repeat("e", 64)}}
	return &c
}

// Rows 5 and 6: the stamp is for version, digest and hub; an altered entry loses it.
func TestStamps(t *testing.T) {
	e := entry("9.2.1")
	proof := Proof{Server: "n1", Revision: revision(1, e, "a"), Image: images("a")["amd64"].Digest, Evidence: protocol.EvidenceInstalled, At: day()}
	s := StampFor(e, "1.4", proof)
	if s == nil || s.Server != "n1" || s.HubVersion != "1.4" || s.Version != "9.2.1" {
		t.Fatalf("%+v", s)
	}
	e.Status.Stamp = s
	if got := StampValid(e, "1.4"); got != StampGood {
		t.Error(got)
	}
	if got := StampValid(e, "1.5"); got != StampHub || !strings.Contains(got.Words(e, "1.5"), "this is 1.5") {
		t.Error(got, got.Words(e, "1.5"))
	}
	changed := altered(e)
	if got := StampValid(changed, "1.4"); got != StampDigest || got.Words(changed, "1.4") == "" {
		t.Error(got)
	}
	if got := StampFor(changed, "1.4", proof); got != nil {
		t.Errorf("what was booted is not what the entry says now: %+v", got)
	}
	proof.Image = "sha256:" + strings.Repeat("b", 64)
	if got := StampFor(e, "1.4", proof); got != nil {
		t.Errorf("another image was booted: %+v", got)
	}
}

// Row 12: everything is checked, and everything that fails is said.
func TestPreflight(t *testing.T) {
	out := Preflight(CheckIn{
		Architectures: []string{"amd64", "arm64", "riscv64"},
		Images: map[string]ArchSeen{
			"amd64": {Has: true, State: SeenFailing, Message: "sha256 differs"}, "arm64": {Has: true, State: SeenReady, Boots: "no ISO for VirtualMedia"},
		},
		Stub:      StubSeen{Named: true, State: SeenReady, Refused: "UsesNetworkd at $.networkd"},
		Conflicts: map[string][]string{"n9": {"a", "workers"}}, Wrong: []string{"n2"},
	})
	var all []string
	for _, f := range out.Failed {
		all = append(all, string(f.Code)+" "+f.Message)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{"BootImageUnverified amd64: sha256 differs", "arm64: no ISO", "riscv64", "StubRefused UsesNetworkd", "n2"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if len(out.Told) != 1 || !strings.Contains(out.Told[0].Message, "n9 is in a and workers") || out.Fits() {
		t.Errorf("%+v", out)
	}
	asked := Preflight(CheckIn{Architectures: []string{"amd64"}, Images: map[string]ArchSeen{"amd64": {Has: true, State: SeenAsked}}})
	if len(asked.Failed) > 0 || len(asked.Waits) != 1 || asked.Fits() {
		t.Errorf("%+v", asked)
	}
}
