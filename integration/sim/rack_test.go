package sim

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/protocol"
)

// rackTexts are rack files, and what is said of them: a line, a field, and what to do.
func rackTexts() []struct{ name, text, wrong string } {
	const head = "machines:\n  - name: n1\n    mac: 52:54:00:00:00:01\n    bmc: 127.0.0.1:20001\n    credentials: c\n"
	const lo = "    interface: lo\n"
	const many = "machines:\n  - name: node-{n}\n    count: 20\n    mac: 52:54:00:00:00:ff\n    bmc: 127.0.0.1:20001\n    credentials: c\n    dhcp: 127.0.0.1:6767\n"
	replace := func(text, from, to string) string { return strings.Replace(text, from, to, 1) }
	second := func(name, mac, bmc string) string {
		return fmt.Sprintf("  - {name: %s, mac: \"%s\", bmc: \"%s\", credentials: c, interface: lo}\n", name, mac, bmc)
	}
	return []struct{ name, text, wrong string }{
		{"simulated", head + lo, ""},
		{"qemu", head + "    kind: qemu\n    tap: tap0\n    disk: d\n    dir: m\n    post: 3s\n", ""},
		{"a network of its own", head + "    dhcp: 127.0.0.1:67\n    log: power.jsonl\n    speed: 8\n", ""},
		{"many", many, ""},
		{"nothing", "machines: []\n", "r.yaml:1: machines: it is empty"},
		{"empty", "", "r.yaml:1: machines: it is empty"},
		{"unknown field", head + "    interfaces: lo\n", "[6:5] unknown field \"interfaces\""},
		{"a wrong type", head + lo + "    drives: two\n", "[7:13]"},
		{"given twice", head + lo + "    mac: 52:54:00:00:00:02\n", "[7:5]"},
		{"no account", replace(head, "    credentials: c\n", "") + lo, "r.yaml:2: machines[0].credentials"},
		{"nowhere to broadcast", head, "r.yaml:2: machines[0].interface or dhcp"},
		{"two networks", head + lo + "    dhcp: 127.0.0.1:67\n", "machines[0].interface or dhcp"},
		{"a network that is none", head + "    dhcp: here\n", "r.yaml:6: machines[0].dhcp: \"here\""},
		{"no disk", head + "    kind: qemu\n    tap: tap0\n    dir: m\n", "machines[0].tap: tap, disk and dir"},
		{"a kind that is none", head + lo + "    kind: real\n", `r.yaml:7: machines[0].kind: "real" is not`},
		{"MAC", replace(head, "52:54:00:00:00:01", "x") + lo, `r.yaml:3: machines[0].mac: "x"`},
		{"MAC of a group", replace(head, "52:54", "53:54") + lo, `r.yaml:3: machines[0].mac: "53:54`},
		{"BMC", replace(head, "127.0.0.1:20001", "bmc:1") + lo, `r.yaml:4: machines[0].bmc: "bmc:1"`},
		{"two of a name", head + lo + second("n1", "52:54:00:00:00:02", "127.0.0.1:20002"), "r.yaml:7: machines[1].name: n1"},
		{"two of a MAC", head + lo + second("n2", "52:54:00:00:00:01", "127.0.0.1:20002"), "r.yaml:7: machines[1].mac: 52:54:00:00:00:01 of machine n2 is that of machine n1"},
		{"two of a port", head + lo + second("n2", "52:54:00:00:00:02", "127.0.0.1:20001"), "r.yaml:7: machines[1].bmc: 127.0.0.1:20001 of machine n2 is that of machine n1"},
		{"two of a free port", replace(head, "20001", "0") + lo + second("n2", "52:54:00:00:00:02", "127.0.0.1:0"), ""},
		{"a port among many", many + second("x", "52:54:00:00:ff:02", "127.0.0.1:20020"), "r.yaml:8: machines[1].bmc: 127.0.0.1:20020 of machine x is that of machine node-20"},
		{"one log of many", many + "    log: power.jsonl\n", "r.yaml:8: machines[0].log"},
		{"one name of many", replace(many, "node-{n}", "node"), "r.yaml:2: machines[0].name: 20 machines would have the name node"},
		{"too many", replace(many, "20\n", "2001\n"), "r.yaml:3: machines[0].count: 2001 is not 1 to 2000"},
		{"too many in all", replace(many, "20\n", "2000\n") + second("x", "52:54:00:00:ff:02", "127.0.0.1:0"), "r.yaml:8: machines[1]: with it there are more than 2000 machines"},
		{"ports that end", replace(many, "20001", "65530"), "r.yaml:5: machines[0].bmc: 20 ports from 65530"},
		{"addresses that end", replace(many, "52:54:00:00:00:ff", "52:ff:ff:ff:ff:ff"), "r.yaml:4: machines[0].mac: 20 machines from 52:ff"},
		{"many in QEMU", replace(many, "    dhcp: 127.0.0.1:6767\n", "    kind: qemu\n    tap: t\n    disk: d\n    dir: m\n"), "machines[0].count"},
		{"a captured BMC", head + lo + "    capture: bmc.tar.gz\n", ""},
		{"two drives of a captured BMC", head + lo + "    capture: bmc.tar.gz\n    drives: 2\n", "r.yaml:8: machines[0].drives: a captured BMC"},
		{"manifests of no rack", "manifests: {file: m.yaml}\n" + head + lo, "r.yaml:1: manifests.rack"},
	}
}

func TestParseRackConfig(t *testing.T) {
	for _, row := range rackTexts() {
		t.Run(row.name, func(t *testing.T) {
			_, err := ParseRackConfig("r.yaml", []byte(row.text))
			switch {
			case row.wrong == "" && err == nil:
			case err == nil || row.wrong == "" || !strings.Contains(err.Error(), row.wrong):
				t.Errorf("got %v, want %q", err, row.wrong)
			case protocol.CodeOf(err) != protocol.CodeInvalid:
				t.Errorf("%v is %s", err, protocol.CodeOf(err))
			}
		})
	}
}

// TestCountOfMachines: a count writes out names, MAC addresses, ports and logs.
func TestCountOfMachines(t *testing.T) {
	c, err := ParseRackConfig("r.yaml", []byte(`machines:
  - {name: "node-{n}", count: 500, mac: "52:54:00:00:00:ff", bmc: "127.0.0.1:20001", credentials: c, dhcp: "127.0.0.1:6767", log: "power-{n}.jsonl"}
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Machines) != 500 {
		t.Fatalf("%d machines", len(c.Machines))
	}
	for i, want := range map[int][4]string{
		0:   {"node-001", "52:54:00:00:00:ff", "127.0.0.1:20001", "power-001.jsonl"},
		1:   {"node-002", "52:54:00:00:01:00", "127.0.0.1:20002", "power-002.jsonl"},
		499: {"node-500", "52:54:00:00:02:f2", "127.0.0.1:20500", "power-500.jsonl"},
	} {
		m := c.Machines[i]
		if got := [4]string{m.Name, m.MAC, m.BMC, m.Simulated.Log}; got != want {
			t.Errorf("machine %d is %v, want %v", i, got, want)
		}
	}
}

// FuzzRackConfig: whatever is in the file, it is refused, or every machine can be told from
// every other.
func FuzzRackConfig(f *testing.F) {
	for _, row := range rackTexts() {
		f.Add([]byte(row.text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := ParseRackConfig("r.yaml", raw)
		if err != nil {
			if protocol.CodeOf(err) != protocol.CodeInvalid {
				t.Errorf("%v is %s", err, protocol.CodeOf(err))
			}
			return
		}
		if n := len(c.Machines); n < 1 || n > MaxMachines {
			t.Fatalf("%d machines", n)
		}
		seen := map[string]bool{}
		for _, m := range c.Machines {
			mac, err := net.ParseMAC(m.MAC)
			if err != nil || len(mac) != 6 || m.Name == "" || m.Count != 0 {
				t.Fatalf("a machine is %+v: %v", m, err)
			}
			if seen[mac.String()] || seen["name "+m.Name] {
				t.Fatalf("two machines are %s, %s", m.Name, m.MAC)
			}
			seen[mac.String()], seen["name "+m.Name] = true, true
		}
	})
}

func TestRunRackPrintsAddresses(t *testing.T) {
	account := filepath.Join(t.TempDir(), "bmc")
	if err := os.WriteFile(account, []byte("username: u\npassword: p\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := RackConfig{Machines: []MachineConfig{
		{Name: "n1", Kind: KindSimulated, MAC: "52:54:00:00:00:01", BMC: "127.0.0.1:0", Credentials: account, Simulated: SimulatedMachine{Interface: "lo"}},
		{Name: "n2", Kind: KindSimulated, MAC: "52:54:00:00:00:02", BMC: "127.0.0.1:0", Credentials: account, Simulated: SimulatedMachine{Interface: "lo"}},
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

// A rack without a file has machines of their own, with an account.
func TestLoopbackRack(t *testing.T) {
	c, err := LoopbackRack(12, "")
	if err != nil {
		t.Fatal(err)
	}
	last := c.Machines[len(c.Machines)-1]
	if len(c.Machines) != 12 || last.Name != "machine-12" || last.MAC != "02:00:00:00:00:0c" || last.BMC != "127.0.0.1:8012" {
		t.Errorf("of %d the last is %+v", len(c.Machines), last)
	}
	if name, password, err := last.account(); name != "demo" || password != "demo" || err != nil {
		t.Errorf("its account is %q, %q, %v", name, password, err)
	}
	for _, n := range []int{-1, 0, MaxMachines + 1} {
		if _, err := LoopbackRack(n, ""); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%d machines: %v", n, err)
		}
	}
}
