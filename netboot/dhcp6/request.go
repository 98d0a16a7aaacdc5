package dhcp6

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"slices"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/netboot/leasing"
	"rackboot/protocol"
)

// maxIAs is how many identity associations of a message are read.
const maxIAs = 8

// association is an identity association that a client asks for.
type association struct {
	code  dhcpv6.OptionCode // IA_NA, IA_TA or IA_PD
	id    [4]byte
	addrs []netip.Addr // of IA_NA
}

// request is a client's message that is worth an answer.
type request struct {
	message
	who
	id        string // who.key
	class     protocol.ClientClass
	clientID  []byte
	serverID  []byte
	ias       []association
	hops      []hop
	peer      netip.AddrPort
	multicast bool
	// question is what was decided about; nil before.
	question *leasing.Question
}

// parse reads a message that came from peer, to a multicast address or not. Messages
// through a relay count as multicast: the client sent them so.
func parse(raw []byte, peer netip.AddrPort, multicast bool) (*request, error) {
	m, hops, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if typeLabel(m.kind) == typeUnknown {
		return nil, errType
	}
	r := &request{message: m, hops: hops, peer: peer, multicast: multicast || len(hops) > 0, class: classify(m.options)}
	r.clientID, _ = value(m.options, dhcpv6.OptionClientID)
	r.serverID, _ = value(m.options, dhcpv6.OptionServerID)
	source, near := peer.Addr(), dhcpv6.Options(nil)
	if n := len(hops); n > 0 {
		source, near = hops[n-1].peer, hops[n-1].options
	}
	r.who = identify(r.clientID, near, source)
	r.id = r.key()
	for _, o := range m.options {
		if len(r.ias) == maxIAs {
			break
		}
		if ia, ok := parseIA(o); ok {
			r.ias = append(r.ias, ia)
		}
	}
	return r, nil
}

// parseIA reads an identity association (RFC 8415 sections 21.4, 21.5, 21.21).
func parseIA(o dhcpv6.Option) (association, bool) {
	raw, head := o.ToBytes(), 12
	switch o.Code() {
	case dhcpv6.OptionIATA:
		head = 4
	case dhcpv6.OptionIANA, dhcpv6.OptionIAPD:
	default:
		return association{}, false
	}
	if len(raw) < head {
		return association{}, false
	}
	ia := association{code: o.Code(), id: [4]byte(raw)}
	inner, err := rawOptions(raw[head:])
	if err != nil || ia.code != dhcpv6.OptionIANA {
		return ia, err == nil
	}
	for _, a := range inner.Get(dhcpv6.OptionIAAddr) {
		if v := a.ToBytes(); len(v) >= 16 && len(ia.addrs) < maxIAs {
			ia.addrs = append(ia.addrs, netip.AddrFrom16([16]byte(v[:16])))
		}
	}
	return ia, true
}

// holder is the client's identity association, by DUID and IAID.
func (r *request) holder(ia association) holder {
	return sha256.Sum256(append(ia.id[:], r.clientID...))
}

func (r *request) number() uint32 {
	return binary.BigEndian.Uint32([]byte{0, r.xid[0], r.xid[1], r.xid[2]})
}

// wants says whether option 6 asks for the option.
func (r *request) wants(code dhcpv6.OptionCode) bool {
	raw, _ := value(r.options, dhcpv6.OptionORO)
	return slices.Contains(numbers(raw), uint16(code))
}

// has says whether the client sent the option.
func (r *request) has(code dhcpv6.OptionCode) bool { return r.options.GetOne(code) != nil }

// takesURL says whether the client loads over HTTP, if it can be served at all.
func (r *request) takesURL() bool {
	if r.class == protocol.ClassUBoot {
		a, _ := r.client("", netip.Addr{}).Arch()
		return a.HTTP
	}
	return r.class == protocol.ClassHTTPClient || r.class == protocol.ClassIPXE
}

// client is the boot client as the resolver sees it. The transaction ID of DHCPv6 has
// 24 bits.
func (r *request) client(segment string, addr netip.Addr) protocol.BootClient {
	archs, _ := value(r.options, dhcpv6.OptionClientArchType)
	return protocol.BootClient{
		Segment: segment, MAC: r.mac, UUID: r.uuid, XID: r.number(), Class: r.class, Archs: numbers(archs), Address: addr,
	}
}

// otherSubnet says that the message comes from a link that is not the segment's. The
// relay that is closest to the client and names its link decides (RFC 8415 section
// 13.1); one that does not know it says :: (RFC 6221). A client without a relay has a
// link-local address; who has none is not on the link.
func (r *request) otherSubnet(prefix netip.Prefix) bool {
	for _, h := range slices.Backward(r.hops) {
		if !h.link.IsUnspecified() && !h.link.IsLinkLocalUnicast() {
			return !prefix.Contains(h.link)
		}
	}
	a := r.peer.Addr()
	return len(r.hops) == 0 && !a.IsLinkLocalUnicast() && !a.IsLoopback() && !prefix.Contains(a.WithZone(""))
}
