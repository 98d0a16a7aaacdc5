package chain

import (
	"strings"
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func words[T ~string](vs ...T) []string {
	var out []string
	for _, v := range vs {
		out = append(out, string(v))
	}
	return out
}

func TestChainTable(t *testing.T) {
	doctable.Of(t, "choose.go", "chainRule").HoldOne(t,
		[][]string{words(order...), words(wayHTTP, wayTFTP, wayDark, wayOther), words(partYes, partNo, partQuoted), words(loadsNone, loadsTFTP, loadsPlain, loadsAll)},
		func(in []string) string {
			v := chainRule(protocol.ChainKind(in[0]), way(in[1]), part(in[2]), loading(in[3]))
			if v == fits {
				return "fits"
			}
			return string(v)
		})
}

// By virtual media there is one file, whatever else the image and the site have.
func TestChooseISO(t *testing.T) {
	r := Request{Method: resource.FirstBootVirtualMedia, Architecture: "arm64", Image: image("quiet", resource.ArtefactUKI, resource.ArtefactISO)}
	c, err := Choose(r)
	if d, ok := c.Digest(protocol.FileISO); err != nil || c.Kind != protocol.ChainISO || c.First != protocol.FileISO || c.Last != c.First || !ok || d != "sha256:iso" || len(c.Files) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	c.Ignition = true
	if got, want := Arguments(c, "http://10.7.0.1", "t"), "quiet ignition.config.url=http://10.7.0.1/b/t/ignition rackboot.url=http://10.7.0.1/b/t/"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	c.CommandLine = "live=@rackboot.url@rootfs.squashfs"
	if got, want := Arguments(c, "http://10.7.0.1", "t"), "live=http://10.7.0.1/b/t/rootfs.squashfs ignition.config.url=http://10.7.0.1/b/t/ignition rackboot.url=http://10.7.0.1/b/t/"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Image = image("", resource.ArtefactUKI)
	if _, err := Choose(r); protocol.CodeOf(err) != protocol.CodeUnsupported || !strings.Contains(err.Error(), "has no ISO") {
		t.Error(err)
	}
}

func image(line string, kinds ...resource.ArtefactKind) resource.Image {
	img := resource.Image{Digest: "sha256:image", CommandLine: line}
	for _, k := range kinds {
		img.Artefacts = append(img.Artefacts, resource.Artefact{Kind: k, Digest: "sha256:" + string(k)})
	}
	return img
}

func site(roles ...Role) Loaders {
	l := Loaders{}
	for _, r := range roles {
		l[r] = Loader{Digest: "sha256:" + string(r), HTTP: r == RoleGRUB}
	}
	return l
}

func listed(c protocol.BootChain) string {
	var out []string
	for _, f := range c.Files {
		out = append(out, f.Name+"="+strings.TrimPrefix(f.Digest, "sha256:"))
	}
	return strings.Join(out, " ")
}

func TestChoose(t *testing.T) {
	const uki, kernel, initramfs, squashfs = resource.ArtefactUKI, resource.ArtefactKernel, resource.ArtefactInitramfs, resource.ArtefactSquashfs
	const web, pxe = resource.FirstBootUefiHTTP, resource.FirstBootPxe
	both := image("", uki, kernel, initramfs)
	parts := image("", kernel, initramfs)
	debian12 := site(RoleShim, RoleGRUB)
	debian12[RoleGRUB] = Loader{Digest: "sha256:grub"}
	for _, row := range []struct {
		name string
		r    Request
		want string // kind, first and files
	}{
		{"a UKI needs nothing", Request{Method: web, Architecture: "amd64", Image: both}, "uki boot.efi: boot.efi=uki"},
		{"a UKI by PXE", Request{Method: pxe, TFTP: true, Architecture: "arm64", Image: both}, "uki boot.efi: boot.efi=uki"},
		{"a UKI with a root file system", Request{Method: web, Architecture: "amd64", Image: image("", uki, squashfs)}, "uki boot.efi: boot.efi=uki rootfs.squashfs=squashfs"},
		{
			"GRUB is preferred",
			Request{Method: web, Architecture: "amd64", Image: both, Loaders: site(RoleShim, RoleGRUB), Prefer: protocol.ChainGRUB},
			"grub shimx64.efi: shimx64.efi=shim grubx64.efi=grub kernel=kernel initrd=initramfs",
		},
		{"what is preferred is not possible", Request{Method: web, Architecture: "amd64", Image: both, Prefer: protocol.ChainIPXE}, "uki boot.efi: boot.efi=uki"},
		{
			"shim and GRUB before iPXE",
			Request{Method: web, HTTPS: true, Architecture: "amd64", Image: parts, Loaders: site(RoleShim, RoleGRUB, RoleIPXE)},
			"grub shimx64.efi: shimx64.efi=shim grubx64.efi=grub kernel=kernel initrd=initramfs",
		},
		{
			"arm64",
			Request{Method: web, Architecture: "arm64", Image: parts, Loaders: site(RoleShim, RoleGRUB)},
			"grub shimaa64.efi: shimaa64.efi=shim grubaa64.efi=grub kernel=kernel initrd=initramfs",
		},
		{
			"GRUB never without shim",
			Request{Method: web, Architecture: "amd64", Image: parts, Loaders: site(RoleGRUB, RoleIPXE)},
			"ipxe snponly.efi: snponly.efi=ipxe kernel=kernel initrd=initramfs",
		},
		{
			"iPXE behind its shim",
			Request{Method: pxe, TFTP: true, Architecture: "amd64", Image: parts, Loaders: site(RoleIPXE, RoleIPXEShim)},
			"ipxe snponly-shimx64.efi: snponly-shimx64.efi=ipxe-shim snponly.efi=ipxe kernel=kernel initrd=initramfs",
		},
		{
			"Debian 12's GRUB by PXE",
			Request{Method: pxe, TFTP: true, Architecture: "amd64", Image: parts, Loaders: debian12},
			"grub shimx64.efi: shimx64.efi=shim grubx64.efi=grub kernel=kernel initrd=initramfs",
		},
	} {
		c, err := Choose(row.r)
		if got := string(c.Kind) + " " + c.First + ": " + listed(c); err != nil || got != row.want {
			t.Errorf("%s: %s, %v; want %s", row.name, got, err, row.want)
		}
		if _, ok := c.Digest(c.First); !ok {
			t.Errorf("%s: the first file is not among the files", row.name)
		}
		if _, ok := c.Digest(c.Last); !ok {
			t.Errorf("%s: the last file is not among the files", row.name)
		}
	}
	for _, row := range []struct {
		name string
		r    Request
		want string // in the error
		hint string // in the hint
	}{
		{"no loader", Request{Method: web, Architecture: "amd64", Image: parts}, "grub: a loader of it is not there; ipxe: a loader", "loaders.amd64"},
		{"Debian 12's GRUB by HTTP", Request{Method: web, Architecture: "amd64", Image: parts, Loaders: debian12}, "grub: its loader cannot load by UEFI HTTP boot", "Debian 13's"},
		{"iPXE and https", Request{Method: web, HTTPS: true, Architecture: "amd64", Image: parts, Loaders: site(RoleIPXE)}, "ipxe: its loader does not trust", "loaders.amd64"},
		{"iPXE by TFTP and https", Request{Method: pxe, TFTP: true, HTTPS: true, Architecture: "amd64", Image: parts, Loaders: site(RoleIPXE)}, "ipxe: its loader does not trust", "loaders.amd64"},
		{"a kernel alone", Request{Method: web, Architecture: "amd64", Image: image("", kernel), Loaders: site(RoleShim, RoleGRUB)}, "grub: the image does not have", "with a kernel and an initramfs"},
		{"no TFTP server", Request{Method: pxe, Architecture: "amd64", Image: both}, "uki: the segment has no TFTP server", "tftp address"},
		{"quotes", Request{Method: web, Architecture: "amd64", Image: image(`dyndbg="file a +p"`, kernel, initramfs), Loaders: site(RoleShim, RoleGRUB, RoleIPXE)}, "grub: its loader would change", "without quotes"},
		{"another method", Request{Method: "Usb", Architecture: "amd64", Image: both}, "not a network boot method", "UefiHttp"},
	} {
		_, err := Choose(row.r)
		if protocol.CodeOf(err) != protocol.CodeUnsupported || !strings.Contains(err.Error(), row.want) || !strings.Contains(protocol.HintOf(err), row.hint) {
			t.Errorf("%s: %v, hint %q", row.name, err, protocol.HintOf(err))
		}
	}
}

// Whatever is preferred, each chain is tried, and none twice.
func TestPreferenceIsNoRestriction(t *testing.T) {
	parts := image("", resource.ArtefactKernel, resource.ArtefactInitramfs)
	for _, prefer := range append(protocol.ChainKinds(), "") {
		_, err := Choose(Request{Method: resource.FirstBootUefiHTTP, Architecture: "amd64", Image: parts, Prefer: prefer})
		for _, k := range order {
			if err == nil || strings.Count(err.Error(), " "+string(k)+": ") != 1 {
				t.Errorf("prefer %q: %v", prefer, err)
			}
		}
	}
}

// With network any a chain has to load by TFTP and by HTTP, whichever was ordered; of one that does not,
// the first way that is in its way is named.
func TestChooseAny(t *testing.T) {
	kernel := image("", resource.ArtefactKernel, resource.ArtefactInitramfs)
	grub := func(http bool) Loaders { return Loaders{RoleShim: {Digest: "s"}, RoleGRUB: {Digest: "g", HTTP: http}} }
	for _, row := range []struct {
		what string
		r    Request
		kind protocol.ChainKind
		why  string
	}{
		{"a UKI", Request{Image: image("", resource.ArtefactUKI), TFTP: true}, protocol.ChainUKI, ""},
		{"no TFTP server", Request{Image: image("", resource.ArtefactUKI)}, "", "the segment has no TFTP server"},
		{"a GRUB that does both", Request{Image: kernel, TFTP: true, Loaders: grub(true)}, protocol.ChainGRUB, ""},
		{"a GRUB that does TFTP only", Request{Image: kernel, TFTP: true, Loaders: grub(false)}, "", "its loader cannot load by UEFI HTTP boot"},
	} {
		for _, m := range []resource.FirstBoot{resource.FirstBootPxe, resource.FirstBootUefiHTTP} {
			row.r.Method, row.r.Any, row.r.Architecture = m, true, "amd64"
			c, err := Choose(row.r)
			if c.Kind != row.kind || (err != nil) != (row.why != "") || err != nil && !strings.Contains(err.Error(), row.why) {
				t.Errorf("%s, %s: %+v, %v", row.what, m, c, err)
			}
			if err != nil && !strings.Contains(err.Error(), "Pxe and UefiHttp (network any)") {
				t.Errorf("%s, %s: %v", row.what, m, err)
			}
		}
	}
	env := Request{Method: resource.FirstBootUefiHTTP, Any: true, Architecture: "amd64"}
	if _, err := ChooseEnv(env, Env{Loader: "grubx64.efi"}, "v"); protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("an environment without a TFTP server: %v", err)
	}
	env.TFTP = true
	if _, err := ChooseEnv(env, Env{Loader: "grubx64.efi"}, "v"); err != nil {
		t.Error(err)
	}
}
