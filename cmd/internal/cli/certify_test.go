package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/bmc/certify"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
)

// TestCertify: nothing is ordered without --allow-power, or of a BMC of which nobody said that no hub has
// it. A machine that does what it is told passes; one that drops boot overrides does not, and the page says so.
func TestCertify(t *testing.T) {
	drops, ok := sim.Preset("DropsOverride")
	if !ok {
		t.Fatal("no preset DropsOverride")
	}
	for name, c := range map[string]struct {
		bmc  sim.Personality
		args []string
		code protocol.Code
		says string
		sent bool
	}{
		"without a yes":        {sim.Plain(), []string{"--unmanaged"}, protocol.CodeDenied, "--allow-power", false},
		"without a hub":        {sim.Plain(), []string{"--allow-power"}, protocol.CodeInvalid, "", false},
		"without a folder":     {sim.Plain(), []string{"--allow-power", "--unmanaged", "--out", "/nowhere/page.md"}, protocol.CodeInvalid, "--out", false},
		"for a week":           {sim.Plain(), []string{"--allow-power", "--unmanaged", "--for", "168h"}, protocol.CodeInvalid, "24h", false},
		"as it should":         {sim.Plain(), []string{"--allow-power", "--unmanaged"}, "", "Nothing was found that keeps", true},
		"that drops overrides": {drops, []string{"--allow-power", "--unmanaged"}, protocol.CodeUnsupported, "a boot override is stored", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			machine := hardware.NewSimulated(hardware.SimulatedConfig{Post: 60 * time.Millisecond, Shutdown: 20 * time.Millisecond, Order: []protocol.BootTarget{protocol.TargetHdd}})
			machine.Disk().Install("sha256:installed")
			b, err := sim.New(sim.Config{Machine: machine, Personality: c.bmc, Username: "operator", Password: "correct horse"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = b.Close() })
			dir := t.TempDir()
			password, page := filepath.Join(dir, "pw"), filepath.Join(dir, "page.md")
			if err := os.WriteFile(password, []byte("correct horse\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"bmc", "certify", b.Address(), "--user", "operator", "--password-file", password, "--fingerprint", b.Fingerprint(), "--settle", "1s", "--boot", "1s", "--every", "20ms", "--for", "0s", "--out", page, "-o", "json"}
			var out, errs bytes.Buffer
			got := Run(t.Context(), Config{Args: append(args, c.args...), Out: &out, Err: &errs, Getenv: func(string) string { return "" }})
			want := 0
			if c.code != "" {
				want = c.code.ExitCode()
			}
			wrote, _ := os.ReadFile(page)
			if got != want || !strings.Contains(errs.String()+string(wrote), c.says) || strings.Contains(out.String()+errs.String()+string(wrote), "horse") {
				t.Fatalf("exit code %d, want %d: %s\n%s", got, want, errs.String(), wrote)
			}
			if sent := len(b.History()) > 0; !c.sent {
				if sent {
					t.Error("something was ordered")
				}
				return
			}
			var r certify.Report
			if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Before != protocol.PowerOff || r.After != protocol.PowerOff || len(r.Lines) == 0 {
				t.Errorf("%v: %s", err, out.String())
			}
		})
	}
}
