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
func TestOVMFVirtualMedia(t *testing.T) {
	ctx := flow(t)
	const userData = `{"ignition":{"version":"3.4.0"}}`
	s := newSite(ctx, t)
	s.agentFile = "agent-media.yaml"
	s.buildPrograms(ctx, t)
	p := buildPayload(ctx, t, s.dir)
	image := buildISO(ctx, t, p.installer)
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
					strings.Contains(s.console(), fmt.Sprintf("rackboot-test: user data by config image, sha256:%x", sha256.Sum256([]byte(userData)))), nil
			})
		}
	}
	s.event(ctx, t, firmwareTimeout, "server-a", resource.EventMediaEjected, 1)
	s.diskBoot(ctx, t, 1, "")
	if out, err := s.output(ctx, s.hub, s.path("rackctl"), "get", "bootconfigurations", "-o", "wide"); err != nil || !strings.Contains(out, string(resource.EvidenceObserved)) {
		t.Errorf("no configuration was provisioned by observed evidence: %v\n%s", err, out)
	}
	// Firmware asked nobody for an address; the installer did, as an operating system.
	if got := asks(t, capture); got[macA] != nil && (got[macA].boots != 0 || got[macA].files != 0) {
		t.Errorf("firmware asked for %+v", *got[macA])
	}
}

// buildISO makes an image whose EFI system partition has the loader, as installers' images
// have it.
func buildISO(ctx context.Context, t *testing.T, loader string) []byte {
	t.Helper()
	dir := t.TempDir()
	info, err := os.Stat(loader)
	if err != nil {
		t.Fatal(err)
	}
	esp, image := filepath.Join(dir, "tree", "efi.img"), filepath.Join(dir, "boot.iso")
	if err := os.Mkdir(filepath.Dir(esp), 0o755); err != nil {
		t.Fatal(err)
	}
	// A load size below 2 is the rest of the image to EDK2: 16 bits of sectors are 32 MiB.
	blocks := (info.Size()/mebibyte + 2) * (mebibyte / 1024)
	for _, line := range [][]string{
		{"mkfs.vfat", "-C", "-n", "ESP", esp, strconv.FormatInt(blocks, 10)},
		{"mmd", "-i", esp, "::EFI", "::EFI/BOOT"},
		{"mcopy", "-i", esp, loader, "::EFI/BOOT/BOOTX64.EFI"},
		{"xorriso", "-as", "mkisofs", "-quiet", "-V", "INSTALL", "-e", "efi.img", "-no-emul-boot", "-boot-load-size", "1", "-o", image, filepath.Dir(esp)},
	} {
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
