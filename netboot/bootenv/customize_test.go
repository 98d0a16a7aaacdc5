package bootenv

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// custom is the bundle's environment with values of bootenv-customize from these sources,
// the most specific first.
func custom(t *testing.T, values ...string) (resource.BootEnvSpec, error) {
	t.Helper()
	b := bundle()
	for i, v := range values {
		var value any
		if err := json.Unmarshal([]byte(v), &value); err != nil {
			t.Fatal(err)
		}
		b.Params = append(b.Params, resource.EnvParams{Source: "profile " + string(rune('a'+i)), Values: map[string]any{
			resource.ParamBootEnvCustomize: map[string]any{b.BootEnv: value, "another": map[string]any{"os": map[string]any{"name": "other-1"}}},
		}})
	}
	e, err := Merge(b)
	if err != nil {
		return resource.BootEnvSpec{}, err
	}
	return e.Spec, nil
}

// Seed, bootenv-customize, and facts of the same name.
func TestCustomize(t *testing.T) {
	amd64of := func(s resource.BootEnvSpec) resource.EnvArch { return s.OS.SupportedArchitectures["amd64"] }
	for _, row := range []struct {
		name   string
		values []string
		want   func(resource.BootEnvSpec) bool
	}{
		{"none", nil, func(s resource.BootEnvSpec) bool { return s.OS.Name == "debian-12" && len(s.Templates) == 3 }},
		{"Loaders is merged key by key", []string{`{"loaders":{"arm64-uefi":"x.efi"}}`}, func(s resource.BootEnvSpec) bool {
			return s.Loaders[resource.LoaderARM64] == "x.efi" && s.Loaders[resource.LoaderAMD64] == "EFI/BOOT/BOOTX64.EFI"
		}},
		{"a loader is replaced", []string{`{"loaders":{"amd64-uefi":"x.efi"}}`}, func(s resource.BootEnvSpec) bool { return s.Loaders[resource.LoaderAMD64] == "x.efi" }},
		{"a template of the same name is replaced whole", []string{`{"templates":[{"name":"seed","path":"p","contents":"c"}]}`}, func(s resource.BootEnvSpec) bool {
			return len(s.Templates) == 3 && s.Templates[0].Path == "p" && s.Templates[0].ID == ""
		}},
		{"another template is appended", []string{`{"templates":[{"name":"more","path":"p","contents":"c"}]}`}, func(s resource.BootEnvSpec) bool {
			return len(s.Templates) == 4 && s.Templates[3].Name == "more"
		}},
		{"OS.Name overrides", []string{`{"os":{"name":"debian-13"}}`}, func(s resource.BootEnvSpec) bool { return s.OS.Name == "debian-13" && s.OS.Codename == "bookworm" }},
		{"family, codename and version", []string{`{"os":{"family":"f","codename":"trixie","version":"13"}}`}, func(s resource.BootEnvSpec) bool {
			return s.OS.Family == "f" && s.OS.Codename == "trixie" && s.OS.Version == "13" && s.OS.Name == "debian-12"
		}},
		{"each scalar of an architecture replaces", []string{`{"os":{"supportedArchitectures":{"amd64":{"kernel":"k"}}}}`}, func(s resource.BootEnvSpec) bool {
			return amd64of(s).Kernel == "k" && amd64of(s).IsoFile == "debian-12.iso" && slices.Equal(amd64of(s).Initrds, []string{"install.amd/initrd.gz"})
		}},
		{"in any spelling", []string{`{"os":{"supportedArchitectures":{"x86_64":{"kernel":"k"}}}}`}, func(s resource.BootEnvSpec) bool { return amd64of(s).Kernel == "k" }},
		{"initrds are replaced as a whole list", []string{`{"os":{"supportedArchitectures":{"amd64":{"initrds":["a","b"]}}}}`}, func(s resource.BootEnvSpec) bool {
			return slices.Equal(amd64of(s).Initrds, []string{"a", "b"})
		}},
		{"an unknown architecture is added whole", []string{`{"os":{"supportedArchitectures":{"riscv64":{"kernel":"k"}}}}`}, func(s resource.BootEnvSpec) bool {
			return s.OS.SupportedArchitectures["riscv64"].Kernel == "k" && len(s.OS.SupportedArchitectures) == 3
		}},
		{"empty means keep", []string{`{"os":{"name":"","supportedArchitectures":{"amd64":{"kernel":""}}},"loaders":{"amd64-uefi":""}}`}, func(s resource.BootEnvSpec) bool {
			return s.OS.Name == "debian-12" && amd64of(s).Kernel != "" && s.Loaders[resource.LoaderAMD64] != ""
		}},
		{"the most specific source wins", []string{`{"os":{"codename":"server"}}`, `{"os":{"codename":"group","version":"group"}}`, `{"os":{"codename":"global","version":"global","family":"global"}}`}, func(s resource.BootEnvSpec) bool {
			return s.OS.Codename == "server" && s.OS.Version == "group" && s.OS.Family == "global"
		}},
		{"also for templates", []string{`{"templates":[{"name":"seed","path":"server","contents":"c"}]}`, `{"templates":[{"name":"seed","path":"global","contents":"c"}]}`}, func(s resource.BootEnvSpec) bool {
			return s.Templates[0].Path == "server"
		}},
		{"legacy iso fields are those of amd64", []string{`{"os":{"isoFile":"x.iso"}}`}, func(s resource.BootEnvSpec) bool { return amd64of(s).IsoFile == "x.iso" }},
		{"clear before the merge", []string{`{"clear":["loaders"],"loaders":{"arm64-uefi":"x.efi"}}`}, func(s resource.BootEnvSpec) bool {
			return len(s.Loaders) == 1 && s.Loaders[resource.LoaderARM64] == "x.efi"
		}},
		{"clear takes away what a less specific source gave", []string{`{"clear":["os.version"]}`, `{"os":{"version":"1"}}`}, func(s resource.BootEnvSpec) bool { return s.OS.Version == "" }},
		{"and not what a more specific one gives", []string{`{"os":{"version":"1"}}`, `{"clear":["os.version"]}`}, func(s resource.BootEnvSpec) bool { return s.OS.Version == "1" }},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, err := custom(t, row.values...)
			if err != nil || !row.want(s) {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

func written(name, path, contents string) resource.EnvTemplate {
	return resource.EnvTemplate{Name: name, Path: path, Contents: contents}
}

// What cannot be overridden, and what cannot be cleared, is said and not ignored.
func TestCustomizeErrors(t *testing.T) {
	for _, row := range []struct{ name, value, want string }{
		{"not overridable: requiredParams", `{"requiredParams":["x"]}`, `unknown field "requiredParams"`},
		{"not overridable: onlyUnknown", `{"onlyUnknown":true}`, `unknown field "onlyUnknown"`},
		{"not overridable: kernel", `{"kernel":"x"}`, `unknown field "kernel"`},
		{"a wrong type", `{"loaders":[]}`, "cannot unmarshal array"},
		{"an unknown clear path", `{"clear":["os.kernle"]}`, `clears "os.kernle", which is no field that can be cleared`},
		{"an unknown field of an architecture", `{"clear":["os.supportedArchitectures.amd64.kernle"]}`, "which is no field that can be cleared"},
		{"an unknown architecture", `{"clear":["os.supportedArchitectures.vax"]}`, "which is no field that can be cleared"},
		{"an unknown kind of machine", `{"clear":["loaders.vax-uefi"]}`, "which is no field that can be cleared"},
		{"a template that is not there", `{"clear":["templates.nope"]}`, `clears template "nope", which is not there`},
		{"the name", `{"clear":["os.name"]}`, "which is no field that can be cleared"},
		{"an empty path", `{"clear":[""]}`, "which is no field that can be cleared"},
		{"an architecture that is none", `{"os":{"supportedArchitectures":{"vax":{}}}}`, `"vax" is no known architecture`},
		{"a loader for no kind of machine", `{"loaders":{"vax-uefi":"x"}}`, "vax-uefi is not a supported loader type"},
		{"a kernel outside of the root", `{"os":{"supportedArchitectures":{"amd64":{"kernel":"../x"}}}}`, "has .. in it"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := custom(t, row.value)
			if protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %s", err, row.want)
			}
		})
	}
	_, err := custom(t, `{}`, `{"clear":["x"]}`)
	if err == nil || !strings.Contains(err.Error(), "profile b: params.bootenv-customize.debian-12-install") {
		t.Errorf("the error names source and path: %v", err)
	}
}

// Every path of the table of clearPath empties its field.
func TestClear(t *testing.T) {
	full := func() resource.BootEnvSpec {
		a := resource.EnvArch{IsoFile: "f", Sha256: "s", IsoURL: "u", Image: "i", Kernel: "k", Initrds: []string{"i"}, BootParams: "b", UKI: "u", Loader: "l"}
		return resource.BootEnvSpec{
			OS:        resource.EnvOS{Name: "n", Family: "f", Codename: "c", Version: "v", SupportedArchitectures: map[string]resource.EnvArch{"amd64": a, "arm64": a}},
			Templates: []resource.EnvTemplate{written("a.b", "p", "c"), written("d", "p", "c")},
			Loaders:   map[resource.LoaderKey]string{resource.LoaderAMD64: "x", resource.LoaderARM64: "y"},
		}
	}
	arch := func(change func(*resource.EnvArch)) func(*resource.BootEnvSpec) {
		return func(s *resource.BootEnvSpec) {
			a := s.OS.SupportedArchitectures["amd64"]
			change(&a)
			s.OS.SupportedArchitectures["amd64"] = a
		}
	}
	const prefix = "os.supportedArchitectures.amd64"
	for _, row := range []struct {
		path string
		want func(*resource.BootEnvSpec)
	}{
		{"loaders", func(s *resource.BootEnvSpec) { clear(s.Loaders) }},
		{"loaders.amd64-uefi", func(s *resource.BootEnvSpec) { delete(s.Loaders, resource.LoaderAMD64) }},
		{"loaders.riscv64-uefi", func(*resource.BootEnvSpec) {}},
		{"templates", func(s *resource.BootEnvSpec) { s.Templates = nil }},
		{"templates.a.b", func(s *resource.BootEnvSpec) { s.Templates = s.Templates[1:] }},
		{"os.family", func(s *resource.BootEnvSpec) { s.OS.Family = "" }},
		{"os.codename", func(s *resource.BootEnvSpec) { s.OS.Codename = "" }},
		{"os.version", func(s *resource.BootEnvSpec) { s.OS.Version = "" }},
		{"os.supportedArchitectures", func(s *resource.BootEnvSpec) { clear(s.OS.SupportedArchitectures) }},
		{prefix, func(s *resource.BootEnvSpec) { delete(s.OS.SupportedArchitectures, "amd64") }},
		{"os.supportedArchitectures.riscv64.kernel", func(*resource.BootEnvSpec) {}},
		{prefix + ".isoFile", arch(func(a *resource.EnvArch) { a.IsoFile = "" })},
		{prefix + ".sha256", arch(func(a *resource.EnvArch) { a.Sha256 = "" })},
		{prefix + ".isoUrl", arch(func(a *resource.EnvArch) { a.IsoURL = "" })},
		{prefix + ".image", arch(func(a *resource.EnvArch) { a.Image = "" })},
		{prefix + ".kernel", arch(func(a *resource.EnvArch) { a.Kernel = "" })},
		{prefix + ".initrds", arch(func(a *resource.EnvArch) { a.Initrds = nil })},
		{prefix + ".bootParams", arch(func(a *resource.EnvArch) { a.BootParams = "" })},
		{prefix + ".uki", arch(func(a *resource.EnvArch) { a.UKI = "" })},
		{prefix + ".loader", arch(func(a *resource.EnvArch) { a.Loader = "" })},
		{"os.supportedArchitectures.x86_64.kernel", arch(func(a *resource.EnvArch) { a.Kernel = "" })},
		{"kernel", arch(func(a *resource.EnvArch) { a.Kernel = "" })},
		{"initrds", arch(func(a *resource.EnvArch) { a.Initrds = nil })},
		{"bootParams", arch(func(a *resource.EnvArch) { a.BootParams = "" })},
		{"os.isoFile", arch(func(a *resource.EnvArch) { a.IsoFile = "" })},
		{"os.isoSha256", arch(func(a *resource.EnvArch) { a.Sha256 = "" })},
		{"os.isoUrl", arch(func(a *resource.EnvArch) { a.IsoURL = "" })},
	} {
		got, want := full(), full()
		if err := clearPath(&got, row.path); err != nil {
			t.Errorf("%s: %v", row.path, err)
		}
		row.want(&want)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", row.path, d)
		}
	}
}

// A legacy field of amd64 can be cleared too: it does not come back by the fallback.
func TestClearLegacy(t *testing.T) {
	s := resource.BootEnvSpec{Kernel: "k", Initrds: []string{"i"}, BootParams: "b"}
	got, err := customize(s, "e", []held{{value: map[string]any{"e": map[string]any{"clear": []any{"bootParams", "initrds"}}}}})
	if err != nil || fallback(got, "amd64").Kernel != "k" || fallback(got, "amd64").BootParams != "" || fallback(got, "amd64").Initrds != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if s.Kernel != "k" || s.Initrds[0] != "i" {
		t.Error("the environment itself was changed")
	}
}
