//go:build host

package sim

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// programs builds what the demo runs.
func programs(t testing.TB) (bin string) {
	t.Helper()
	bin = t.TempDir()
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", bin, "./cmd/rackboot-hub", "./cmd/rackboot-agent", "./cmd/rackctl", "./cmd/rackboot-sim")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// within is how long a scenario may take beside the tests of other packages; alone, none
// takes half a minute.
const within = 2 * time.Minute

// TestScenarios: the main job with as many servers as there may be, and each scenario, come
// to their end in time, and every step was seen: one that does not come is an
// error. The last one of each is that nothing warns.
func TestScenarios(t *testing.T) {
	bin := programs(t)
	names, _ := Scenarios()
	for _, name := range append(names, mainScenario) {
		t.Run("scenario "+name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), within)
			defer cancel()
			c := DemoConfig{Bin: bin, Manifests: os.DirFS("../../configs/demo"), Scenario: name}
			if name == mainScenario {
				c.Servers = MaxDemoServers
			}
			var out bytes.Buffer
			c.Out = &out
			if err := RunDemo(ctx, c); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			for _, step := range []string{"nothing warns", "steps, all as promised"} {
				if !strings.Contains(out.String(), step) {
					t.Errorf("it does not say %q:\n%s", step, out.String())
				}
			}
		})
	}
	t.Run("a step that does not come", func(t *testing.T) {
		t.Parallel()
		neverBound(t, bin)
	})
}

// neverBound: the error names the step, and the logs are kept.
func neverBound(t *testing.T, bin string) {
	manifests := t.TempDir()
	if err := os.CopyFS(manifests, os.DirFS("../../configs/demo")); err != nil {
		t.Fatal(err)
	}
	claim := filepath.Join(manifests, "claim.yaml")
	raw, err := os.ReadFile(claim)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(claim, bytes.ReplaceAll(raw, []byte("role: demo"), []byte("role: other")), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var out bytes.Buffer
	err = RunDemo(ctx, DemoConfig{Bin: bin, Manifests: os.DirFS(manifests), Out: &out})
	if err == nil || !strings.Contains(err.Error(), "claim bound: ") || !strings.Contains(err.Error(), "logs and state are in ") {
		t.Fatalf("%v\n%s", err, out.String())
	}
	_, dir, _ := strings.Cut(err.Error(), "logs and state are in ")
	if err := os.RemoveAll(strings.TrimSpace(dir)); err != nil {
		t.Error(err)
	}
}
