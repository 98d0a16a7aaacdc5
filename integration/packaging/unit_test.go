//go:build host

package packaging

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// unit is what a systemd unit says of its process.
type unit map[string]string

func readUnit(t *testing.T, file string) unit {
	t.Helper()
	u := unit{}
	for line := range strings.Lines(read(t, file)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			u[key] = value
		}
	}
	return u
}

// command is what the unit starts, below root: with its user, its capabilities, and the
// variables that systemd sets (systemd.exec(5)).
func (u unit) command(t *testing.T, root string) *exec.Cmd {
	t.Helper()
	words := strings.Fields(u["ExecStart"])
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = "/"
	uid, gid, home := account(t, root, u["User"])
	cmd.Env = []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG=C.UTF-8",
		"USER=" + u["User"], "LOGNAME=" + u["User"], "HOME=" + home, "SHELL=/usr/sbin/nologin",
		"STATE_DIRECTORY=/var/lib/" + u["StateDirectory"],
	}
	if run := u["RuntimeDirectory"]; run != "" {
		dir := filepath.Join(root, "run", run)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, "RUNTIME_DIRECTORY=/run/"+run)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Pdeathsig: syscall.SIGKILL, Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	numbers := map[string]uintptr{"CAP_NET_BIND_SERVICE": 10, "CAP_NET_RAW": 13} // linux/capability.h
	for name := range strings.FieldsSeq(u["AmbientCapabilities"]) {
		n, ok := numbers[name]
		if !ok {
			t.Fatalf("what number has %s?", name)
		}
		cmd.SysProcAttr.AmbientCaps = append(cmd.SysProcAttr.AmbientCaps, n)
	}
	return cmd
}

// account is a row of the root's /etc/passwd.
func account(t *testing.T, root, name string) (uid, gid uint32, home string) {
	t.Helper()
	for line := range strings.Lines(read(t, root+"/etc/passwd")) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) != 7 || f[0] != name {
			continue
		}
		u, err := strconv.ParseUint(f[2], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		g, err := strconv.ParseUint(f[3], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		return uint32(u), uint32(g), f[5]
	}
	t.Fatalf("there is no user %s", name)
	return 0, 0, ""
}

// TestUnits: systemd takes the units without a word, and finds little exposed: 2.1 of 10
// is what they had, the least being best.
func TestUnits(t *testing.T) {
	if u, err := user.Current(); err != nil || u.Uid != "0" {
		t.Fatalf("run this as root (%v)", err)
	}
	bin := filepath.Join(dist(t, thisRelease), "../bin")
	for _, name := range []string{"rackboot-hub", "rackboot-agent"} {
		// verify wants the program where the unit says that it is.
		text := strings.Replace(read(t, "../../configs/systemd/"+name+".service"), "/usr/bin/", bin+"/"+runtime.GOARCH+"/", 1)
		file := filepath.Join(t.TempDir(), name+".service")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := run(exec.Command("systemd-analyze", "verify", file)); err != nil || said != "" {
			t.Errorf("%s: %v: %s", name, err, said)
		}
		if _, err := run(exec.Command("systemd-analyze", "security", "--offline=true", "--threshold=21", "--no-pager", file)); err != nil {
			t.Error(err)
		}
	}
}
