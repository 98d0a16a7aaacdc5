package bootenv

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestBootTable(t *testing.T) {
	doctable.Of(t, "boot.go", "bootRule").HoldOne(t,
		[][]string{words(bootUKI, bootKernel, bootBoth, bootNone), words(yes, no), words(tellOwn, tellSite)},
		func(in []string) string { return bootRule(bootKind(in[0]), yesno(in[1]), teller(in[2])) })
}

func TestBoot(t *testing.T) {
	const boot = machineRoot + "/boot/"
	const url = "rackboot.url=http://192.0.2.1:8080/b/sample/"
	of := func(a resource.EnvArch) func(*resource.EnvBundle) {
		return func(b *resource.EnvBundle) {
			a.IsoFile = "debian-12.iso"
			b.Spec.OS.SupportedArchitectures["amd64"] = a
			b.Spec.Loaders, b.Spec.Templates = nil, nil
		}
	}
	image := func(kinds ...resource.ArtefactKind) func(*resource.EnvBundle) {
		return func(b *resource.EnvBundle) {
			of(resource.EnvArch{})(b)
			b.Spec.OS.SupportedArchitectures["amd64"] = resource.EnvArch{Image: "r"}
			i := resource.Image{Reference: "r", CommandLine: "from=image"}
			for _, k := range kinds {
				i.Artefacts = append(i.Artefacts, resource.Artefact{Kind: k})
			}
			b.Images, b.KernelArgs = []resource.Image{i}, ""
		}
	}
	noArgs := func(f func(*resource.EnvBundle)) func(*resource.EnvBundle) {
		return func(b *resource.EnvBundle) {
			f(b)
			b.KernelArgs = ""
		}
	}
	k := []string{boot + "i"}
	for _, row := range []struct {
		name   string
		key    resource.LoaderKey
		change func(*resource.EnvBundle)
		want   Boot
		err    string
	}{
		{"own loader below the root", resource.LoaderAMD64, func(*resource.EnvBundle) {}, Boot{
			Loader: boot + "EFI/BOOT/BOOTX64.EFI", LoaderFrom: LoaderFromEnv, Kernel: boot + "install.amd/vmlinuz", Initrds: []string{boot + "install.amd/initrd.gz"},
			CommandLine: "auto=true url=http://192.0.2.1:8080/b/sample/" + machineRoot + "/seed console=ttyS1 " + url + " --- console=ttyS1 quiet",
			Origins:     []Origin{{Param: "console", Source: "server"}},
		}, ""},
		{"the site's loader", resource.LoaderAMD64IPXE, of(resource.EnvArch{Kernel: "k", Initrds: []string{"i"}, BootParams: "a\n  b"}), Boot{LoaderFrom: LoaderFromSite, Kernel: boot + "k", Initrds: k, CommandLine: "a b quiet " + url}, ""},
		{"user data, and the URL is last", resource.LoaderAMD64, func(b *resource.EnvBundle) {
			of(resource.EnvArch{Kernel: "k", Initrds: []string{"i"}})(b)
			b.Ignition = true
		}, Boot{LoaderFrom: LoaderFromSite, Kernel: boot + "k", Initrds: k, CommandLine: "quiet ignition.config.url=http://192.0.2.1:8080/b/sample/ignition " + url}, ""},
		{"a UKI", resource.LoaderAMD64HTTP, noArgs(of(resource.EnvArch{UKI: "u.efi"})), Boot{LoaderFrom: LoaderFromSite, UKI: boot + "u.efi"}, ""},
		{"a UKI takes no arguments", resource.LoaderAMD64, of(resource.EnvArch{UKI: "u.efi"}), Boot{}, "a UKI takes no kernel arguments"},
		{"with both, arguments need the kernel", resource.LoaderAMD64, of(resource.EnvArch{UKI: "u.efi", Kernel: "k", Initrds: []string{"i"}}), Boot{LoaderFrom: LoaderFromSite, Kernel: boot + "k", Initrds: k, CommandLine: "quiet " + url}, ""},
		{"with both, the UKI", resource.LoaderAMD64, noArgs(of(resource.EnvArch{UKI: "u.efi", Kernel: "k"})), Boot{LoaderFrom: LoaderFromSite, UKI: boot + "u.efi"}, ""},
		{"an image with a UKI", resource.LoaderAMD64, image(resource.ArtefactUKI), Boot{LoaderFrom: LoaderFromSite, UKI: boot + "boot.efi"}, ""},
		{"an image's kernel, with the image's arguments", resource.LoaderAMD64, image(resource.ArtefactKernel, resource.ArtefactInitramfs), Boot{LoaderFrom: LoaderFromSite, Kernel: boot + "kernel", Initrds: []string{boot + "initrd"}, CommandLine: "from=image " + url}, ""},
		{"a loader alone", resource.LoaderAMD64, of(resource.EnvArch{Loader: "memtest.efi"}), Boot{Loader: boot + "memtest.efi", LoaderFrom: LoaderFromArch}, ""},
		{"a loader of the param lies anywhere", resource.LoaderAMD64, func(b *resource.EnvBundle) {
			of(resource.EnvArch{Kernel: "k", Initrds: []string{"i"}})(b)
			b.Params[0].Values["bootloaders"] = map[string]any{"amd64-uefi": "loaders/x.efi"}
		}, Boot{Loader: "loaders/x.efi", LoaderFrom: LoaderFromParam, Kernel: boot + "k", Initrds: k, CommandLine: "quiet " + url}, ""},
		{"a template makes nothing of the site's loader", resource.LoaderAMD64, func(b *resource.EnvBundle) {
			of(resource.EnvArch{})(b)
			b.Spec.Templates = []resource.EnvTemplate{written("grub", "grub/grub.cfg", "exit")}
		}, Boot{}, "it has no kernel, no UKI and no loader"},
		{"nor of a line that it changes", resource.LoaderAMD64, func(b *resource.EnvBundle) {
			of(resource.EnvArch{Kernel: "k", BootParams: `a="b c"`})(b)
			b.Spec.Templates = []resource.EnvTemplate{written("grub", "grub/grub.cfg", "exit")}
		}, Boot{}, "which GRUB and iPXE change"},
		{"iPXE starts the loader for it", resource.LoaderAMD64IPXE, func(b *resource.EnvBundle) {
			of(resource.EnvArch{Loader: "memtest.efi"})(b)
			b.Spec.Loaders = map[resource.LoaderKey]string{resource.LoaderAMD64IPXE: "x.efi"}
		}, Boot{Loader: boot + "x.efi", LoaderFrom: LoaderFromEnv}, ""},
		{"iPXE loads the kernel, where firmware starts a loader", resource.LoaderAMD64IPXE, of(resource.EnvArch{Loader: "shim.efi", Kernel: "k", Initrds: []string{"i"}}), Boot{LoaderFrom: LoaderFromSite, Kernel: boot + "k", Initrds: k, CommandLine: "quiet " + url}, ""},
		{"iPXE starts the loader of firmware where there is no kernel", resource.LoaderAMD64IPXE, of(resource.EnvArch{Loader: "memtest.efi"}), Boot{Loader: boot + "memtest.efi", LoaderFrom: LoaderFromArch}, ""},
		{"and where it would change the kernel's arguments", resource.LoaderAMD64IPXE, of(resource.EnvArch{Loader: "shim.efi", Kernel: "k", BootParams: `a="b c"`}), Boot{Loader: boot + "shim.efi", LoaderFrom: LoaderFromArch, Kernel: boot + "k", CommandLine: `a="b c" quiet ` + url}, ""},
		{"nothing", resource.LoaderAMD64, of(resource.EnvArch{}), Boot{}, "it has no kernel, no UKI and no loader"},
		{"by bootloc, boot files have their last names", resource.LoaderAMD64, func(b *resource.EnvBundle) {
			b.ISOs, b.Spec.Templates = nil, nil
			b.Params[0].Values["package-repositories"] = decode(t, repositories)
		}, Boot{
			Loader: boot + "BOOTX64.EFI", LoaderFrom: LoaderFromEnv, Kernel: boot + "vmlinuz", Initrds: []string{boot + "initrd.gz"},
			CommandLine: "auto=true url=http://192.0.2.1:8080/b/sample/" + machineRoot + "/seed console=ttyS1 " + url + " --- console=ttyS1 quiet",
			Origins:     []Origin{{Param: "console", Source: "server"}},
		}, ""},
		{"legacy BIOS", resource.LoaderBIOS, func(*resource.EnvBundle) {}, Boot{}, "legacy BIOS (386-pcbios) is not booted"},
		{"another architecture than the server's", resource.LoaderARM64, func(*resource.EnvBundle) {}, Boot{}, "boots as arm64-uefi, and is amd64"},
		{"the site's loaders change quotes", resource.LoaderAMD64, of(resource.EnvArch{Kernel: "k", BootParams: `a="b c"`}), Boot{}, "which GRUB and iPXE change"},
		{"iPXE takes a lone && for its own", resource.LoaderAMD64, of(resource.EnvArch{Kernel: "k", BootParams: `a && b`}), Boot{}, "which GRUB and iPXE change"},
		{"no control characters", resource.LoaderAMD64, of(resource.EnvArch{Kernel: "k", BootParams: "a\x01"}), Boot{}, "not printable ASCII"},
		{"a line that the kernel would cut", resource.LoaderAMD64, of(resource.EnvArch{Kernel: "k", BootParams: strings.Repeat("x", 2100)}), Boot{}, "and it takes 2047"},
		{"an error in the arguments", resource.LoaderAMD64, of(resource.EnvArch{Kernel: "k", BootParams: `{{.Param "nope"}}`}), Boot{}, `spec.os.supportedArchitectures.amd64.bootParams:1:3: .Param: param "nope" has no value`},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := bundle()
			row.change(&b)
			got, err := merged(t, b).Boot(context.Background(), row.key, Sample())
			if row.err != "" {
				if err == nil || !strings.Contains(err.Error(), row.err) || protocol.HintOf(err) == "" && !strings.Contains(row.err, "ASCII") {
					t.Errorf("%v, want %s", err, row.err)
				}
				return
			}
			if d := cmp.Diff(row.want, got); d != "" || err != nil {
				t.Errorf("%v %s", err, d)
			}
		})
	}
}

func TestBootFiles(t *testing.T) {
	var got []string
	for what, p := range (Boot{Loader: "l", UKI: "u", Kernel: "k", Initrds: []string{"i", "j"}}).Files() {
		got = append(got, what+" "+p)
	}
	if strings.Join(got, ",") != "loader l,UKI u,kernel k,initrd i,initrd j" {
		t.Error(got)
	}
}
