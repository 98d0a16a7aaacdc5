package bootenv

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestRender(t *testing.T) {
	const base = "http://192.0.2.1:8080/b/sample/"
	tree := rendered(t, bundle())
	got := map[string]string{}
	for p, f := range tree.Files {
		got[p] = string(f.Content)
	}
	want := map[string]string{
		machineRoot + "/seed": "d-i netcfg/get_hostname string node1\n" +
			"d-i mirror/country string manual\nd-i mirror/protocol string http\nd-i mirror/http/hostname string 192.0.2.1:8080\n" +
			"d-i mirror/http/directory string /b/sample/" + machineRoot + "/boot\nd-i mirror/http/proxy string\nd-i mirror/suite string bookworm\n" +
			"d-i preseed/late_command string wget --post-data= " + base + "report/installed\n",
		// Files lie inside the tree of the ISO file, beside the loader that looks there.
		machineRoot + "/boot/EFI/BOOT/grub.cfg": "linux /" + machineRoot + "/boot/install.amd/vmlinuz auto=true url=" + base + machineRoot + "/seed console=ttyS1 rackboot.url=" + base + " --- console=ttyS1 quiet\n" +
			"initrd " + machineRoot + "/boot/install.amd/initrd.gz\nboot\n",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]string{"52:54:00:ab:cd:ef.ipxe": "default.ipxe"}, tree.Links); d != "" {
		t.Error(d)
	}
	if want := append(slices.Sorted(maps.Keys(want)), "x"); len(tree.Paths()) != len(want) || !tree.Has("/"+want[0]) || tree.Has("x") {
		t.Error(tree.Paths())
	}
}

// The same bundle gives the same tree and generation; another value gives another one, and
// another token does not.
func TestGeneration(t *testing.T) {
	generation := func(b resource.EnvBundle) string {
		e := merged(t, b)
		root, err := e.Root()
		if err != nil {
			t.Fatal(err)
		}
		g, err := e.Generation(root, rendered(t, b))
		if err != nil || !strings.HasPrefix(g, "sha256:") {
			t.Fatal(g, err)
		}
		return g
	}
	first := generation(bundle())
	for range 10 {
		if g := generation(bundle()); g != first {
			t.Fatalf("%s, then %s", first, g)
		}
	}
	for name, change := range map[string]func(*resource.EnvBundle){
		"param":       func(b *resource.EnvBundle) { b.Params[0].Values["console"] = "x" },
		"template":    func(b *resource.EnvBundle) { b.Templates["late.tmpl"] = "x" },
		"kernel args": func(b *resource.EnvBundle) { b.KernelArgs = "x" },
		"ISO":         func(b *resource.EnvBundle) { b.ISOs[0].Digest = "sha256:bb" },
		"kernel":      func(b *resource.EnvBundle) { b.Spec.Loaders[resource.LoaderAMD64] = "EFI/BOOT/shimx64.efi" },
		"link":        func(b *resource.EnvBundle) { b.Spec.Templates[2].Link = "other.ipxe" },
	} {
		b := bundle()
		change(&b)
		if generation(b) == first {
			t.Errorf("%s: the generation is the same", name)
		}
	}
}

// An environment is read by many at a time.
func TestRenderAtOnce(t *testing.T) {
	e := merged(t, bundle())
	want := rendered(t, bundle())
	t.Run("group", func(t *testing.T) {
		for range 4 {
			t.Run("one", func(t *testing.T) {
				t.Parallel()
				for range 20 {
					if tree, err := e.Render(context.Background(), Sample()); err != nil || !cmp.Equal(tree, want) {
						t.Error(err)
					}
				}
			})
		}
	})
}

// Paths of templates lead nowhere else, and no two lead to the same.
func TestPaths(t *testing.T) {
	one := func(path string) []resource.EnvTemplate { return []resource.EnvTemplate{written("a", path, "x")} }
	link := func(to string) []resource.EnvTemplate {
		return []resource.EnvTemplate{{Name: "a", Path: "p", Link: to}}
	}
	for _, row := range []struct {
		name      string
		templates []resource.EnvTemplate
		want      string
	}{
		{"a slash before it", one("/etc/passwd"), `the path "/etc/passwd" begins with /`},
		{"dots", one("a/../../b"), "has .. in it"},
		{"dots by a value", one(`{{print "." "."}}/b`), "has .. in it"},
		{"not in its shortest form", one("a//b"), "is not in its shortest form"},
		{"a dot", one("."), "is not in its shortest form"},
		{"a slash at its end", one("a/"), "is not in its shortest form"},
		{"empty by a value", one(`{{""}}`), "is empty"},
		{"a line", one("a\nb"), "has a control character"},
		{"a backslash", one(`a\b`), `has a \`},
		{"long", one(strings.Repeat("x", 5000)), "is too long"},
		{"a missing key", one(`{{(dict "a" 1).b}}`), `spec.templates[0].path:1:`},
		{"a link out of it", link("../x"), `the link "../x" has .. in it`},
		{"a link to itself", link("p"), "is a link to itself"},
		{"the same path", append(one("p"), written("b", `{{"p"}}`, "y")), `templates "a" and "b" have the same path p`},
		{"a link of the same path", append(one("p"), resource.EnvTemplate{Name: "b", Path: `{{"p"}}`, Link: "q"}), `templates "a" and "b" have the same path p`},
		{"a file where a folder is", append(one("p"), written("b", "p/q", "y")), `template "b" lies at p/q, which is a file of template "a"`},
	} {
		b := bundle()
		b.Spec.Templates = row.templates
		_, err := merged(t, b).Render(context.Background(), Sample())
		if err == nil || !strings.Contains(err.Error(), row.want) || protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v, want %s", row.name, err, row.want)
		}
	}
}

// What Merge refuses.
func TestMergeErrors(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*resource.EnvBundle)
		code   protocol.Code
		want   string
	}{
		{"an architecture in another spelling", func(b *resource.EnvBundle) { b.Machine.Architecture = "x86_64" }, protocol.CodeInvalid, "use amd64 instead of x86_64"},
		{"an architecture that the environment has not", func(b *resource.EnvBundle) { b.Machine.Architecture = "riscv64" }, protocol.CodeUnsupported, "has nothing for riscv64"},
		{"a UUID that is a path", func(b *resource.EnvBundle) { b.Machine.UUID = "../x" }, protocol.CodeInvalid, "the UUID of node1.example cannot be a name"},
		{"a required param without a value", func(b *resource.EnvBundle) { b.Spec.RequiredParams = []string{"console", "disk"} }, protocol.CodeInvalid, "needs a value for disk, and nobody gives one"},
		{"onlyUnknown for a claim", func(b *resource.EnvBundle) { b.Spec.OnlyUnknown = true }, protocol.CodeInvalid, "is only for machines in discovery"},
		{"discovery without onlyUnknown", func(b *resource.EnvBundle) { b.Purpose = resource.PurposeDiscovery }, protocol.CodeInvalid, "is not for machines in discovery"},
		{"destructive for a claim", func(b *resource.EnvBundle) { b.Spec.Destructive = true }, protocol.CodeDenied, "discards disks"},
		{"a Template that is not there", func(b *resource.EnvBundle) { delete(b.Templates, "debian-seed.tmpl") }, protocol.CodeInvalid, `spec.templates[0].id: no Template is named "debian-seed.tmpl"`},
		{"a Template in a Template that is not there", func(b *resource.EnvBundle) { delete(b.Templates, "late.tmpl") }, protocol.CodeInvalid, `debian-seed.tmpl: template "late.tmpl" is not there`},
		{"a Template with an error", func(b *resource.EnvBundle) { b.Templates["late.tmpl"] = "a\n{{ now }}" }, protocol.CodeInvalid, `template late.tmpl:2:4: function "now" is left out`},
		{"a name that two Templates define", func(b *resource.EnvBundle) {
			b.Templates["late.tmpl"], b.Templates["x.tmpl"] = `{{define "d"}}1{{end}}`, `{{define "d"}}2{{end}}`
		}, protocol.CodeInvalid, `"d" is defined in Template late.tmpl too`},
		{"an override that leaves a template without content", func(b *resource.EnvBundle) {
			b.Params[0].Values["bootenv-customize"] = map[string]any{b.BootEnv: map[string]any{"templates": []any{map[string]any{"name": "x", "path": "p"}}}}
		}, protocol.CodeInvalid, `spec.templates[3]: template "x" has no id, contents or link`},
	} {
		b := bundle()
		row.change(&b)
		if _, err := Merge(b); protocol.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %s", row.name, err, row.want)
		}
	}
	b := bundle()
	b.Spec.Destructive, b.Purpose = true, resource.PurposeMaintenance
	if _, err := Merge(b); err != nil {
		t.Error(err)
	}
	b = bundle()
	b.Spec.OnlyUnknown, b.Purpose = true, resource.PurposeDiscovery
	if _, err := Merge(b); err != nil {
		t.Error(err)
	}
}
