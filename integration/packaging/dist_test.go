//go:build host

package packaging

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestReproducible: a second build, in another folder and time zone, is the same in each
// byte.
func TestReproducible(t *testing.T) {
	built := make(chan struct{})
	go func() { // beside the first
		defer close(built)
		_, _ = sameRelease() // its error is told below
	}()
	one := dist(t, thisRelease)
	<-built
	two := dist(t, sameRelease)
	if a, b := read(t, one+"/SHA256SUMS"), read(t, two+"/SHA256SUMS"); a != b {
		t.Errorf("one build is\n%sand another\n%s", a, b)
	}
}

// TestSums: every file of a release is in SHA256SUMS, as it is.
func TestSums(t *testing.T) {
	dir := dist(t, thisRelease)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, e := range entries {
		if e.Name() != "SHA256SUMS" {
			sum := sha256.Sum256([]byte(read(t, filepath.Join(dir, e.Name()))))
			want = append(want, hex.EncodeToString(sum[:])+"  "+e.Name())
		}
	}
	got := strings.Split(strings.TrimSpace(read(t, dir+"/SHA256SUMS")), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("SHA256SUMS has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(want) != 5*2+2+2 { // packages, images, NOTICE and the bill of materials
		t.Errorf("%d files", len(want))
	}
}

// TestBillOfMaterials: it names each program by its digest, and all modules that the
// linker put into it.
func TestBillOfMaterials(t *testing.T) {
	dir := dist(t, thisRelease)
	var bom struct {
		BomFormat, SpecVersion string
		Components             []struct {
			Type, Name, Version string
			Ref                 string `json:"bom-ref"`
			Hashes              []struct{ Alg, Content string }
			Licenses            []struct{ License struct{ ID string } }
		}
		Dependencies []struct {
			Ref       string
			DependsOn []string
		}
	}
	if err := json.Unmarshal([]byte(read(t, dir+"/rackboot-"+thisVersion+".cdx.json")), &bom); err != nil {
		t.Fatal(err)
	}
	if bom.BomFormat != "CycloneDX" || bom.SpecVersion != "1.6" {
		t.Errorf("it is %s %s", bom.BomFormat, bom.SpecVersion)
	}
	digests, known := map[string]string{}, map[string]bool{}
	for _, c := range bom.Components {
		known[c.Ref] = true
		if len(c.Licenses) == 0 || c.Version == "" {
			t.Errorf("%s has no licence or version", c.Name)
		}
		if c.Type == "application" {
			digests[c.Name] = c.Hashes[0].Content
		}
	}
	on := map[string][]string{}
	for _, d := range bom.Dependencies {
		on[d.Ref] = d.DependsOn
		for _, ref := range d.DependsOn {
			if !known[ref] {
				t.Errorf("%s needs %s, which is no component", d.Ref, ref)
			}
		}
	}
	for _, name := range []string{"rackctl", "rackboot-hub", "rackboot-agent", "rackboot-launcher", "rackboot-probe", "rackboot-sim"} {
		file := filepath.Join(dir, "../bin", runtime.GOARCH, name)
		sum := sha256.Sum256([]byte(read(t, file)))
		if digests[name] != hex.EncodeToString(sum[:]) {
			t.Errorf("%s has digest %s", name, digests[name])
		}
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(on[name+"/linux/"+runtime.GOARCH]), len(info.Deps)+1; got != want { // and the standard library
			t.Errorf("%s needs %d components, want %d", name, got, want)
		}
	}
}
