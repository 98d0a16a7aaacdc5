package dhcp

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

const (
	ipv4Header = 20
	udpHeader  = 8
	protoUDP   = 17
	frameTTL   = 64
	dontFrag   = 0x4000
)

var errFrame = errors.New("not a UDP datagram in an IPv4 frame")

// datagram is a UDP datagram with its IPv4 (RFC 791) and Ethernet headers.
type datagram struct {
	fromMAC, toMAC mac48
	from, to       netip.AddrPort
	payload        []byte
}

func (d datagram) frame() []byte {
	size := ipv4Header + udpHeader + len(d.payload)
	b := make([]byte, 0, etherHeader+size)
	b = append(append(b, d.toMAC[:]...), d.fromMAC[:]...)
	b = binary.BigEndian.AppendUint16(b, etherIPv4)
	b = append(b, 4<<4|ipv4Header/4, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(size))
	b = append(b, 0, 0) // an identification is for fragments
	b = binary.BigEndian.AppendUint16(b, dontFrag)
	b = append(b, frameTTL, protoUDP, 0, 0)
	b = append(append(b, d.from.Addr().AsSlice()...), d.to.Addr().AsSlice()...)
	ip := b[etherHeader:]
	binary.BigEndian.PutUint16(ip[10:], ^sum(0, ip))

	b = binary.BigEndian.AppendUint16(b, d.from.Port())
	b = binary.BigEndian.AppendUint16(b, d.to.Port())
	b = binary.BigEndian.AppendUint16(b, uint16(udpHeader+len(d.payload)))
	b = append(b, 0, 0)
	b = append(b, d.payload...)
	udp := b[etherHeader+ipv4Header:]
	binary.BigEndian.PutUint16(udp[6:], udpSum(ip[12:20], udp))
	return b
}

// udpSum is the checksum of a datagram whose checksum field is zero, between the
// addresses (RFC 768). Zero means none, and is sent as all ones.
func udpSum(addrs, udp []byte) uint16 {
	pseudo := append(append([]byte{}, addrs...), 0, protoUDP)
	pseudo = binary.BigEndian.AppendUint16(pseudo, uint16(len(udp)))
	if c := ^sum(uint32(sum(0, pseudo)), udp); c != 0 {
		return c
	}
	return 0xffff
}

// sum is the one's complement sum of RFC 1071.
func sum(s uint32, b []byte) uint16 {
	for ; len(b) >= 2; b = b[2:] {
		s += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

// parseDatagram reads a frame; fragments are none. Checksums are not looked at: a
// socket that taps the host's own frames sees them before the card makes them.
func parseDatagram(frame []byte) (datagram, error) {
	if len(frame) < etherHeader+ipv4Header+udpHeader || binary.BigEndian.Uint16(frame[12:]) != etherIPv4 {
		return datagram{}, errFrame
	}
	ip := frame[etherHeader:]
	header, size := int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
	fragment := binary.BigEndian.Uint16(ip[6:])&0x3fff != 0
	if ip[0]>>4 != 4 || header < ipv4Header || size < header+udpHeader || size > len(ip) || ip[9] != protoUDP || fragment {
		return datagram{}, errFrame
	}
	udp := ip[header:size]
	n := int(binary.BigEndian.Uint16(udp[4:]))
	if n < udpHeader || n > len(udp) {
		return datagram{}, errFrame
	}
	return datagram{
		toMAC:   mac48(frame[0:6]),
		fromMAC: mac48(frame[6:12]),
		from:    netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip[12:16])), binary.BigEndian.Uint16(udp)),
		to:      netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip[16:20])), binary.BigEndian.Uint16(udp[2:])),
		payload: udp[udpHeader:n],
	}, nil
}
