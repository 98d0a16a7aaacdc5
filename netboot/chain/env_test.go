package chain

import (
	"strings"
	"testing"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// TestChooseEnv: seed 004, Loaders, and who loads the kernel where there are none.
func TestChooseEnv(t *testing.T) {
	kernel := Env{Kernel: "machines/u/boot/vmlinuz", Initrds: []string{"machines/u/boot/a", "machines/u/boot/b"}, CommandLine: "auto"}
	own, uki, quoted, loader := kernel, kernel, kernel, Env{Loader: "machines/u/boot/wdsmgfw.efi"}
	own.Loader, uki.UKI, quoted.CommandLine = "machines/u/boot/EFI/BOOT/BOOTX64.EFI", "machines/u/boot/boot.efi", `a="b"`
	bare := Env{Kernel: "machines/u/boot/memtest.efi"}
	for _, row := range []struct {
		name        string
		env         Env
		have        Loaders
		tftp        bool
		method      resource.FirstBoot
		kind        protocol.ChainKind
		first, last string // or a part of the error in first
	}{
		{"a UKI", uki, nil, false, resource.FirstBootUefiHTTP, protocol.ChainUKI, uki.UKI, uki.UKI},
		{"its own loader", own, nil, false, resource.FirstBootUefiHTTP, protocol.ChainBootEnv, own.Loader, "machines/u/boot/b"},
		{"its own loader by TFTP", own, nil, true, resource.FirstBootPxe, protocol.ChainBootEnv, own.Loader, "machines/u/boot/b"},
		{"its own loader where no TFTP server is", own, nil, false, resource.FirstBootPxe, "", "no TFTP server", ""},
		{"nothing but a loader", loader, nil, false, resource.FirstBootUefiHTTP, protocol.ChainBootEnv, loader.Loader, loader.Loader},
		{"the site's GRUB", kernel, site(RoleShim, RoleGRUB), false, resource.FirstBootUefiHTTP, protocol.ChainGRUB, "shimx64.efi", "machines/u/boot/b"},
		{"the site's iPXE", kernel, site(RoleIPXE), false, resource.FirstBootUefiHTTP, protocol.ChainIPXE, served("amd64", RoleIPXE), "machines/u/boot/b"},
		{"a kernel alone", bare, site(RoleIPXE), false, resource.FirstBootUefiHTTP, protocol.ChainIPXE, served("amd64", RoleIPXE), bare.Kernel},
		{"no loader", kernel, nil, false, resource.FirstBootUefiHTTP, "", "a loader of it is not there", ""},
		{"arguments that loaders change", quoted, site(RoleShim, RoleGRUB), false, resource.FirstBootUefiHTTP, "", "would change", ""},
		{"nothing", Env{}, site(RoleShim, RoleGRUB), false, resource.FirstBootUefiHTTP, "", "has no kernel, no UKI and no loader", ""},
	} {
		row.env.IPXE = "machines/u/boot/other.efi"
		c, err := ChooseEnv(Request{Method: row.method, Architecture: "amd64", Loaders: row.have, TFTP: row.tftp}, row.env, "sha256:view")
		if row.kind == "" {
			if protocol.CodeOf(err) != protocol.CodeUnsupported || !strings.Contains(err.Error(), row.first) {
				t.Errorf("%s: %v", row.name, err)
			}
			continue
		}
		if err != nil || c.Kind != row.kind || c.First != row.first || c.Last != row.last || c.View != "sha256:view" || c.IPXE != map[bool]string{true: "", false: row.env.IPXE}[row.kind == protocol.ChainUKI] {
			t.Errorf("%s: %+v, %v", row.name, c, err)
		}
		for _, f := range c.Files {
			if f.Digest == "" {
				t.Errorf("%s: %s has no content", row.name, f.Name)
			}
		}
	}
}

// TestEnvText: several initramfs are loaded in their order, by both loaders, and none where
// there are none.
func TestEnvText(t *testing.T) {
	two, none := Env{Kernel: "m/k", Initrds: []string{"m/a", "m/b"}}, Env{Kernel: "m/k"}
	for got, want := range map[string][]string{
		EnvConfig(two, "tok", "x=1 y"):              {"if linux '/b/tok/m/k' 'x=1' 'y'; then\n", "if initrd '/b/tok/m/a' '/b/tok/m/b'; then\n"},
		EnvConfig(none, "tok", ""):                  {"if linux '/b/tok/m/k'; then\n  boot\nfi\n"},
		EnvScript(two, "http://h", "tok", "x=1 y"):  {"kernel --name kernel http://h/b/tok/m/k initrd=initrd initrd=initrd1 x=1 y ||", "initrd --name initrd http://h/b/tok/m/a ||", "initrd --name initrd1 http://h/b/tok/m/b ||"},
		EnvScript(none, "http://h", "tok", "quiet"): {"kernel --name kernel http://h/b/tok/m/k quiet ||"},
	} {
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%q is not in\n%s", w, got)
			}
		}
	}
	if got := EnvConfig(none, "tok", "") + EnvScript(none, "http://h", "tok", ""); strings.Contains(got, "initrd") {
		t.Errorf("it loads an initramfs that is not there:\n%s", got)
	}
}
