package firmware

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/integration/netns"
	"rackboot/netboot"
	"rackboot/netboot/bootcert"
	"rackboot/netboot/dhcp"
	"rackboot/netboot/httpboot"
	"rackboot/protocol"
)

// httpsToken is of the only attempt there is.
const httpsToken = "0123456789abcdef"

// TestOVMFHTTPS boots real firmware by HTTPS from the production servers, with
// certificates and the EFI signature list as rackctl makes them. OVMF of Debian 12 has
// no elliptic curves: it takes the RSA certificate, by RSA key exchange, under an RSA
// authority, or nothing.
func TestOVMFHTTPS(t *testing.T) {
	need(t)
	ctx, cancel := context.WithTimeout(t.Context(), flowTimeout)
	defer cancel()
	dir := t.TempDir()
	rack := &httpsRack{file: unpacked(t, "usr/lib/systemd/boot/efi/systemd-bootx64.efi"), fetched: make(chan netboot.Event, 8)}
	names, err := bootcert.ParseNames([]string{rack.address().String()})
	if err != nil {
		t.Fatal(err)
	}
	folder := bootcert.Folder(filepath.Join(dir, "https"))
	if _, err := folder.Make(names, time.Now()); err != nil {
		t.Fatal(err)
	}
	certs, err := bootcert.OpenStore(bootcert.StoreConfig{Folder: folder, Names: func() bootcert.Names { return names }})
	if err != nil {
		t.Fatal(err)
	}
	ns, err := netns.New(ctx, "https")
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	for _, line := range []string{"ip tuntap add dev boot0 mode tap", "ip address add 10.99.0.1/24 dev boot0", "ip link set boot0 up"} {
		if err := ns.Run(ctx, line); err != nil {
			t.Fatal(err)
		}
	}
	registry := prometheus.NewRegistry()
	rack.serve(ctx, t, ns, certs, registry)
	_, list, _ := folder.Enrolled()
	startFirmware(t, ns, dir, list)

	select {
	case e := <-rack.fetched:
		if e.Token != httpsToken || e.File != "boot.efi" || !rack.prefix().Contains(e.Remote) {
			t.Errorf("fetched %+v", e)
		}
	case <-time.After(firmwareTimeout):
		serial, _ := os.ReadFile(filepath.Join(dir, "serial.log"))
		t.Fatalf("nothing was fetched in %s; the console:\n%s", firmwareTimeout, serial)
	}
	const handshakes = `
# HELP rackboot_http_boot_tls_handshakes_total HTTPS boot handshakes that succeeded, by key exchange.
# TYPE rackboot_http_boot_tls_handshakes_total counter
rackboot_http_boot_tls_handshakes_total{exchange="rsa",scheme="https"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(handshakes), "rackboot_http_boot_tls_handshakes_total"); err != nil {
		t.Error(err)
	}
	rack.mu.Lock()
	defer rack.mu.Unlock()
	// HEAD for the size, and GET.
	if rack.opens != 2 {
		t.Errorf("the file was opened %d times, want 2", rack.opens)
	}
}

// startFirmware starts a machine that tries to boot by HTTP over IPv4 first and trusts
// what the signature list says.
func startFirmware(t *testing.T, ns *netns.Namespace, dir, list string) {
	t.Helper()
	vars, err := os.ReadFile(ovmfVars)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "vars.fd"), vars, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("qemu-system-x86_64", "-accel", "tcg", "-m", "512", "-smp", "1", "-display", "none", "-nodefaults",
		"-serial", "file:"+filepath.Join(dir, "serial.log"),
		"-drive", "if=pflash,format=raw,readonly=on,file="+ovmfCode,
		"-drive", "if=pflash,format=raw,file="+filepath.Join(dir, "vars.fd"),
		"-netdev", "tap,id=n,ifname=boot0,script=no,downscript=no", "-device", "virtio-net-pci,netdev=n,romfile=",
		"-fw_cfg", "name=opt/org.tianocore/IPv4PXESupport,string=n", "-fw_cfg", "name=opt/org.tianocore/IPv6Support,string=n",
		"-fw_cfg", "name=opt/org.tianocore/IPv6PXESupport,string=n",
		"-fw_cfg", "name=etc/edk2/https/cacerts,file="+list)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := ns.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// httpsRack is the agent's part of a rack with one machine, which may boot one file.
type httpsRack struct {
	file    string
	fetched chan netboot.Event
	mu      sync.Mutex
	opens   int
}

func (*httpsRack) address() netip.Addr  { return netip.MustParseAddr("10.99.0.1") }
func (*httpsRack) prefix() netip.Prefix { return netip.MustParsePrefix("10.99.0.0/24") }

// serve runs the boot servers inside the namespace until the test ends.
func (r *httpsRack) serve(ctx context.Context, t *testing.T, ns *netns.Namespace, certs netboot.Certificates, registry *prometheus.Registry) {
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
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{files.Run, leases.Run} {
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

func (r *httpsRack) Segment(name string) (protocol.SegmentIntent, bool) {
	return protocol.SegmentIntent{
		Name: name, Prefix: r.prefix(), Address: r.address(), PoolFrom: netip.MustParseAddr("10.99.0.50"), PoolTo: netip.MustParseAddr("10.99.0.99"),
		BaseURL: "https://10.99.0.1", LeaseTime: time.Hour,
	}, true
}

func (r *httpsRack) Resolve(protocol.BootClient) protocol.BootAnswer {
	return protocol.BootAnswer{Action: protocol.AnswerBoot, Server: "n1", Token: httpsToken, File: "boot.efi"}
}

func (r *httpsRack) Open(token, name string) (*netboot.File, error) {
	if token != httpsToken || name != "boot.efi" {
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

func (r *httpsRack) Record(e netboot.Event) {
	if e.Kind == protocol.EvidenceFetched {
		r.fetched <- e
	}
}

func (*httpsRack) Report(context.Context, string, string) error { return nil }
func (*httpsRack) Load(string) ([]netboot.Lease, error)         { return nil, nil }
func (*httpsRack) Put(context.Context, netboot.Lease) error     { return nil }
func (*httpsRack) Delete(context.Context, netboot.Lease) error  { return nil }
