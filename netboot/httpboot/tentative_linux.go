package httpboot

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// ipv6Freebind is IPV6_FREEBIND of linux/in6.h.
const ipv6Freebind = 78

// tentative says whether an address of IPv6 is one of the host's. Where none can be
// bound that is, it is tentative (RFC 4862 section 5.4): for a second or two after it
// was added, and as long as its interface has no carrier. The agent must not fail to
// start, with all that it serves elsewhere, because a rack's switch is off.
func tentative(a netip.Addr) bool {
	if !a.Is6() || a.Is4In6() {
		return false
	}
	all, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(all, func(one net.Addr) bool {
		n, ok := one.(*net.IPNet)
		return ok && n.IP.Equal(a.AsSlice())
	})
}

// freebind lets a socket be bound to an address before it can be used.
func freebind(_, _ string, c syscall.RawConn) (err error) {
	cerr := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IPV6, ipv6Freebind, 1)
	})
	return errors.Join(cerr, err)
}
