package firmware

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rackboot/integration/uki"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	probeReference = hubAddress + ":5000/probe:1"
	lookReference  = hubAddress + ":5000/look:1"
)

// TestOVMFDiscovery: real firmware boots the probe by PXE because nobody knows the server
// yet, and the server is Available with what was found in it. A maintenance boots it by
// HTTP and gives it back. Its disk is never booted.
func TestOVMFDiscovery(t *testing.T) {
	ctx := flow(t)
	s := newSite(ctx, t)
	s.alone, s.discovers, s.agentFile = true, true, "agent-pxe.yaml"
	s.buildPrograms(ctx, t)
	kernel, initrd := buildProbe(ctx, t, s.dir)
	ukis := map[string]string{}
	for ref, line := range map[string]string{probeReference: "rackboot.lldp=1s", lookReference: "rackboot.mode=booted"} {
		to := s.path(strings.ReplaceAll(strings.TrimPrefix(ref, hubAddress+":5000/"), ":", "-") + ".efi")
		c := uki.Config{Stub: unpacked(t, "usr/lib/systemd/boot/efi/linuxx64.efi.stub"), Kernel: kernel, Initramfs: initrd, Cmdline: console + " " + line}
		if err := uki.Build(ctx, c, to); err != nil {
			t.Fatal(err)
		}
		ukis[ref] = to
	}
	s.serveImages(ctx, t, ukis)
	s.startHub(ctx, t)
	s.startMachines(ctx, t)
	s.rackctl(ctx, t, "apply", "-f", s.expand(t, "discovery.yaml", "discovery.yaml", map[string]string{"IMAGE": probeReference}))
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
	s.rackctl(ctx, t, "delete", "maintenance", "look")
	s.until(ctx, t, firmwareTimeout, "the server is Available again", func(ctx context.Context) (bool, error) {
		return s.server(ctx, t).Status.Phase == resource.PhaseAvailable, nil
	})
	if again := s.server(ctx, t).Status.Discovered; again == nil || again.UID != d.UID {
		t.Errorf("it was discovered again: %+v", again)
	}
	s.nothingLeft(ctx, t)
	if n := s.qemus(t); n != 0 {
		t.Errorf("%d QEMU processes run", n)
	}
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
