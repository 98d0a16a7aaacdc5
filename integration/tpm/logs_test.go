package tpm

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"rackboot/netboot/attest/eventlog"
	"rackboot/netboot/attest/logtest"
)

// logsModule has event logs of machines and clouds among its tests.
const logsModule = "github.com/google/go-tpm-tools@v0.4.11"

// machineLogs are the logs of SHA-256 in it.
func machineLogs(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", logsModule)
	cmd.Dir = t.TempDir() // not of our module, which does not need it
	out, err := cmd.Output()
	var module struct{ Dir string }
	if err == nil {
		err = json.Unmarshal(out, &module)
	}
	if err != nil {
		missing(t, "logs", fmt.Sprintf("%s cannot be had: %v", logsModule, err))
	}
	found, err := filepath.Glob(filepath.Join(module.Dir, "internal", "test", "eventlogs", "*.bin"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no log in %s: %v", logsModule, err)
	}
	return found
}

// tpmHad are values of PCR 0 of SHA-256 that machines' TPMs had after the boots of these logs, whose
// tests have them too. tpm2_eventlog 5.4 computes others: it extends PCR 0 by events that are not
// extended, and does not begin at their locality.
func tpmHad() map[string]string {
	return map[string]string{
		"glinux-alex.bin":                            "0e5ea849d7647a1ac1becc096fee4df98f00f8015f934afadaab0b8aa20b38a5",
		"gdc-host.bin":                               "dab77c454bd12c27ff6b6ce1f9adca90b7a330c1cef0b5cd01cb89fb3bd0dffa",
		"eventlogwithsp800155.bin":                   "d0c70a9310cd0b55767084333022ce53f42befbb69c059ee6c0a32766f160783",
		"confidential-gke-debug-251000_eventlog.bin": "d0c70a9310cd0b55767084333022ce53f42befbb69c059ee6c0a32766f160783",
	}
}

// What tpm2_eventlog computes of a log, is computed here: of logs of machines of several makers, of clouds, and
// of those that were recorded here.
func TestOtherReading(t *testing.T) {
	other := program(t, "swtpm", "tpm2_eventlog")
	var files []string
	for _, name := range []string{logtest.Unified, logtest.ShimGRUB} {
		raw, _ := logtest.Recorded(t, name)
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	compared := 0
	for _, file := range append(files, machineLogs(t)...) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		log, err := eventlog.Parse(raw)
		if err != nil && strings.Contains(err.Error(), "a log of SHA-1 proves nothing") {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			continue
		}
		out, err := exec.CommandContext(t.Context(), other, file).Output()
		if err != nil {
			t.Logf("%s: tpm2_eventlog cannot read it: %v", filepath.Base(file), err)
			continue
		}
		for bank, values := range replayed(t, string(out)) {
			got, err := log.Replay(bank)
			if err != nil {
				t.Errorf("%s: %v", filepath.Base(file), err)
			}
			had, silent := tpmHad()[filepath.Base(file)]
			for pcr, want := range values {
				if pcr == 0 && silent {
					if bank != eventlog.SHA256 {
						continue
					}
					want = had
				}
				if compared++; pcr <= eventlog.MaxReplayed && hex.EncodeToString(got[pcr]) != want {
					t.Errorf("%s: PCR %d of %s is %x, tpm2_eventlog has %s", filepath.Base(file), pcr, bank, got[pcr], want)
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("%d values were compared", compared)
	}
}

// replayed reads the last part of what tpm2_eventlog prints, for the banks that prove something.
func replayed(t *testing.T, text string) map[eventlog.Algorithm]map[int]string {
	t.Helper()
	_, text, ok := strings.Cut(text, "\npcrs:\n")
	if !ok {
		t.Fatal("tpm2_eventlog prints no PCRs")
	}
	banks := map[string]eventlog.Algorithm{"sha256": eventlog.SHA256, "sha384": eventlog.SHA384, "sha512": eventlog.SHA512}
	value := regexp.MustCompile(`^    (\d+) *: 0x([0-9a-f]+)$`)
	out := map[eventlog.Algorithm]map[int]string{}
	var of map[int]string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if name, ok := strings.CutSuffix(strings.TrimSpace(line), ":"); ok {
			of = nil
			if bank, ok := banks[name]; ok {
				of = map[int]string{}
				out[bank] = of
			}
		} else if m := value.FindStringSubmatch(line); m != nil && of != nil {
			pcr, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			of[pcr] = m[2]
		}
	}
	return out
}
