package dhcp

import (
	"context"
	"net"
	"net/netip"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/netboot/leasing"
)

// socket is a PacketConn whose packets say that they are of it: their replies go there.
type socket struct {
	net.PacketConn
	udp *net.UDPConn // the same; nil if it is another kind
}

func newSocket(conn net.PacketConn) socket {
	udp, _ := conn.(*net.UDPConn)
	return socket{conn, udp}
}

// ReadFrom implements leasing.Socket.
func (s socket) ReadFrom(b []byte) (n int, from netip.AddrPort, by net.PacketConn, err error) {
	if s.udp != nil { // an address that is not allocated
		n, from, err = s.udp.ReadFromUDPAddrPort(b)
		return n, netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), s.PacketConn, err
	}
	n, addr, err := s.PacketConn.ReadFrom(b)
	return n, addrPort(addr), s.PacketConn, err
}

// loop runs the readers, the workers and the watch of the link until ctx ends or
// the DHCP socket breaks. That another part breaks is logged: the server is of use
// without it.
func (s *Server) loop(ctx context.Context) error {
	queue := leasing.NewQueue(s, s.metrics.Metrics, s.log)
	var beside []func(context.Context)
	if s.boot != nil {
		beside = append(beside, func(ctx context.Context) {
			if err := queue.Read(ctx, newSocket(s.boot)); err != nil {
				s.log.Error("port of PXE boot servers is not served any more", "err", err)
			}
		})
	}
	if s.link != nil {
		beside = append(beside, func(ctx context.Context) {
			if err := s.link.watch(ctx); err != nil {
				s.log.Error("addresses are not probed any more", "err", err)
			}
		}, s.hunt)
	}
	return s.writer.While(ctx, func() error {
		return queue.Run(ctx, workerCount, newSocket(s.conn), s.close, beside...)
	})
}

func (s *Server) close() {
	_ = s.conn.Close()
	if s.boot != nil {
		_ = s.boot.Close()
	}
	if s.link != nil {
		s.link.close()
	}
}

// Answer implements leasing.Server.
func (s *Server) Answer(ctx context.Context, p leasing.Packet[net.PacketConn]) (netip.AddrPort, error) {
	at, conn := p.At, p.Mark // the packet itself has gone when its lease is on disk
	out := s.respondLater(ctx, p.Data, p.From, s.boot != nil && conn == s.boot, func(out reply) {
		to, err := out.sendBy(s, conn)
		s.metrics.Sent(s.log, at, to, err)
	})
	return out.sendBy(s, conn)
}

// sendBy sends a reply, if there is one, and returns where it went.
func (out reply) sendBy(s *Server, conn net.PacketConn) (netip.AddrPort, error) {
	if out.raw == nil {
		return netip.AddrPort{}, nil
	}
	return out.to, s.send(conn, out)
}

// Asker implements leasing.Server: the hardware address and the type of message (option 53).
func (s *Server) Asker(data []byte, _ netip.AddrPort) (a leasing.Asker) {
	if len(data) < optionsAt {
		return a
	}
	copy(a.Client[:], data[chaddrAt:snameAt])
	a.Kind = messageType(data[optionsAt:])
	return a
}

// Writes implements leasing.Server: an ACK waits for its lease.
func (s *Server) Writes(a leasing.Asker) bool {
	switch dhcpv4.MessageType(a.Kind) {
	case dhcpv4.MessageTypeRequest, dhcpv4.MessageTypeRelease, dhcpv4.MessageTypeDecline:
		return true
	}
	return false
}

// send sends a reply by a frame where it needs one, else through the socket that
// its request came from. Where no frame can be sent, the reply is broadcast, as RFC
// 2131 section 4.1 allows.
func (s *Server) send(conn net.PacketConn, out reply) error {
	to := out.to
	if out.mac != nil {
		if s.link != nil {
			err := s.link.send(out)
			if err == nil {
				return nil
			}
			s.log.Debug("dhcp frame not sent", "to", out.to.String(), "err", err)
		}
		to = everybody()
	}
	if udp, ok := conn.(*net.UDPConn); ok {
		_, err := udp.WriteToUDPAddrPort(out.raw, to)
		return err
	}
	_, err := conn.WriteTo(out.raw, net.UDPAddrFromAddrPort(to))
	return err
}

func addrPort(a net.Addr) netip.AddrPort {
	if u, ok := a.(*net.UDPAddr); ok {
		ap := u.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	}
	return netip.AddrPort{}
}
