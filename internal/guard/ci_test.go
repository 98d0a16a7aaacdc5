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
		{"over budget", "sleep 60", "0.01", "", false, "over its budget of 1 s", "0 passed, 0 failed, 0 skipped"},
		{"skipped test", "result '" + skips + "'", "1", "", false, "skipped: p TestB", "0 passed, 0 failed, 1 skipped"},
		{"process left", "setsid sleep 60 >/dev/null 2>&1 & sleep 0.2", "1", "", false, "left running, now killed:", "0 passed, 0 failed, 0 skipped"},
		{"no input", "read -r line", "1", "", false, "FAILED: stage first", "0 passed, 0 failed, 0 skipped"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			out, err := stages(t, program, c.args, stage{c.first, c.budget}, stage{"result '" + passes + "'", "1"})
			if (err == nil) != c.good {
				t.Errorf("ended with %v", err)
			}
			if took := time.Since(begun); took > 50*time.Second {
				t.Errorf("took %s; a stage was not ended", took)
			}
			if last := out[strings.LastIndexByte(out, '\n')+1:]; !strings.Contains(out, c.says) || last != c.last {
				t.Errorf("want %q, and %q last:\n%s", c.says, c.last, out)
			}
		})
	}
	t.Run("what_is_left", func(t *testing.T) {
		t.Parallel()
		if out, err := stages(t, program, "", stage{"true", "1"}, stage{"sleep 2; result '" + passes + "'", "0.01"}); err != nil {
			t.Errorf("a stage may not use what the one before left: %v\n%s", err, out)
		}
		if out, err := stages(t, program, "second", stage{"true", "1"}, stage{"sleep 60", "0.01"}); err == nil {
			t.Errorf("a stage may use what one leaves that is not run:\n%s", out)
		}
	})
}

// stage is what one does, and its minutes.
type stage struct{ body, budget string }

// stages runs two of them as the CI script does; result counts what go test would have printed.
func stages(t *testing.T, testsum, args string, first, second stage) (out string, err error) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "run")
	text := "set -euo pipefail\n. .ci/stage.sh\ntestsum() { '" + testsum + "' \"$@\"; }\n" +
		"result() { echo \"$1\" | testsum -add \"$RACKBOOT_CI_RESULTS\"; }\n" +
		"first() { " + first.body + "; }\nsecond() { " + second.body + "; }\n" +
		"run_stages \"$*\" 'first " + first.budget + "' 'second " + second.budget + "'\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", append([]string{script}, strings.Fields(args)...)...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "RACKBOOT_CI_") { // of the run that this test is part of
			cmd.Env = append(cmd.Env, v)
		}
	}
	said, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(said)), err
}
