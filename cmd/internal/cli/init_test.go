package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/cmd/internal/manifest"
	"rackboot/protocol/resource"
)

// What a BMC says of its system is in the files, and only where it is trusted.
func TestInitReadsBMC(t *testing.T) {
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
	dir := t.TempDir()
	account := filepath.Join(dir, "account")
	if err := os.WriteFile(account, []byte("username: operator\npassword: correct horse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lab := filepath.Join(dir, "lab")
	run := func(trust ...string) (int, string) {
		var out, errs bytes.Buffer
		code := Run(t.Context(), Config{
			Args: append([]string{"init", lab, "--local", "--bmc", "n1=" + b.Address(), "--account", account, "--image", "127.0.0.1:5000/os:1"}, trust...),
			Out:  &out, Err: &errs, Getenv: func(string) string { return "" }, In: strings.NewReader(""),
		})
		return code, out.String() + errs.String()
	}
	for _, trust := range [][]string{nil, {"--fingerprint", "sha256:" + strings.Repeat("00", 32)}} {
		if code, said := run(trust...); code == 0 || strings.Contains(said, "horse") {
			t.Errorf("%v: exit code %d: %s", trust, code, said)
		}
		if _, err := os.Stat(lab); err == nil {
			t.Fatalf("%v: files were written", trust)
		}
	}
	if code, said := run("--fingerprint", b.Fingerprint()); code != 0 || strings.Contains(said, "horse") || !strings.Contains(said, "rackboot-hub run --config") {
		t.Fatalf("exit code %d: %s", code, said)
	}
	sources, err := manifest.Read([]string{lab}, nil)
	if err != nil {
		t.Fatal(err)
	}
	set, err := manifest.Parse(sources)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range set.Objects() {
		switch o := o.(type) {
		case *resource.Server:
			if o.Metadata.Name != "n1" || o.Spec.UUID == "" || o.Spec.BootMAC == "" || o.Spec.SystemURI == "" {
				t.Errorf("the server is %+v", o.Spec)
			}
		case *resource.BMC:
			if o.Spec.Address != b.Address() || o.Spec.TLS.Fingerprint != b.Fingerprint() {
				t.Errorf("the BMC is %+v", o.Spec)
			}
		}
	}
}
