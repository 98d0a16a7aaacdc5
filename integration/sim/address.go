package sim

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// The ports that FreeAddresses chooses from. They lie below those from which Linux
// takes the source ports of outgoing connections (32768 and up by default), so that
// none of these can take a port before its owner listens, or while it restarts.
const (
	lowestPort  = 10_000
	highestPort = 32_000
	portTries   = 100
)

// FreeAddresses are n addresses on which nobody listens, by TCP or UDP. Nobody else is
// given their ports as long as this process lives, whether it listens on them or not.
func FreeAddresses(ip string, n int) ([]netip.AddrPort, error) {
	var out []netip.AddrPort
	for range portTries {
		if len(out) == n {
			return out, nil
		}
		addr := netip.AddrPortFrom(netip.MustParseAddr(ip), uint16(lowestPort+rand.IntN(highestPort-lowestPort)))
		if !slices.Contains(out, addr) && free(addr) && reserve(addr.Port()) {
			out = append(out, addr)
		}
	}
	return nil, fmt.Errorf("no %d free ports on %s", n, ip)
}

func free(addr netip.AddrPort) bool {
	l, err := net.Listen("tcp", addr.String())
	if err != nil {
		return false
	}
	defer func() { _ = l.Close() }() // nothing was accepted on it
	p, err := net.ListenPacket("udp", addr.String())
	if err != nil {
		return false
	}
	_ = p.Close() // nothing was read from it
	return true
}

// reserve takes the port on an address of its own, for as long as the process lives:
// tests of several packages run at once, and each wants ports that are free until it
// comes to listen. The socket is bound and never listens.
func reserve(port uint16) bool {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 255, 255, 254}}); err != nil {
		_ = syscall.Close(fd) // it holds nothing
		return false
	}
	return true
}
