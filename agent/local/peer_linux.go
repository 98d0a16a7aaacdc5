package local

import (
	"errors"
	"net"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"rackboot/protocol"
)

// peerOf is the user who connected, as the kernel noted it then (SO_PEERCRED, unix(7)).
func peerOf(c net.Conn) (uid uint32, err error) {
	const op = "see who calls"
	s, ok := c.(syscall.Conn)
	if !ok {
		return 0, protocol.Errorf(protocol.CodeInternal, op, "a %T says nothing of its peer", c)
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return 0, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	var cred *syscall.Ucred
	cerr := raw.Control(func(fd uintptr) {
		cred, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err := errors.Join(cerr, err); err != nil {
		return 0, protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	return cred.Uid, nil
}

// maxName bounds a user's name in an owner, in bytes.
const maxName = 64

// nameOf is the user's name where it can be no other user's number and is one word;
// else the number.
func nameOf(uid uint32, lookup func(uid string) (string, error)) string {
	number := strconv.FormatUint(uint64(uid), 10)
	name, err := lookup(number)
	odd := func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }
	if err != nil || name == "" || len(name) > maxName || strings.ContainsFunc(name, odd) || strings.Trim(name, "0123456789") == "" {
		return number
	}
	return name
}

// userName is the name of a user of this host.
func userName(uid string) (string, error) {
	u, err := user.LookupId(uid)
	if err != nil {
		return "", err
	}
	return u.Username, nil
}
