package bootenv

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"rackboot/protocol"
)

// Facts, Param precedence: other render helpers; Template look-up paths per machine.
func TestHelpers(t *testing.T) {
	const base = "http://192.0.2.1:8080/b/sample"
	const boot = machineRoot + "/boot/"
	for _, row := range []struct{ text, want string }{
		{`{{.Machine.Name}} {{.Machine.ShortName}} {{.Machine.UUID}}`, "node1.example node1 4c4c4544-0042-4810-8035-b4c04f4e4d31"},
		{`{{.Machine.Path}}`, machineRoot},
		{`{{.Machine.Url}} {{.Machine.URL}}`, base + "/" + machineRoot + " " + base + "/" + machineRoot},
		{`{{.Machine.Address}} {{.Machine.HexAddress}}`, "192.0.2.10 C000020A"},
		{`{{.Machine.MacAddr}} {{.Machine.MacAddr "raw"}}`, "52:54:00:ab:cd:ef 52:54:00:ab:cd:ef"},
		{`pxelinux.cfg/{{.Machine.MacAddr "pxelinux"}}`, "pxelinux.cfg/01-52-54-00-ab-cd-ef"},
		{`{{.Machine.MacAddr "ipxe"}}.ipxe`, "52:54:00:ab:cd:ef.ipxe"},
		{`grub/{{.Machine.MacAddr "grub"}}.cfg`, "grub/52:54:00:ab:cd:ef.cfg"},
		{`{{.Machine.MacAddr "rpi4"}}/config.txt`, "52-54-00-ab-cd-ef/config.txt"},
		{`{{.Machine.HardwareAddrs}} {{.Machine.Arch}} {{.Machine.DistroArch}} {{.Machine.OS}}`, "[52:54:00:ab:cd:ef] amd64 amd64 debian-12"},
		{`{{.Machine.Rack}} {{.Machine.Segment}} {{.Machine.Labels}}`, "r1 boot map[]"},
		{`{{.Env.Name}} {{.Env.OS.Name}} {{.Env.OS.Family}} {{.Env.OS.FamilyName}} {{.Env.OS.FamilyType}}`, "debian-12-install debian-12 debian debian debian"},
		{`{{.Env.OS.Version}} {{.Env.OS.FamilyVersion}} {{.Env.OS.Codename}} {{.Env.OS.VersionEq "12"}} {{.Env.OS.IsoFile}}`, "12 12 bookworm true debian-12.iso"},
		{`{{.Env.PathFor "tftp" "a/b"}} {{.Env.PathFor "disk" "a"}}`, boot + "a/b " + boot + "a"},
		{`{{.Env.PathFor "http" "a b"}}`, base + "/" + boot + "a%20b"},
		{`{{.Env.PathForArch "tftp" "a" "x86_64"}}`, boot + "a"},
		{`{{.Env.Kernel}} {{.Env.KernelFor "amd64"}} {{.Env.Initrds}} {{.Env.InitrdsFor "amd64"}}`, "install.amd/vmlinuz install.amd/vmlinuz [install.amd/initrd.gz] [install.amd/initrd.gz]"},
		{`{{.Env.JoinInitrds "tftp"}} {{.Env.JoinInitrdsFor "http" "amd64"}}`, boot + "install.amd/initrd.gz " + base + "/" + boot + "install.amd/initrd.gz"},
		{`{{.Env.InstallUrl}} {{.Env.InstallURL}}`, base + "/" + machineRoot + "/boot " + base + "/" + machineRoot + "/boot"},
		{`{{eq .BootParams .Env.BootParams}} {{eq .BootParams (.BootParamsFor "amd64")}} {{hasPrefix "auto=true" .BootParams}}`, "true true true"},
		{`{{.ProvisionerAddress}} {{.ProvisionerURL}}`, "192.0.2.1 " + base},
		{`{{.ReportURL}} {{.GenerateToken}}`, base + "/ sample"},
		{`{{.HasIgnition}} {{.Owner}} {{.Purpose}}`, "false claim/node1 claim"},
		{`{{.ParseURL "scheme" "https://h:1/p?q"}} {{.ParseURL "host" "https://h:1/p?q"}} {{.ParseUrl "path" "https://h:1/p?q"}}`, "https h:1 /p"},
		{`{{.NetmaskToCIDR "255.255.255.0"}} {{.NetmaskToCIDR "0.0.0.0"}} {{.NetmaskToCIDR "255.255.255.255"}} {{.NetmaskToCIDR "255.255.240.0"}}`, "24 0 32 20"},
		{`{{.CallTemplate "late.tmpl" .}}`, "d-i preseed/late_command string wget --post-data= " + base + "/report/installed"},
		{`{{template "late.tmpl" .}}`, "d-i preseed/late_command string wget --post-data= " + base + "/report/installed"},
		{`{{.StringExpand "{{.Machine.ShortName}}-{{add 1 2}}"}}`, "node1-3"},
		{`{{.ObjectExpand (dict "a" "{{.Env.Name}}") | toJson}}`, `{"a":"debian-12-install"}`},
		{`{{with .Machine}}{{.Name}} {{$.Env.Name}}{{end}}`, "node1.example debian-12-install"},
	} {
		if got, err := output(t, row.text); got != row.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", row.text, got, err, row.want)
		}
	}
}

func TestHelperErrors(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{`{{.ApiURL}}`, "there is no API for servers"},
		{`{{.SecureProvisionerURL}}`, "the segment does not boot by https"},
		{`{{.Env.PathFor "https" "a"}}`, "the segment does not boot by https"},
		{`{{.Env.PathFor "nfs" "a"}}`, `no file is served by "nfs"`},
		{`{{.Env.PathFor "tftp" "../a"}}`, `the path "../a" has .. in it`},
		{`{{.Env.PathFor "tftp" "/a"}}`, `the path "/a" begins with /`},
		{`{{.Env.PathForArch "tftp" "a" "arm64"}}`, "this server is amd64, and has no files of arm64"},
		{`{{.Env.KernelFor "arm64"}}`, "this server is amd64"},
		{`{{.Env.InitrdsFor "vax"}}`, `"vax" is no known architecture`},
		{`{{.Env.JoinInitrdsFor "tftp" "arm64"}}`, "this server is amd64"},
		{`{{.BootParamsFor "arm64"}}`, "this server is amd64"},
		{`{{.Machine.MacAddr "vax"}}`, `a MAC address has no style "vax"`},
		{`{{.IgnitionURL}}`, "the owner gives no user data"},
		{`{{.GenerateInfiniteToken}}`, "no token outlives its attempt"},
		{`{{.GenerateProfileToken "x" 1}}`, "profiles have no tokens"},
		{`{{.ParseURL "port" "http://h"}}`, `a URL has no part "port"`},
		{`{{.ParseURL "host" "http://[x"}}`, "the text is no URL"},
		{`{{.NetmaskToCIDR "255.0.255.0"}}`, "is no netmask"},
		{`{{.NetmaskToCIDR "x"}}`, "is no netmask"},
		{`{{.CallTemplate "nope.tmpl" .}}`, `no Template is named "nope.tmpl"`},
		{`{{.StringExpand "{{"}}`, "the value is no template"},
		{`{{.StringExpand "{{template \"nope.tmpl\"}}"}}`, `template "nope.tmpl" is not there`},
	} {
		if _, err := output(t, row.text); err == nil || !strings.Contains(err.Error(), row.want) || protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%s: %v, want %s", row.text, err, row.want)
		}
	}
}

// What differs from one attempt to the next.
func TestSite(t *testing.T) {
	b := contents(`{{.ReportURL}} {{.IgnitionURL}} {{.Env.PathFor "https" "a"}} {{.SecureProvisionerURL}} {{.ProvisionerAddress}} {{.Machine.Address}}`)
	b.Ignition = true
	site := Site{Base: "https://[2001:db8::1]:8443", Token: "tok", Report: "https://[2001:db8::1]:8443/r/", Address: netip.MustParseAddr("2001:db8::7")}
	e := merged(t, b)
	tree, err := e.Render(context.Background(), site)
	const own = "https://[2001:db8::1]:8443"
	want := own + "/r/ " + own + "/b/tok/ignition " + own + "/b/tok/" + machineRoot + "/boot/a " + own + "/b/tok 2001:db8::1 2001:db8::7"
	if got := string(tree.Files["t"].Content); got != want || err != nil {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	for _, row := range []struct {
		name, text string
		site       Site
		want       string
	}{
		{"no lease yet", `{{.Machine.Address}}`, Site{Base: own, Token: "t"}, "the server has no address yet"},
		{"HexAddress of IPv6", `{{.Machine.HexAddress}}`, site, "the server boots over IPv6"},
		{"no base", "x", Site{Token: "t"}, "the base of the boot URLs is not scheme and authority"},
		{"a base with a path", "x", Site{Base: own + "/x", Token: "t"}, "the base of the boot URLs is not scheme and authority"},
		{"no token", "x", Site{Base: own}, "the token is empty"},
		{"a token that leaves its place", "x", Site{Base: own, Token: "../x"}, "the token has .. in it"},
	} {
		if _, err := merged(t, contents(row.text)).Render(context.Background(), row.site); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %s", row.name, err, row.want)
		}
	}
}
