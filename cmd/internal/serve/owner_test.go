//go:build host

package serve

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rackboot/protocol"
)

// The process that becomes another user is a copy of the test program.
const ownerVar = "RACKBOOT_TEST_OWNER"

// nobody is a user that owns nothing else.
const nobody = 65534

// What root writes into the folder of another user is that user's: the agent of the unit
// can read what joining gave it.
func TestBecomeOwner(t *testing.T) {
	if dir := os.Getenv(ownerVar); dir != "" {
		if err := BecomeOwner("test", dir); err != nil {
			t.Fatalf("%v: %s", err, protocol.HintOf(err))
		}
		if groups, err := os.Getgroups(); err != nil || len(groups) > 0 {
			t.Errorf("groups of root stay: %v, %v", groups, err)
		}
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "identity"), 0o700), os.WriteFile(filepath.Join(dir, "identity", "x"), []byte("x"), 0o600)); err != nil {
			t.Fatal(err)
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Fatal("needs root")
	}
	dir, err := os.MkdirTemp("/tmp", "owner")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	child := exec.Command("/proc/self/exe", "-test.run=^TestBecomeOwner$")
	child.Env = append(os.Environ(), ownerVar+"="+dir)
	if out, err := child.CombinedOutput(); err != nil || bytes.Contains(out, []byte("FAIL")) {
		t.Fatalf("%v: %s", err, out)
	}
	for _, path := range []string{"identity", "identity/x"} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if s := info.Sys().(*syscall.Stat_t); s.Uid != nobody || s.Gid != nobody {
			t.Errorf("%s belongs to %d:%d", path, s.Uid, s.Gid)
		}
	}
	// A daemon of root would leave files there, and is told what to do.
	if err := CheckOwner("rackboot-x", dir); protocol.CodeOf(err) != protocol.CodeDenied || !strings.Contains(err.Error(), dir+" belongs to user nobody") || !strings.Contains(protocol.HintOf(err), "systemctl start rackboot-x") {
		t.Errorf("a daemon of root: %v (%s)", err, protocol.HintOf(err))
	}
	// One's own folder, and one that is not there, change nothing.
	for _, own := range []string{t.TempDir(), filepath.Join(dir, "nothing")} {
		if err := BecomeOwner("test", own); err != nil || os.Geteuid() != 0 {
			t.Errorf("%s: %v, now %d", own, err, os.Geteuid())
		}
		if err := CheckOwner("rackboot-x", own); err != nil {
			t.Errorf("a daemon in %s: %v", own, err)
		}
	}
	// Anybody else is told what to do.
	other := exec.Command("/proc/self/exe", "-test.run=^TestBecomeOwner$")
	other.Env = append(os.Environ(), ownerVar+"="+dir)
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody - 1, Gid: nobody - 1}}
	if out, err := other.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("not to you")) || !bytes.Contains(out, []byte("put sudo before")) {
		t.Errorf("a stranger: %v: %s", err, out)
	}
}
