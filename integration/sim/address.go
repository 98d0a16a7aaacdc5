package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
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
		if !slices.Contains(out, addr) && reserve(addr.Port()) && inUse(addr) == nil {
			out = append(out, addr)
		}
	}
	return nil, fmt.Errorf("no %d free ports on %s", n, ip)
}

// AwaitFree waits until nobody has the addresses any more, by TCP or UDP, for at most 10 s.
// Whoever starts a daemon again in its own process needs it: a child that this process
// forks has a copy of each socket until it runs its program (O_CLOEXEC of open(2)), and on
// a busy machine a listener that was closed lives on in it for tens of milliseconds.
func AwaitFree(ctx context.Context, addrs ...netip.AddrPort) error {
	ctx, cancel := context.WithTimeout(ctx, freeWithin)
	defer cancel()
	for _, addr := range addrs {
		for err := inUse(addr); err != nil; err = inUse(addr) {
			select {
			case <-time.After(time.Millisecond):
			case <-ctx.Done():
				return fmt.Errorf("somebody listens on %s: %w", addr, err)
			}
		}
	}
	return nil
}

const freeWithin = 10 * time.Second

// inUse tries the address, with no child forked meanwhile: it would keep what is tried.
func inUse(addr netip.AddrPort) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	l, err := net.Listen("tcp", addr.String())
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // nothing was accepted on it
	p, err := net.ListenPacket("udp", addr.String())
	if err != nil {
		return err
	}
	return p.Close()
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
