package firmware

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rackboot/integration/sim"
	"rackboot/protocol/resource"
)

const (
	isoReference = hubAddress + ":5000/os-iso:1"
	isoMediaType = "application/vnd.rackboot.image.iso"
	mebibyte     = 1 << 20
)

// TestOVMFVirtualMedia takes a server with real firmware through a first boot by virtual
// media: its BMC fetches the ISO and the config image from the agent, firmware boots the
// drive, the installer's kernel reads from the other drive its user data and where to report,
// and the server boots its disk. The evidence of that is observed.
func TestOVMFVirtualMedia(t *testing.T) { virtualMedia(t, false) }

// TestOVMFSecureMedia is the same with Secure Boot: shim, GRUB and kernel of the ISO are
// Debian's, which firmware and shim verify. The installed system is signed by nobody, and is not
// booted.
func TestOVMFSecureMedia(t *testing.T) { virtualMedia(t, true) }

func virtualMedia(t *testing.T, secure bool) {
	ctx := flow(t)
	const userData = `{"ignition":{"version":"3.4.0"}}`
	s := newSite(ctx, t)
	s.agentFile, s.secure = "agent-media.yaml", secure
	s.buildPrograms(ctx, t)
	p := buildPayload(ctx, t, s.dir)
	var image []byte
	if secure {
		image = buildSecureISO(ctx, t, p)
	} else {
		image = buildISO(ctx, t, map[string]string{"BOOTX64.EFI": p.installer}, nil)
	}
	s.logf(t, "programs and image built, %d bytes", len(image))
	capture := s.capture(ctx, t, s.rackA, "boot0")
	s.startRegistry(ctx, t, p)
	transport := s.atHub()
	defer transport.CloseIdleConnections()
	if err := sim.Push(ctx, isoReference, transport, sim.Layer{MediaType: isoMediaType, Content: image}); err != nil {
		t.Fatalf("push the ISO: %v", err)
	}
	s.startHub(ctx, t)
	s.startMachines(ctx, t)
	s.startAgents(ctx, t)

	s.write(t, "node.ign", userData)
	s.rackctl(ctx, t, "secret", "set", "node", "--type", "ignition", "--from-file", "ignition="+s.path("node.ign"))
	s.rackctl(ctx, t, "apply", "-f", s.expand(t, "claim-media.yaml", "claim-media.yaml", map[string]string{"IMAGE": isoReference}))
	s.logf(t, "claim applied")
	s.event(ctx, t, firmwareTimeout, "", resource.EventArtefactsLocal, 1)
	for _, step := range []struct {
		code  resource.EventCode
		limit time.Duration
	}{
		{resource.EventMediaInserted, firmwareTimeout},
		{resource.EventArmed, firmwareTimeout},
		{resource.EventFetched, firmwareTimeout},
		{resource.EventInstalled, installTimeout},
		{resource.EventProvisioned, firmwareTimeout},
	} {
		s.event(ctx, t, step.limit, "server-a", step.code, 1)
		// The console of this power-on is gone with the next: it is looked at before rackctl is
		// asked for what comes of the boot.
		if step.code == resource.EventArmed {
			s.until(ctx, t, firmwareTimeout+installTimeout, "the installer reads the config image", func(context.Context) (bool, error) {
				return strings.Contains(s.console(), "rackboot-test: config image in /dev/sr") &&
					strings.Contains(s.console(), fmt.Sprintf("rackboot-test: user data by config image, sha256:%x", sha256.Sum256([]byte(userData)))) &&
					(!secure || strings.Contains(s.console(), "Secure boot enabled")), nil
			})
		}
	}
	s.event(ctx, t, firmwareTimeout, "server-a", resource.EventMediaEjected, 1)
	if !secure {
		s.diskBoot(ctx, t, 1, "")
	}
	if out, err := s.output(ctx, s.hub, s.path("rackctl"), "get", "bootconfigurations", "-o", "wide"); err != nil || !strings.Contains(out, string(resource.EvidenceObserved)) {
		t.Errorf("no configuration was provisioned by observed evidence: %v\n%s", err, out)
	}
	// Firmware asked nobody for an address; the installer did, as an operating system.
	if got := asks(t, capture); got[macA] != nil && (got[macA].boots != 0 || got[macA].files != 0) {
		t.Errorf("firmware asked for %+v", *got[macA])
	}
}

// buildSecureISO makes an image that firmware with Microsoft's keys boots: shim, and GRUB, which
// reads its configuration beside the kernel.
func buildSecureISO(ctx context.Context, t *testing.T, p payload) []byte {
	t.Helper()
	config := filepath.Join(t.TempDir(), "grub.cfg")
	text := "search --no-floppy --set=root --file /vmlinuz\nlinux /vmlinuz console=ttyS0 panic=-1\ninitrd /initrd\nboot\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return buildISO(ctx, t, map[string]string{
		"BOOTX64.EFI": loaderOf(t, "bookworm-amd64", "usr/lib/shim/shimx64.efi.signed"),
		"grubx64.efi": loaderOf(t, "bookworm-amd64", "usr/lib/grub/x86_64-efi-signed/gcdx64.efi.signed"),
	}, map[string]string{"boot/grub/grub.cfg": config, "EFI/debian/grub.cfg": config, "vmlinuz": p.kernel, "initrd": p.initramfs})
}

// buildISO makes an image whose EFI system partition has the loaders, as installers' images
// have it, and other files beside that.
func buildISO(ctx context.Context, t *testing.T, loaders, files map[string]string) []byte {
	t.Helper()
	dir := t.TempDir()
	var size int64
	for _, loader := range loaders {
		info, err := os.Stat(loader)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	esp, image := filepath.Join(dir, "tree", "efi.img"), filepath.Join(dir, "boot.iso")
	if err := os.Mkdir(filepath.Dir(esp), 0o755); err != nil {
		t.Fatal(err)
	}
	// A load size below 2 is the rest of the image to EDK2: 16 bits of sectors are 32 MiB.
	blocks := (size/mebibyte + 2) * (mebibyte / 1024)
	lines := [][]string{
		{"mkfs.vfat", "-C", "-n", "ESP", esp, strconv.FormatInt(blocks, 10)},
		{"mmd", "-i", esp, "::EFI", "::EFI/BOOT"},
	}
	for name, loader := range loaders {
		lines = append(lines, []string{"mcopy", "-i", esp, loader, "::EFI/BOOT/" + name})
	}
	for name, file := range files {
		lines = append(lines, []string{"install", "-D", "-m", "644", file, filepath.Join(filepath.Dir(esp), name)})
	}
	lines = append(lines, []string{"xorriso", "-as", "mkisofs", "-quiet", "-R", "-V", "INSTALL", "-e", "efi.img", "-no-emul-boot", "-boot-load-size", "1", "-o", image, filepath.Dir(esp)})
	for _, line := range lines {
		if out, err := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line[0], err, out)
		}
	}
	content, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
