package bootenv

import (
	"slices"
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

// described is the bundle's environment without a server.
func described() resource.EnvBundle {
	b := bundle()
	b.Params, b.Machine, b.ISOs = nil, resource.EnvMachine{}, nil
	b.Schemas = map[string]resource.ParamSpec{"console": {Name: "console", Schema: map[string]any{"type": "string"}}}
	return b
}

// Facts, TemplateInfo and validity errors; issue: lint finds every error before apply.
func TestLint(t *testing.T) {
	templ := func(ts ...resource.EnvTemplate) func(*resource.EnvBundle) {
		return func(b *resource.EnvBundle) { b.Spec.Templates = append(ts, b.Spec.Templates[1]) }
	}
	arch := func(name string, a resource.EnvArch) func(*resource.EnvBundle) {
		return func(b *resource.EnvBundle) {
			b.Spec.OS.SupportedArchitectures = map[string]resource.EnvArch{name: a}
		}
	}
	use := func(text string) func(*resource.EnvBundle) { return templ(written("x", "x", text)) }
	loader := func(key resource.LoaderKey, p string) func(*resource.EnvBundle) {
		return func(b *resource.EnvBundle) {
			b.Spec.Loaders, b.Spec.Templates = map[resource.LoaderKey]string{key: p}, b.Spec.Templates[:1]
		}
	}
	const amd64At = "spec.os.supportedArchitectures.amd64"
	for _, row := range []struct {
		name   string
		change func(*resource.EnvBundle)
		want   string // empty is nothing
	}{
		{"a good one", func(*resource.EnvBundle) {}, ""},
		{"missing Name", templ(resource.EnvTemplate{Path: "p", Contents: "c"}), "error: spec.templates[0].name: the template has no name"},
		{"missing Path", templ(resource.EnvTemplate{Name: "n", Contents: "c"}), `error: spec.templates[0].path: template "n" has no path`},
		{"Path not parseable", templ(written("n", "{{", "c")), "error: spec.templates[0].path:1:1: unclosed action"},
		{"none of ID, Link and Contents", templ(resource.EnvTemplate{Name: "n", Path: "p"}), `error: spec.templates[0]: template "n" has no id, contents or link`},
		{"both Contents and ID", templ(resource.EnvTemplate{Name: "n", Path: "p", ID: "late.tmpl", Contents: "c"}), `error: spec.templates[0]: template "n" has id and contents`},
		{"both Link and Contents", templ(resource.EnvTemplate{Name: "n", Path: "p", Link: "l", Contents: "c"}), `error: spec.templates[0]: template "n" has contents and link`},
		{"Link without Path", templ(resource.EnvTemplate{Name: "n", Link: "l"}), `error: spec.templates[0].path: template "n" has no path`},
		{"Link not parseable", templ(resource.EnvTemplate{Name: "n", Path: "p", Link: "{{"}), "error: spec.templates[0].link:1:1: unclosed action"},
		{"two templates with the same Path", templ(written("n", "{{.Machine.Path}}/p", "c"), written("m", "{{.Machine.Path}}/p", "c")), `error: spec.templates[1].path: templates "n" and "m" have the same path {{.Machine.Path}}/p`},
		{"a field that no server has", use("a\n{{.Machine.Foo}}"), "error: spec.templates[0].contents:2:11: there is no Foo in .Machine.Foo"},
		{"a field of the dot that is none", use("{{.Foo}}"), "error: spec.templates[0].contents:1:3: there is no Foo in .Foo"},
		{"by $, inside of a range", use("{{range .Repos}}{{$.Env.Foo}}{{end}}"), "error: spec.templates[0].contents:1:20: there is no Foo in .Env.Foo"},
		{"a field of a text", use("{{.Machine.Name.Foo}}"), "error: spec.templates[0].contents:1:11: there is no Foo in .Machine.Name.Foo"},
		{"a field of a Template", func(b *resource.EnvBundle) { b.Templates["late.tmpl"] = "{{.Env.OS.Foo}}" }, "error: template late.tmpl:1:7: there is no Foo in .Env.OS.Foo"},
		{"fields that are there, of a dot that is another one", use("{{range .Repos}}{{.Tag}} {{.Nope}}{{end}}{{with .Machine}}{{.Name}}{{else}}{{.Env.Name}}{{end}}{{.Machine.Labels.rack}}"), ""},
		{"a template that calls itself", func(b *resource.EnvBundle) { b.Templates["late.tmpl"] = `{{template "late.tmpl" .}}` }, "error: template late.tmpl: templates call each other without end: late.tmpl, late.tmpl"},
		{"templates that call each other", func(b *resource.EnvBundle) {
			b.Templates["late.tmpl"], b.Templates["b"] = `x{{.CallTemplate "b" .}}`, `{{template "late.tmpl" .}}`
		}, "error: template b: templates call each other without end: b, late.tmpl, b"},
		{"one that calls itself under a condition", func(b *resource.EnvBundle) {
			b.Templates["late.tmpl"] = `{{if .Machine.Name}}{{template "late.tmpl" .}}{{end}}`
		}, ""},
		{"two templates with the same Name", templ(written("n", "p", "c"), written("n", "q", "c")), `error: spec.templates[1].name: templates 0 and 1 have the same name "n"`},
		{"ID must exist", templ(resource.EnvTemplate{Name: "n", Path: "p", ID: "x"}), `error: spec.templates[0].id: no Template is named "x"`},
		{"a template with an error, line and column", use("a\n {{ now }}"), `error: spec.templates[0].contents:2:5: function "now" is left out`},
		{"syntax, line and column", use("a\n  {{ if }}"), "error: spec.templates[0].contents:2:3: missing value for if"},
		{"syntax, line alone", use("{{ 1 }}{{ if }}"), "error: spec.templates[0].contents:1: missing value for if"},
		{"a Template with an error", func(b *resource.EnvBundle) { b.Templates["late.tmpl"] = "{{ end }}" }, "error: template late.tmpl:1:1: unexpected {{end}}"},
		{"bootParams with an error", arch("amd64", resource.EnvArch{Kernel: "k", BootParams: "{{ x }}"}), "error: " + amd64At + `.bootParams:1:4: function "x" is not there`},
		{"bootParams of another architecture", arch("arm64", resource.EnvArch{Kernel: "k", BootParams: "{{ x }}"}), `error: spec.os.supportedArchitectures.arm64.bootParams:1:4: function "x" is not there`},
		{"a template makes nothing of the site's loaders", func(b *resource.EnvBundle) {
			b.Spec.Loaders = nil
			b.Spec.OS.SupportedArchitectures = map[string]resource.EnvArch{"amd64": {IsoFile: "debian-12.iso"}}
			b.Spec.Templates = append(b.Spec.Templates, written("site", "grub.cfg", "exit"))
		}, "error: " + amd64At + ".kernel: there is nothing to boot for amd64"},
		{"nor where nothing is said of architectures", func(b *resource.EnvBundle) {
			b.Spec.Loaders, b.Spec.OS.SupportedArchitectures = nil, nil
			b.Spec.Templates = append(b.Spec.Templates, written("site", "grub.cfg", "exit"))
		}, "error: spec.os.supportedArchitectures: there is nothing to boot"},
		{"a loader for UEFI HTTP boot alone", func(b *resource.EnvBundle) {
			b.Spec.Loaders = map[resource.LoaderKey]string{resource.LoaderAMD64HTTP: "x.efi"}
			b.Spec.OS.SupportedArchitectures = map[string]resource.EnvArch{"amd64": {IsoFile: "debian-12.iso"}}
		}, "warning: " + amd64At + ".kernel: there is nothing to boot for amd64-uefi"},
		{"a loader for iPXE alone", func(b *resource.EnvBundle) {
			b.Spec.Loaders = map[resource.LoaderKey]string{resource.LoaderAMD64IPXE: "x.efi"}
			b.Spec.OS.SupportedArchitectures = map[string]resource.EnvArch{"amd64": {IsoFile: "debian-12.iso"}}
		}, "error: " + amd64At + ".kernel: there is nothing to boot for amd64"},
		{"a loader that is a param's", func(b *resource.EnvBundle) {
			b.Spec.Loaders, b.Spec.RequiredParams = nil, []string{resource.ParamBootloaders}
			b.Spec.OS.SupportedArchitectures = map[string]resource.EnvArch{"amd64": {IsoFile: "debian-12.iso"}}
		}, ""},
		{"arguments that the site's loaders change", func(b *resource.EnvBundle) {
			b.Spec.Loaders = nil
			arch("amd64", resource.EnvArch{Kernel: "k", BootParams: "a {{.Machine.Name}} b=\"c\""})(b)
		}, "error: " + amd64At + ".bootParams:1:20: a quote, a backslash"},
		{"legacy bootParams", func(b *resource.EnvBundle) {
			arch("amd64", resource.EnvArch{Kernel: "k"})(b)
			b.Spec.BootParams = "{{ x }}"
		}, `error: spec.bootParams:1:4: function "x" is not there`},
		{"Kernel begins with /", arch("amd64", resource.EnvArch{Kernel: "/k"}), "error: " + amd64At + `.kernel: the path "/k" begins with /`},
		{"Kernel with ..", arch("amd64", resource.EnvArch{Kernel: "a/../../k"}), "error: " + amd64At + `.kernel: the path "a/../../k" has .. in it`},
		{"Initrds with ..", arch("amd64", resource.EnvArch{Kernel: "k", Initrds: []string{"i", "../i"}}), "error: " + amd64At + `.initrds[1]: the path "../i" has .. in it`},
		{"an empty initrd", arch("amd64", resource.EnvArch{Kernel: "k", Initrds: []string{""}}), "error: " + amd64At + `.initrds[0]: the path "" is empty`},
		{"legacy kernel with /", func(b *resource.EnvBundle) { b.Spec.Kernel = "/k" }, `error: spec.kernel: the path "/k" begins with /`},
		{"a loader with ..", func(b *resource.EnvBundle) { b.Spec.Loaders[resource.LoaderARM64] = "../x" }, `error: spec.loaders.arm64-uefi: the path "../x" has .. in it`},
		{"kernel missing", arch("amd64", resource.EnvArch{IsoFile: "x.iso", Initrds: []string{"i"}}), "error: " + amd64At + ".initrds: there are initrds and no kernel"},
		{"nothing to boot", func(b *resource.EnvBundle) {
			b.Spec.Templates, b.Spec.Loaders = nil, nil
			arch("amd64", resource.EnvArch{IsoFile: "x.iso"})(b)
		}, "error: " + amd64At + ".kernel: there is nothing to boot for amd64"},
		{"nothing at all", func(b *resource.EnvBundle) {
			b.Spec = resource.BootEnvSpec{OS: resource.EnvOS{Name: "x-1"}}
		}, "error: spec.os.supportedArchitectures: there is nothing to boot"},
		{"unsupported loader type", func(b *resource.EnvBundle) { b.Spec.Loaders["amd64-pcbios"] = "x" }, "error: spec.loaders.amd64-pcbios: amd64-pcbios is not a supported loader type"},
		{"legacy BIOS is accepted", func(b *resource.EnvBundle) { b.Spec.Loaders[resource.LoaderBIOS] = "lpxelinux.0" }, "warning: spec.loaders.386-pcbios: legacy BIOS is not booted"},
		{"GRUB without its configuration", loader(resource.LoaderAMD64, "EFI/BOOT/shimx64.efi"), "error: spec.loaders.amd64-uefi: GRUB EFI/BOOT/shimx64.efi has no configuration"},
		{"iPXE without its configuration", loader(resource.LoaderAMD64, "ipxe.efi"), "error: spec.loaders.amd64-uefi: iPXE ipxe.efi has no configuration"},
		{"the loader of an architecture", func(b *resource.EnvBundle) {
			loader(resource.LoaderAMD64, "memtest.efi")(b)
			arch("amd64", resource.EnvArch{Kernel: "k", Loader: "grubx64.efi"})(b)
		}, "error: " + amd64At + ".loader: GRUB grubx64.efi has no configuration"},
		{"a loader that needs none", loader(resource.LoaderAMD64, "memtest.efi"), ""},
		{"an unknown architecture", arch("vax", resource.EnvArch{Kernel: "k"}), `error: spec.os.supportedArchitectures.vax: "vax" is no known architecture`},
		{"another spelling", arch("x86_64", resource.EnvArch{Kernel: "k"}), "warning: spec.os.supportedArchitectures.x86_64: use amd64 instead of x86_64"},
		{"two spellings", func(b *resource.EnvBundle) {
			b.Spec.OS.SupportedArchitectures["x86_64"] = resource.EnvArch{Kernel: "k"}
		}, "error: spec.os.supportedArchitectures.x86_64: it is the same architecture as amd64"},
		{"sha256 form", arch("amd64", resource.EnvArch{Kernel: "k", IsoFile: "x.iso", Sha256: "zz"}), "error: " + amd64At + ".sha256: it is not 64 hex digits"},
		{"sha256 with a prefix", arch("amd64", resource.EnvArch{Kernel: "k", IsoFile: "x.iso", Sha256: "sha256:" + strings.Repeat("a", 64)}), "error: " + amd64At + ".sha256: it is not 64 hex digits"},
		{"legacy sha256", func(b *resource.EnvBundle) { b.Spec.OS.IsoFile, b.Spec.OS.IsoSha256 = "x.iso", "abc" }, "error: spec.os.isoSha256: it is not 64 hex digits"},
		{"isoUrl form", arch("amd64", resource.EnvArch{Kernel: "k", IsoFile: "x.iso", IsoURL: "ftp://h/x.iso"}), "error: " + amd64At + ".isoUrl: it cannot be downloaded from"},
		{"isoUrl with a password", arch("amd64", resource.EnvArch{Kernel: "k", IsoFile: "x.iso", IsoURL: "http://u:p@h/x.iso"}), "error: " + amd64At + ".isoUrl: it cannot be downloaded from"},
		{"isoFile is a name", arch("amd64", resource.EnvArch{Kernel: "k", IsoFile: "a/x.iso"}), "error: " + amd64At + `.isoFile: "a/x.iso" is no name of a file`},
		{"a checksum of nothing", arch("amd64", resource.EnvArch{Kernel: "k", Sha256: strings.Repeat("a", 64)}), "error: " + amd64At + ".isoFile: there is a checksum or URL of a file without a name"},
		{"image and isoFile", arch("amd64", resource.EnvArch{IsoFile: "x.iso", Image: "r/x:1"}), "error: " + amd64At + ".image: there are an image and an isoFile"},
		{"arguments of a UKI", arch("amd64", resource.EnvArch{UKI: "u", BootParams: "x"}), "warning: " + amd64At + ".bootParams: a UKI takes no kernel arguments"},
		{"a required param that is not described", func(b *resource.EnvBundle) { b.Schemas = nil }, `warning: spec.requiredParams[0]: no Param describes "console"`},
		{"a required param twice", func(b *resource.EnvBundle) { b.Spec.RequiredParams = []string{"console", "console"} }, `error: spec.requiredParams[1]: "console" is empty or there twice`},
		{"an unknown type of a param", func(b *resource.EnvBundle) {
			b.Schemas["console"] = resource.ParamSpec{Name: "console", Schema: map[string]any{"type": "strnig"}}
		}, "error: param console: schema of console: it is no JSON Schema: at /type"},
		{"a param that may have no value", use(`{{ .Param "nope" }}`), `warning: spec.templates[0].contents:1:4: param "nope" may have no value`},
		{"that is optional", func(b *resource.EnvBundle) {
			use(`{{ .Param "nope" }}`)(b)
			b.Spec.OptionalParams = []string{"nope"}
		}, ""},
		{"that has a default", func(b *resource.EnvBundle) {
			use(`{{ $.ParamExpand "nope" }}`)(b)
			b.Schemas["nope"] = resource.ParamSpec{Name: "nope", Schema: map[string]any{"default": "x"}}
		}, ""},
		{"onlyUnknown with an owner", func(b *resource.EnvBundle) {
			use(`{{ .Owner }}`)(b)
			b.Spec.OnlyUnknown = true
		}, "error: spec.templates[0].contents:1:4: the environment is onlyUnknown, and .Owner is of servers with an owner"},
		{"onlyUnknown with a name", func(b *resource.EnvBundle) { b.Spec.OnlyUnknown = true }, "error: debian-seed.tmpl:1:"},
		{"an environment that installs is named -install", func(b *resource.EnvBundle) { b.BootEnv = "debian-12" }, "error: debian-seed.tmpl:2:9: it installs an operating system (.InstallRepos), and its name does not end with -install"},
		{"and names its system", func(b *resource.EnvBundle) { b.Spec.OS.Name = "" }, "error: spec.os.name: an environment that installs names its operating system"},
		{"a value that does not fit", func(b *resource.EnvBundle) {
			b.Params = []resource.EnvParams{{Source: "profile x", Values: map[string]any{"console": 1}}}
		}, "error: params: profile x: params.console does not fit the schema"},
		{"an override with an error", func(b *resource.EnvBundle) {
			b.Params = []resource.EnvParams{{Source: "profile x", Values: map[string]any{"bootenv-customize": map[string]any{b.BootEnv: map[string]any{"clear": []any{"x"}}}}}}
		}, "error: params: profile x: params.bootenv-customize.debian-12-install clears"},
		{"a repository with an error", func(b *resource.EnvBundle) {
			b.Params = []resource.EnvParams{{Source: "profile x", Values: map[string]any{"package-repositories": []any{map[string]any{}}}}}
		}, "error: params: profile x: params.package-repositories[0] has no tag"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := described()
			row.change(&b)
			var got []string
			for _, f := range Lint(b, nil) {
				got = append(got, f.String())
			}
			found := slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, row.want) })
			if row.want == "" && len(got) > 0 || row.want != "" && !found {
				t.Errorf("want %q, got\n%s", row.want, strings.Join(got, "\n"))
			}
			for _, l := range Lint(b, nil) {
				if !slices.Contains(got, l.String()) {
					t.Errorf("the second time: %s", l)
				}
			}
		})
	}
}

// With a server, what it would get is tried.
func TestLintOfServer(t *testing.T) {
	const boot = machineRoot + "/boot/"
	there := []string{boot + "EFI/BOOT/BOOTX64.EFI", boot + "install.amd/vmlinuz", boot + "install.amd/initrd.gz"}
	for _, row := range []struct {
		name   string
		change func(*resource.EnvBundle)
		have   []string
		want   string
	}{
		{"good", func(*resource.EnvBundle) {}, there, ""},
		{"nobody knows what is there", func(*resource.EnvBundle) {}, nil, ""},
		{"a kernel that is not there", func(*resource.EnvBundle) {}, []string{there[0], there[2]}, "error: spec (amd64-uefi): the kernel is not there: " + there[1]},
		{"a loader that is not there", func(*resource.EnvBundle) {}, there[1:], "error: spec (amd64-uefi): the loader is not there: " + there[0]},
		{"an initrd that is not there", func(*resource.EnvBundle) {}, there[:2], "error: spec (amd64-uefi): the initrd is not there: " + there[2]},
		{"a kernel that is rendered", func(b *resource.EnvBundle) {
			b.Spec.Templates = append(b.Spec.Templates, resource.EnvTemplate{Name: "k", Path: there[1], Link: "images/vmlinuz"})
		}, []string{there[0], there[2]}, ""},
		{"no file and no repository", func(b *resource.EnvBundle) { b.ISOs = nil }, there, "error: spec.os: debian-12.iso of boot environment debian-12-install for amd64 (debian-12): neither the file nor an install repository is there"},
		{"a template that fails", func(b *resource.EnvBundle) { b.Templates["late.tmpl"] = `{{fail "x"}}` }, there, "error: spec.templates: late.tmpl:1:3: fail \"x\": error calling fail: x"},
		{"a required value", func(b *resource.EnvBundle) { b.Params = nil }, there, "error: spec: boot environment debian-12-install needs a value for console"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := bundle()
			b.Schemas = described().Schemas
			row.change(&b)
			var have func(string) bool
			if row.have != nil {
				have = func(p string) bool { return slices.Contains(row.have, p) }
			}
			var got []string
			for _, f := range Lint(b, have) {
				got = append(got, f.String())
			}
			found := slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, row.want) })
			if row.want == "" && len(got) > 0 || row.want != "" && !found {
				t.Errorf("want %q, got\n%s", row.want, strings.Join(got, "\n"))
			}
		})
	}
}
