package firmware

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/integration/netns"
	"rackboot/netboot/probe/initramfs"
	"rackboot/protocol"
)

const (
	childSwitch = "switch"
	// inventoryLine begins the line of chainRack with an inventory that was reported.
	inventoryLine = "inventory "
	announceEvery = time.Second // IEEE 802.1AB has 30 s; the machine needs not wait so long
)

// announce is a switch at the other end of boot0: it announces itself by LLDP until it
// is killed.
func announce() error {
	const etherType = 0x88cc
	order := func(v uint16) uint16 { return v<<8 | v>>8 } // network byte order on x86
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, int(order(etherType)))
	if err != nil {
		return err
	}
	i, err := net.InterfaceByName("boot0")
	if err != nil {
		return err
	}
	// Chassis ID by MAC, Port ID by name, TTL of 120 s, System Name, end.
	frame := []byte("\x01\x80\xc2\x00\x00\x0e\x02\x00\x00\x00\x00\x01\x88\xcc" +
		"\x02\x07\x04\x02\x00\x00\x00\x00\x01" + "\x04\x05\x05swp7" + "\x06\x02\x00\x78" + "\x0a\x06leaf-1" + "\x00\x00")
	for {
		// A tap without a machine refuses.
		if err := syscall.Sendto(fd, frame, 0, &syscall.SockaddrLinklayer{Protocol: order(etherType), Ifindex: i.Index, Halen: 6}); err != nil && err != syscall.ENETDOWN && err != syscall.ENOBUFS {
			return err
		}
		time.Sleep(announceEvery)
	}
}

// buildProbe builds the initramfs with rackboot-probe as rackctl does, and gives
// Debian's kernel for it.
func buildProbe(ctx context.Context, t *testing.T, dir string) (kernel, initrd string) {
	t.Helper()
	program := filepath.Join(dir, "rackboot-probe")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "rackboot/cmd/rackboot-probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build rackboot-probe: %v\n%s", err, out)
	}
	kernels, err := filepath.Glob(unpacked(t, "boot/vmlinuz-*"))
	if err != nil || len(kernels) != 1 {
		t.Fatalf("one kernel is needed, there are %q (%v)", kernels, err)
	}
	release := strings.TrimPrefix(filepath.Base(kernels[0]), "vmlinuz-")
	modules, err := initramfs.Modules(unpacked(t, filepath.Join("lib/modules", release)), "virtio_pci", "virtio_net", "virtio_blk")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := initramfs.Write(&out, initramfs.Config{Program: program, Modules: modules}); err != nil {
		t.Fatal(err)
	}
	initrd = filepath.Join(dir, "probe.cpio.gz")
	if err := os.WriteFile(initrd, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return kernels[0], initrd
}

// TestProbeInventory: rackboot-probe as init of Debian's kernel gets a lease from the
// rack's DHCP server, which says where to report, hears its neighbour, reports what is
// in the machine, and switches it off.
func TestProbeInventory(t *testing.T) {
	need(t)
	ctx, cancel := context.WithTimeout(t.Context(), flowTimeout)
	defer cancel()
	s := &site{dir: t.TempDir(), started: time.Now()}
	kernel, initrd := buildProbe(ctx, t, s.dir)
	disk := s.path("disk.raw")
	s.write(t, "disk.raw", "")
	if err := os.Truncate(disk, 64<<20); err != nil {
		t.Fatal(err)
	}
	ns := bootNetwork(ctx, t, "chain")
	startChain(ctx, t, s, ns, chainRack{Method: protocol.TargetPxe, Architecture: "amd64", Base: "http://" + chainAddress + ":8080"})
	t.Setenv(childVar, childSwitch)
	s.start(t, ns, "switch", false, os.Args[0])
	machine := startKernel(t, ns, s.dir, kernel, initrd, "console=ttyS0 panic=-1", "-drive", "if=none,id=d,format=raw,file="+disk, "-device", "virtio-blk-pci,drive=d,serial=disk-1,addr=3")
	s.until(ctx, t, installTimeout, "the inventory has come", func(context.Context) (bool, error) {
		return strings.Contains(s.read("chain.out"), "report discovered\n"), s.alive()
	})
	select { // QEMU ends when the machine is off
	case <-machine:
	case <-time.After(firmwareTimeout):
		t.Fatalf("the machine is still on:\n%s", s.read("serial.log"))
	}
	_, line, _ := strings.Cut(s.read("chain.out"), inventoryLine)
	line, _, _ = strings.Cut(line, "\n")
	var got protocol.HostInventory
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if got.MemoryBytes < 300<<20 || got.MemoryBytes > 512<<20 || got.CPU.Model == "" {
		t.Errorf("memory %d, processor %q", got.MemoryBytes, got.CPU.Model)
	}
	got.MemoryBytes, got.CPU.Model, got.Board.BIOSVendor, got.Board.BIOSVersion, got.Board.BIOSDate, got.Board.Product = 0, "", "", "", "", ""
	want := protocol.HostInventory{
		Board: protocol.Board{Vendor: "QEMU", Serial: "S-1", UUID: "4c4c4544-0031-3510-8031-b4c04f435331"},
		CPU:   protocol.HostCPU{Architecture: "amd64", Sockets: 1, Cores: 1, Threads: 1},
		Interfaces: []protocol.HostInterface{{
			Name: "eth0", MAC: "52:54:00:12:34:56", Link: true, Driver: "virtio_net", PCI: "0000:00:02.0",
			Neighbours: []protocol.Neighbour{{Chassis: "02:00:00:00:00:01", Port: "swp7", System: "leaf-1"}},
		}},
		Disks: []protocol.HostDisk{{Name: "vda", Serial: "disk-1", Bytes: 64 << 20, Rotational: true, Transport: "virtio"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s", diff, s.read("serial.log"))
	}
}

// startKernel starts a machine from a kernel, without firmware's choice; more are its disks.
// What it returns is closed when QEMU ends.
func startKernel(t *testing.T, ns *netns.Namespace, dir, kernel, initrd, line string, more ...string) <-chan struct{} {
	t.Helper()
	cmd := exec.Command("qemu-system-x86_64", append([]string{
		"-accel", "tcg", "-M", "q35", "-m", "512", "-smp", "1", "-display", "none", "-nodefaults", "-serial", "file:" + filepath.Join(dir, "serial.log"),
		"-kernel", kernel, "-initrd", initrd, "-append", line,
		"-uuid", "4c4c4544-0031-3510-8031-b4c04f435331", "-smbios", "type=1,manufacturer=QEMU,serial=S-1",
		"-netdev", "tap,id=n,ifname=boot0,script=no,downscript=no", "-device", "virtio-net-pci,netdev=n,romfile=,addr=2",
	}, more...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := ns.Start(cmd); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	return ended
}
