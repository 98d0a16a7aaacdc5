package dhcp

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
)

// Ethernet II and ARP for IPv4 (RFC 826).
const (
	etherHeader = 14
	etherIPv4   = 0x0800
	etherARP    = 0x0806

	arpSize     = 28
	arpEthernet = 1
	arpRequest  = 1
	arpReply    = 2
)

var errARP = errors.New("not an ARP packet for IPv4 on Ethernet")

// mac48 is an Ethernet address that can be compared.
type mac48 [6]byte

func (m mac48) String() string { return net.HardwareAddr(m[:]).String() }

func broadcastMAC() mac48 { return mac48{0xff, 0xff, 0xff, 0xff, 0xff, 0xff} }

// arpPacket is an ARP packet for IPv4 on Ethernet. A sender 0.0.0.0 is a probe
// (RFC 5227 section 1.1).
type arpPacket struct {
	op                   uint16
	senderMAC, targetMAC mac48
	senderIP, targetIP   netip.Addr
}

// probeOf asks whether anybody has the address, without claiming one for ourselves.
func probeOf(from mac48, a netip.Addr) arpPacket {
	return arpPacket{op: arpRequest, senderMAC: from, senderIP: netip.IPv4Unspecified(), targetIP: a}
}

// frame is the packet in a broadcast Ethernet frame. The kernel pads short frames.
func (a arpPacket) frame() []byte {
	to := broadcastMAC()
	b := append(to[:], a.senderMAC[:]...)
	b = binary.BigEndian.AppendUint16(b, etherARP)
	b = binary.BigEndian.AppendUint16(b, arpEthernet)
	b = binary.BigEndian.AppendUint16(b, etherIPv4)
	b = append(b, 6, 4)
	b = binary.BigEndian.AppendUint16(b, a.op)
	b = append(append(b, a.senderMAC[:]...), a.senderIP.AsSlice()...)
	return append(append(b, a.targetMAC[:]...), a.targetIP.AsSlice()...)
}

// parseARP reads an Ethernet frame with an ARP packet; what follows it is padding.
func parseARP(frame []byte) (arpPacket, error) {
	if len(frame) < etherHeader+arpSize || binary.BigEndian.Uint16(frame[12:]) != etherARP {
		return arpPacket{}, errARP
	}
	b := frame[etherHeader:]
	if binary.BigEndian.Uint16(b) != arpEthernet || binary.BigEndian.Uint16(b[2:]) != etherIPv4 || b[4] != 6 || b[5] != 4 {
		return arpPacket{}, errARP
	}
	return arpPacket{
		op:        binary.BigEndian.Uint16(b[6:]),
		senderMAC: mac48(b[8:14]),
		senderIP:  netip.AddrFrom4([4]byte(b[14:18])),
		targetMAC: mac48(b[18:24]),
		targetIP:  netip.AddrFrom4([4]byte(b[24:28])),
	}, nil
}

// claims says whether the packet shows that its sender uses the address, or is about
// to: a probe for it by somebody else (RFC 5227 section 2.1.1).
func (a arpPacket) claims(addr netip.Addr, ours mac48) bool {
	if a.senderMAC == ours {
		return false
	}
	return a.senderIP == addr || a.op == arpRequest && a.senderIP.IsUnspecified() && a.targetIP == addr
}
