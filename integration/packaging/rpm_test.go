//go:build host

package packaging

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRPM: rpm reads every package, whose digests are right, and the daemons' have what
// those of Debian have.
func TestRPM(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob(filepath.Join(dist(t, thisRelease), "*.rpm"))
	if err != nil || len(all) != 5 {
		t.Fatalf("%d packages, %v", len(all), err)
	}
	for _, file := range all {
		if _, err := run(exec.Command("rpm", "--checksig", "--nosignature", file)); err != nil {
			t.Error(err)
		}
		got, err := run(exec.Command("rpm", "-qp", "--nosignature", "--qf", `%{VERSION}-%{RELEASE} %{LICENSE} %{BUILDHOST}\n`, file))
		if err != nil || got != "0.1.0~dev-1 Apache-2.0 rackboot\n" {
			t.Errorf("%s is %q, %v", filepath.Base(file), got, err)
		}
		name, _, _ := strings.Cut(filepath.Base(file), "-0.1.0")
		page := "/usr/share/man/man8/" + name + ".8.gz"
		if name == "rackctl" || name == "rackboot-sim" {
			page = "/usr/share/man/man1/" + name + ".1.gz"
		}
		has(t, file, "--list", "/usr/bin/"+name, page, "/usr/share/bash-completion/completions/"+name, "/usr/share/zsh/site-functions/_"+name, "/usr/share/fish/vendor_completions.d/"+name+".fish")
		if name != "rackboot-hub" && name != "rackboot-agent" {
			continue
		}
		for query, want := range map[string][]string{
			"--list":        {"/usr/lib/systemd/system/" + name + ".service", "/usr/lib/sysusers.d/" + name + ".conf", "/usr/lib/tmpfiles.d/" + name + ".conf"},
			"--configfiles": {"/etc/rackboot/" + strings.TrimPrefix(name, "rackboot-") + ".yaml"},
			"--requires":    {"systemd"},
			"--scripts":     {"systemd-sysusers " + name + ".conf", "systemctl disable --now " + name + ".service"},
		} {
			has(t, file, query, want...)
		}
	}
}

// has asks a package, and wants lines in the answer.
func has(t *testing.T, file, query string, lines ...string) {
	t.Helper()
	got, err := run(exec.Command("rpm", "-qp", "--nosignature", query, file))
	if err != nil {
		t.Error(err)
	}
	for _, w := range lines {
		if !strings.Contains(got, w+"\n") {
			t.Errorf("%s %s has no %q:\n%s", filepath.Base(file), query, w, got)
		}
	}
}
