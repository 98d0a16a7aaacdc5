package lldp

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"rackboot/protocol"
)

const (
	// etherType of LLDP (IEEE 802.1AB-2016 section 7.3), in network byte order.
	etherType = 0x88cc
	// maxPDU is more than an Ethernet frame holds.
	maxPDU = 9216
)

// groups are the addresses that LLDP is sent to (table 7-1): the nearest bridge,
// nearest bridge that is no TPMR, nearest customer bridge.
var groups = [][6]byte{{0x01, 0x80, 0xc2, 0, 0, 0x0e}, {0x01, 0x80, 0xc2, 0, 0, 0x03}, {0x01, 0x80, 0xc2, 0, 0, 0x00}}

// Heard are neighbours, by the index of the interface that heard them.
type Heard map[int][]protocol.Neighbour

// Listen hears announcements on the interfaces until ctx ends, or until each of them
// has heard one. Switches announce themselves each 30 s. It needs CAP_NET_RAW. What
// was heard is returned with an error too.
func Listen(ctx context.Context, interfaces []int) (Heard, error) {
	heard := Heard{}
	if len(interfaces) == 0 {
		return heard, nil
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, int(swap(etherType)))
	if err != nil {
		return heard, fmt.Errorf("socket for LLDP: %w", err)
	}
	f := os.NewFile(uintptr(fd), "lldp")
	defer f.Close()
	for _, i := range interfaces {
		for _, g := range groups {
			m := unix.PacketMreq{Ifindex: int32(i), Type: unix.PACKET_MR_MULTICAST, Alen: uint16(len(g))}
			copy(m.Address[:], g[:])
			if err := unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &m); err != nil {
				return heard, fmt.Errorf("hear the group of LLDP: %w", err)
			}
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	raw, err := f.SyscallConn()
	if err != nil {
		return heard, err
	}
	buf := make([]byte, maxPDU)
	for ctx.Err() == nil && len(heard) < len(interfaces) {
		n, from, err := receive(raw, buf)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return heard, fmt.Errorf("hear LLDP: %w", err)
		}
		if from == nil || from.Pkttype == unix.PACKET_OUTGOING || !slices.Contains(interfaces, from.Ifindex) {
			continue
		}
		if a, err := parse(buf[:n]); err == nil && !a.Gone {
			heard.add(from.Ifindex, a.Neighbour)
		}
	}
	return heard, nil
}

// add notes a neighbour once, and no more than an inventory may have.
func (h Heard) add(at int, n protocol.Neighbour) {
	if !slices.Contains(h[at], n) && len(h[at]) < protocol.MaxNeighbours {
		h[at] = append(h[at], n)
	}
}

// receive waits for a packet.
func receive(raw interface {
	Read(f func(fd uintptr) bool) error
}, buf []byte,
) (n int, from *unix.SockaddrLinklayer, err error) {
	waited := raw.Read(func(fd uintptr) bool {
		var sa unix.Sockaddr
		n, sa, err = unix.Recvfrom(int(fd), buf, 0)
		if err == unix.EAGAIN || err == unix.EINTR {
			return false
		}
		from, _ = sa.(*unix.SockaddrLinklayer)
		return true
	})
	if waited != nil {
		return 0, nil, waited
	}
	return n, from, err
}

func swap(v uint16) uint16 { return v<<8 | v>>8 }
