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

const (
	// workerCount is how many packets are in work at once. Workers wait for the
	// lease store, and their writes share one fsync: more of them, larger batches.
	workerCount = 64
	// queueLength is a burst of power-ons of several racks.
	queueLength = 1024
	// packetSize is larger than any DHCP message on Ethernet; what is longer is cut
	// and refused by the parser.
	packetSize = 2048
	// storeTimeout bounds a lease write: a later ACK finds no client.
	storeTimeout = 2 * time.Second
	// readRetry is the pause after a read error that may pass (interface down).
	readRetry = 100 * time.Millisecond
	// readErrors in a row mean that the socket is broken.
	readErrors = 100
)

type packet struct {
	buf  *[packetSize]byte
	n    int
	peer netip.AddrPort
	at   time.Time
}

// loop reads, and hands to the workers what they can take.
func (s *Server) loop(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.conn.Close() })
	defer stop()
	queue := make(chan packet, queueLength)
	buffers := sync.Pool{New: func() any { return new([packetSize]byte) }}
	var workers sync.WaitGroup
	for range workerCount {
		workers.Go(func() {
			for p := range queue {
				s.work(ctx, p)
				buffers.Put(p.buf)
			}
		})
	}
	defer workers.Wait()
	defer close(queue)

	failed := 0
	for {
		buf := buffers.Get().(*[packetSize]byte)
		n, from, err := s.conn.ReadFrom(buf[:])
		if err != nil {
			buffers.Put(buf)
			if ctx.Err() != nil {
				return nil
			}
			if failed++; errors.Is(err, net.ErrClosed) || failed >= readErrors {
				return protocol.Errorf(protocol.CodeUnavailable, "DHCP server", "reading from %s: %w", s.conn.LocalAddr(), err)
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
		p := packet{buf: buf, n: n, peer: addrPort(from), at: time.Now()}
		select {
		case queue <- p:
		default:
			buffers.Put(buf)
			s.metrics.drops.Inc()
		}
	}
}

// work answers one packet. A panic costs that packet, not the server.
func (s *Server) work(ctx context.Context, p packet) {
	defer func() {
		if v := recover(); v != nil {
			s.metrics.packets.WithLabelValues(typeUnknown, resultPanic).Inc()
			s.log.Error("dhcp packet caused a panic", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	if ctx.Err() != nil { // the socket is closed; what waits in the queue finds no way out
		return
	}
	reply, to := s.handle(ctx, p.buf[:p.n], p.peer)
	if reply == nil {
		return
	}
	if _, err := s.conn.WriteTo(reply, net.UDPAddrFromAddrPort(to)); err != nil {
		s.metrics.sendErrors.Inc()
		s.log.Warn("dhcp reply not sent", "to", to.String(), "err", err)
		return
	}
	s.metrics.latency.Observe(time.Since(p.at).Seconds())
}

func addrPort(a net.Addr) netip.AddrPort {
	if u, ok := a.(*net.UDPAddr); ok {
		ap := u.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	}
	return netip.AddrPort{}
}
