package rack

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// executable is an EFI executable for amd64 as far as its header tells.
func executable(content string) []byte {
	b := make([]byte, 0x40+24+40)
	copy(b, "MZ")
	binary.LittleEndian.PutUint32(b[0x3c:], 0x40)
	copy(b[0x40:], "PE\x00\x00\x64\x86\x01\x00")
	binary.LittleEndian.PutUint32(b[0x40+24+16:], uint32(len(content)))
	binary.LittleEndian.PutUint32(b[0x40+24+20:], uint32(len(b)))
	return append(b, content...)
}

// pushParts makes an image of a kernel and an initramfs the bench's.
func (b *bench) pushParts() {
	b.t.Helper()
	const reference = "demo/parts:1"
	err := sim.Push(b.t.Context(), b.reg.behind.Addr+"/"+reference, nil,
		sim.Layer{MediaType: "application/vnd.ironcore.image.kernel", Content: []byte(strings.Repeat("kernel ", 3000))},
		sim.Layer{MediaType: "application/vnd.ironcore.image.initramfs", Content: []byte(strings.Repeat("initramfs ", 3000))})
	if err != nil {
		b.t.Fatal(err)
	}
	b.image, err = image.Resolve(b.t.Context(), strings.TrimPrefix(b.reg.proxy.URL, "http://")+"/"+reference, "amd64", image.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
}

// loaderFolder has shim and a GRUB that loads by TFTP, and with http by HTTP too.
func loaderFolder(t *testing.T, http bool) string {
	t.Helper()
	folder := t.TempDir()
	grub := "grub "
	if http {
		grub += "grub_efi_net_boot_from_https"
	}
	for name, content := range map[string]string{"shimx64.efi.signed": "shim", "grubnetx64.efi.signed": grub} {
		if err := os.WriteFile(filepath.Join(folder, name), executable(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestChain: a server whose image has a kernel and an initramfs is not touched where no
// chain fits, and says why; with the site's loaders it boots through shim and GRUB, by
// UEFI HTTP boot as by PXE, and what it installs is the image's.
func TestChain(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		method resource.FirstBoot
		before string // loaders that do not do
		why    string
		after  string
	}{
		{"UefiHttp", resource.FirstBootUefiHTTP, loaderFolder(t, false), "cannot load by UEFI HTTP boot", loaderFolder(t, true)},
		{"Pxe", resource.FirstBootPxe, "", "a loader of it is not there", loaderFolder(t, false)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1, bmcsim.Plain())
			b.pushParts()
			b.loaders = row.before
			a, stop := b.start(nil)
			b.claim(0)
			b.intents[0].Boot.BootPolicy.FirstBoot = row.method
			b.grant(0)
			b.send(a)
			r := b.until("the reason", 0, has(resource.CondNoBootChain))
			for _, c := range r.Conditions {
				if c.Code == resource.CondNoBootChain && (!strings.Contains(c.Message, row.why) || !strings.Contains(c.Message, "; install ")) {
					t.Errorf("it says %q", c.Message)
				}
			}
			if s := b.servers[0]; r.Attempt != nil || s.BMC.PowerState() != protocol.PowerOff || s.BMC.Override().Armed() {
				t.Errorf("the server was touched: %+v", r.Attempt)
			}
			stop()
			b.loaders = row.after
			a, _ = b.start(nil)
			b.send(a)
			r = b.until("the disk boot after the installation", 0, diskBoot)
			initramfs, _ := b.image.Artefact(resource.ArtefactInitramfs)
			if got := b.servers[0].Disk.Digest(); len(r.Provisioned) == 0 || got != initramfs.Digest {
				t.Errorf("installed %s, the image's initramfs is %s", got, initramfs.Digest)
			}
			b.booted(0, 1, 1)
			if _, _, refused, inst := b.servers[0].Boots.Counts(); inst != 1 || refused != 0 {
				t.Errorf("%d installations, %d refused", inst, refused)
			}
		})
	}
}
