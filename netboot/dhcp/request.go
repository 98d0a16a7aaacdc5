package dhcp

import (
	"encoding/binary"
	"errors"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"

	"rackboot/protocol"
)

// Sub-options of option 82.
const (
	subLinkSelection   = 5  // RFC 3527: the subnet of the client
	subRelaySourcePort = 19 // RFC 8357: answer to the port that the relay sent from
)

const flagBroadcast = 0x8000 // RFC 2131 section 2

var (
	errNotRequest = errors.New("not a BOOTREQUEST")
	errHardware   = errors.New("not an Ethernet address")
	errNoType     = errors.New("no DHCP message type")
)

// request is a packet from a client or relay that is worth an answer.
type request struct {
	*dhcpv4.DHCPv4
	kind   dhcpv4.MessageType
	mac    string
	class  protocol.ClientClass
	ciaddr netip.Addr // zero Addr if 0.0.0.0, like the others
	giaddr netip.Addr
	asked  netip.Addr // option 50
	server netip.Addr // option 54
	link   netip.Addr // option 82 sub-option 5, only of a relay
	peer   netip.AddrPort
	// relayPort says that the relay wants the answer at its source port.
	relayPort bool
}

// parse decodes a packet. The codec refuses packets without the magic cookie or
// the END option, so that BOOTP is not answered.
func parse(raw []byte, peer netip.AddrPort) (*request, error) {
	p, err := dhcpv4.FromBytes(raw)
	if err != nil {
		return nil, err
	}
	if p.OpCode != dhcpv4.OpcodeBootRequest {
		return nil, errNotRequest
	}
	if p.HWType != iana.HWTypeEthernet || len(p.ClientHWAddr) != 6 || p.ClientHWAddr[0]&1 != 0 {
		return nil, errHardware
	}
	kind := p.MessageType()
	if kind == dhcpv4.MessageTypeNone {
		return nil, errNoType
	}
	r := &request{
		DHCPv4: p,
		kind:   kind,
		mac:    p.ClientHWAddr.String(),
		class:  Classify(p),
		ciaddr: addr4(p.ClientIPAddr),
		giaddr: addr4(p.GatewayIPAddr),
		asked:  addr4(p.Options.Get(dhcpv4.OptionRequestedIPAddress)),
		server: addr4(p.Options.Get(dhcpv4.OptionServerIdentifier)),
		peer:   peer,
	}
	if !r.giaddr.IsValid() {
		// RFC 3046 section 2.1: only a relay adds option 82. One from a client on
		// the link is forged or confused, and must not choose subnet or port.
		p.Options.Del(dhcpv4.OptionRelayAgentInformation)
		return r, nil
	}
	relay := make(dhcpv4.Options)
	if relay.FromBytes(p.Options.Get(dhcpv4.OptionRelayAgentInformation)) == nil {
		r.link = addr4(relay.Get(dhcpv4.GenericOptionCode(subLinkSelection)))
		r.relayPort = relay.Has(dhcpv4.GenericOptionCode(subRelaySourcePort))
	}
	return r, nil
}

// addr4 is the address in four bytes; the zero Addr if it is 0.0.0.0 or has
// another length.
func addr4(b []byte) netip.Addr {
	if len(b) != 4 {
		return netip.Addr{}
	}
	a := netip.AddrFrom4([4]byte(b))
	if a.IsUnspecified() {
		return netip.Addr{}
	}
	return a
}

func (r *request) xid() uint32 { return binary.BigEndian.Uint32(r.TransactionID[:]) }

func (r *request) broadcast() bool { return r.Flags&flagBroadcast != 0 }

// wants says whether option 55 asks for the option.
func (r *request) wants(code dhcpv4.OptionCode) bool {
	for _, c := range r.Options.Get(dhcpv4.OptionParameterRequestList) {
		if c == code.Code() {
			return true
		}
	}
	return false
}

// otherSubnet says that the packet comes from a subnet that is not the
// segment's: link selection first, then the relay's own address. A relay at a
// loopback address is a client on this host (a simulated one) and stands on the
// segment that it was pointed at; from anywhere else such an address is forged,
// and answering it would reach the host's own ports.
func (r *request) otherSubnet(prefix netip.Prefix) bool {
	switch {
	case r.giaddr.IsLoopback() && !r.peer.Addr().IsLoopback():
		return true
	case r.link.IsValid():
		return !prefix.Contains(r.link)
	case r.giaddr.IsValid() && !r.giaddr.IsLoopback():
		return !prefix.Contains(r.giaddr)
	}
	return false
}

// client is the boot client as the resolver sees it.
func (r *request) client(segment string, addr netip.Addr) protocol.BootClient {
	return protocol.BootClient{
		Segment: segment,
		MAC:     r.mac,
		UUID:    machineUUID(r.DHCPv4),
		XID:     r.xid(),
		Class:   r.class,
		Archs:   archs(r.DHCPv4),
		Address: addr,
	}
}
