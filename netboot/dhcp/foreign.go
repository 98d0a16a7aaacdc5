package dhcp

import (
	"net/netip"
	"time"

	"rackboot/netboot"
)

const (
	// foreignAgain is how long a server that was told of is not told of again, and
	// how long it counts as there.
	foreignAgain = time.Hour
	foreignMax   = 32 // servers; option 54 can be forged, and the table must not grow
)

const (
	foundRequest found = "request" // a client chose it
	foundOffer   found = "offer"   // it answered a DISCOVER of ours
)

// foreign takes note of another server on the segment.
func (s *Server) foreign(a netip.Addr, how found) {
	if !a.Is4() || a.IsLoopback() || a.IsMulticast() || a.IsUnspecified() || a.As4() == [4]byte{255, 255, 255, 255} {
		return // no server has such an address
	}
	s.metrics.foreign.WithLabelValues(string(how)).Inc()
	if s.strangers.saw(a, s.now()) {
		s.log.Warn("another DHCP server is on the segment", "address", a.String(), "found_by", string(how))
		s.answers.Notice(netboot.Notice{Kind: netboot.NoticeForeignServer, Address: a})
	}
}
