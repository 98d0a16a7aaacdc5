//go:build host

package packaging

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rackboot/integration/netns"
)

// systemctl is what stands for systemd in a root where it does not run: it writes down
// what it is told.
const systemctl = "#!/bin/sh\necho \"$*\" >>/systemctl.log\n"

// A debian is a root with a Debian in which nothing is installed that dpkg does not need.
type debian struct {
	t    *testing.T
	root string
	ns   *netns.Namespace
}

func newDebian(t *testing.T) *debian {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(cache, "rackboot/integration/debian")
	d := &debian{t: t, root: filepath.Join(t.TempDir(), "root")}
	if _, err := run(exec.Command("cp", "-a", from, d.root)); err != nil {
		t.Fatalf("integration/packages makes the root: %v", err)
	}
	d.write("/usr/bin/systemctl", systemctl, 0o755)
	if err := os.MkdirAll(d.root+"/run/systemd/system", 0o755); err != nil {
		t.Fatal(err)
	}
	d.ns = newNamespace(t)
	return d
}

// newNamespace is a network with nothing but loopback.
func newNamespace(t *testing.T) *netns.Namespace {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	ns, err := netns.New(ctx, "loopback")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ns.Close(); err != nil {
			t.Error(err)
		}
	})
	return ns
}

func (d *debian) write(file, text string, mode os.FileMode) {
	d.t.Helper()
	if err := os.WriteFile(d.root+file, []byte(text), mode); err != nil {
		d.t.Fatal(err)
	}
}

// command is one of root, in the root. It has /proc, without which systemd-tmpfiles does
// nothing, in a mount namespace of its own, so that no mount is left whatever happens.
func (d *debian) command(name string, args ...string) *exec.Cmd {
	const mounted = `mount -t proc proc "$0/proc" && exec chroot "$0" "$@"`
	cmd := exec.Command("unshare", append([]string{"--mount", "--propagation", "private", "sh", "-c", mounted, d.root, name}, args...)...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", "DEBIAN_FRONTEND=noninteractive"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// do runs a command in the root and the namespace.
func (d *debian) do(name string, args ...string) string {
	d.t.Helper()
	var out string
	err := d.ns.Do(func() (err error) {
		out, err = run(d.command(name, args...))
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

// install gives dpkg packages of a release.
func (d *debian) install(release func() (string, error), names ...string) string {
	d.t.Helper()
	args := []string{"--install"}
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join(dist(d.t, release), name+"_*.deb"))
		if err != nil || len(found) != 1 {
			d.t.Fatalf("%s: %v, %v", name, found, err)
		}
		to := "/tmp/" + name + ".deb"
		d.write(to, read(d.t, found[0]), 0o644)
		args = append(args, to)
	}
	return d.do("/usr/bin/dpkg", args...)
}

// told is what systemd has been told since the last time.
func (d *debian) told() string {
	d.t.Helper()
	raw, err := os.ReadFile(d.root + "/systemctl.log")
	if err != nil && !os.IsNotExist(err) {
		d.t.Fatal(err)
	}
	d.write("/systemctl.log", "", 0o644)
	return strings.ReplaceAll(strings.TrimSpace(string(raw)), "\n", "; ")
}

// wantTold compares what systemd has been told.
func (d *debian) wantTold(when, want string) {
	d.t.Helper()
	if got := d.told(); got != want {
		d.t.Errorf("%s systemd was told %q, want %q", when, got, want)
	}
}

// folder wants a folder of this user, which nobody else may enter.
func (d *debian) folder(path, owner string) {
	d.t.Helper()
	info, err := os.Stat(d.root + path)
	if err != nil {
		d.t.Error(err)
		return
	}
	uid, gid, _ := account(d.t, d.root, owner)
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid != uid || stat.Gid != gid || info.Mode().Perm() != 0o700 || !info.IsDir() {
		d.t.Errorf("%s is %v of %+v", path, info.Mode(), info.Sys())
	}
}

// gone wants no such file.
func (d *debian) gone(files ...string) {
	d.t.Helper()
	for _, file := range files {
		if _, err := os.Lstat(d.root + file); !os.IsNotExist(err) {
			d.t.Errorf("%s is there (%v)", file, err)
		}
	}
}

// start starts what a unit of the root starts.
func (d *debian) start(name string) *daemon {
	d.t.Helper()
	return start(d.t, d.ns, readUnit(d.t, d.root+"/usr/lib/systemd/system/"+name+".service").command(d.t, d.root))
}
