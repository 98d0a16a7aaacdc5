package installed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"rackboot/protocol"
)

// Variable names the descriptor by which a launcher speaks to the agent that it starts: one end of a socket pair whose other
// end it keeps.
const Variable = "RACKBOOT_LAUNCHER_FD"

// Launched is what a launcher says to the agent that it starts.
type Launched struct {
	Dir    string `json:"dir"`             // in which it looks for the record; see [Dir]
	Place  Place  `json:"place"`           // of the program
	Digest string `json:"digest"`          // of the program
	Order  string `json:"order,omitempty"` // of the trial that the program is; empty is none
}

// helloTimeout bounds how long an agent waits for its launcher's word, which is there before the agent is.
const helloTimeout = 5 * time.Second

// Pass makes what an agent is started with: child is for it, and own is kept while it runs.
func (l Launched) Pass() (child, own *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, protocol.Errorf(protocol.CodeInternal, "start the agent", "socketpair: %w", err)
	}
	child, own = os.NewFile(uintptr(fds[0]), "agent"), os.NewFile(uintptr(fds[1]), "launcher")
	raw, err := json.Marshal(l)
	if err == nil {
		_, err = own.Write(append(raw, '\n')) // it fits the socket's buffer
	}
	if err != nil {
		return nil, nil, errors.Join(protocol.Errorf(protocol.CodeInternal, "start the agent", "%w", err), child.Close(), own.Close())
	}
	return child, own, nil
}

// Receive takes the word of the launcher that started this process; false if none did. That the variable is set is no proof:
// the socket must have been made by the parent of this process. Errors: invalid for a variable that is set to something else.
func Receive(getenv func(string) string) (l Launched, is bool, err error) {
	const op = "hear the launcher"
	bad := func(format string, args ...any) (Launched, bool, error) {
		return Launched{}, false, protocol.Errorf(protocol.CodeInvalid, op, format, args...).
			WithHint("start rackboot-launcher in place of rackboot-agent, or unset %s", Variable)
	}
	value := getenv(Variable)
	if value == "" {
		return l, false, nil
	}
	fd, err := strconv.ParseUint(value, 10, 16)
	if err != nil || fd < 3 {
		return bad("%s is %q, which is no descriptor", Variable, value)
	}
	peer, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	switch {
	case err != nil:
		return bad("descriptor %d is no socket: %w", fd, err)
	case int(peer.Pid) != os.Getppid() || int(peer.Uid) != os.Getuid():
		return bad("descriptor %d is of process %d, not of the parent %d", fd, peer.Pid, os.Getppid())
	}
	syscall.CloseOnExec(int(fd))
	if err := syscall.SetNonblock(int(fd), true); err != nil { // so that it takes a deadline
		return bad("%w", err)
	}
	f := os.NewFile(uintptr(fd), "launcher")
	defer func() { _ = f.Close() }() // nothing more is said
	if err := f.SetReadDeadline(time.Now().Add(helloTimeout)); err != nil {
		return bad("%w", err)
	}
	if err := json.NewDecoder(io.LimitReader(f, maxFile)).Decode(&l); err != nil {
		return bad("its word cannot be read: %w", err)
	}
	if err := l.check(); err != nil {
		return bad("%w", err)
	}
	return l, true, nil
}

func (l Launched) check() error {
	if l.Dir == "" || l.Place != Packaged && !l.Place.slot() || !protocol.ValidDigest(l.Digest) || l.Order != "" && !l.Place.slot() {
		return fmt.Errorf("its word names no program")
	}
	return nil
}
