package dhcp

import (
	"encoding/binary"
	"net"
	"net/netip"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot/leasing"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const (
	// maxOption is the longest option value: EDK2 reads the first part only of an
	// option that is split by RFC 3396.
	maxOption = 255
	// maxMessage is EDK2's receive buffer for a DHCP message.
	maxMessage = 1472
	// minMessage is what each client takes (RFC 2131 section 2), an IP datagram of
	// 576 bytes; option 57 cannot say less.
	minMessage = 576
	// headers of IP and UDP count in option 57 with some clients and not with
	// others. Counting them is right with both.
	headers = 28
	// maxFile is the header field `file` without its NUL.
	maxFile = 127
)

// newReply begins a reply: header fields, options 53 and 54, and the echo of 61
// (RFC 6842), 97 (RFC 4578 section 2.3), 118 (RFC 3011) and, byte for byte, 82
// (RFC 3046), which is written last. Relays drop what lacks it. The flags are
// those of the request, also through a relay: it reads them to reach the client.
func newReply(r *request, seg resource.SegmentIntent, kind dhcpv4.MessageType) *dhcpv4.DHCPv4 {
	p := &dhcpv4.DHCPv4{
		OpCode:        dhcpv4.OpcodeBootReply,
		HWType:        r.HWType,
		TransactionID: r.TransactionID,
		Flags:         r.Flags,
		ClientIPAddr:  net.IPv4zero,
		YourIPAddr:    net.IPv4zero,
		ServerIPAddr:  net.IPv4zero,
		GatewayIPAddr: r.GatewayIPAddr,
		ClientHWAddr:  r.ClientHWAddr,
		Options:       make(dhcpv4.Options, usualOptions),
	}
	p.Options[dhcpv4.OptionDHCPMessageType.Code()] = []byte{byte(kind)}
	p.Options[dhcpv4.OptionServerIdentifier.Code()] = r.serverID(seg.Address).AsSlice()
	echo := []dhcpv4.OptionCode{dhcpv4.OptionClientIdentifier, dhcpv4.OptionRelayAgentInformation}
	if kind != dhcpv4.MessageTypeNak {
		echo = append(echo, dhcpv4.OptionClientMachineIdentifier, dhcpv4.OptionSubnetSelection)
	}
	for _, code := range echo {
		if v := r.Options.Get(code); len(v) > 0 {
			p.Options[code.Code()] = v
		}
	}
	return p
}

// nak is a DHCPNAK. Through a relay the broadcast bit is set, since the client has
// no address that the relay could use (RFC 2131 section 4.3.2).
func nak(r *request, seg resource.SegmentIntent, why string) *dhcpv4.DHCPv4 {
	p := newReply(r, seg, dhcpv4.MessageTypeNak)
	p.Options[dhcpv4.OptionMessage.Code()] = []byte(why)
	if r.giaddr.IsValid() {
		p.Flags |= flagBroadcast
	}
	return p
}

// network adds mask, routers and DNS. For hosts, option 6 is always there: a UEFI
// HTTP client with a URL of its own prefers any offer that has it. A BMC would
// wait for names that nobody resolves. An operating system gets the service's extras.
func network(p *dhcpv4.DHCPv4, seg resource.SegmentIntent, a protocol.BootAnswer) {
	bmc := leasing.BMCs(seg, a)
	if !bmc && a.Action == protocol.AnswerLease {
		extras(p, seg)
	}
	p.Options[dhcpv4.OptionSubnetMask.Code()] = net.CIDRMask(seg.Prefix.Bits(), 32)
	if len(seg.Routers) > 0 {
		p.Options[dhcpv4.OptionRouter.Code()] = addrBytes(seg.Routers)
	}
	dns := seg.DNS
	if len(dns) == 0 && !bmc {
		dns = []netip.Addr{seg.Address}
	}
	if len(dns) > 0 {
		p.Options[dhcpv4.OptionDomainNameServer.Code()] = addrBytes(dns)
	}
}

// lease adds the address and its times; T1 and T2 are RFC 2131 section 4.4.5.
func lease(p *dhcpv4.DHCPv4, addr netip.Addr, d time.Duration) {
	p.YourIPAddr = addr.AsSlice()
	p.Options[dhcpv4.OptionIPAddressLeaseTime.Code()] = seconds(d)
	p.Options[dhcpv4.OptionRenewTimeValue.Code()] = seconds(d / 2)
	p.Options[dhcpv4.OptionRebindingTimeValue.Code()] = seconds(d / 8 * 7)
}

func seconds(d time.Duration) []byte {
	// All ones is infinity (RFC 2131 section 3.3), which nobody asked for.
	n := min(int64(d/time.Second), 1<<32-2)
	return binary.BigEndian.AppendUint32(nil, uint32(n))
}

func addrBytes(addrs []netip.Addr) []byte {
	var out []byte
	for _, a := range addrs {
		if a.Is4() {
			out = append(out, a.AsSlice()...)
		}
	}
	return out
}

// encode writes the reply, of 300 bytes at least. A value or message
// that the client would misread is an unsupported error and not sent.
func encode(r *request, p *dhcpv4.DHCPv4) ([]byte, error) {
	for code, v := range p.Options {
		if len(v) > maxOption {
			return nil, protocol.Errorf(protocol.CodeUnsupported, "DHCP reply", "option %d has %d bytes, and firmware reads %d", code, len(v), maxOption).
				WithHint("shorten the segment's baseURL, its lists of addresses, or the file name")
		}
	}
	limit := minMessage
	if v := r.Options.Get(dhcpv4.OptionMaximumDHCPMessageSize); len(v) == 2 {
		limit = max(limit, int(binary.BigEndian.Uint16(v)))
	}
	limit = min(limit-headers, maxMessage)
	out := writeMessage(p)
	if len(out) > limit {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "DHCP reply", "message has %d bytes, and the client takes %d", len(out), limit).
			WithHint("shorten the segment's baseURL or its lists of addresses")
	}
	return out, nil
}
