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
func programs(t *testing.T) (bin string) {
	t.Helper()
	bin = t.TempDir()
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", bin, "./cmd/rackboot-hub", "./cmd/rackboot-agent", "./cmd/rackctl")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// within is how long a scenario may take: a reader waits no longer.
const within = time.Minute

// TestScenarios: each scenario of the demo comes to its end, in less than a minute, and every
// step was seen. A step that does not come is an error, and the last one of each is that
// nothing warns.
func TestScenarios(t *testing.T) {
	bin := programs(t)
	names, _ := Scenarios()
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), within)
			defer cancel()
			var out bytes.Buffer
			if err := RunDemo(ctx, DemoConfig{Bin: bin, Manifests: os.DirFS("../../configs/demo"), Scenario: name, Out: &out}); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			for _, step := range []string{"nothing warns", "steps, all as promised"} {
				if !strings.Contains(out.String(), step) {
					t.Errorf("it does not say %q:\n%s", step, out.String())
				}
			}
		})
	}
}

// TestDemoOfManyServers: the main job among as many servers as the demo may have.
func TestDemoOfManyServers(t *testing.T) {
	bin := programs(t)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var out bytes.Buffer
	if err := RunDemo(ctx, DemoConfig{Bin: bin, Manifests: os.DirFS("../../configs/demo"), Servers: MaxDemoServers, Out: &out}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
}

// TestDemoFails: a step that does not come is an error that names it, and keeps the logs.
func TestDemoFails(t *testing.T) {
	bin := programs(t)
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
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
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
