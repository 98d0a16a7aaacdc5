package tftp

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// maxSegments is how many packets UDP_SEGMENT takes at once (UDP_MAX_SEGMENTS of
	// linux/udp.h before Linux 6.9), and maxSegmented how many bytes: what an IP packet
	// holds less its own header and UDP's.
	maxSegments  = 64
	maxSegmented = 65535 - 40 - 8
)

// udpSocket is a socket of the kernel. Its calls never wait, so that they are made without
// telling the scheduler of Go.
type udpSocket struct {
	fd     int
	client netip.AddrPort
	peer   address // of the client
	from   address // of the packet that was received last
	header unix.Msghdr
	vector unix.Iovec
	// control is UDP_SEGMENT with the size of a packet.
	control [unix.SizeofCmsghdr + 8]byte
	single  bool // the host sends packets one by one
}

// address is a struct sockaddr_in or sockaddr_in6.
type address struct {
	raw  unix.RawSockaddrInet6
	size uint32
}

func newUDPSocket(fd int, client netip.AddrPort) *udpSocket {
	s := &udpSocket{fd: fd, client: client, peer: addressOf(client)}
	c := (*unix.Cmsghdr)(unsafe.Pointer(&s.control))
	c.Level, c.Type = unix.SOL_UDP, unix.UDP_SEGMENT
	c.SetLen(unix.CmsgLen(2))
	return s
}

func addressOf(a netip.AddrPort) (to address) {
	port := (*[2]byte)(unsafe.Pointer(&to.raw.Port))
	binary.BigEndian.PutUint16(port[:], a.Port())
	if a.Addr().Is4() {
		four := (*unix.RawSockaddrInet4)(unsafe.Pointer(&to.raw))
		four.Family, four.Addr = unix.AF_INET, a.Addr().As4()
		to.size = unix.SizeofSockaddrInet4
		return to
	}
	to.raw.Family, to.raw.Addr, to.size = unix.AF_INET6, a.Addr().As16(), unix.SizeofSockaddrInet6
	to.raw.Scope_id = zoneOf(a.Addr())
	return to
}

// zoneOf is the index of an address's interface; 0 without one.
func zoneOf(a netip.Addr) uint32 {
	if a.Zone() == "" {
		return 0
	}
	if n, err := strconv.ParseUint(a.Zone(), 10, 32); err == nil {
		return uint32(n)
	}
	i, err := net.InterfaceByName(a.Zone())
	if err != nil {
		return 0
	}
	return uint32(i.Index)
}

// addrPort is what an address says, without a zone.
func (a *address) addrPort() netip.AddrPort {
	port := binary.BigEndian.Uint16((*[2]byte)(unsafe.Pointer(&a.raw.Port))[:])
	if a.raw.Family == unix.AF_INET {
		return netip.AddrPortFrom(netip.AddrFrom4((*unix.RawSockaddrInet4)(unsafe.Pointer(&a.raw)).Addr), port)
	}
	return netip.AddrPortFrom(netip.AddrFrom16(a.raw.Addr), port)
}

// is says whether two addresses are one.
func (a *address) is(b *address) bool {
	if a.raw.Family != b.raw.Family || a.raw.Port != b.raw.Port {
		return false
	}
	if a.raw.Family == unix.AF_INET {
		return a.raw.Flowinfo == b.raw.Flowinfo // where sockaddr_in has its address
	}
	return a.raw.Addr == b.raw.Addr && a.raw.Scope_id == b.raw.Scope_id
}

func (s *udpSocket) receive(b []byte) (int, netip.AddrPort, error) {
	s.from.size = uint32(unsafe.Sizeof(s.from.raw))
	n, _, no := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(s.fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)),
		unix.MSG_DONTWAIT, uintptr(unsafe.Pointer(&s.from.raw)), uintptr(unsafe.Pointer(&s.from.size)))
	switch no {
	case 0:
	case unix.EAGAIN, unix.EINTR:
		return 0, netip.AddrPort{}, errNothing
	default:
		return 0, netip.AddrPort{}, no
	}
	if s.from.is(&s.peer) {
		return int(n), s.client, nil
	}
	return int(n), s.from.addrPort(), nil
}

func (s *udpSocket) send(b []byte, size int, to netip.AddrPort) error {
	at := &s.peer
	if to != s.client {
		other := addressOf(to)
		at = &other
	}
	for len(b) > 0 {
		many := 1
		if !s.single {
			many = max(1, min(maxSegments, maxSegmented/size))
		}
		part := b[:min(len(b), many*size)]
		var no syscall.Errno
		if len(part) > size {
			no = s.segments(part, size, at)
			if no != 0 && no != unix.EAGAIN { // such as EIO, where the card makes no checksums
				s.single = true
				continue
			}
		} else {
			_, _, no = unix.RawSyscall6(unix.SYS_SENDTO, uintptr(s.fd), uintptr(unsafe.Pointer(unsafe.SliceData(part))), uintptr(len(part)),
				unix.MSG_DONTWAIT, uintptr(unsafe.Pointer(&at.raw)), uintptr(at.size))
		}
		if no != 0 {
			return no
		}
		b = b[len(part):]
	}
	return nil
}

// segments sends packets by one call, which the kernel takes apart as late as it can.
func (s *udpSocket) segments(b []byte, size int, to *address) syscall.Errno {
	binary.NativeEndian.PutUint16(s.control[unix.SizeofCmsghdr:], uint16(size))
	s.vector.Base = unsafe.SliceData(b)
	s.vector.SetLen(len(b))
	s.header = unix.Msghdr{Name: (*byte)(unsafe.Pointer(&to.raw)), Namelen: to.size, Iov: &s.vector, Control: &s.control[0]}
	s.header.SetIovlen(1)
	s.header.SetControllen(unix.CmsgSpace(2))
	_, _, no := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(s.fd), uintptr(unsafe.Pointer(&s.header)), unix.MSG_DONTWAIT)
	s.vector.Base = nil
	return no
}

func (s *udpSocket) Close() error { return unix.Close(s.fd) }

// epoll is the poller of udpSockets.
type epoll struct {
	fd, wakes int
	sockets   map[int32]*udpSocket
	events    [128]unix.EpollEvent
	ready     []socket
}

func newEpoll() (*epoll, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	wakes, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err == nil {
		err = unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, wakes, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(wakes)})
	}
	e := &epoll{fd: fd, wakes: wakes, sockets: make(map[int32]*udpSocket)}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *epoll) add(of socket) error {
	s := of.(*udpSocket) // as its door opens them
	e.sockets[int32(s.fd)] = s
	return unix.EpollCtl(e.fd, unix.EPOLL_CTL_ADD, s.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(s.fd)})
}

func (e *epoll) remove(of socket) {
	s := of.(*udpSocket)
	delete(e.sockets, int32(s.fd))
	_ = unix.EpollCtl(e.fd, unix.EPOLL_CTL_DEL, s.fd, nil) // it may not have been added
}

func (e *epoll) wait(until time.Time) []socket {
	e.ready = e.ready[:0]
	span := -1
	if !until.IsZero() {
		span = int(max(0, (time.Until(until)+time.Millisecond-1)/time.Millisecond))
	}
	n, err := unix.EpollWait(e.fd, e.events[:], span)
	if err != nil {
		return nil // EINTR: it is called again
	}
	for _, event := range e.events[:n] {
		if event.Fd == int32(e.wakes) {
			var count [8]byte
			_, _ = unix.Read(e.wakes, count[:])
		} else if s := e.sockets[event.Fd]; s != nil {
			e.ready = append(e.ready, s)
		}
	}
	return e.ready
}

func (e *epoll) wake() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(e.wakes, one[:]) // it fails where it is awake 2^64 times
}

func (e *epoll) Close() error { return errors.Join(unix.Close(e.fd), unix.Close(e.wakes)) }
