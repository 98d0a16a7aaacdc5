package firmware

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/netboot/bootcert"
)

// TestOVMFHTTPS boots real firmware by HTTPS from the production servers, with
// certificates and the EFI signature list as rackctl makes them. OVMF of Debian 12 has
// no elliptic curves: it takes the RSA certificate, by RSA key exchange, under an RSA
// authority, or nothing.
func TestOVMFHTTPS(t *testing.T) {
	need(t)
	ctx, cancel := context.WithTimeout(t.Context(), flowTimeout)
	defer cancel()
	dir := t.TempDir()
	rack := newBootRack(t)
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
	ns := bootNetwork(ctx, t, "https")
	registry := prometheus.NewRegistry()
	rack.serve(ctx, t, ns, certs, registry)
	_, list, _ := folder.Enrolled()
	startFirmware(t, ns, dir, append(only4(), "-fw_cfg", "name=opt/org.tianocore/IPv4PXESupport,string=n", "-fw_cfg", "name=etc/edk2/https/cacerts,file="+list)...)
	rack.awaitFetch(t, dir, rack.prefix())
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

// TestOVMFClaimHTTPS takes a claim through hub and agent by HTTPS: rackctl makes the
// certificates and what firmware is given to trust them, real firmware fetches the installer's
// image, that reports by HTTPS too, and the server boots its disk.
func TestOVMFClaimHTTPS(t *testing.T) {
	ctx := flow(t)
	s := newSite(ctx, t)
	s.alone, s.agentFile, s.certs = true, "agent-https.yaml", s.path("boot-cert")
	s.buildPrograms(ctx, t)
	if out, err := s.output(ctx, s.rackA, s.path("rackctl"), "boot-cert", "make", "--dir", s.certs, "--host", bootAddress); err != nil {
		t.Fatalf("rackctl boot-cert make: %v\n%s", err, out)
	}
	_, _, pem := bootcert.Folder(s.certs).Enrolled()
	trust, err := os.ReadFile(pem)
	if err != nil {
		t.Fatal(err)
	}
	s.startRegistry(ctx, t, buildPayload(ctx, t, s.dir, trust...))
	s.startHub(ctx, t)
	s.startMachines(ctx, t)
	s.startAgents(ctx, t)

	s.rackctl(ctx, t, "apply", "-f", s.path("claim-a.yaml"))
	s.install(ctx, t)
	s.diskBoot(ctx, t, 1, "")
	for scheme, want := range map[string]string{"https": "1", "http": "0"} {
		if n := s.metric(ctx, t, s.rackA, `rackboot_http_boot_requests_total{code="200",method="GET",scheme="`+scheme+`",segment="boot-a"}`); n != want {
			t.Errorf("the agent sent a boot file by %s %s times, want %s", scheme, n, want)
		}
	}
}
