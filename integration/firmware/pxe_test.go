package firmware

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TestOVMFPXE boots real firmware by PXE over IPv4 from the production servers: the
// offer says that there is no menu, and the file comes by TFTP, after its size was
// asked for and that transfer ended by the client.
func TestOVMFPXE(t *testing.T) {
	need(t)
	ctx, cancel := context.WithTimeout(t.Context(), flowTimeout)
	defer cancel()
	s, rack := &site{dir: t.TempDir(), started: time.Now()}, newBootRack(t)
	ns := bootNetwork(ctx, t, "pxe")
	loader, err := os.ReadFile(rack.file)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, filepath.Join("served", "boot.efi"), string(loader))
	t.Setenv(childVar, childTFTP)
	t.Setenv(folderVar, s.path("served"))
	s.start(t, ns, "tftp", false, os.Args[0])
	s.until(ctx, t, 30*time.Second, "a TFTP server", func(context.Context) (bool, error) {
		return strings.Contains(s.read("tftp.out"), "ready"), s.alive()
	})
	rack.serve(ctx, t, ns, nil, prometheus.NewRegistry())
	startFirmware(t, ns, s.dir, only4()...)
	s.until(ctx, t, firmwareTimeout, "firmware has loaded the file", func(context.Context) (bool, error) {
		return strings.Contains(s.read("serial.log"), "NBP file downloaded successfully"), s.alive()
	})
	// The server says so when it has the last ACK, which firmware does not wait for.
	const fetched = "fetched boot.efi\n"
	s.until(ctx, t, 30*time.Second, "the server says so too", func(context.Context) (bool, error) {
		return strings.Contains(s.read("tftp.out"), fetched), s.alive()
	})
	if n := strings.Count(s.read("tftp.out"), fetched); n != 1 {
		t.Errorf("the file was fetched %d times, want once: the transfer that asks for the size is none", n)
	}
	if console := s.read("serial.log"); strings.Contains(console, "HTTP Boot") {
		t.Error("firmware went on to HTTP boot")
	}
}
