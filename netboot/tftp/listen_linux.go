package tftp

import (
	"errors"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"

	"rackboot/netboot/guard"
)

// Port is the port of requests (RFC 1350 section 4).
const Port = 69

// receiveBuffer holds the requests of a room that comes up all at once; net.core.rmem_max
// bounds it.
const receiveBuffer = 1 << 20

// udpDoor is the kernel's socket. It is bound to the interface by
// SO_BINDTODEVICE, and so are those of the transfers: a rack's answer never leaves
// by another network. It asks for IP_PKTINFO, because answers must come from the
// address that was asked, of which an interface may have several (VLAN aliases).
type udpDoor struct {
	*net.UDPConn
	device string
}

// listen opens the socket of requests, as [guard.Listen] does.
func listen(at netip.AddrPort, device string) (*udpDoor, error) {
	conn, err := bind(at, device, func(fd int) error {
		if at.Addr().Is6() {
			return syscall.SetsockoptInt(fd, syscall.IPPROTO_IPV6, syscall.IPV6_RECVPKTINFO, 1)
		}
		return syscall.SetsockoptInt(fd, syscall.IPPROTO_IP, syscall.IP_PKTINFO, 1)
	})
	if err != nil {
		return nil, err
	}
	_ = conn.SetReadBuffer(receiveBuffer) // less is slower, not wrong
	return &udpDoor{conn, device}, nil
}

func bind(at netip.AddrPort, device string, control func(fd int) error) (*net.UDPConn, error) {
	network := "udp4"
	if at.Addr().Is6() {
		network = "udp6"
	}
	conn, err := guard.Listen("TFTP", network, at, device, control)
	if err != nil {
		return nil, err
	}
	return conn.(*net.UDPConn), nil // what these networks give
}

func (d *udpDoor) next(b []byte) (int, netip.AddrPort, netip.Addr, error) {
	var oob [128]byte // a struct in6_pktinfo with its header needs 40
	n, oobn, _, from, err := d.ReadMsgUDPAddrPort(b, oob[:])
	if err != nil {
		return 0, netip.AddrPort{}, netip.Addr{}, err
	}
	return n, unmap(from), d.asked(oob[:oobn]), nil
}

// open opens a socket that Go's own poller knows nothing of: it would be woken by each
// packet too.
func (d *udpDoor) open(local netip.Addr, client netip.AddrPort) (socket, error) {
	if !local.IsValid() { // the kernel chooses
		local = netip.IPv4Unspecified()
		if u, ok := d.LocalAddr().(*net.UDPAddr); ok && u.AddrPort().Addr().Is6() && !u.AddrPort().Addr().Is4In6() {
			local = netip.IPv6Unspecified()
		}
	}
	conn, err := bind(netip.AddrPortFrom(local, 0), d.device, nil)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	cerr := raw.Control(func(was uintptr) { fd, err = unix.FcntlInt(was, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(err, cerr); err != nil {
		return nil, err
	}
	return newUDPSocket(fd, client), nil
}

func (*udpDoor) poller() (poller, error) { return newEpoll() }

// asked is the address that the packet came to, if it was one of ours. Where it came to
// many, by broadcast, it is the interface's own, which ipi_spec_dst of IP_PKTINFO is;
// for IPv6 the kernel chooses then.
func (d *udpDoor) asked(oob []byte) netip.Addr {
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return netip.Addr{}
	}
	const at4 = 4 // ipi_spec_dst comes after the interface's index
	for _, m := range messages {
		var a netip.Addr
		switch {
		case m.Header.Level == syscall.IPPROTO_IP && m.Header.Type == syscall.IP_PKTINFO && len(m.Data) >= syscall.SizeofInet4Pktinfo:
			a = netip.AddrFrom4([4]byte(m.Data[at4 : at4+4]))
		case m.Header.Level == syscall.IPPROTO_IPV6 && m.Header.Type == syscall.IPV6_PKTINFO && len(m.Data) >= syscall.SizeofInet6Pktinfo:
			a = netip.AddrFrom16([16]byte(m.Data[:16]))
		}
		switch {
		case !a.IsValid(), a.IsUnspecified(), a.IsMulticast():
		case a.Is6() && a.IsLinkLocalUnicast():
			return a.WithZone(d.device)
		default:
			return a
		}
	}
	return netip.Addr{}
}
