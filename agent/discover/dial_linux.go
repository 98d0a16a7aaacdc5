package discover

import (
	"net"
	"syscall"
)

// dialer connects through one interface only, by SO_BINDTODEVICE: the hub says what a
// segment's prefix is, but not where the agent's packets go. Without an interface, as
// on loopback, the routes of the host decide.
func dialer(device string) *net.Dialer {
	d := new(net.Dialer)
	if device != "" {
		d.Control = func(_, _ string, c syscall.RawConn) error {
			var err error
			if cerr := c.Control(func(fd uintptr) { err = syscall.BindToDevice(int(fd), device) }); cerr != nil {
				return cerr
			}
			return err
		}
	}
	return d
}
