package leasing

import (
	"net"
	"net/netip"

	"rackboot/netboot/guard"
)

// Listen opens the socket of a server, as [guard.Listen] does, with room for bursts.
func Listen(server, network string, at netip.AddrPort, device string) (net.PacketConn, error) {
	conn, err := guard.Listen(server, network, at, device, nil)
	if err != nil {
		return nil, err
	}
	if u, ok := conn.(*net.UDPConn); ok {
		_ = u.SetReadBuffer(receiveBuffer) // less is slower, not wrong
	}
	return conn, nil
}
