package guard

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// programsOf are the five programs, which make build puts into bin/.
func programsOf(t *testing.T) (names []string) {
	t.Helper()
	all, err := filepath.Glob("cmd/rack*/main.go")
	if err != nil || len(all) < 5 {
		t.Fatalf("%d programs, %v", len(all), err)
	}
	for _, p := range all {
		names = append(names, filepath.Base(filepath.Dir(p)))
	}
	return names
}

// TestInstall: what is installed is complete, fits its prefix, leaves what people have
// written, and goes away again.
func TestInstall(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795305600")
	bin, root := t.TempDir(), t.TempDir()
	want := []string{"/etc/rackboot/agent.yaml", "/etc/rackboot/hub.yaml", "/opt/rb/share/doc/rackboot/LICENSE"}
	for _, name := range programsOf(t) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		page := "/opt/rb/share/man/man8/" + name + ".8.gz"
		if name == "rackctl" || name == "rackboot-sim" {
			page = "/opt/rb/share/man/man1/" + name + ".1.gz"
		}
		want = append(want, "/opt/rb/bin/"+name, page)
		if name == "rackboot-launcher" { // its arguments are those of another program
			continue
		}
		want = append(want, "/opt/rb/share/zsh/site-functions/_"+name, "/opt/rb/share/fish/vendor_completions.d/"+name+".fish", "/opt/rb/share/bash-completion/completions/"+name)
	}
	for _, d := range []string{"rackboot-hub", "rackboot-agent"} {
		want = append(want, "/opt/rb/lib/systemd/system/"+d+".service", "/opt/rb/lib/sysusers.d/"+d+".conf", "/opt/rb/lib/tmpfiles.d/"+d+".conf")
	}
	do := func(action string) {
		t.Helper()
		if out, err := exec.Command("sh", "-c", `umask 077; exec tools/install "$@"`, "sh", action, bin, root, "/opt/rb", "/etc").CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", action, err, out)
		}
	}
	do("install")
	for _, p := range want {
		info, err := os.Stat(root + p)
		if err != nil {
			t.Error(err)
		} else if mode := info.Mode().Perm(); mode&0o022 != 0 || mode&0o044 != 0o044 || strings.Contains(p, "/bin/") != (mode&0o111 == 0o111) {
			t.Errorf("%s has mode %v", p, mode)
		}
	}
	if info, err := os.Stat(root + "/opt/rb/share/man/man8"); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the folder of pages is %v, %v", info, err)
	}
	if unit := read(t, root+"/opt/rb/lib/systemd/system/rackboot-hub.service"); !strings.Contains(unit, "\nExecStart=/opt/rb/bin/rackboot-hub run --config /etc/rackboot/hub.yaml ") {
		t.Errorf("the unit starts something else:\n%s", unit)
	}
	if page := gunzip(t, root+"/opt/rb/share/man/man1/rackctl-hold.1.gz"); !strings.HasPrefix(page, `.TH "RACKCTL\-HOLD" "1" "2026\-11\-22"`) {
		t.Errorf("the page begins with %.60q", page)
	}
	if err := os.WriteFile(root+"/etc/rackboot/hub.yaml", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	do("install")
	if got := read(t, root+"/etc/rackboot/hub.yaml"); got != "mine" {
		t.Errorf("the second time hub.yaml became %q", got)
	}
	do("uninstall")
	var left []string
	if err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			left = append(left, strings.TrimPrefix(p, root))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(left, []string{"/etc/rackboot/agent.yaml", "/etc/rackboot/hub.yaml"}) {
		t.Errorf("left are %q", left)
	}
}

func read(t *testing.T, p string) string {
	t.Helper()
	raw, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func gunzip(t *testing.T, p string) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader([]byte(read(t, p))))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
