package dhcp

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"

	"rackboot/netboot/leasing"
	"rackboot/protocol"
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
	subnet netip.Addr // option 118
	relay  relay
	peer   netip.AddrPort
	// boot says that the packet came to the port of PXE boot servers.
	boot bool
	// later takes the answer once its lease is on disk; nil waits for that.
	later func(reply)
	// question is what was decided about; nil before.
	question *leasing.Question
}

// parse decodes a packet. The codec refuses packets without the magic cookie, so
// that BOOTP is not answered.
func parse(raw []byte, peer netip.AddrPort) (*request, error) {
	p, err := decode(raw)
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
		class:  classify(p),
		ciaddr: addr4(p.ClientIPAddr),
		giaddr: addr4(p.GatewayIPAddr),
		asked:  addr4(p.Options.Get(dhcpv4.OptionRequestedIPAddress)),
		server: addr4(p.Options.Get(dhcpv4.OptionServerIdentifier)),
		subnet: addr4(p.Options.Get(dhcpv4.OptionSubnetSelection)),
		peer:   peer,
	}
	if !r.giaddr.IsValid() {
		// RFC 3046 section 2.1: only a relay adds option 82. One from a client on
		// the link is forged or confused, and must not choose subnet or port.
		p.Options.Del(dhcpv4.OptionRelayAgentInformation)
		return r, nil
	}
	r.relay = parseRelay(p.Options.Get(dhcpv4.OptionRelayAgentInformation))
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
	return slices.Contains(r.Options.Get(dhcpv4.OptionParameterRequestList), code.Code())
}

// takesURL says whether the client loads from a URL, if it can be served at all.
func (r *request) takesURL() bool {
	switch r.class {
	case protocol.ClassHTTPClient, protocol.ClassIPXE:
		return true
	case protocol.ClassUBoot:
		a, _ := r.client("", netip.Addr{}).Arch()
		return a.HTTP
	case protocol.ClassGRUB:
		return saysClass(r.DHCPv4) == saidHTTP
	case protocol.ClassPXEClient, protocol.ClassRaspberryPi, protocol.ClassNone:
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
		Archs:   archs(r.Options.Get(dhcpv4.OptionClientSystemArchitectureType)),
		Address: addr,
		Port:    r.relay.port,
	}
}
