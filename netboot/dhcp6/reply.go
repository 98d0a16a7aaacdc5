package dhcp6

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"

	"rackboot/netboot"
	"rackboot/protocol"
)

const (
	// maxMessage is what every IPv6 link carries in one piece: 1280 bytes less the
	// headers of IPv6 and UDP. EDK2 takes 1472.
	maxMessage = 1280 - 48
	// optRelayPort is RFC 8357: answer at the port that the relay sent from.
	optRelayPort = dhcpv6.OptionCode(135)
	// preferenceNow is a preference for which clients do not wait for other offers (RFC
	// 8415 section 18.2.1).
	preferenceNow = 255
)

// reply is a message to a client. Its options stand in the order in which they are
// added; the codec keeps it.
type reply struct {
	kind    dhcpv6.MessageType
	xid     [3]byte
	options dhcpv6.Options
}

// newReply begins a reply: client and server ID, byte for byte.
func (s *Server) newReply(r *request, kind dhcpv6.MessageType) *reply {
	p := &reply{kind: kind, xid: r.xid}
	if len(r.clientID) > 0 {
		p.add(raw(dhcpv6.OptionClientID, r.clientID))
	}
	p.add(raw(dhcpv6.OptionServerID, s.cfg.DUID))
	return p
}

func (p *reply) add(o ...dhcpv6.Option) { p.options = append(p.options, o...) }

func raw(code dhcpv6.OptionCode, data []byte) dhcpv6.Option {
	return &dhcpv6.OptionGeneric{OptionCode: code, OptionData: data}
}

func status(code iana.StatusCode, text string) dhcpv6.Option {
	return &dhcpv6.OptStatusCode{StatusCode: code, StatusMessage: text}
}

// parameters adds what the answer says about booting, and then DNS: the order counts,
// see bootData. DNS is always there for hosts: EDK2 prefers offers with it. A BMC
// would wait for names that nobody resolves.
func (p *reply) parameters(r *request, name string, sc scope, a protocol.BootAnswer) error {
	boot, err := bootData(r, name, sc.seg, a)
	if err != nil {
		return err
	}
	p.add(boot...)
	var list []byte
	for _, d := range sc.seg.DNS {
		if plain6(d) {
			list = append(list, d.AsSlice()...)
		}
	}
	if len(list) == 0 && !sc.bmc {
		list = sc.seg.Address.AsSlice()
	}
	if len(list) > 0 {
		p.add(raw(dhcpv6.OptionDNSRecursiveNameServer, list))
	}
	return nil
}

// granted is an IA_NA with an address. The status is said although success is the
// default: EDK2 looks for one beyond the option's end and would find the next
// option's. gone are addresses that end (RFC 8415 section 18.3.4).
func granted(ia association, a netip.Addr, d time.Duration, gone []netip.Addr) dhcpv6.Option {
	// T1 and T2 are RFC 8415 section 21.4.
	return naOption(ia, d/2, d/5*4, append(ended(gone), address(a, d), status(iana.StatusSuccess, "")))
}

// refused is an identity association without an address.
func refused(ia association, code iana.StatusCode, text string) dhcpv6.Option {
	st := status(code, text)
	if ia.code == dhcpv6.OptionIATA { // without times
		return raw(ia.code, slices.Concat(ia.id[:], dhcpv6.Options{st}.ToBytes()))
	}
	return raw(ia.code, slices.Concat(ia.id[:], make([]byte, 8), dhcpv6.Options{st}.ToBytes()))
}

func naOption(ia association, t1, t2 time.Duration, inner dhcpv6.Options) dhcpv6.Option {
	return &dhcpv6.OptIANA{IaId: ia.id, T1: t1, T2: t2, Options: dhcpv6.IdentityOptions{Options: inner}}
}

func address(a netip.Addr, d time.Duration) dhcpv6.Option {
	return &dhcpv6.OptIAAddress{IPv6Addr: a.AsSlice(), PreferredLifetime: d, ValidLifetime: d}
}

func ended(gone []netip.Addr) dhcpv6.Options {
	var out dhcpv6.Options
	for _, a := range gone {
		out.Add(address(a, 0))
	}
	return out
}

// encode writes the reply and the relays' envelopes around it (RFC 8415 section
// 19.3): header fields and Interface-ID of each go back as they came. A message that
// might not arrive is an unsupported error.
func encode(r *request, p *reply) ([]byte, error) {
	out := append([]byte{byte(p.kind), p.xid[0], p.xid[1], p.xid[2]}, p.options.ToBytes()...)
	for _, h := range slices.Backward(r.hops) {
		link, peer := h.link.As16(), h.peer.As16()
		env := slices.Concat([]byte{byte(dhcpv6.MessageTypeRelayReply), h.count}, link[:], peer[:])
		if v, ok := value(h.options, dhcpv6.OptionInterfaceID); ok {
			env = append(env, dhcpv6.Options{raw(dhcpv6.OptionInterfaceID, v)}.ToBytes()...)
		}
		if v, ok := relayPort(h); ok {
			env = append(env, dhcpv6.Options{raw(optRelayPort, v)}.ToBytes()...)
		}
		env = binary.BigEndian.AppendUint16(env, uint16(dhcpv6.OptionRelayMsg))
		env = binary.BigEndian.AppendUint16(env, uint16(min(len(out), maxMessage))) // longer ones are refused below
		out = append(env, out...)
	}
	if len(out) > maxMessage {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "DHCPv6 reply", "message has %d bytes, and links carry %d in one piece", len(out), maxMessage).
			WithHint("shorten the segment's base URL or its list of DNS servers")
	}
	return out, nil
}

// route says where the reply goes: to the port of clients, or through the outermost
// relay to its port, or the one that it sent from if it says so (RFC 8357).
func route(r *request) netip.AddrPort {
	if len(r.hops) == 0 {
		return netip.AddrPortFrom(r.peer.Addr(), portClient)
	}
	if _, ok := relayPort(r.hops[0]); ok {
		return r.peer
	}
	return netip.AddrPortFrom(r.peer.Addr(), portServer)
}

// relayPort returns the relay's Relay Source Port option. Of another length than RFC 8357
// section 5.2 says it is none: a relay could not read it in its answer.
func relayPort(h hop) ([]byte, bool) {
	v, ok := value(h.options, optRelayPort)
	return v, ok && len(v) == 2
}

// leaseOf is the record of a granted address.
func (s *Server) leaseOf(r *request, a netip.Addr, server string, until time.Time) netboot.Lease6 {
	return netboot.Lease6{Segment: s.cfg.Segment, Address: a, Client: r.id, MAC: r.mac, Server: server, Expires: until}
}
