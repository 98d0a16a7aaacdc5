//go:build host

package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
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

// TestRackctlPush: what rackctl builds and pushes into the hub's own registry, with no other
// one, is installed; the digest that it prints is the one of the event.
func TestRackctlPush(t *testing.T) {
	own, err := FreeAddresses("127.0.0.1", 1)
	if err != nil {
		t.Fatal(err)
	}
	at := own[0].String()
	d := newDemo(DemoConfig{Bin: programs(t), Manifests: os.DirFS("../../configs/demo"), Out: io.Discard}, scenario{}, t.TempDir())
	d.play = scenario{servers: 1, hub: "registry: {listen: " + at + ", minFreeMiB: 1}\n"}
	defer func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := d.prepare(); err != nil {
		t.Fatal(err)
	}
	if err := d.rack.reg.Close(); err != nil { // there is no other
		t.Fatal(err)
	}
	d.rack.reg, d.image = &Registry{Addr: at, srv: d.rack.reg.srv, done: d.rack.reg.done}, at+"/demo/own:1"
	printed := ""
	push := func(ctx context.Context) (string, error) {
		token, err := os.ReadFile(d.site.path("hub", "pki", "admin.token"))
		if err != nil {
			return "", err
		}
		for name, text := range map[string]string{"own.efi": string(demoUKI("own:1")), "account": "token: " + string(token)} {
			if err := os.WriteFile(d.site.path(name), []byte(text), 0o600); err != nil {
				return "", err
			}
		}
		if _, err := d.site.rackctl(ctx, "image", "build", d.site.path("own"), "--uki", d.site.path("own.efi")); err != nil {
			return "", err
		}
		printed, err = d.site.rackctl(ctx, "image", "push", d.image, "--from", d.site.path("own"), "--ca", d.site.path("hub", "ca.pem"), "--account", d.site.path("account"))
		return "", err
	}
	// Who pushed what is on record, and who was not let in.
	audited := func(ctx context.Context) (string, error) {
		if err := os.WriteFile(d.site.path("account"), []byte("token: a guess\n"), 0o600); err != nil {
			return "", err
		}
		if _, err := d.site.rackctl(ctx, "image", "push", d.image, "--from", d.site.path("own"), "--ca", d.site.path("hub", "ca.pem"), "--account", d.site.path("account")); err == nil {
			return "", errors.New("a guess was let in")
		}
		said, err := d.site.rackctl(ctx, "audit", "list", "--target", "image/demo/own:1", "-o", "json")
		var log protoapi.AuditList
		if err = errors.Join(err, json.Unmarshal([]byte(said), &log)); err != nil {
			return "", err
		}
		pushed, refused := false, false
		for _, e := range log.Items {
			pushed = pushed || e.Caller == "admin" && e.Op == "push-image" && e.Outcome == protocol.AuditAccepted && protocol.ValidDigest(e.Detail)
			refused = refused || e.Caller == "" && e.Op == "authenticate" && e.Outcome == protocol.AuditRefused
		}
		if !pushed || !refused {
			return "", fmt.Errorf("the audit log has %s", said)
		}
		return "", nil
	}
	steps := append(d.begin(), demoStep{"push", push}, demoStep{"audit", audited}, demoStep{"claim", d.site.apply("claim")}, demoStep{"resolved", func(ctx context.Context) (string, error) {
		said, err := d.site.event(resource.EventResolved)(ctx)
		_, digest, _ := strings.Cut(said, "sha256:")
		if err == nil && (len(digest) < 64 || !strings.Contains(printed, digest[:64])) {
			err = fmt.Errorf("the event says %q, and push %q", said, printed)
		}
		return "", err
	}}, demoStep{"provisioned", d.site.event(resource.EventProvisioned)}, demoStep{"disk boot", d.site.event(resource.EventDiskBoot)}, demoStep{"nothing warns", d.site.quiet})
	for _, step := range steps {
		if err := d.report.step(t.Context(), step); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.rack.servers[0].Disk.Digest(); got != digestOfUKI("own:1") {
		t.Errorf("installed is %s", got)
	}
}
