package chain

import (
	"strings"
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestLookupTable(t *testing.T) {
	doctable.Of(t, "lookup.go", "lookupRule").HoldOne(t,
		[][]string{words(order...), words(askedFile, askedConfig, askedScript, askedOther)},
		func(in []string) string {
			if lookupRule(protocol.ChainKind(in[0]), asked(in[1])) {
				return "yes"
			}
			return "no"
		})
}

// What loaders ask for, by what was seen of them: shim 16.1, GRUB 2.06 and 2.12 of
// Debian, iPXE 1.21. Names are clean here; the servers skip doubled slashes and refuse
// what has control characters.
func TestLookup(t *testing.T) {
	img := image("quiet", resource.ArtefactKernel, resource.ArtefactInitramfs, resource.ArtefactSquashfs)
	chains := map[protocol.ChainKind]protocol.BootChain{}
	for _, k := range []protocol.ChainKind{protocol.ChainGRUB, protocol.ChainIPXE} {
		c, err := Choose(Request{
			Method: resource.FirstBootUefiHTTP, Architecture: "amd64", Image: img,
			Loaders: site(RoleShim, RoleGRUB, RoleIPXE, RoleIPXEShim), Prefer: k,
		})
		if err != nil {
			t.Fatal(err)
		}
		chains[k] = c
	}
	const config, script = "config", "script"
	for _, row := range []struct{ name, grub, ipxe string }{
		{"shimx64.efi", "shim", ""},
		{"grubx64.efi", "grub", ""}, // also //grubx64.efi
		{"snponly-shimx64.efi", "", "ipxe-shim"},
		{"snponly.efi", "", "ipxe"},
		{"grubaa64.efi", "", ""},
		{"mmx64.efi", "", ""},
		{"revocations_sku.efi", "", ""},
		{"revocations_sbat.efi", "", ""},
		{"shim_certificate_0.efi", "", ""},
		{"onboard", "", ""}, // shim 15.8 on Dell, of a boot option's text
		{"grub.cfg", config, ""},
		{"grub.cfg-4c4c4544-0000-1000-8000-000000000001", config, ""},
		{"grub.cfg-01-52-54-00-12-34-56", config, ""},
		{"grub.cfg-0A630036", config, ""},
		{"grub/grub.cfg", config, ""},
		{"grub/x86_64-efi/grub.cfg", config, ""},
		{"grub.cfgs", "", ""},
		{"grub/x86_64-efi/command.lst", "", ""},
		{"grub/x86_64-efi/http.mod", "", ""},
		{"autoexec.ipxe", script, script},
		{"kernel", "kernel", "kernel"},
		{"initrd", "initramfs", "initramfs"},
		{"rootfs.squashfs", "squashfs", "squashfs"},
		{"boot.efi", "", ""},
		{"", "", ""},
	} {
		for k, want := range map[protocol.ChainKind]string{protocol.ChainGRUB: row.grub, protocol.ChainIPXE: row.ipxe} {
			f, ok := Lookup(chains[k], "http://10.20.0.2", attempt, row.name)
			got := strings.TrimPrefix(f.Digest, "sha256:")
			switch {
			case strings.HasPrefix(f.Text, "#!ipxe\n"):
				got = script
			case strings.Contains(f.Text, "if linux "):
				got = config
			}
			if got != want || ok != (want != "") || f.Digest != "" && f.Text != "" {
				t.Errorf("%s: %q is %q (%t), want %q", k, row.name, got, ok, want)
			}
		}
	}
}
