package resource

import (
	"strings"
	"testing"

	"rackboot/protocol"
)

func TestCountedMACs(t *testing.T) {
	const a, b, c = "52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:03"
	for _, row := range []struct {
		name   string
		shared []string
		made   bool // from an inventory
		want   string
	}{
		{"none is shared", nil, true, a + " " + b + " " + c},
		{"the boot MAC", []string{a}, true, b + " " + c},
		{"another", []string{b}, true, a + " " + c},
		{"of what somebody applied", []string{a, b}, false, a + " " + b + " " + c},
		{"all", []string{a, b, c}, true, a},
	} {
		s := &Server{Spec: ServerSpec{BootMAC: a, MACs: []string{b, c}}}
		if row.made {
			s.Metadata.Labels = map[string]string{LabelFrom: FromInventory}
		}
		for _, mac := range row.shared {
			s.Status.SharedMACs = append(s.Status.SharedMACs, SharedMAC{MAC: mac, Server: "n2"})
		}
		boot, others := s.CountedMACs()
		if got := strings.Join(append([]string{boot}, others...), " "); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
		if s.Spec.BootMAC != a || len(s.Spec.MACs) != 2 || s.Spec.MACs[0] != b {
			t.Errorf("%s: the spec became %+v", row.name, s.Spec)
		}
	}
}

// Nothing is assumed of an architecture that nobody says.
func TestServerArchitecture(t *testing.T) {
	s := &Server{}
	s.Default()
	if s.Spec.Architecture != "" || s.Architecture() != "" {
		t.Errorf("it is taken for %q", s.Architecture())
	}
	s.Status.Discovered = &Discovered{Inventory: &protocol.HostInventory{CPU: protocol.HostCPU{Architecture: "arm64"}}}
	if s.Architecture() != "arm64" {
		t.Errorf("discovered: %q", s.Architecture())
	}
	s.Status.Architecture = "amd64"
	if s.Architecture() != "amd64" {
		t.Errorf("of its BMC: %q", s.Architecture())
	}
	if s.Spec.Architecture = "arm64"; s.Architecture() != "arm64" {
		t.Errorf("of its spec: %q", s.Architecture())
	}
	two := map[string]BootImageArch{"amd64": {}, "arm64": {}}
	i := &BootImage{Spec: BootImageSpec{Architectures: two}}
	if _, err := i.OnlyArchitecture(); protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(protocol.HintOf(err), "spec.architecture") {
		t.Errorf("an entry for several: %v", err)
	}
	delete(two, "amd64")
	if only, err := i.OnlyArchitecture(); err != nil || only != "arm64" {
		t.Errorf("an entry for one: %q, %v", only, err)
	}
	r := &GroupRevision{Spec: GroupRevisionSpec{Images: map[string]Image{"arm64": {Architecture: "arm64"}}}}
	for arch, code := range map[string]protocol.Code{"": "", "arm64": "", "amd64": protocol.CodeNotFound} {
		if img, err := r.ImageFor(arch); protocol.CodeOf(err) != code || err == nil && img.Architecture != "arm64" {
			t.Errorf("the revision for %q: %+v, %v", arch, img, err)
		}
	}
	r.Spec.Images["amd64"] = Image{}
	if _, err := r.ImageFor(""); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("a revision for several: %v", err)
	}
}
