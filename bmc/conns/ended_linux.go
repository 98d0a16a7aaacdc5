package conns

import (
	"errors"
	"net"
	"syscall"
)

// ended reports whether the other end of a connection that waits has ended it, or has said something that nobody
// asked for, as a TLS end is. It does not wait.
func ended(c net.Conn) bool {
	s, ok := c.(syscall.Conn)
	if !ok {
		return false // it is not known
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = !errors.Is(err, syscall.EAGAIN)
		return true
	})
	return gone || err != nil
}
