package local

import (
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"rackboot/protocol"
)

func TestListen(t *testing.T) {
	path := shortPath(t)
	l, err := Socket{Path: path}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// Somebody listens: it stays his.
	if _, err := (Socket{Path: path}).Listen(); protocol.CodeOf(err) != protocol.CodeConflict || protocol.HintOf(err) == "" {
		t.Errorf("a second agent: %v", err)
	}
	if c, err := net.Dial("unix", path); err != nil {
		t.Errorf("the first one's socket: %v", err)
	} else {
		_ = c.Close()
	}
	// The agent is killed: its socket stays, and is replaced.
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Fatal(err)
	}
	l, err = Socket{Path: path}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after it was closed: %v", err)
	}
}

// TestUmask: whatever the umask is, nobody else may connect in any moment.
func TestUmask(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := shortPath(t)
	lc := Socket{Path: path}
	l, err := lc.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestGroup(t *testing.T) {
	g, err := user.LookupGroupId(strconv.Itoa(os.Getgid()))
	if err != nil {
		t.Fatal(err)
	}
	path := shortPath(t)
	l, err := Socket{Path: path, Group: g.Name}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o660 || int(info.Sys().(*syscall.Stat_t).Gid) != os.Getgid() {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestListenRefused(t *testing.T) {
	file := shortPath(t)
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		socket Socket
		code   protocol.Code
		text   string
	}{
		"no path":        {Socket{}, protocol.CodeInvalid, "0 bytes"},
		"a long path":    {Socket{Path: "/" + strings.Repeat("p", MaxPath)}, protocol.CodeInvalid, "108 bytes"},
		"a file":         {Socket{Path: file}, protocol.CodeConflict, "something else"},
		"no folder":      {Socket{Path: file + ".d/s"}, protocol.CodeUnavailable, "no such file"},
		"a file's child": {Socket{Path: filepath.Join(file, "s")}, protocol.CodeUnavailable, "not a directory"},
		"no such group":  {Socket{Path: file + "2", Group: "no-such-group"}, protocol.CodeInvalid, "no-such-group"},
	} {
		l, err := row.socket.Listen()
		if protocol.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.text) {
			t.Errorf("%s: %v", name, err)
		}
		if l != nil {
			_ = l.Close()
		}
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != "precious" {
		t.Errorf("%q, %v", raw, err)
	}
	_, err := NewClient("/" + strings.Repeat("p", MaxPath)).Status(t.Context())
	if protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
		t.Errorf("a client of a long path: %v", err)
	}
}
