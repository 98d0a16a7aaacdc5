package bootenv

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/doctable"
	"rackboot/protocol"
)

func TestBootTable(t *testing.T) {
	doctable.Of(t, "boot.go", "bootRule").HoldOne(t,
		[][]string{words(bootUKI, bootKernel, bootBoth, bootNone), words(yes, no), words(tellOwn, tellSite)},
		func(in []string) string { return bootRule(bootKind(in[0]), yesno(in[1]), teller(in[2])) })
}

func TestBoot(t *testing.T) {
	const boot = machineRoot + "/boot/"
	const url = "rackboot.url=http://192.0.2.1:8080/b/sample/"
	of := func(a protocol.EnvArch) func(*protocol.EnvBundle) {
		return func(b *protocol.EnvBundle) {
			a.IsoFile = "debian-12.iso"
			b.Spec.OS.SupportedArchitectures["amd64"] = a
			b.Spec.Loaders, b.Spec.Templates = nil, nil
		}
	}
	image := func(kinds ...protocol.ArtefactKind) func(*protocol.EnvBundle) {
		return func(b *protocol.EnvBundle) {
			of(protocol.EnvArch{})(b)
			b.Spec.OS.SupportedArchitectures["amd64"] = protocol.EnvArch{Image: "r"}
			i := protocol.Image{Reference: "r", CommandLine: "from=image"}
			for _, k := range kinds {
				i.Artefacts = append(i.Artefacts, protocol.Artefact{Kind: k})
			}
			b.Images, b.KernelArgs = []protocol.Image{i}, ""
		}
	}
	noArgs := func(f func(*protocol.EnvBundle)) func(*protocol.EnvBundle) {
		return func(b *protocol.EnvBundle) {
			f(b)
			b.KernelArgs = ""
		}
	}
	k := []string{boot + "i"}
	for _, row := range []struct {
		name   string
		key    protocol.LoaderKey
		change func(*protocol.EnvBundle)
		want   Boot
		err    string
	}{
		{"own loader below the root", protocol.LoaderAMD64, func(*protocol.EnvBundle) {}, Boot{
			Loader: boot + "EFI/BOOT/BOOTX64.EFI", LoaderFrom: LoaderFromEnv, Kernel: boot + "install.amd/vmlinuz", Initrds: []string{boot + "install.amd/initrd.gz"},
			CommandLine: "auto=true url=http://192.0.2.1:8080/b/sample/" + machineRoot + "/seed console=ttyS1 " + url + " --- console=ttyS1 quiet",
			Origins:     []Origin{{Param: "console", Source: "server"}},
		}, ""},
		{"the site's loader", protocol.LoaderAMD64IPXE, of(protocol.EnvArch{Kernel: "k", Initrds: []string{"i"}, BootParams: "a\n  b"}), Boot{LoaderFrom: LoaderFromSite, Kernel: boot + "k", Initrds: k, CommandLine: "a b quiet " + url}, ""},
		{"user data, and the URL is last", protocol.LoaderAMD64, func(b *protocol.EnvBundle) {
			of(protocol.EnvArch{Kernel: "k", Initrds: []string{"i"}})(b)
			b.Ignition = true
		}, Boot{LoaderFrom: LoaderFromSite, Kernel: boot + "k", Initrds: k, CommandLine: "quiet ignition.config.url=http://192.0.2.1:8080/b/sample/ignition " + url}, ""},
		{"a UKI", protocol.LoaderAMD64HTTP, noArgs(of(protocol.EnvArch{UKI: "u.efi"})), Boot{LoaderFrom: LoaderFromSite, UKI: boot + "u.efi"}, ""},
		{"a UKI takes no arguments", protocol.LoaderAMD64, of(protocol.EnvArch{UKI: "u.efi"}), Boot{}, "a UKI takes no kernel arguments"},
		{"with both, arguments need the kernel", protocol.LoaderAMD64, of(protocol.EnvArch{UKI: "u.efi", Kernel: "k", Initrds: []string{"i"}}), Boot{LoaderFrom: LoaderFromSite, Kernel: boot + "k", Initrds: k, CommandLine: "quiet " + url}, ""},
		{"with both, the UKI", protocol.LoaderAMD64, noArgs(of(protocol.EnvArch{UKI: "u.efi", Kernel: "k"})), Boot{LoaderFrom: LoaderFromSite, UKI: boot + "u.efi"}, ""},
		{"an image with a UKI", protocol.LoaderAMD64, image(protocol.ArtefactUKI), Boot{LoaderFrom: LoaderFromSite, UKI: boot + "boot.efi"}, ""},
		{"an image's kernel, with the image's arguments", protocol.LoaderAMD64, image(protocol.ArtefactKernel, protocol.ArtefactInitramfs), Boot{LoaderFrom: LoaderFromSite, Kernel: boot + "kernel", Initrds: []string{boot + "initrd"}, CommandLine: "from=image " + url}, ""},
		{"a loader alone", protocol.LoaderAMD64, of(protocol.EnvArch{Loader: "memtest.efi"}), Boot{Loader: boot + "memtest.efi", LoaderFrom: LoaderFromArch}, ""},
		{"a loader of the param lies anywhere", protocol.LoaderAMD64, func(b *protocol.EnvBundle) {
			of(protocol.EnvArch{Kernel: "k", Initrds: []string{"i"}})(b)
			b.Params[0].Values["bootloaders"] = map[string]any{"amd64-uefi": "loaders/x.efi"}
		}, Boot{Loader: "loaders/x.efi", LoaderFrom: LoaderFromParam, Kernel: boot + "k", Initrds: k, CommandLine: "quiet " + url}, ""},
		{"a template makes nothing of the site's loader", protocol.LoaderAMD64, func(b *protocol.EnvBundle) {
			of(protocol.EnvArch{})(b)
			b.Spec.Templates = []protocol.EnvTemplate{written("grub", "grub/grub.cfg", "exit")}
		}, Boot{}, "it has no kernel, no UKI and no loader"},
		{"nor of a line that it changes", protocol.LoaderAMD64, func(b *protocol.EnvBundle) {
			of(protocol.EnvArch{Kernel: "k", BootParams: `a="b c"`})(b)
			b.Spec.Templates = []protocol.EnvTemplate{written("grub", "grub/grub.cfg", "exit")}
		}, Boot{}, "which GRUB and iPXE change"},
		{"iPXE starts the loader for it", protocol.LoaderAMD64IPXE, func(b *protocol.EnvBundle) {
			of(protocol.EnvArch{Loader: "memtest.efi"})(b)
			b.Spec.Loaders = map[protocol.LoaderKey]string{protocol.LoaderAMD64IPXE: "x.efi"}
		}, Boot{Loader: boot + "x.efi", LoaderFrom: LoaderFromEnv}, ""},
		{"iPXE loads the kernel, where firmware starts a loader", protocol.LoaderAMD64IPXE, of(protocol.EnvArch{Loader: "shim.efi", Kernel: "k", Initrds: []string{"i"}}), Boot{LoaderFrom: LoaderFromSite, Kernel: boot + "k", Initrds: k, CommandLine: "quiet " + url}, ""},
		{"iPXE starts the loader of firmware where there is no kernel", protocol.LoaderAMD64IPXE, of(protocol.EnvArch{Loader: "memtest.efi"}), Boot{Loader: boot + "memtest.efi", LoaderFrom: LoaderFromArch}, ""},
		{"and where it would change the kernel's arguments", protocol.LoaderAMD64IPXE, of(protocol.EnvArch{Loader: "shim.efi", Kernel: "k", BootParams: `a="b c"`}), Boot{Loader: boot + "shim.efi", LoaderFrom: LoaderFromArch, Kernel: boot + "k", CommandLine: `a="b c" quiet ` + url}, ""},
		{"nothing", protocol.LoaderAMD64, of(protocol.EnvArch{}), Boot{}, "it has no kernel, no UKI and no loader"},
		{"by bootloc, boot files have their last names", protocol.LoaderAMD64, func(b *protocol.EnvBundle) {
			b.ISOs, b.Spec.Templates = nil, nil
			b.Params[0].Values["package-repositories"] = decode(t, repositories)
		}, Boot{
			Loader: boot + "BOOTX64.EFI", LoaderFrom: LoaderFromEnv, Kernel: boot + "vmlinuz", Initrds: []string{boot + "initrd.gz"},
			CommandLine: "auto=true url=http://192.0.2.1:8080/b/sample/" + machineRoot + "/seed console=ttyS1 " + url + " --- console=ttyS1 quiet",
			Origins:     []Origin{{Param: "console", Source: "server"}},
		}, ""},
		{"legacy BIOS", protocol.LoaderBIOS, func(*protocol.EnvBundle) {}, Boot{}, "legacy BIOS (386-pcbios) is not booted"},
		{"another architecture than the server's", protocol.LoaderARM64, func(*protocol.EnvBundle) {}, Boot{}, "boots as arm64-uefi, and is amd64"},
		{"the site's loaders change quotes", protocol.LoaderAMD64, of(protocol.EnvArch{Kernel: "k", BootParams: `a="b c"`}), Boot{}, "which GRUB and iPXE change"},
		{"iPXE takes a lone && for its own", protocol.LoaderAMD64, of(protocol.EnvArch{Kernel: "k", BootParams: `a && b`}), Boot{}, "which GRUB and iPXE change"},
		{"no control characters", protocol.LoaderAMD64, of(protocol.EnvArch{Kernel: "k", BootParams: "a\x01"}), Boot{}, "not printable ASCII"},
		{"a line that the kernel would cut", protocol.LoaderAMD64, of(protocol.EnvArch{Kernel: "k", BootParams: strings.Repeat("x", 2100)}), Boot{}, "and it takes 2047"},
		{"an error in the arguments", protocol.LoaderAMD64, of(protocol.EnvArch{Kernel: "k", BootParams: `{{.Param "nope"}}`}), Boot{}, `spec.os.supportedArchitectures.amd64.bootParams:1:3: .Param: param "nope" has no value`},
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
