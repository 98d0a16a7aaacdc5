package dhcp6

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"
)

// ICMPv6 of router discovery (RFC 4861 section 4).
const (
	icmpSolicitation  = 133
	icmpAdvertisement = 134
	advertHeader      = 16
	advertManaged     = 0x80
	advertOther       = 0x40
	ndPrefix          = 3 // option: prefix information, section 4.6.2
	ndPrefixUnits     = 4 // its length in units of 8 bytes
	ndPrefixOnLink    = 0x80
	// hopLimit is that of all messages of neighbour discovery; one that was forwarded
	// has less.
	hopLimit = 255
)

var errAdvert = errors.New("malformed router advertisement")

// advert is what a router advertisement says that matters to a booting client.
type advert struct {
	managed  bool          // M: addresses by DHCPv6
	other    bool          // O: other information by DHCPv6
	lifetime time.Duration // of the default route; 0 for none
	onLink   []netip.Prefix
}

// parseAdvert reads an ICMPv6 message and validates it as RFC 4861 section 6.1.2 does,
// but for what the kernel and the reader of the socket check.
func parseAdvert(b []byte) (advert, error) {
	if len(b) < advertHeader || b[0] != icmpAdvertisement || b[1] != 0 {
		return advert{}, errAdvert
	}
	a := advert{
		managed: b[5]&advertManaged != 0, other: b[5]&advertOther != 0,
		lifetime: time.Duration(binary.BigEndian.Uint16(b[6:])) * time.Second,
	}
	for b = b[advertHeader:]; len(b) > 0; {
		if len(b) < 2 || b[1] == 0 || len(b) < int(b[1])*8 {
			return advert{}, errAdvert
		}
		o := b[:int(b[1])*8]
		b = b[len(o):]
		if o[0] != ndPrefix || o[1] != ndPrefixUnits || o[3]&ndPrefixOnLink == 0 || o[2] > 128 || binary.BigEndian.Uint32(o[4:]) == 0 {
			continue
		}
		a.onLink = append(a.onLink, netip.PrefixFrom(netip.AddrFrom16([16]byte(o[16:32])), int(o[2])).Masked())
	}
	return a, nil
}

// reaches says whether a client that heard the router has a route to the address.
func (a advert) reaches(to netip.Addr) bool {
	for _, p := range a.onLink {
		if p.Contains(to) {
			return true
		}
	}
	return a.lifetime > 0
}

// solicitation is a router solicitation; the kernel fills in the checksum.
func solicitation() []byte { return []byte{icmpSolicitation, 0, 0, 0, 0, 0, 0, 0} }
