package guard

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The CI script itself: what must fail does, and the sum stands last.
func TestStages(t *testing.T) {
	const passes = `{"Action":"pass","Package":"p","Test":"TestA"}`
	const skips = `{"Action":"skip","Package":"p","Test":"TestB"}`
	program := filepath.Join(t.TempDir(), "testsum")
	if out, err := exec.Command("go", "build", "-o", program, "./integration/testsum").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, c := range []struct {
		name, first, budget string // the body and the minutes of the first stage
		args                string
		good                bool
		says, last          string
	}{
		{"good", "result '" + passes + "'", "1", "", true, "== second: passed", "2 passed, 0 failed, 0 skipped"},
		{"one of them", "false", "1", "second", true, "== second: passed", "1 passed, 0 failed, 0 skipped"},
		{"no such stage", "true", "1", "third", false, "no such stage: third", "no such stage: third"},
		{"command fails", "false; true", "1", "", false, "FAILED: stage first", "0 passed, 0 failed, 0 skipped"},
		{"command in a pipe fails", "false | cat", "1", "", false, "FAILED: stage first", "0 passed, 0 failed, 0 skipped"},
		{"unset variable", "echo $nowhere", "1", "", false, "FAILED: stage first", "0 passed, 0 failed, 0 skipped"},
		{"over budget", "sleep 60", "0.01", "", false, "over its budget of 0.01 min", "0 passed, 0 failed, 0 skipped"},
		{"skipped test", "result '" + skips + "'", "1", "", false, "skipped: p TestB", "0 passed, 0 failed, 1 skipped"},
		{"process left", "setsid sleep 60 >/dev/null 2>&1 & sleep 0.2", "1", "", false, "left running, now killed:", "0 passed, 0 failed, 0 skipped"},
		{"no input", "read -r line", "1", "", false, "FAILED: stage first", "0 passed, 0 failed, 0 skipped"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			script := filepath.Join(t.TempDir(), "run")
			text := "set -euo pipefail\n. .ci/stage.sh\ntestsum() { '" + program + "' \"$@\"; }\n" +
				"result() { echo \"$1\" | testsum -add \"$RACKBOOT_CI_RESULTS\"; }\n" +
				"first() { " + c.first + "; }\nsecond() { result '" + passes + "'; }\n" +
				"run_stages \"$*\" 'first " + c.budget + "' 'second 1'\n"
			if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			cmd := exec.Command("bash", append([]string{script}, strings.Fields(c.args)...)...)
			for _, v := range os.Environ() {
				if !strings.HasPrefix(v, "RACKBOOT_CI_") { // of the run that this test is part of
					cmd.Env = append(cmd.Env, v)
				}
			}
			out, err := cmd.CombinedOutput()
			if (err == nil) != c.good {
				t.Errorf("ended with %v", err)
			}
			if took := time.Since(begun); took > 50*time.Second {
				t.Errorf("took %s; a stage was not ended", took)
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if !strings.Contains(string(out), c.says) || lines[len(lines)-1] != c.last {
				t.Errorf("want %q, and %q last:\n%s", c.says, c.last, out)
			}
		})
	}
}
