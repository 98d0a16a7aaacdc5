package bootenv

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Seed, package-repositories.
func TestRepositories(t *testing.T) {
	const good = `"tag":"main","os":["centos-9"],"arch":"x86_64","url":"http://m/9"`
	const apt = `"tag":"main","os":["debian-12"],"arch":"any","url":"http://m/debian"`
	for _, row := range []struct{ name, entry, want string }{
		{"all fields", good + `,"repoType":"yum","bootloc":"http://m/boot","installSource":true,"distribution":"9","components":["BaseOS"]`, ""},
		{"tag is not unique, and must be there", `"os":["centos-9"],"arch":"any","url":"http://m"`, "has no tag"},
		{"a tag that would end a section", strings.Replace(good, "main", "a]b", 1), "which is no name of a repository"},
		{"a space in a field", strings.Replace(good, "main", `a\nb`, 1), "has a space or control character"},
		{"repoType must be yum, zypp or apt", good + `,"repoType":"pacman"`, "use yum, zypp or apt"},
		{"packageType means the same", good + `,"packageType":"yum"`, ""},
		{"and cannot be another", good + `,"packageType":"apt","repoType":"yum"`, "which mean the same"},
		{"repoType is inferred from os", `"tag":"t","os":["opensuse-15"],"arch":"any","url":"http://m"`, ""},
		{"and not where os is not known", `"tag":"t","os":["vax-1"],"arch":"any","url":"http://m"`, "none is known for vax-1"},
		{"and not where os disagree", `"tag":"t","os":["debian-12","centos-9"],"arch":"any","url":"http://m"`, "with apt and with yum"},
		{"os is a list", good + `,"installSource":false`, ""},
		{"os is empty", `"tag":"t","os":[],"arch":"any","url":"http://m"`, "has no os"},
		{"arch any", strings.Replace(good, "x86_64", "any", 1), ""},
		{"arch is needed", `"tag":"t","os":["centos-9"],"url":"http://m"`, "has no arch"},
		{"arch is not known", strings.Replace(good, "x86_64", "vax", 1), `"vax" is no known architecture`},
		{"url is needed", `"tag":"t","os":["centos-9"],"arch":"any"`, "no http or https URL"},
		{"url with another scheme", strings.Replace(good, "http:", "ftp:", 1), "no http or https URL"},
		{"url with a password", strings.Replace(good, "http://", "http://u:p@", 1), "has a name or password in its url"},
		{"url with a query", strings.Replace(good, "/9", "/9?x", 1), "has a query or fragment"},
		{"url with wildcards", strings.Replace(good, "/9", "/$releasever/$basearch", 1), ""},
		{"bootloc with another scheme", good + `,"bootloc":"file:///x"`, "has a bootloc that is no http or https URL"},
		{"installSource: os has exactly one entry", strings.Replace(good, `"centos-9"`, `"centos-9","rocky-9"`, 1) + `,"installSource":true`, "for 2 operating systems, and must be for exactly one"},
		{"installSource: url has no wildcards", strings.Replace(good, "/9", "/$releasever", 1) + `,"installSource":true`, "wildcard in its url"},
		{"installSource: basearch", strings.Replace(good, "/9", "/$basearch", 1) + `,"installSource":true`, "wildcard in its url"},
		{"installSource: arch", strings.Replace(good, "/9", "/$arch", 1) + `,"installSource":true`, "wildcard in its url"},
		{"installSource: bootloc has no wildcards", good + `,"installSource":true,"bootloc":"http://m/$arch"`, "wildcard in its bootloc"},
		{"installSource: arch is not any", strings.Replace(good, "x86_64", "any", 1) + `,"installSource":true`, "with arch any"},
		{"distribution of Debian is the codename", apt + `,"distribution":"bookworm","components":["main"]`, ""},
		{"and not a number", apt + `,"distribution":"12","components":["main"]`, "write the codename"},
		{"and not a suite", apt + `,"distribution":"stable","components":["main"]`, "write the codename"},
		{"and there", apt, "has no distribution"},
		{"components of Debian", apt + `,"distribution":"bookworm"`, "has no components"},
		{"a repository without components", apt + `,"distribution":"./"`, ""},
		{"components of others may be none", good, ""},
		{"an unknown field", good + `,"nope":1`, `unknown field "nope"`},
	} {
		_, err := readRepositories([]held{{decode(t, "[{"+row.entry+"}]"), Origin{"package-repositories", "profile x", false}}})
		if row.want == "" && err != nil || row.want != "" && (protocol.CodeOf(err) != protocol.CodeInvalid || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), "profile x: params.package-repositories")) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

// One source cannot name two install sources for the same system.
func TestRepositoriesAreNotAmbiguous(t *testing.T) {
	const a = `{"tag":"a","os":["centos-9"],"arch":"x86_64","url":"http://a","installSource":true}`
	other := func(old, now string) string { return strings.ReplaceAll(a, old, now) }
	for _, row := range []struct {
		name, second string
		wrong        bool
	}{
		{"another tag", other(`"a"`, `"b"`), true},
		{"the same architecture in another spelling", other("x86_64", "amd64"), true},
		{"another architecture", other("x86_64", "aarch64"), false},
		{"another system", other("centos-9", "centos-8"), false},
		{"no install source", other("true", "false"), false},
		{"a security source", other("installSource", "securitySource"), false},
	} {
		_, err := readRepositories([]held{{value: decode(t, "["+a+","+row.second+"]")}})
		if (err != nil) != row.wrong {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

const repositories = `[
	{"tag":"os","os":["debian-12"],"arch":"x86_64","url":"http://m/debian","distribution":"bookworm","components":["main","contrib"],"installSource":true,"bootloc":"http://m/boot/amd64"},
	{"tag":"os","os":["debian-12"],"arch":"aarch64","url":"http://m/debian","distribution":"bookworm","components":["main"],"installSource":true},
	{"tag":"security","os":["debian-12"],"arch":"any","url":"https://s/security","distribution":"bookworm-security","components":["main"],"securitySource":true},
	{"tag":"tools","os":["debian-11","debian-12"],"arch":"amd64","url":"http://m/tools","distribution":"./"},
	{"tag":"tools","os":["debian-11"],"arch":"any","url":"http://m/old","distribution":"./"},
	{"tag":"epel","os":["centos-9"],"arch":"any","url":"http://m/epel/$releasever","components":["BaseOS","AppStream"]}]`

// remote is the bundle without its file, and with repositories.
func remote(t testing.TB, text string, more ...string) resource.EnvBundle {
	b := sourced(t, text, "")
	b.ISOs = nil
	b.Params[4].Values[resource.ParamPackageRepositories] = decode(t, repositories)
	for _, m := range more {
		b.Params[0].Values[resource.ParamPackageRepositories] = decode(t, m)
	}
	return b
}

// Facts, package-repositories selection.
func TestSelectRepositories(t *testing.T) {
	const install, machine = `{{range .InstallRepos}}{{.Tag}} {{.URL}} {{.InstallSource}} {{.SecuritySource}};{{end}}`, `{{range .MachineRepos}}{{.Tag}} {{.URL}};{{end}}`
	const base = "http://192.0.2.1:8080/b/sample/" + machineRoot
	for _, row := range []struct {
		name, text string
		change     func(*resource.EnvBundle)
		more       string
		want       string
	}{
		{"MachineRepos: os and arch in any spelling", machine, nil, "", "os http://m/debian;security https://s/security;tools http://m/tools;"},
		{"MachineRepos of arm64", machine, func(b *resource.EnvBundle) { b.Machine.Architecture = "arm64" }, "", "os http://m/debian;security https://s/security;"},
		{"MachineRepos has not the uploaded file", machine, upload, "", "os http://m/debian;security https://s/security;tools http://m/tools;"},
		{"InstallRepos: one install and one security source", install, nil, "", "os " + base + "/install true false;security https://s/security false true;"},
		{"InstallRepos without bootloc is at the root", install, func(b *resource.EnvBundle) { b.Machine.Architecture = "arm64" }, "", "os " + base + "/boot true false;security https://s/security false true;"},
		{"InstallRepos: the uploaded file is both, and comes first", install, upload, "", "debian-12-install " + base + "/boot true true;"},
		{"InstallRepos: the most specific source", install, nil, `[{"tag":"mine","os":["debian-12"],"arch":"amd64","url":"http://mine","distribution":"bookworm","components":["main"],"installSource":true,"securitySource":true}]`, "mine " + base + "/boot true true;"},
		{"Repos by tags, of any system", `{{range .Repos "tools" "epel"}}{{.Tag}} {{.URL}};{{end}}`, nil, "", "tools http://m/tools;tools http://m/old;epel http://m/epel/$releasever;"},
		{"InstallUrl of a repository with bootloc", `{{.Env.InstallUrl}}`, nil, "", base + "/install"},
		{"InstallUrl of the uploaded file", `{{.Env.InstallUrl}}`, upload, "", base + "/boot"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := remote(t, row.text)
			if row.more != "" {
				b = remote(t, row.text, row.more)
			}
			if row.change != nil {
				row.change(&b)
			}
			if got := string(rendered(t, b).Files["t"].Content); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
}

func upload(b *resource.EnvBundle) {
	b.ISOs = []resource.EnvISO{{File: "debian-12.iso", Digest: "sha256:aa"}}
}

// The lines of package managers and installers.
func TestRepoLines(t *testing.T) {
	repo := func(family, entry string) repository {
		all, err := readRepositories([]held{{value: decode(t, "["+entry+"]")}})
		if err != nil {
			t.Fatal(err)
		}
		return all[0]
	}
	yum := `{"tag":"os","os":["centos-9"],"arch":"amd64","url":"http://m/9/","components":["BaseOS","AppStream"]}`
	zypp := `{"tag":"oss","os":["opensuse-15"],"arch":"any","url":"http://m/oss"}`
	apt := `{"tag":"os","os":["debian-12"],"arch":"x86_64","url":"http://m:81/debian","distribution":"bookworm","components":["main","contrib"]}`
	flat := `{"tag":"x","os":["debian-12"],"arch":"any","url":"http://m/x","distribution":"./"}`
	for _, row := range []struct{ name, os, entry, what, want string }{
		{"yum", "centos-9", yum, "lines", "[centos-9-os-BaseOS]\nname=centos-9-os-BaseOS\nbaseurl=http://m/9/BaseOS\nenabled=1\ngpgcheck=0\n[centos-9-os-AppStream]\nname=centos-9-os-AppStream\nbaseurl=http://m/9/AppStream\nenabled=1\ngpgcheck=0\n"},
		{"yum, kickstart", "centos-9", yum, "install", "repo --name=\"centos-9-os-BaseOS\" --baseurl=http://m/9/BaseOS\nrepo --name=\"centos-9-os-AppStream\" --baseurl=http://m/9/AppStream\n"},
		{"zypp", "opensuse-15", zypp, "lines", "[opensuse-15-oss]\nname=opensuse-15-oss\nbaseurl=http://m/oss\nenabled=1\nautorefresh=1\ntype=rpm-md\ngpgcheck=0\n"},
		{"zypp, AutoYaST", "opensuse-15", zypp, "install", "<listentry><media_url>http://m/oss</media_url><product>oss</product><product_dir>/</product_dir></listentry>\n"},
		{"apt", "debian-12", apt, "lines", "deb [arch=amd64] http://m:81/debian bookworm main contrib\n"},
		{"apt without components", "debian-12", flat, "lines", "deb http://m/x ./\n"},
		{"apt, preseed", "debian-12", apt, "install", "d-i mirror/country string manual\nd-i mirror/protocol string http\nd-i mirror/http/hostname string m:81\nd-i mirror/http/directory string /debian\nd-i mirror/http/proxy string\nd-i mirror/suite string bookworm\n"},
		{"apt, security", "debian-12", strings.Replace(apt, `"tag"`, `"securitySource":true,"tag"`, 1), "install", "d-i apt-setup/services-select multiselect security, updates\nd-i apt-setup/security_host string m:81\nd-i apt-setup/security_path string /debian\n"},
		{"yum, install source", "centos-9", strings.Replace(yum, `"tag"`, `"installSource":true,"tag"`, 1), "install", "url --url=http://m/9\n"},
		{"apt, URL of a component", "debian-12", apt, "main", "http://m:81/debian/dists/bookworm/main"},
		{"yum, URL of a component", "centos-9", yum, "BaseOS", "http://m/9/BaseOS"},
		{"URL of none", "centos-9", yum, "", "http://m/9"},
		{"JoinedComponents", "debian-12", apt, "joined", "main contrib"},
	} {
		r := &run{meter: &meter{ctx: context.Background(), max: bounds()}, e: &Effective{Spec: resource.BootEnvSpec{OS: resource.EnvOS{Name: row.os}}}}
		p := r.repo(repo(row.os, row.entry))
		got, err := p.UrlFor(row.what), error(nil)
		switch row.what {
		case "lines":
			got, err = p.Lines()
		case "install":
			got, err = p.Install()
		case "joined":
			got = p.JoinedComponents()
		}
		if got != row.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", row.name, got, err, row.want)
		}
	}
}

// A repository is read by templates with its own fields, and with .R as the dot.
func TestRepoFields(t *testing.T) {
	const text = `{{range .MachineRepos}}{{with .}}{{.R.ParseURL "host" .URL}} {{.Distribution}} {{.Arch}} {{.RepoType}} {{.JoinedComponents}} {{.Bootloc}}{{end}};{{end}}`
	const want = `m bookworm amd64 apt main contrib http://m/boot/amd64;s bookworm-security any apt main ;m ./ amd64 apt  ;`
	if got := string(rendered(t, remote(t, text)).Files["t"].Content); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// What a value of the param looks like in JSON is what it looks like in a resource.
func TestRepositoryJSON(t *testing.T) {
	text, err := json.Marshal(resource.Repository{Tag: "t", OS: []string{"o"}, Arch: "any", URL: "http://m"})
	if string(text) != `{"tag":"t","os":["o"],"arch":"any","url":"http://m"}` || err != nil {
		t.Errorf("%s, %v", text, err)
	}
}
