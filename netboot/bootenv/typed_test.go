package bootenv

import (
	"encoding/json"
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

// TestCheckTyped: what our own params say wrongly is found where it is, before any server has
// it (seed 004, package-repositories and bootenv-customize).
func TestCheckTyped(t *testing.T) {
	const good = `"tag":"main","os":["centos-9"],"arch":"x86_64","url":"http://m/9"`
	repo := func(old, now string) string { return "[{" + good + "},{" + strings.Replace(good, old, now, 1) + "}]" }
	with := func(more string) string { return "[{" + good + "," + more + "}]" }
	env := func(value string) string { return `{"debian-12":` + value + `}` }
	arch := func(value string) string { return env(`{"os":{"supportedArchitectures":{"amd64":` + value + `}}}`) }
	const repositories, customize = resource.ParamPackageRepositories, resource.ParamBootEnvCustomize
	for _, row := range []struct{ name, param, value, path, want string }{
		{"a good list", repositories, repo("main", "more"), "", ""},
		{"no list", repositories, `{}`, "", "is no list of repositories"},
		{"two systems and installSource", repositories, with(`"installSource":true,"os":["centos-9","rocky-9"]`), "[0].os", "for 2 operating systems"},
		{"arch any and installSource", repositories, with(`"installSource":true,"arch":"any"`), "[0].arch", "with arch any"},
		{"a wildcard and installSource", repositories, with(`"installSource":true,"url":"http://m/$releasever"`), "[0].url", "wildcard in its url"},
		{"a wildcard in bootloc", repositories, with(`"installSource":true,"bootloc":"http://m/$arch"`), "[0].bootloc", "wildcard in its bootloc"},
		{"ftp", repositories, repo("http:", "ftp:"), "[1].url", "no http or https URL"},
		{"a password in the url", repositories, repo("http://m", "http://u:sesame@m"), "[1].url", "has a name or password"},
		{"an unknown field", repositories, with(`"installsource":true,"nope":1`), "[0]", `unknown field "nope"`},
		{"no tag", repositories, repo(`"tag":"main"`, `"tag":""`), "[1].tag", "has no tag"},
		{"no os", repositories, repo(`["centos-9"]`, `[]`), "[1].os", "has no os"},
		{"an architecture that is none", repositories, repo("x86_64", "vax"), "[1].arch", "no known architecture"},
		{"a type that is none", repositories, with(`"repoType":"pacman"`), "[0].repoType", "use yum, zypp or apt"},
		{"a suite in place of the codename", repositories, with(`"repoType":"apt","distribution":"stable"`), "[0].distribution", "write the codename"},
		{"no components", repositories, with(`"repoType":"apt","distribution":"bookworm"`), "[0].components", "has no components"},
		{"two install sources of one system", repositories, strings.ReplaceAll(repo("main", "more"), `"tag"`, `"installSource":true,"tag"`), "", "is for the same operating system"},

		{"a good override", customize, arch(`{"kernel":"k","initrds":["i"],"sha256":"` + strings.Repeat("0", 64) + `"}`), "", ""},
		{"no map", customize, `[]`, "", "is no map of boot environments"},
		{"a kernel out of the root", customize, arch(`{"kernel":"../../etc/passwd"}`), ".debian-12.os.supportedArchitectures.amd64.kernel", "has .. in it"},
		{"an initrd out of the root", customize, arch(`{"initrds":["i","/etc/shadow"]}`), ".debian-12.os.supportedArchitectures.amd64.initrds[1]", "begins with /"},
		{"a UKI and a loader out of the root", customize, arch(`{"loader":"../x"}`), ".debian-12.os.supportedArchitectures.amd64.loader", "has .. in it"},
		{"an unknown architecture", customize, env(`{"os":{"supportedArchitectures":{"vax":{}}}}`), ".debian-12.os.supportedArchitectures.vax", "no known architecture"},
		{"a checksum that is none", customize, arch(`{"sha256":"xyz"}`), ".debian-12.os.supportedArchitectures.amd64.sha256", "64 hex digits"},
		{"a file that is none", customize, arch(`{"isoFile":"a/b"}`), ".debian-12.os.supportedArchitectures.amd64.isoFile", "no name of a file"},
		{"a URL with a password", customize, arch(`{"isoFile":"a","isoUrl":"https://u:p@m/a"}`), ".debian-12.os.supportedArchitectures.amd64.isoUrl", "cannot be downloaded"},
		{"an unknown loader", customize, env(`{"loaders":{"vax-uefi":"x"}}`), ".debian-12.loaders.vax-uefi", "not a supported loader type"},
		{"a template of nothing", customize, env(`{"templates":[{"name":"a","path":"p"}]}`), ".debian-12.templates[0]", "no id, contents or link"},
		{"an unknown field of an override", customize, env(`{"kernel":"x"}`), ".debian-12", `unknown field "kernel"`},
		{"a field that cannot be cleared", customize, env(`{"clear":["loaders","os.name"]}`), ".debian-12.clear[1]", "no field that can be cleared"},
		{"a template that the environment may have", customize, env(`{"clear":["templates.x"]}`), "", ""},

		{"a loader", resource.ParamBootloaders, `{"amd64-uefi":"../x"}`, "", "has .. in it"},
		{"another param", "free", `{"anything":1}`, "", ""},
	} {
		wrong := CheckTyped(row.param, decode(t, row.value))
		switch {
		case row.want == "" && len(wrong) != 0:
			t.Errorf("%s: %v", row.name, wrong)
		case row.want != "" && (len(wrong) != 1 || wrong[0].Path != row.path || !strings.Contains(wrong[0].Message, row.want)):
			t.Errorf("%s: %+v, want %s: %s", row.name, wrong, row.path, row.want)
		case strings.Contains(wrong.Error(), "sesame"):
			t.Errorf("%s: the password is in %v", row.name, wrong)
		}
	}
}

// FuzzCheckTyped: whatever people write as a value, it is judged.
func FuzzCheckTyped(f *testing.F) {
	f.Add(`[{"tag":"x"}]`)
	f.Add(`{"e":{"os":{"supportedArchitectures":{"amd64":{"kernel":"../x"}}},"clear":["x"]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			return
		}
		for _, param := range []string{resource.ParamPackageRepositories, resource.ParamBootEnvCustomize, resource.ParamBootloaders} {
			for _, w := range CheckTyped(param, value) {
				if w.Message == "" {
					t.Errorf("%s: nothing is said of %q", param, text)
				}
			}
		}
	})
}
