package statetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// SmallDisk calls main with the root of an empty file system of the given
// size, a tmpfs in a mount namespace of a child process, so that main can fill
// it. main reports through its t. The test is skipped where the machine allows
// no mount namespace.
func SmallDisk(t *testing.T, mib int, main func(t *testing.T, dir string)) {
	t.Helper()
	if isChild(t) {
		dir := os.Getenv(envDir)
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
			t.Fatal(err)
		}
		main(t, dir)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+runPattern(t.Name()), "-test.count=1", "-test.timeout="+most(t).String())
	cmd.Env = append(os.Environ(), envTest+"="+t.Name(), envDir+"="+t.TempDir())
	// Unshareflags, not Cloneflags: only they make the mounts private first, so
	// that the tmpfs does not appear on the machine.
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this machine allows no mount namespace, so there is no small disk to fill")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Fill lets a file grow until at most free bytes are left on its file system.
func Fill(t *testing.T, file string, free int64) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	var fs syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &fs); err != nil {
		t.Fatal(err)
	}
	n := max(0, int64(fs.Bavail)*fs.Bsize-free)
	if _, err := f.Write(make([]byte, n)); err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
