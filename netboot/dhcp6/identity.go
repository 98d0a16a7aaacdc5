package dhcp6

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/protocol"
)

const hardwareEthernet = 1

// DUID types (RFC 8415 section 11, RFC 6355).
const (
	duidLLT  = 1
	duidLL   = 3
	duidUUID = 4
)

// who is the machine behind a message.
type who struct {
	mac  string // lower case, colons; empty if nothing says it
	uuid string // in the byte order of the wire; empty if nothing says it
}

// identify finds the machine: its MAC address from option 79, which the relay next
// to it adds (RFC 6939), else from the DUID, else from a link-local address that is
// made of one (RFC 4291 appendix A), as EDK2's and iPXE's is; and its UUID from the
// DUID. The IAID and the DUID as a whole say nothing: firmware, iPXE and operating
// system have different ones, and EDK2 makes its IAID from the time.
func identify(duid []byte, near dhcpv6.Options, source netip.Addr) who {
	var w who
	linkLayer, _ := value(near, dhcpv6.OptionClientLinkLayerAddr)
	if len(linkLayer) >= 2 && binary.BigEndian.Uint16(linkLayer) == hardwareEthernet {
		w.mac = ethernet(linkLayer[2:])
	}
	if len(duid) >= 2 {
		kind, rest := binary.BigEndian.Uint16(duid), duid[2:]
		switch kind {
		case duidLLT: // hardware type, time, address
			if len(rest) >= 6 && binary.BigEndian.Uint16(rest) == hardwareEthernet && w.mac == "" {
				w.mac = ethernet(rest[6:])
			}
		case duidLL:
			if len(rest) >= 2 && binary.BigEndian.Uint16(rest) == hardwareEthernet && w.mac == "" {
				w.mac = ethernet(rest[2:])
			}
		case duidUUID:
			w.uuid = uuidText(rest)
		}
	}
	if w.mac == "" {
		w.mac = fromLinkLocal(source)
	}
	return w
}

// key is what leases and answers are kept by: the MAC address, else the UUID in the
// smaller of its two byte orders. Empty for nobody.
func (w who) key() string {
	switch {
	case w.mac != "":
		return w.mac
	case w.uuid != "":
		return "uuid:" + min(w.uuid, protocol.SwapUUID(w.uuid))
	}
	return ""
}

// ethernet is the text of an Ethernet address that one interface can have.
func ethernet(b []byte) string {
	if len(b) != 6 || b[0]&1 != 0 || bytes.Count(b, []byte{0}) == len(b) {
		return ""
	}
	return net.HardwareAddr(b).String()
}

// uuidText is empty for all zero and all ones: boards without a UUID share those.
func uuidText(u []byte) string {
	if len(u) != 16 || bytes.Count(u, []byte{0}) == len(u) || bytes.Count(u, []byte{0xff}) == len(u) {
		return ""
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// fromLinkLocal takes the MAC address out of an interface identifier in modified
// EUI-64 format.
func fromLinkLocal(a netip.Addr) string {
	if !a.Is6() || !a.IsLinkLocalUnicast() {
		return ""
	}
	b := a.As16()
	if b[11] != 0xff || b[12] != 0xfe {
		return ""
	}
	return ethernet([]byte{b[8] ^ 2, b[9], b[10], b[13], b[14], b[15]})
}
