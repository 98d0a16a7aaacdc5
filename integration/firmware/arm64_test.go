//go:build soak

package firmware

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"rackboot/integration/netns"
	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	armCode = "/usr/share/AAVMF/AAVMF_CODE.fd"
	armVars = "/usr/share/AAVMF/AAVMF_VARS.fd"
)

// startARM starts an arm64 machine that boots over IPv4.
func startARM(t *testing.T, ns *netns.Namespace, dir string, args ...string) {
	t.Helper()
	vars, err := os.ReadFile(armVars)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "vars.fd"), vars, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("qemu-system-aarch64", append([]string{
		"-M", "virt", "-cpu", "cortex-a57", "-accel", "tcg", "-m", "1024", "-smp", "1", "-display", "none", "-nodefaults",
		"-serial", "file:" + filepath.Join(dir, "serial.log"),
		"-drive", "if=pflash,format=raw,unit=0,readonly=on,file=" + armCode,
		"-drive", "if=pflash,format=raw,unit=1,file=" + filepath.Join(dir, "vars.fd"),
		"-netdev", "tap,id=n,ifname=boot0,script=no,downscript=no", "-device", "virtio-net-pci,netdev=n,romfile=",
		"-device", "virtio-rng-pci",
	}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	if err := ns.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// TestAAVMF boots arm64 firmware by UEFI HTTP boot through shim and GRUB to Debian's
// kernel, as on amd64; what differs is the names of the loaders and the architecture
// type, 19.
func TestAAVMF(t *testing.T) {
	need(t)
	asked, _ := chainFlow{
		prefer: protocol.ChainGRUB, method: resource.FirstBootUefiHTTP, base: "http://" + chainAddress + ":8080", start: startARM, arm64: true,
		loaders: map[chain.Role]string{
			chain.RoleShim: loaderOf(t, "trixie-arm64", "usr/lib/shim/shimaa64.efi.signed"),
			chain.RoleGRUB: loaderOf(t, "trixie-arm64", "usr/lib/grub/arm64-efi-signed/grubnetaa64.efi.signed"),
		},
	}.boot(t)
	inOrder(t, asked, "client HTTPClient: boot shimaa64.efi", "fetched shimaa64.efi", "fetched grubaa64.efi",
		"fetched grub/grub.cfg", "fetched kernel", "fetched initrd", "report installed")
}
