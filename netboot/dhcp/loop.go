package dhcp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"rackboot/protocol"
)

type inbound struct {
	buf  *[packetSize]byte
	n    int
	peer netip.AddrPort
	conn net.PacketConn // where it came from, and its reply goes
	at   time.Time
}

// loop runs the readers, the workers and the watch of the link until ctx ends or
// the DHCP socket breaks. That another part breaks is logged: the server is of use
// without it.
func (s *Server) loop(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() {
		_ = s.conn.Close()
		if s.boot != nil {
			_ = s.boot.Close()
		}
		if s.link != nil {
			s.link.close()
		}
	})
	queue := make(chan inbound, queueLength)
	buffers := &sync.Pool{New: func() any { return new([packetSize]byte) }}
	var workers, readers sync.WaitGroup
	for range workerCount {
		workers.Go(func() {
			for p := range queue {
				s.work(ctx, p)
				buffers.Put(p.buf)
			}
		})
	}
	if s.boot != nil {
		readers.Go(func() {
			if err := s.read(ctx, s.boot, queue, buffers); err != nil {
				s.log.Error("port of PXE boot servers is not served any more", "err", err)
			}
		})
	}
	if s.link != nil {
		readers.Go(func() {
			if err := s.link.watch(ctx); err != nil {
				s.log.Error("addresses are not probed any more", "err", err)
			}
		})
		readers.Go(func() { s.hunt(ctx) })
	}
	err := s.read(ctx, s.conn, queue, buffers)
	cancel()
	stop()
	readers.Wait()
	close(queue)
	workers.Wait()
	return err
}

// read hands to the workers what they can take.
func (s *Server) read(ctx context.Context, conn net.PacketConn, queue chan<- inbound, buffers *sync.Pool) error {
	failed := 0
	for {
		buf := buffers.Get().(*[packetSize]byte)
		n, from, err := conn.ReadFrom(buf[:])
		if err != nil {
			buffers.Put(buf)
			if ctx.Err() != nil {
				return nil
			}
			if failed++; errors.Is(err, net.ErrClosed) || failed >= readErrors {
				return protocol.Errorf(protocol.CodeUnavailable, "DHCP server", "reading from %s: %w", conn.LocalAddr(), err)
			}
			s.log.Warn("dhcp read failed", "err", err)
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(readRetry):
			}
			continue
		}
		failed = 0
		p := inbound{buf: buf, n: n, peer: addrPort(from), conn: conn, at: time.Now()}
		select {
		case queue <- p:
		default:
			buffers.Put(buf)
			s.metrics.drops.Inc()
		}
	}
}

// work answers one packet. A panic costs that packet, not the server.
func (s *Server) work(ctx context.Context, p inbound) {
	defer func() {
		if v := recover(); v != nil {
			s.metrics.packets.WithLabelValues(typeUnknown, resultPanic).Inc()
			s.log.Error("dhcp packet caused a panic", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	if ctx.Err() != nil { // the socket is closed; what waits in the queue finds no way out
		return
	}
	out := s.respond(ctx, p.buf[:p.n], p.peer, s.boot != nil && p.conn == s.boot)
	if out.raw == nil {
		return
	}
	if err := s.send(p.conn, out); err != nil {
		s.metrics.sendErrors.Inc()
		s.log.Warn("dhcp reply not sent", "to", out.to.String(), "err", err)
		return
	}
	s.metrics.latency.Observe(time.Since(p.at).Seconds())
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
