package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
	"rackboot/protocol/api"
)

// A probe with --direct needs neither hub nor agent, only what trusts the BMC, and
// shows no password.
func TestProbeDirect(t *testing.T) {
	machine := hardware.NewSimulated(hardware.SimulatedConfig{Post: 60 * time.Millisecond, Shutdown: 20 * time.Millisecond})
	b, err := sim.New(sim.Config{Machine: machine, Username: "operator", Password: "correct horse"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	record := filepath.Join(t.TempDir(), "bmc.tar.gz")
	right, wrong := file("right", "correct horse\n"), file("wrong", "wrong horse\n")
	for name, c := range map[string]struct {
		password string
		trust    []string
		code     protocol.Code
		says     string // in what goes to standard error
	}{
		"pinned":             {right, []string{"--fingerprint", b.Fingerprint()}, "", ""},
		"recorded":           {right, []string{"--fingerprint", b.Fingerprint(), "--record", record}, "", record + " has what the BMC answered"},
		"as it shows itself": {right, []string{"--trust-shown"}, "", "shows a certificate with the fingerprint " + b.Fingerprint() + "; it is pinned"},
		"untrusted":          {right, nil, protocol.CodeInvalid, "shows a certificate with the fingerprint " + b.Fingerprint()},
		"another pin":        {right, []string{"--fingerprint", "sha256:" + strings.Repeat("00", 32)}, protocol.CodeDenied, "certificate"},
		"wrong password":     {wrong, []string{"--fingerprint", b.Fingerprint()}, protocol.CodeDenied, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			got := Run(t.Context(), Config{
				Args: append([]string{"bmc", "probe", "--direct", "--address", b.Address(), "--user", "operator", "--password-file", c.password, "-o", "json"}, c.trust...),
				Out:  &out, Err: &errs, Getenv: func(string) string { return "" },
			})
			want := 0
			if c.code != "" {
				want = c.code.ExitCode()
			}
			if got != want || !strings.Contains(errs.String(), c.says) || strings.Contains(out.String()+errs.String(), "horse") {
				t.Fatalf("exit code %d, want %d: %s", got, want, errs.String())
			}
			if c.code != "" {
				return
			}
			var list api.ProbeList
			if err := json.Unmarshal(out.Bytes(), &list); err != nil || len(list.Items) != 1 || list.Items[0].Version != protocol.ProbeVersion || list.Items[0].Inventory.SystemURI == "" {
				t.Errorf("%v: %s", err, out.String())
			}
		})
	}
	raw, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || !bytes.Contains(text, []byte("redfish/v1/Systems/")) || bytes.Contains(text, []byte("horse")) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	var errs bytes.Buffer
	if got := Run(t.Context(), Config{Args: []string{"bmc", "probe", "b1", "--record", record}, Out: io.Discard, Err: &errs, Getenv: func(string) string { return "" }}); got != protocol.CodeInvalid.ExitCode() || !strings.Contains(errs.String(), "--record needs --direct") {
		t.Errorf("exit code %d: %s", got, errs.String())
	}
}
