package firmware

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/integration/netns"
	"rackboot/netboot"
	"rackboot/netboot/dhcp"
	"rackboot/netboot/httpboot"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// bootToken is of the only attempt there is.
const bootToken = "0123456789abcdef"

// only4 is the arguments for firmware that boots over IPv4 only, and only6 for one that
// boots over IPv6, and not by PXE, which it would try first.
func only4() []string {
	return []string{"-fw_cfg", "name=opt/org.tianocore/IPv6Support,string=n", "-fw_cfg", "name=opt/org.tianocore/IPv6PXESupport,string=n"}
}

func only6() []string {
	return []string{
		"-fw_cfg", "name=opt/org.tianocore/IPv4Support,string=n", "-fw_cfg", "name=opt/org.tianocore/IPv4PXESupport,string=n",
		"-fw_cfg", "name=opt/org.tianocore/IPv6PXESupport,string=n",
	}
}

// startFirmware starts a machine that boots by what the arguments say.
func startFirmware(t *testing.T, ns *netns.Namespace, dir string, args ...string) {
	t.Helper()
	startMachine(t, ns, dir, ovmfCode, ovmfVars, args...)
}

// startMachine is startFirmware with firmware and variables to start from.
func startMachine(t *testing.T, ns *netns.Namespace, dir, code, variables string, args ...string) {
	t.Helper()
	vars, err := os.ReadFile(variables)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "vars.fd"), vars, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("qemu-system-x86_64", append([]string{
		"-accel", "tcg", "-m", "768", "-smp", "1", "-display", "none", "-nodefaults",
		"-serial", "file:" + filepath.Join(dir, "serial.log"),
		"-drive", "if=pflash,format=raw,unit=0,readonly=on,file=" + code,
		"-drive", "if=pflash,format=raw,unit=1,file=" + filepath.Join(dir, "vars.fd"),
		"-netdev", "tap,id=n,ifname=boot0,script=no,downscript=no", "-device", "virtio-net-pci,netdev=n,romfile=",
	}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := ns.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// bootRack is the agent's part of a rack with one machine, which may boot one file.
type bootRack struct {
	file    string
	fetched chan netboot.Event
	mu      sync.Mutex
	opens   int
}

// newBootRack is a rack with one machine, which may boot systemd-boot.
func newBootRack(t *testing.T) *bootRack {
	t.Helper()
	return &bootRack{file: unpacked(t, "usr/lib/systemd/boot/efi/systemd-bootx64.efi"), fetched: make(chan netboot.Event, 8)}
}

// bootNetwork is a namespace with the tap of one machine.
func bootNetwork(ctx context.Context, t *testing.T, name string) *netns.Namespace {
	t.Helper()
	ns, err := netns.New(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ns.Close() })
	for _, line := range []string{"ip tuntap add dev boot0 mode tap", "ip address add 10.99.0.1/24 dev boot0", "ip link set boot0 up"} {
		if err := ns.Run(ctx, line); err != nil {
			t.Fatal(err)
		}
	}
	return ns
}

// awaitFetch waits until the machine has its boot file, by an address of the prefix.
func (r *bootRack) awaitFetch(t *testing.T, dir string, by netip.Prefix) {
	t.Helper()
	select {
	case e := <-r.fetched:
		if e.Token != bootToken || e.File != "boot.efi" || !by.Contains(e.Remote) {
			t.Errorf("fetched %+v", e)
		}
	case <-time.After(firmwareTimeout):
		serial, _ := os.ReadFile(filepath.Join(dir, "serial.log"))
		t.Fatalf("nothing was fetched in %s; the console:\n%s", firmwareTimeout, serial)
	}
}

func (*bootRack) address() netip.Addr  { return netip.MustParseAddr("10.99.0.1") }
func (*bootRack) prefix() netip.Prefix { return netip.MustParsePrefix("10.99.0.0/24") }

// serve runs the boot servers inside the namespace until the test ends.
func (r *bootRack) serve(ctx context.Context, t *testing.T, ns *netns.Namespace, certs netboot.Certificates, registry *prometheus.Registry) {
	t.Helper()
	var files *httpboot.Server
	var leases *dhcp.Server
	err := ns.Do(func() (err error) {
		files, err = httpboot.New(httpboot.Config{Listen: netip.AddrPortFrom(r.address(), 443), Certificates: certs, Files: r, Evidence: r, Registerer: registry})
		if err != nil {
			return err
		}
		leases, err = dhcp.New(dhcp.Config{Segment: "boot", Interface: "boot0", Resolver: r, Leases: r, Evidence: r})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	runServers(ctx, t, files.Run, leases.Run)
}

// runServers runs servers until the test ends.
func runServers(ctx context.Context, t *testing.T, servers ...func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, run := range servers {
		running.Go(func() {
			if err := run(ctx); err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

func (r *bootRack) Segment(name string) (resource.SegmentIntent, bool) {
	return resource.SegmentIntent{
		Name: name, Prefix: r.prefix(), Address: r.address(), PoolFrom: netip.MustParseAddr("10.99.0.50"), PoolTo: netip.MustParseAddr("10.99.0.99"),
		BaseURL: "https://10.99.0.1", LeaseTime: time.Hour,
	}, true
}

func (r *bootRack) Resolve(protocol.BootClient) protocol.BootAnswer {
	return protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "n1", Token: bootToken, File: "boot.efi"}
}

func (r *bootRack) Open(_ netip.Addr, token, name string) (*netboot.File, error) {
	if token != bootToken || name != "boot.efi" {
		return nil, protocol.Errorf(protocol.CodeNotFound, "open", "no such file")
	}
	r.mu.Lock()
	r.opens++
	r.mu.Unlock()
	f, err := os.Open(r.file)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &netboot.File{ReadSeekCloser: f, Size: info.Size(), ETag: `"1"`, ModTime: info.ModTime()}, nil
}

func (r *bootRack) Record(e netboot.Event) {
	if e.Kind == protocol.EvidenceFetched {
		r.fetched <- e
	}
}

func (*bootRack) Report(context.Context, netip.Addr, string, protocol.ProbeReport) error { return nil }

func (*bootRack) Load(string) ([]netboot.Lease, error) { return nil, nil }

func (*bootRack) Put(context.Context, ...netboot.Lease) error { return nil }

func (*bootRack) Delete(context.Context, netboot.Lease) error { return nil }
