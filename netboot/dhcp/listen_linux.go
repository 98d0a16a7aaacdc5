package dhcp

import (
	"net"
	"net/netip"

	"rackboot/netboot/guard"
)

// receiveBuffer is what the kernel keeps, in bytes, until a packet is read: a
// burst of power-ons while the processors are busy. Its own default holds some 200
// packets; it gives no more than net.core.rmem_max allows.
const receiveBuffer = 4 << 20

// listen opens the socket, as [guard.Listen] does.
func listen(at netip.AddrPort, device string) (net.PacketConn, error) {
	if !at.IsValid() {
		at = netip.AddrPortFrom(netip.IPv4Unspecified(), portServer)
	}
	conn, err := guard.Listen("DHCP", "udp4", at, device, nil)
	if err != nil {
		return nil, err
	}
	if u, ok := conn.(*net.UDPConn); ok {
		_ = u.SetReadBuffer(receiveBuffer) // less is slower, not wrong
	}
	return conn, nil
}
