package local

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/user"
	"strconv"
	"syscall"
	"time"

	"rackboot/protocol"
)

// MaxPath is the longest path of a Unix socket in bytes: sockaddr_un has 108 with the
// zero at its end (unix(7)).
const MaxPath = 107

// aliveTimeout bounds the question whether somebody listens at a path.
const aliveTimeout = time.Second

// Socket says where the agent listens, and who may connect.
type Socket struct {
	Path string
	// Group is the name of the group whose members may connect, mode 0660; empty is the
	// agent's own user and root, mode 0600.
	Group string
}

// Listen opens the socket. One that a killed agent left is replaced; one on which
// somebody listens, and anything that is no socket, is not. Closing the listener
// removes it. The codes are invalid, conflict and unavailable.
func (s Socket) Listen() (net.Listener, error) {
	op := "open the socket " + s.Path
	if err := checkPath(op, s.Path); err != nil {
		return nil, err
	}
	gid, err := s.gid(op)
	if err != nil {
		return nil, err
	}
	if err := clearDead(op, s.Path); err != nil {
		return nil, err
	}
	// The mode of an unbound socket is that of its file (less the umask), so that there
	// is no moment in which others may connect.
	lc := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		cerr := c.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o600) })
		return errors.Join(cerr, err)
	}}
	l, err := lc.Listen(context.Background(), "unix", s.Path)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err).
			WithHint("its folder must exist and be writable for the agent; set socket in agent.yaml")
	}
	if s.Group == "" {
		return l, nil
	}
	if err := errors.Join(os.Chown(s.Path, -1, gid), os.Chmod(s.Path, 0o660)); err != nil {
		return nil, errors.Join(l.Close(), protocol.Errorf(protocol.CodeUnavailable, op, "give it to group %s: %w", s.Group, err).
			WithHint("the agent's user must be a member of that group"))
	}
	return l, nil
}

func checkPath(op, path string) error {
	if path == "" || len(path) > MaxPath {
		return protocol.Errorf(protocol.CodeInvalid, op, "the path has %d bytes, and may have 1 to %d", len(path), MaxPath).
			WithHint("set a shorter one: socket in agent.yaml, such as /run/rackboot-agent/agent.sock")
	}
	return nil
}

func (s Socket) gid(op string) (int, error) {
	if s.Group == "" {
		return -1, nil
	}
	g, err := user.LookupGroup(s.Group)
	if err != nil {
		return 0, protocol.Errorf(protocol.CodeInvalid, op, "%w", err).WithHint("socketGroup in agent.yaml is the name of a group of this host")
	}
	return strconv.Atoi(g.Gid)
}

// clearDead removes a socket on which nobody listens.
func clearDead(op, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return protocol.Errorf(protocol.CodeConflict, op, "there is something else than a socket").
			WithHint("move it away, or set socket in agent.yaml")
	}
	c, err := net.DialTimeout("unix", path, aliveTimeout)
	if err == nil {
		return errors.Join(c.Close(), protocol.Errorf(protocol.CodeConflict, op, "somebody listens on it").
			WithHint("another agent runs; stop it, or set socket in agent.yaml"))
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return protocol.Errorf(protocol.CodeConflict, op, "nobody can tell whether somebody listens on it: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "remove what a killed agent left: %w", err)
	}
	return nil
}
