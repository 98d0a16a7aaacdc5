package lldp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"

	"rackboot/protocol"
)

// Types of TLVs (IEEE 802.1AB-2016 table 8-1).
const (
	tlvEnd     = 0
	tlvChassis = 1
	tlvPort    = 2
	tlvTTL     = 3
	tlvSystem  = 5
)

// Subtypes of identifiers. Those of MAC and network address have other numbers in a
// Chassis ID (table 8-2) than in a Port ID (table 8-3).
const (
	chassisMAC     = 4
	chassisNetwork = 5
	portMAC        = 3
	portNetwork    = 4
)

// Address families of a network address (IANA address family numbers).
const (
	familyIPv4 = 1
	familyIPv6 = 2
)

// ErrMalformed is an announcement that does not keep to the standard.
var ErrMalformed = errors.New("malformed LLDP announcement")

// Announcement is what one frame says.
type Announcement struct {
	protocol.Neighbour
	// Gone says that the sender takes back what it said before (TTL 0).
	Gone bool
}

// parse reads an LLDPDU, which is the frame without its Ethernet header. The first
// three TLVs must be Chassis ID, Port ID and TTL (section 9.2.7.7.1); of the others
// the system's name is read.
func parse(pdu []byte) (Announcement, error) {
	var a Announcement
	for n := 0; ; n++ {
		if len(pdu) < 2 {
			// The end may be missing (it is optional since 2016), the first three not.
			if n > tlvTTL-1 && len(pdu) == 0 {
				return a, nil
			}
			return Announcement{}, ErrMalformed
		}
		head := binary.BigEndian.Uint16(pdu)
		kind, size := head>>9, int(head&0x1ff)
		if len(pdu) < 2+size || n < tlvTTL && kind != uint16(n)+tlvChassis || n >= tlvTTL && kind >= tlvChassis && kind <= tlvTTL {
			return Announcement{}, ErrMalformed
		}
		value := pdu[2 : 2+size]
		pdu = pdu[2+size:]
		switch kind {
		case tlvEnd:
			return a, nil
		case tlvChassis:
			a.Chassis = identifier(value, chassisMAC, chassisNetwork)
		case tlvPort:
			a.Port = identifier(value, portMAC, portNetwork)
		case tlvTTL:
			if size < 2 {
				return Announcement{}, ErrMalformed
			}
			a.Gone = binary.BigEndian.Uint16(value) == 0
		case tlvSystem:
			a.System = protocol.CleanHostText(string(value))
		}
		if n == tlvPort-1 && (a.Chassis == "" || a.Port == "") {
			return Announcement{}, ErrMalformed
		}
	}
}

// identifier is a Chassis ID or a Port ID as people write it; empty if it is none.
func identifier(value []byte, mac, network byte) string {
	if len(value) < 2 {
		return ""
	}
	kind, id := value[0], value[1:]
	switch {
	case kind == mac && len(id) == 6:
		return net.HardwareAddr(id).String()
	case kind == network && (id[0] == familyIPv4 && len(id) == 5 || id[0] == familyIPv6 && len(id) == 17):
		a, _ := netip.AddrFromSlice(id[1:]) // of 4 or 16 bytes
		return a.String()
	case kind == mac || kind == network:
		return protocol.CleanHostText(hex.EncodeToString(id))
	}
	return protocol.CleanHostText(string(id))
}
