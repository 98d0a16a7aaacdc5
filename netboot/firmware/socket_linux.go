package firmware

import (
	"context"
	"maps"
	"net"
	"syscall"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
)

const (
	portServer = 67
	portClient = 68
)

// socket is where one flow sends and receives.
type socket struct {
	conn  net.PacketConn
	to    *net.UDPAddr
	relay net.IP // giaddr; nil when broadcasting
}

// open opens the socket of the flow: of a relay on the host's address towards the
// server, or of a client on the interface.
func (c *Client) open(ctx context.Context) (*socket, error) {
	if c.Server != nil {
		local, err := sourceAddr(ctx, c.Server)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeUnavailable, "firmware", "no way to %s: %w", c.Server, err)
		}
		conn, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp4", net.JoinHostPort(local.String(), "0"))
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeUnavailable, "firmware", "opening socket: %w", err)
		}
		return &socket{conn: conn, to: c.Server, relay: local}, nil
	}
	lc := net.ListenConfig{Control: func(_, _ string, rc syscall.RawConn) error {
		var err error
		if cerr := rc.Control(func(fd uintptr) {
			// Machines of one host boot at once, each from port 68. What is broadcast, as every
			// answer is that the flag of the request asks for, reaches each socket (socket(7)).
			if err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err == nil {
				err = syscall.BindToDevice(int(fd), c.Interface)
			}
		}); cerr != nil {
			return cerr
		}
		return err
	}}
	conn, err := lc.ListenPacket(ctx, "udp4", (&net.UDPAddr{Port: portClient}).String())
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, "firmware", "opening socket on %s: %w", c.Interface, err).
			WithHint("port 68 and broadcasts need CAP_NET_BIND_SERVICE and CAP_NET_RAW, and no other DHCP client on %s", c.Interface)
	}
	return &socket{conn: conn, to: &net.UDPAddr{IP: net.IPv4bcast, Port: portServer}}, nil
}

// sourceAddr asks the routing table; nothing is sent.
func sourceAddr(ctx context.Context, to *net.UDPAddr) (net.IP, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "udp4", to.String())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).IP.To4(), nil
}

// send sends a request. As a relay it adds giaddr, the hop and option 82.
func (s *socket) send(p *dhcpv4.DHCPv4) error {
	if s.relay != nil {
		relayed := *p
		relayed.GatewayIPAddr = s.relay
		relayed.HopCount = 1
		relayed.Options = make(dhcpv4.Options)
		maps.Copy(relayed.Options, p.Options)
		relayed.Options[dhcpv4.OptionRelayAgentInformation.Code()] = []byte{subRelayPort, 0}
		p = &relayed
	}
	if _, err := s.conn.WriteTo(p.ToBytes(), s.to); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "firmware", "sending to %s: %w", s.to, err)
	}
	return nil
}
