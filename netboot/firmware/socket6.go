package firmware

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/protocol"
)

// socket6 is where one flow of DHCPv6 sends and receives: a relay next to the client,
// that says the client's link-local address.
type socket6 struct {
	conn net.PacketConn
	to   *net.UDPAddr
	link netip.Addr // of the relay, which says the segment
	peer netip.Addr // the client's
}

func (c *Client) open6(ctx context.Context) (*socket6, error) {
	if c.Server == nil || c.Server.IP.To4() != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "firmware", "a server with an IPv6 address is required")
	}
	d, err := (&net.Dialer{}).DialContext(ctx, "udp6", c.Server.String()) // asks the routing table; nothing is sent
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "firmware", "no way to %s: %w", c.Server, err)
	}
	local := d.LocalAddr().(*net.UDPAddr)
	_ = d.Close()
	conn, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp6", (&net.UDPAddr{IP: local.IP, Zone: local.Zone}).String())
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "firmware", "opening socket: %w", err)
	}
	link, _ := netip.AddrFromSlice(local.IP) // what udp6 has
	return &socket6{conn: conn, to: c.Server, link: link, peer: linkLocal(c.MAC)}, nil
}

// linkLocal is the link-local address that EDK2 has (RFC 4291 appendix A).
func linkLocal(m net.HardwareAddr) netip.Addr {
	return netip.AddrFrom16([16]byte{0xfe, 0x80, 8: m[0] ^ 2, m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]})
}

// forward is the relay's message around the client's (RFC 8415 section 9), which asks
// for answers at the relay's own port (RFC 8357).
func (s *socket6) forward(message []byte) []byte {
	link, peer := s.link.As16(), s.peer.As16()
	var o dhcpv6.Options
	o.Add(&dhcpv6.OptionGeneric{OptionCode: dhcpv6.OptionRelayPort, OptionData: []byte{0, 0}})
	o.Add(&dhcpv6.OptionGeneric{OptionCode: dhcpv6.OptionRelayMsg, OptionData: message})
	return slices.Concat([]byte{byte(dhcpv6.MessageTypeRelayForward), 0}, link[:], peer[:], o.ToBytes())
}

// unwrap is what a relay's reply carries; nil for anything else.
func unwrap(raw []byte) []byte {
	const header = 34
	if len(raw) < header || raw[0] != byte(dhcpv6.MessageTypeRelayReply) {
		return nil
	}
	var o dhcpv6.Options
	if o.FromBytesWithParser(raw[header:], func(code dhcpv6.OptionCode, data []byte) (dhcpv6.Option, error) {
		return &dhcpv6.OptionGeneric{OptionCode: code, OptionData: slices.Clone(data)}, nil
	}) != nil {
		return nil
	}
	if m := o.GetOne(dhcpv6.OptionRelayMsg); m != nil {
		return m.ToBytes()
	}
	return nil
}

// ask sends a message in four tries, as EDK2 does, and returns the first answer that
// fits. Servers of ours say that a client need not wait for others (option 7).
func (s *socket6) ask(ctx context.Context, c *Client, x exchange6, kind, answer dhcpv6.MessageType, about offer6, fits func(offer6) bool) (offer6, error) {
	m := x.packet(kind, about.server, about.addr)
	for _, wait := range tryTimes() {
		if _, err := s.conn.WriteTo(s.forward(m), s.to); err != nil {
			return offer6{}, protocol.Errorf(protocol.CodeUnavailable, "firmware", "sending to %s: %w", s.to, err)
		}
		o, ok, err := s.receive(ctx, c.scaled(wait), func(raw []byte) (offer6, bool) {
			o, ok := x.read(raw, answer, m[1:4])
			return o, ok && fits(o)
		})
		if ok || err != nil {
			return o, err
		}
	}
	return offer6{}, protocol.Errorf(protocol.CodeTimeout, "firmware", "%w in %d tries", ErrNoOffer, len(tryTimes()))
}

// receive returns the first message that take wants; ok is false when the time is
// over.
func (s *socket6) receive(ctx context.Context, wait time.Duration, take func([]byte) (offer6, bool)) (o offer6, ok bool, err error) {
	if err := s.conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return o, false, err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var buf [4096]byte
	for {
		n, _, err := s.conn.ReadFrom(buf[:])
		switch {
		case ctx.Err() != nil:
			return o, false, ctx.Err()
		case errors.Is(err, os.ErrDeadlineExceeded):
			return o, false, nil
		case err != nil:
			return o, false, protocol.Errorf(protocol.CodeUnavailable, "firmware", "receiving: %w", err)
		}
		if o, ok := take(unwrap(buf[:n])); ok {
			return o, true, nil
		}
	}
}
