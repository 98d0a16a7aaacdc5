package firmware

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

const (
	flagBroadcast = 0x8000

	// maxMessage is option 57 of EDK2, HTTP_BOOT_DHCP4_PACKET_MAX_SIZE. A longer
	// offer is dropped.
	maxMessage = 1472
	// pxeRequestMax is option 57 in the REQUEST of EDK2's PXE client.
	pxeRequestMax = 0xff00

	subRelayPort = 19 // RFC 8357

	prefixHTTP = "HTTPClient"
	prefixPXE  = "PXEClient"
)

// undi is option 94: type 1, UNDI 3.0, as EDK2 sends it.
func undi() []byte { return []byte{1, 3, 0} }

// commonPRL begins option 55 of both of EDK2's boot clients.
func commonPRL() []byte {
	return []byte{1, 2, 3, 4, 5, 6, 12, 13, 15, 17, 18, 22, 23, 28, 40, 41, 42, 43, 50, 51, 54, 58, 59, 60}
}

// httpPRL is 27 bytes, of which EDK2 never sets the one at index 24: it sends
// what the memory held.
func httpPRL(garbage byte) []byte { return append(commonPRL(), garbage, 67, 97) }

// pxePRL also asks for the vendor options 128 to 135.
func pxePRL() []byte {
	return append(commonPRL(), 66, 67, 97, 128, 129, 130, 131, 132, 133, 134, 135)
}

// osPRL is option 55 of an operating system that looks for a report URL.
func osPRL() []byte { return []byte{1, 3, 6, 12, 15, 51, 58, 59, 67} }

// packet is a request of the client: header and the options of its class (empty
// for an operating system).
func (c *Client) packet(kind dhcpv4.MessageType, xid dhcpv4.TransactionID, class string, arch uint16, garbage byte) *dhcpv4.DHCPv4 {
	p := &dhcpv4.DHCPv4{
		OpCode:        dhcpv4.OpcodeBootRequest,
		HWType:        1,
		TransactionID: xid,
		Flags:         flagBroadcast,
		ClientIPAddr:  net.IPv4zero,
		YourIPAddr:    net.IPv4zero,
		ServerIPAddr:  net.IPv4zero,
		GatewayIPAddr: net.IPv4zero,
		ClientHWAddr:  c.MAC,
		Options:       make(dhcpv4.Options),
	}
	set := func(code dhcpv4.OptionCode, v []byte) { p.Options[code.Code()] = v }
	set(dhcpv4.OptionDHCPMessageType, []byte{byte(kind)})
	set(dhcpv4.OptionMaximumDHCPMessageSize, binary.BigEndian.AppendUint16(nil, maxMessage))
	if class == "" {
		set(dhcpv4.OptionParameterRequestList, osPRL())
		return p
	}
	set(dhcpv4.OptionParameterRequestList, pxePRL())
	if class == prefixHTTP {
		set(dhcpv4.OptionParameterRequestList, httpPRL(garbage))
	}
	set(dhcpv4.OptionClassIdentifier, fmt.Appendf(nil, "%s:Arch:%05d:UNDI:003000", class, arch))
	set(dhcpv4.OptionClientSystemArchitectureType, binary.BigEndian.AppendUint16(nil, arch))
	set(dhcpv4.OptionClientNetworkInterfaceIdentifier, undi())
	set(dhcpv4.OptionClientMachineIdentifier, append([]byte{0}, c.UUID[:]...))
	return p
}

func newXID() (xid dhcpv4.TransactionID, garbage byte) {
	var b [5]byte
	_, _ = rand.Read(b[:]) // never fails
	copy(xid[:], b[:4])
	return xid, b[4]
}

// request turns a DISCOVER into the REQUEST for an offer (SELECTING).
func request(discover, offer *dhcpv4.DHCPv4) *dhcpv4.DHCPv4 {
	p := *discover
	p.NumSeconds = 0
	p.Options = make(dhcpv4.Options)
	maps.Copy(p.Options, discover.Options)
	p.Options[dhcpv4.OptionDHCPMessageType.Code()] = []byte{byte(dhcpv4.MessageTypeRequest)}
	p.Options[dhcpv4.OptionRequestedIPAddress.Code()] = offer.YourIPAddr.To4()
	p.Options[dhcpv4.OptionServerIdentifier.Code()] = offer.Options.Get(dhcpv4.OptionServerIdentifier)
	if strings.HasPrefix(string(p.Options.Get(dhcpv4.OptionClassIdentifier)), prefixPXE) {
		p.Options[dhcpv4.OptionMaximumDHCPMessageSize.Code()] = binary.BigEndian.AppendUint16(nil, pxeRequestMax)
	}
	return &p
}

func leaseOf(ack *dhcpv4.DHCPv4) Lease {
	l := Lease{
		Address:  addr4(ack.YourIPAddr),
		Server:   addr4(ack.Options.Get(dhcpv4.OptionServerIdentifier)),
		Mask:     ack.Options.Get(dhcpv4.OptionSubnetMask),
		Routers:  addrs(ack.Options.Get(dhcpv4.OptionRouter)),
		DNS:      addrs(ack.Options.Get(dhcpv4.OptionDomainNameServer)),
		Bootfile: optionString(ack, dhcpv4.OptionBootfileName),
	}
	if v := ack.Options.Get(dhcpv4.OptionIPAddressLeaseTime); len(v) == 4 {
		l.Time = time.Duration(binary.BigEndian.Uint32(v)) * time.Second
	}
	return l
}

// optionString reads an option up to its NUL.
func optionString(p *dhcpv4.DHCPv4, code dhcpv4.OptionCode) string {
	s, _, _ := strings.Cut(string(p.Options.Get(code)), "\x00")
	return s
}

func addr4(b []byte) netip.Addr {
	if len(b) != 4 {
		return netip.Addr{}
	}
	return netip.AddrFrom4([4]byte(b))
}

func addrs(b []byte) []netip.Addr {
	var out []netip.Addr
	for ; len(b) >= 4; b = b[4:] {
		out = append(out, addr4(b[:4]))
	}
	return out
}
