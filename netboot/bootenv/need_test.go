package bootenv

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestNeeds: what an environment names is found, with the field that names it, wherever it
// stands (facts: fields outside of os.supportedArchitectures are those of amd64).
func TestNeeds(t *testing.T) {
	one := resource.EnvArch{IsoFile: "x.iso", Kernel: "k", Initrds: []string{"i", "j"}}
	arch := "spec.os.supportedArchitectures."
	for _, row := range []struct {
		name string
		spec resource.BootEnvSpec
		want []string
	}{
		{"nothing", resource.BootEnvSpec{}, nil},
		{"of an architecture", specOf(map[string]resource.EnvArch{"amd64": one}), []string{"x.iso " + arch + "amd64.kernel kernel k amd64", "x.iso " + arch + "amd64.initrds[0] initrd i amd64", "x.iso " + arch + "amd64.initrds[1] initrd j amd64"}},
		{"in another spelling", specOf(map[string]resource.EnvArch{"aarch64": {IsoFile: "x.iso", UKI: "u", Loader: "l"}}), []string{"x.iso " + arch + "aarch64.uki UKI u arm64", "x.iso " + arch + "aarch64.loader loader l arm64"}},
		{"outside", resource.BootEnvSpec{Kernel: "k", OS: resource.EnvOS{IsoFile: "y.iso"}}, []string{"y.iso spec.kernel kernel k amd64"}},
		{"kernel outside, file within", resource.BootEnvSpec{Kernel: "k", OS: resource.EnvOS{SupportedArchitectures: map[string]resource.EnvArch{"amd64": {IsoFile: "x.iso"}}}}, []string{"x.iso spec.kernel kernel k amd64"}},
		{"of an image", specOf(map[string]resource.EnvArch{"amd64": {Image: "r/x:1", Kernel: "k"}}), nil},
		{"loaders, but for legacy BIOS and others", resource.BootEnvSpec{
			Loaders: map[resource.LoaderKey]string{resource.LoaderBIOS: "lpxelinux.0", resource.LoaderAMD64: "shim", resource.LoaderARM64: "arm"},
			OS:      resource.EnvOS{SupportedArchitectures: map[string]resource.EnvArch{"amd64": {IsoFile: "x.iso"}}},
		}, []string{"x.iso spec.loaders.amd64-uefi loader shim amd64"}},
		{"what a template lies over", resource.BootEnvSpec{
			Templates: []resource.EnvTemplate{{Name: "g", Path: `{{.Env.PathFor "disk" "EFI/BOOT/grub.efi"}}`}},
			OS:        resource.EnvOS{SupportedArchitectures: map[string]resource.EnvArch{"amd64": {IsoFile: "x.iso", Loader: "EFI/BOOT/grub.efi"}}},
		}, nil},
		{"a path that is none is another finding", specOf(map[string]resource.EnvArch{"amd64": {IsoFile: "x.iso", Kernel: "../k"}}), nil},
	} {
		var got []string
		for _, of := range Needs(row.spec) {
			for _, n := range of.Needs {
				got = append(got, fmt.Sprintf("%s %s %s %s %s", of.File, n.Field, n.Part, n.Path, n.Arch))
			}
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

func specOf(arches map[string]resource.EnvArch) resource.BootEnvSpec {
	return resource.BootEnvSpec{OS: resource.EnvOS{SupportedArchitectures: arches}}
}

// TestLinksInCircles: links of templates that lead to each other are refused when they are
// rendered, not found when a boot asks.
func TestLinksInCircles(t *testing.T) {
	link := func(at, to string) resource.EnvTemplate {
		return resource.EnvTemplate{Name: at, Path: at, Link: to}
	}
	for _, row := range []struct {
		name  string
		links []resource.EnvTemplate
		want  string
	}{
		{"to a file", []resource.EnvTemplate{link("a", "b"), link("b", "c")}, ""},
		{"of two", []resource.EnvTemplate{link("a", "b"), link("b", "a")}, `the link a of template "a" leads in a circle, through a of template "a"`},
		{"before one", []resource.EnvTemplate{link("a", "b"), link("b", "c"), link("c", "b")}, `the link a of template "a" leads in a circle, through b`},
		{"of one", []resource.EnvTemplate{link("a", "a")}, "is a link to itself"},
	} {
		b := resource.EnvBundle{BootEnv: "x", Machine: resource.EnvMachine{Name: "n1", UID: "u", Architecture: "amd64"}}
		b.Spec.OS.Name = "x-1"
		b.Spec.Loaders = map[resource.LoaderKey]string{resource.LoaderAMD64: "shim"}
		b.Spec.Templates = row.links
		e, err := Merge(b)
		if err != nil {
			t.Fatal(row.name, err)
		}
		_, err = e.Render(t.Context(), Sample())
		if row.want == "" && err != nil || row.want != "" && (protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}
