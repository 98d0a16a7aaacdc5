package firmware

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rackboot/integration/sim"
	"rackboot/integration/uki"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

const (
	probeReference = hubAddress + ":5000/probe:1"
	lookReference  = hubAddress + ":5000/look:1"
	// What the shipped environments have in its place.
	shippedProbe = "registry.example/rackboot-probe:1"

	kernelMediaType    = "application/vnd.ironcore.image.kernel"
	initramfsMediaType = "application/vnd.ironcore.image.initramfs"

	discoveryFile   = "../../configs/bootenvs/discovery.yaml"
	maintenanceFile = "../../configs/maintenance/decommission.yaml"
)

// TestOVMFDiscovery: real firmware boots the shipped environment discovery by PXE because
// nobody knows the server yet, and the server is Available with what was found in it. A
// maintenance boots an image by HTTP and gives the server back. Another one boots the shipped
// environment decommission, once somebody has approved that with the destructive key: its disk
// is zero then. Its disk is never booted.
func TestOVMFDiscovery(t *testing.T) {
	ctx := flow(t)
	s := newSite(ctx, t)
	s.alone, s.discovers, s.agentFile = true, true, "agent-pxe.yaml"
	s.hubMore = "destructiveKey: {file: " + s.path("destructive.pem") + "}"
	s.buildPrograms(ctx, t)
	if out, err := s.output(ctx, s.hub, s.path("rackctl"), "key", "make-destructive", s.path("destructive.pem")); err != nil {
		t.Fatalf("rackctl key make-destructive: %v\n%s", err, out)
	}
	kernel, initrd := buildProbe(ctx, t, s.dir)
	look := s.path("look.efi")
	c := uki.Config{Stub: unpacked(t, "usr/lib/systemd/boot/efi/linuxx64.efi.stub"), Kernel: kernel, Initramfs: initrd, Cmdline: console + " rackboot.mode=booted"}
	if err := uki.Build(ctx, c, look); err != nil {
		t.Fatal(err)
	}
	s.serveLayers(ctx, t, map[string][]sim.Layer{
		probeReference: {layer(t, kernelMediaType, kernel), layer(t, initramfsMediaType, initrd)},
		lookReference:  {layer(t, sim.UKIMediaType, look)},
	})
	s.startHub(ctx, t)
	s.startMachines(ctx, t)
	for _, file := range []string{discoveryFile, decommissionFile} {
		s.rackctl(ctx, t, "apply", "-f", s.edited(t, file, shippedProbe, probeReference))
	}
	s.rackctl(ctx, t, "apply", "-f", s.expand(t, "discovery.yaml", "rack-discovers.yaml", nil))
	s.startAgents(ctx, t)

	s.until(ctx, t, firmwareTimeout, "the server is in Discovery", func(ctx context.Context) (bool, error) {
		return s.server(ctx, t).Status.Phase == resource.PhaseDiscovery, nil
	})
	s.until(ctx, t, installTimeout, "the server is Available", func(ctx context.Context) (bool, error) {
		return s.server(ctx, t).Status.Phase == resource.PhaseAvailable, nil
	})
	d := s.server(ctx, t).Status.Discovered
	if d == nil || d.Inventory == nil || d.Method != protocol.TargetPxe {
		t.Fatalf("%+v", d)
	}
	// Beside its own disk the machine has that with the shell of its safe stop.
	own := func(d protocol.HostDisk) bool { return d.Bytes == diskA }
	if h := d.Inventory; len(h.Interfaces) != 1 || h.Interfaces[0].MAC != macA || !slices.ContainsFunc(h.Disks, own) || h.MemoryBytes == 0 {
		t.Errorf("%+v", h)
	}
	s.nothingLeft(ctx, t)

	s.rackctl(ctx, t, "apply", "-f", s.expand(t, "maintenance.yaml", "maintenance.yaml", map[string]string{"IMAGE": lookReference}))
	s.until(ctx, t, installTimeout, "the maintenance has booted", func(ctx context.Context) (bool, error) {
		st := s.server(ctx, t).Status
		a := st.Report.Attempt
		return st.Phase == resource.PhaseMaintenance && a != nil && a.State == resource.AttemptSucceeded && a.Intended == protocol.TargetUefiHTTP && a.Evidence == protocol.EvidenceBooted, nil
	})
	s.returned(ctx, t, "look", d.UID)
	s.decommission(ctx, t, d.UID)
	if n := s.qemus(t); n != 0 {
		t.Errorf("%d QEMU processes run", n)
	}
}

// decommission discards what is on the server's disk.
func (s *site) decommission(ctx context.Context, t *testing.T, discovered string) {
	t.Helper()
	noise := make([]byte, diskA)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise) // it never fails
	if err := os.WriteFile(s.path("disk-a.raw"), noise, 0o600); err != nil {
		t.Fatal(err)
	}
	s.rackctl(ctx, t, "apply", "-f", s.edited(t, maintenanceFile, "server-1", "server-a"))
	var ask resource.ApprovalRequest
	s.until(ctx, t, firmwareTimeout, "the maintenance waits for an approval", func(ctx context.Context) (bool, error) {
		var all api.List[resource.ApprovalRequest]
		if err := json.Unmarshal([]byte(s.rackctl(ctx, t, "approve", "list", "-o", "json")), &all); err != nil || len(all.Items) != 1 {
			return false, err
		}
		ask = all.Items[0]
		return ask.Class == resource.ApproveWipe && ask.State == resource.ApprovalPending && s.server(ctx, t).Status.Phase == resource.PhaseAvailable, nil
	})
	if got, err := os.ReadFile(s.path("disk-a.raw")); err != nil || !bytes.Equal(got, noise) || s.qemus(t) != 0 {
		t.Fatalf("something was done before anybody approved it: %v", err)
	}
	s.rackctl(ctx, t, "approve", "grant", ask.ID, "--yes")
	s.until(ctx, t, installTimeout, "the disks are discarded", func(ctx context.Context) (bool, error) {
		st := s.server(ctx, t).Status
		a := st.Report.Attempt
		return st.Phase == resource.PhaseMaintenance && st.Report.Env != nil && st.Report.Env.BootEnv == "decommission" && a != nil &&
			a.State == resource.AttemptSucceeded && a.Intended == protocol.TargetUefiHTTP && a.Evidence == protocol.EvidenceBooted, nil
	})
	if out := s.rackctl(ctx, t, "events", "-o", "json"); !strings.Contains(out, "vdb (67 MB) zeroed") {
		t.Errorf("no event says what was done to the disk:\n%s", out)
	}
	if got, err := os.ReadFile(s.path("disk-a.raw")); err != nil || !bytes.Equal(got, make([]byte, diskA)) {
		t.Errorf("the disk is not zero: %v", err)
	}
	s.returned(ctx, t, "return-server-a", discovered)
}

// returned ends a maintenance, after which the server is Available and is not discovered anew.
func (s *site) returned(ctx context.Context, t *testing.T, maintenance, discovered string) {
	t.Helper()
	s.rackctl(ctx, t, "delete", "maintenance", maintenance)
	s.until(ctx, t, firmwareTimeout, "the server is Available again", func(ctx context.Context) (bool, error) {
		return s.server(ctx, t).Status.Phase == resource.PhaseAvailable, nil
	})
	if again := s.server(ctx, t).Status.Discovered; again == nil || again.UID != discovered {
		t.Errorf("it was discovered again: %+v", again)
	}
	s.nothingLeft(ctx, t)
}

// edited copies a shipped file with another text in the place of one, and returns its path.
func (s *site) edited(t *testing.T, file, from, to string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(raw, []byte(from)) {
		t.Fatalf("%s has no %q", file, from)
	}
	name := filepath.Base(filepath.Dir(file)) + "-" + filepath.Base(file)
	s.write(t, name, strings.ReplaceAll(string(raw), from, to))
	return s.path(name)
}

// server is the rack's only server, as rackctl shows it.
func (s *site) server(ctx context.Context, t *testing.T) (srv resource.Server) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.rackctl(ctx, t, "get", "server", "server-a", "-o", "json")), &srv); err != nil {
		t.Fatal(err)
	}
	return srv
}

// nothingLeft checks that no boot configuration is there, and that no boot has failed.
func (s *site) nothingLeft(ctx context.Context, t *testing.T) {
	t.Helper()
	if out := s.rackctl(ctx, t, "get", "bootconfigurations", "-o", "name"); strings.TrimSpace(out) != "" {
		t.Errorf("left: %s", out)
	}
	out := s.rackctl(ctx, t, "events", "-o", "json")
	for _, code := range []resource.EventCode{resource.EventAttemptFailed, resource.EventMismatch, resource.EventDiskBoot} {
		if strings.Contains(out, string(code)) {
			t.Errorf("%s has happened:\n%s", code, out)
		}
	}
}
