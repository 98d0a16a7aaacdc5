package firmware

import (
	"context"
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
