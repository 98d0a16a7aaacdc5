package sim

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rackboot/bmc"
	"rackboot/bmc/capture"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// probe reads a BMC as rackctl bmc probe --direct does.
func probe(t *testing.T, b *sim.BMC, seen func(string, []byte)) protocol.Probe {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dialer, err := redfish.New(redfish.Config{Seen: seen})
	if err != nil {
		t.Fatal(err)
	}
	d, err := dialer.Open(bmc.Target{Server: "s", Address: b.Address(), Fingerprint: b.Fingerprint(), Credentials: bmc.Credentials{Username: "u", Password: "p"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	p, err := d.(bmc.Prober).Probe(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCapturedMachine: a machine of a rack file whose BMC was captured shows what that one showed, and has
// the address of the file.
func TestCapturedMachine(t *testing.T) {
	was, err := sim.New(sim.Config{Machine: hardware.NewSimulated(hardware.SimulatedConfig{}), Personality: sim.Personality{Tree: tree.Dell()}, Username: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = was.Close() })
	r := capture.New()
	first := probe(t, was, r.See)
	var raw bytes.Buffer
	if err := r.Write(&raw); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, account := filepath.Join(dir, "bmc.tar.gz"), filepath.Join(dir, "bmc")
	for name, text := range map[string][]byte{file: raw.Bytes(), account: []byte("username: u\npassword: p\n"), filepath.Join(dir, "odd"): []byte("odd")} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := MachineConfig{
		Name: "n1", Kind: KindSimulated, MAC: "52:54:00:00:00:01", BMC: "127.0.0.1:0", Credentials: account, Drives: 1, Capture: file,
		Simulated: SimulatedMachine{DHCP: "127.0.0.1:6767"},
	}
	b, err := m.start(life{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	again := probe(t, b, nil)
	if again.Inventory.Vendor != first.Inventory.Vendor || again.Inventory.Model != first.Inventory.Model || again.Profile != first.Profile {
		t.Errorf("%+v, and was %+v", again, first)
	}
	found := false
	for _, i := range again.Inventory.Interfaces {
		found = found || i.MAC == m.MAC
	}
	if !found {
		t.Errorf("no interface is %s: %+v", m.MAC, again.Inventory.Interfaces)
	}
	for _, odd := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "odd")} {
		if _, err := captured(odd); protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
			t.Errorf("%s: %v", odd, err)
		}
	}
}
