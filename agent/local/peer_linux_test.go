package local

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// TestPeer: the caller is whom the kernel says, not whom the agent is run by. Where
// root runs the tests, somebody else connects.
func TestPeer(t *testing.T) {
	path := shortPath(t)
	l, err := Socket{Path: path}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := errors.Join(os.Chmod(filepath.Dir(path), 0o755), os.Chmod(path, 0o666)); err != nil {
		t.Fatal(err)
	}
	want := os.Getuid()
	if want == 0 {
		want = 12345
	}
	dialled := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		// The raw call changes this thread's user only.
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, uintptr(want), uintptr(want), uintptr(want)); errno != 0 {
			dialled <- errno
			return
		}
		c, err := net.Dial("unix", path)
		if err == nil {
			err = c.Close()
		}
		dialled <- err
	}()
	if err := <-dialled; err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if uid, err := peerOf(c); err != nil || int(uid) != want {
		t.Errorf("user %d, %v; want %d", uid, err, want)
	}
}
