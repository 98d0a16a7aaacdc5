package firmware

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	// installerFiles is where Debian's package of the installer has kernel and initrd.
	installerFiles = "usr/lib/debian-installer/images/12/amd64/text/debian-installer/amd64"
	// installerISO is the name that the shipped boot environment has for its file.
	installerISO  = "debian-12-mini-amd64.iso"
	installerRoot = "../../configs/bootenvs/debian-12-install.yaml"
	// installerMemory is in MiB: with 512 the installer stops to say that this is little.
	installerMemory = 1024
	// seedTimeout is for an initrd of 40 MB to come through GRUB, and to be unpacked.
	seedTimeout = 6 * time.Minute
)

// TestOVMFBootEnv takes the shipped environment debian-12-install to real firmware: an ISO
// is uploaded to the hub, a claim names the environment, and the server boots through shim
// and GRUB by UEFI HTTP boot into Debian's installer, kernel and initrd read out of the ISO
// where it lies. The installer fetches the preseed file that was rendered for it, and
// goes on to the repository that the file names: the ISO.
func TestOVMFBootEnv(t *testing.T) {
	ctx := flow(t)
	s := newSite(ctx, t)
	s.alone, s.agentFile, s.memory = true, "agent-env.yaml", installerMemory
	s.buildPrograms(ctx, t)
	release := "Origin: Debian\nSuite: oldstable\nCodename: bookworm\nArchitectures: amd64\nComponents: main\n"
	image := buildInstaller(ctx, t, s.dir, map[string]string{"dists/bookworm/Release": release})
	s.startHub(ctx, t)
	s.startMachines(ctx, t)
	s.startAgents(ctx, t)

	s.install12(ctx, t, image, map[string]string{"LINE": "console=ttyS0", "REPOSITORIES": " []"})
	seed := s.served(ctx, t, seedTimeout, "/preseed.cfg")
	rendered := s.rackctl(ctx, t, "bootenv", "render", "server-a", seed.file)
	// Addresses and token of a boot are longer than those of a sample.
	if !strings.Contains(rendered, "d-i netcfg/get_hostname string server-a\n") || seed.bytes < len(rendered) {
		t.Errorf("%d bytes were sent of\n%s", seed.bytes, rendered)
	}
	s.served(ctx, t, seedTimeout, "/boot/dists/bookworm/Release")
	for _, file := range []string{"shimx64.efi", "grubx64.efi", "/boot/linux", "/boot/initrd.gz"} {
		s.served(ctx, t, time.Minute, file) // rackctl itself takes its time
	}
	env := s.server(ctx, t).Status.Report.Env
	if env == nil || env.State != resource.EnvReady || env.BootEnv != "debian-12-install" || env.OS != "debian-12" || env.Source != resource.EnvFromISO {
		t.Errorf("reported %+v", env)
	}
}

// install12 uploads the image, if there is one, and claims the server for Debian 12's installation.
func (s *site) install12(ctx context.Context, t *testing.T, image string, values map[string]string) {
	t.Helper()
	if image != "" {
		s.rackctl(ctx, t, "iso", "upload", image, "--name", installerISO)
		s.logf(t, "ISO uploaded")
	}
	env, err := filepath.Abs(installerRoot)
	if err != nil {
		t.Fatal(err)
	}
	s.rackctl(ctx, t, "apply", "-f", env)
	values["ENV"] = "debian-12-install"
	s.claimEnv(ctx, t, values)
}

// claimEnv claims the server for an environment, and waits until its firmware asks.
func (s *site) claimEnv(ctx context.Context, t *testing.T, values map[string]string) {
	t.Helper()
	s.rackctl(ctx, t, "apply", "-f", s.expand(t, "claim-env.yaml", "claim-env.yaml", values))
	s.logf(t, "claim applied")
	for _, step := range []struct {
		code  resource.EventCode
		limit time.Duration
	}{
		{resource.EventArmed, firmwareTimeout},
		{resource.EventDHCPSeen, firmwareTimeout},
	} {
		s.event(ctx, t, step.limit, "server-a", step.code, 1)
	}
}

// sentFile is a row of a trace: a file that was sent whole.
type sentFile struct {
	file  string
	bytes int
}

// served waits until the agent has sent the server a file whose name ends so, in one piece.
func (s *site) served(ctx context.Context, t *testing.T, limit time.Duration, name string) (found sentFile) {
	t.Helper()
	row := regexp.MustCompile(`^(\S*` + regexp.QuoteMeta(name) + `), (\d+) bytes in `)
	s.until(ctx, t, limit, name+" was sent", func(ctx context.Context) (bool, error) {
		out, err := s.output(ctx, s.hub, s.path("rackctl"), "trace", "server-a", "-o", "json")
		if err != nil {
			return false, err
		}
		var trace resource.Trace
		if err := json.Unmarshal([]byte(out), &trace); err != nil {
			return false, err
		}
		for _, r := range trace.Rows {
			m := row.FindStringSubmatch(r.Detail)
			if r.Source != protocol.TraceHTTP || r.What != "GET 200" || m == nil {
				continue
			}
			found.file = m[1]
			found.bytes, err = strconv.Atoi(m[2])
			return err == nil, err
		}
		if trace.Ended() {
			return false, errors.New("the boot has ended: " + trace.Reason)
		}
		return false, nil
	})
	return found
}

// buildInstaller makes an ISO of Debian 12's installer with files beside it.
func buildInstaller(ctx context.Context, t *testing.T, dir string, more map[string]string) string {
	t.Helper()
	return buildInstallerOf(ctx, t, dir, loaderOf(t, "bookworm-amd64", installerFiles), more)
}

// buildInstallerOf makes it of a folder with kernel and initrd.
func buildInstallerOf(ctx context.Context, t *testing.T, dir, from string, more map[string]string) string {
	t.Helper()
	tree, image := filepath.Join(dir, "installer"), filepath.Join(dir, "installer.iso")
	if err := os.MkdirAll(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range more {
		if err := os.MkdirAll(filepath.Join(tree, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"-as", "mkisofs", "-quiet", "-R", "-J", "-V", "DEBIAN", "-o", image, "-graft-points", "/=" + tree}
	for _, name := range []string{"linux", "initrd.gz"} {
		args = append(args, name+"="+filepath.Join(from, name))
	}
	if out, err := exec.CommandContext(ctx, "xorriso", args...).CombinedOutput(); err != nil {
		t.Fatalf("xorriso: %v\n%s", err, out)
	}
	return image
}
