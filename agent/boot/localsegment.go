package boot

import (
	"net/netip"

	"rackboot/protocol"
)

// LocalSegment is what the agent's own file says of a segment: where to listen.
// The hub can never name an interface.
type LocalSegment struct {
	Name      string
	Interface string         // bind DHCP to this interface; empty on loopback
	DHCP      netip.AddrPort // 0.0.0.0:67, or a loopback address for tests
	HTTP      netip.AddrPort
	// TFTP and HTTPS are served where they are valid.
	TFTP, HTTPS netip.AddrPort
	// Chain goes before the others where it is possible; empty is the usual order.
	Chain protocol.ChainKind
	// TrustedMedia says that nobody but BMCs reads what is sent by plain HTTP on the segment,
	// so that user data may be in config images.
	TrustedMedia bool
	// DHCP6 is [::]:547, or a loopback address for tests; nothing is leased over IPv6
	// where it is zero. The others are the same as those of IPv4, and served besides
	// where they are valid.
	DHCP6, HTTP6, TFTP6, HTTPS6 netip.AddrPort
}
