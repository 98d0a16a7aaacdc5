package badger_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/badger"
)

// envSmallDisk makes the child of TestFullDisk mount a small disk there.
const envSmallDisk = "RACKBOOT_TEST_SMALL_DISK"

// TestFullDisk fills a real file system of 48 MiB, a tmpfs in a mount
// namespace of a child process. Without the check for free space the child
// dies of SIGBUS, see doc.go.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv(envSmallDisk); dir != "" {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=48m"); err != nil {
			t.Fatal(err)
		}
		fullDisk(t, filepath.Join(dir, "store"))
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), envSmallDisk+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
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

func fullDisk(t *testing.T, dir string) {
	cfg := badger.Config{Dir: dir, MinFree: 16 << 20}
	s, err := badger.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(filepath.Dir(dir), "ballast")
	calls := map[string]func(func(state.Txn) error) error{
		"Update": s.Update,
		"Batch":  func(fn func(state.Txn) error) error { return s.Batch(t.Context(), fn) },
	}
	for _, free := range []int64{15 << 20, 0} {
		fill(t, ballast, free)
		for name, call := range calls {
			err := call(writePair("full"))
			if protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), dir) || !strings.Contains(protocol.HintOf(err), "free space") {
				t.Errorf("%s with %d bytes free: %s, %v", name, free, protocol.CodeOf(err), err)
			}
		}
		err := s.View(func(tx state.Txn) error { _, err := tx.Get("a/full"); return err })
		if !errors.Is(err, state.ErrNotFound) {
			t.Errorf("a refused write is there, or reading fails: %v", err)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for name, call := range calls {
		if err := call(writePair(name)); err != nil {
			t.Errorf("%s after space came back: %v", name, err)
		}
	}
	// Writing until the disk is full ends in the error, not in a signal, and
	// the store opens again.
	err = nil
	for i := 0; err == nil; i++ {
		err = s.Update(func(tx state.Txn) error { return tx.Set("fill/"+strconv.Itoa(i), make([]byte, 100<<10)) })
	}
	if protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("filled up: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close on a full disk: %v", err)
	}
	if _, err := badger.Open(cfg); protocol.CodeOf(err) != protocol.CodeUnavailable || !strings.Contains(err.Error(), dir) {
		t.Errorf("Open on a full disk: %v", err)
	}
	cfg.MinFree = 1 << 20
	if s, err = badger.Open(cfg); err != nil {
		t.Fatal(err)
	}
	checkClosed := s.View(func(tx state.Txn) error { _, err := tx.Get("b/Batch"); return err })
	if err := errors.Join(checkClosed, s.Close()); err != nil {
		t.Error(err)
	}
}

// fill writes a file until only free bytes are left.
func fill(t *testing.T, file string, free int64) {
	t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(file), &fs); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(fs.Bavail)*fs.Bsize - free
	if _, err := f.Write(make([]byte, n)); err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
