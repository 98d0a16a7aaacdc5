package sim

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoadRackConfig(t *testing.T) {
	const head = "machines:\n  - name: n1\n    mac: 52:54:00:00:00:01\n    bmc: 127.0.0.1:0\n"
	for _, row := range []struct{ name, text, wrong string }{
		{"simulated", head + "    credentials: c\n    kind: simulated\n    interface: eth0\n", ""},
		{"qemu", head + "    credentials: c\n    kind: qemu\n    tap: tap0\n    disk: d\n    dir: m\n    post: 3s\n", ""},
		{"nothing", "machines: []\n", "machines is empty"},
		{"unknown field", head + "    credentials: c\n    kind: simulated\n    interfaces: eth0\n", "interfaces"},
		{"no account", head + "    kind: simulated\n    interface: eth0\n", "machines[0].credentials"},
		{"nowhere to broadcast", head + "    credentials: c\n    kind: simulated\n", "machines[0].interface"},
		{"a network of its own", head + "    credentials: c\n    kind: simulated\n    dhcp: 127.0.0.1:67\n    log: power.jsonl\n    speed: 8\n", ""},
		{"two networks", head + "    credentials: c\n    kind: simulated\n    dhcp: 127.0.0.1:67\n    interface: eth0\n", "machines[0].interface or dhcp"},
		{"no disk", head + "    credentials: c\n    kind: qemu\n    tap: tap0\n    dir: m\n", "machines[0].tap, disk and dir"},
		{"no kind", head + "    credentials: c\n", `machines[0].kind: "" is not`},
		{"MAC", strings.Replace(head, "52:54:00:00:00:01", "x", 1), `machines[0].mac: "x"`},
		{"BMC", strings.Replace(head, "127.0.0.1:0", "bmc:1", 1), `machines[0].bmc: "bmc:1"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rack.yaml")
			if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := LoadRackConfig(path)
			if row.wrong == "" && err != nil || row.wrong != "" && (err == nil || !strings.Contains(err.Error(), row.wrong)) {
				t.Errorf("got %v, want %q", err, row.wrong)
			}
		})
	}
}

func TestRunRackPrintsAddresses(t *testing.T) {
	account := filepath.Join(t.TempDir(), "bmc")
	if err := os.WriteFile(account, []byte("username: u\npassword: p\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := RackConfig{Machines: []MachineConfig{
		{Name: "n1", Kind: KindSimulated, MAC: "52:54:00:00:00:01", BMC: "127.0.0.1:0", Credentials: account, Interface: "lo"},
		{Name: "n2", Kind: KindSimulated, MAC: "52:54:00:00:00:02", BMC: "127.0.0.1:0", Credentials: account, Interface: "lo"},
	}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := RunRack(ctx, c, w, slog.New(slog.DiscardHandler))
		_ = w.CloseWithError(err) // as a program's end closes its output
		done <- err
	}()
	lines := bufio.NewScanner(r)
	for _, name := range []string{"n1", "n2"} {
		var m MachineAddress
		if !lines.Scan() {
			t.Fatalf("no line for %s: %v", name, lines.Err())
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		if m.Name != name || !strings.HasPrefix(m.Address, "https://127.0.0.1:") || !strings.HasPrefix(m.Fingerprint, "sha256:") {
			t.Errorf("printed %+v", m)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
