package files

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rackboot/netboot/bootenv"
	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// trialEnv is an environment of an uploaded file for one server.
func trialEnv(a resource.EnvArch, loaders map[resource.LoaderKey]string, args string) resource.EnvBundle {
	a.IsoFile = "x.iso"
	return resource.EnvBundle{
		BootEnv: "x", KernelArgs: args, ISOs: []resource.EnvISO{{File: "x.iso"}},
		Spec: resource.BootEnvSpec{
			OS: resource.EnvOS{Name: "x-1", SupportedArchitectures: map[string]resource.EnvArch{"amd64": a}}, Loaders: loaders,
			Templates: []resource.EnvTemplate{{Name: "grub", Path: "grub.cfg", Contents: "exit"}, {Name: "ipxe", Path: "x.ipxe", Contents: "exit"}},
		},
		Machine: resource.EnvMachine{Name: "n1", UID: "u", Architecture: "amd64"},
	}
}

// TestAsUploaded: the files of an uploaded file are given as they are, but a loader that is
// started out of it is not told of the medium's menu.
func TestAsUploaded(t *testing.T) {
	kernel, loader := "machines/u/boot/linux", "mounts/isos/x.iso/EFI/BOOT/BOOTX64.EFI"
	for _, row := range []struct {
		name   string
		starts []string
		want   bool
	}{
		{"mounts/isos/x.iso/boot/grub/grub.cfg", []string{kernel}, true},
		{"mounts/isos/x.iso/boot/grub/grub.cfg", []string{loader, kernel}, false},
		{"machines/u/boot/boot/grub/grub.cfg", []string{kernel}, false},
		{"grub.cfg", nil, false},
		{"mounts/isosx/grub.cfg", nil, false},
	} {
		if got := asUploaded(row.name, row.starts); got != row.want {
			t.Errorf("%s of a boot from %v: %v", row.name, row.starts, got)
		}
	}
}

// TestEnvAgree: what lint, the rule of a boot and the choice of a chain say of an
// environment is the same, whatever it has: what one of them refuses, lint has found.
func TestEnvAgree(t *testing.T) {
	site := chain.Loaders{}
	for _, role := range []chain.Role{chain.RoleShim, chain.RoleGRUB, chain.RoleIPXE} {
		site[role] = chain.Loader{Digest: "sha256:" + string(role), HTTP: true}
	}
	boots, refused := 0, 0
	for _, parts := range combinations([]string{"kernel", "uki", "loader", "ipxe", "arguments", "quoted"}) {
		var a resource.EnvArch
		loaders, args := map[resource.LoaderKey]string{}, ""
		for _, p := range parts {
			switch p {
			case "kernel":
				a.Kernel, a.Initrds = "vmlinuz", []string{"initrd"}
			case "uki":
				a.UKI = "linux.efi"
			case "loader":
				loaders[resource.LoaderAMD64] = "shimx64.efi"
			case "ipxe":
				loaders[resource.LoaderAMD64IPXE] = "other.efi"
			case "arguments":
				args = "quiet"
			case "quoted":
				a.BootParams = `a="b"`
			}
		}
		b := trialEnv(a, loaders, args)
		lint := slices.ContainsFunc(bootenv.Lint(b, nil), func(f bootenv.Finding) bool { return f.Severity == bootenv.SeverityError })
		recipe, err := bootenv.Merge(b)
		if err != nil { // a description that is wrong by itself
			if !lint {
				t.Errorf("%v: merging says %v, and lint nothing", parts, err)
			}
			continue
		}
		for _, method := range []resource.FirstBoot{resource.FirstBootPxe, resource.FirstBootUefiHTTP} {
			in := message.ServerIntent{Architecture: "amd64", Boot: &message.BootIntent{GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: method}}}}}
			start, err := startOf(context.Background(), recipe, in)
			var c protocol.BootChain
			if err == nil {
				c, err = chain.ChooseEnv(chain.Request{Method: method, Architecture: "amd64", Loaders: site, TFTP: true}, start, "view")
				if err != nil {
					t.Errorf("%v, %s: it can be made, and not be chosen: %v", parts, method, err)
				}
			}
			if (err != nil) != lint {
				t.Errorf("%v, %s: lint has found it %v, and the agent says %v", parts, method, lint, err)
			}
			if err != nil {
				refused++
				continue
			}
			boots++
			if got, want := c.FileFor(protocol.ClassIPXE), iPXEShould(parts); !strings.HasSuffix(got, want) {
				t.Errorf("%v, %s: iPXE is told of %s, want %s", parts, method, got, want)
			}
		}
	}
	if boots < 20 || refused < 10 {
		t.Errorf("%d boot and %d are refused", boots, refused)
	}
}

// iPXEShould is what iPXE starts: a UKI, its own loader, a kernel by the script; and where
// it can do none of them what firmware starts.
func iPXEShould(parts []string) string {
	has := func(p string) bool { return slices.Contains(parts, p) }
	switch {
	case has("uki") && (!has("kernel") || !has("arguments")):
		return "linux.efi"
	case has("ipxe"):
		return "other.efi"
	case has("kernel") && !has("quoted"):
		return protocol.IPXEScript
	}
	return "shimx64.efi"
}

func combinations(of []string) (out [][]string) {
	for n := range 1 << len(of) {
		var some []string
		for i, s := range of {
			if n>>i&1 == 1 {
				some = append(some, s)
			}
		}
		out = append(out, some)
	}
	return out
}

// TestIPXELast: where there is nothing but loaders, the system may run once that of iPXE is
// sent too.
func TestIPXELast(t *testing.T) {
	for _, row := range []struct {
		c    protocol.BootChain
		last string // names that are the last
	}{
		{protocol.BootChain{First: "a", Last: "a"}, "a"},
		{protocol.BootChain{First: "a", IPXE: "b", Last: "a"}, "a b"},
		{protocol.BootChain{First: "a", IPXE: "b", Last: "initrd"}, "initrd"},
		{protocol.BootChain{First: "a", IPXE: protocol.IPXEScript, Last: "initrd"}, "initrd"},
	} {
		var got []string
		for _, name := range []string{"", "a", "b", "initrd", protocol.IPXEScript} {
			if row.c.IsLast(name) {
				got = append(got, name)
			}
		}
		if fmt.Sprint(got) != "["+row.last+"]" {
			t.Errorf("%+v: %v", row.c, got)
		}
	}
}

// With network any an environment has to start the same by PXE and by HTTP: who asks is known only when
// the files are fixed.
func TestEnvStartAny(t *testing.T) {
	for _, row := range []struct {
		what    string
		loaders map[resource.LoaderKey]string
		same    bool
	}{
		{"a kernel", nil, true},
		{"one loader for both", map[resource.LoaderKey]string{resource.LoaderAMD64: "shimx64.efi", resource.LoaderAMD64HTTP: "shimx64.efi"}, true},
		{"a loader of its own for HTTP", map[resource.LoaderKey]string{resource.LoaderAMD64: "shimx64.efi", resource.LoaderAMD64HTTP: "http.efi"}, false},
	} {
		recipe, err := bootenv.Merge(trialEnv(resource.EnvArch{Kernel: "vmlinuz", Initrds: []string{"initrd"}}, row.loaders, ""))
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []resource.FirstBoot{resource.FirstBootPxe, resource.FirstBootUefiHTTP} {
			for _, network := range []resource.Network{"", resource.NetworkAny} {
				policy := resource.BootPolicy{FirstBoot: method, Network: network}
				in := message.ServerIntent{Architecture: "amd64", Boot: &message.BootIntent{GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: policy}}}}
				_, err := startOf(t.Context(), recipe, in)
				if want := row.same || network == ""; (err == nil) != want || err != nil && protocol.CodeOf(err) != protocol.CodeUnsupported {
					t.Errorf("%s, %s, network %q: %v", row.what, method, network, err)
				}
			}
		}
	}
}
