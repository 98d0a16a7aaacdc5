package dhcp

import (
	"net"
	"net/netip"

	"rackboot/netboot/leasing"
)

// listen opens the socket, as [leasing.Listen] does.
func listen(at netip.AddrPort, device string) (net.PacketConn, error) {
	if !at.IsValid() {
		at = netip.AddrPortFrom(netip.IPv4Unspecified(), portServer)
	}
	return leasing.Listen("DHCP", "udp4", at, device)
}
