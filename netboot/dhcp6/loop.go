package dhcp6

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
	buf       *[packetSize]byte
	n         int
	peer      netip.AddrPort
	multicast bool
	at        time.Time
}

// loop runs the reader, the workers and the watch for routers until ctx ends or the
// DHCPv6 socket breaks. That the watch breaks is logged: the server is of use
// without it.
func (s *Server) loop(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = s.port.Close()
		if s.adverts != nil {
			_ = s.adverts.Close()
		}
	})
	queue := make(chan inbound, queueLength)
	buffers := newBuffers()
	var workers, others sync.WaitGroup
	for range workerCount {
		workers.Go(func() {
			for p := range queue {
				s.work(ctx, p)
				buffers.Put(p.buf)
			}
		})
	}
	others.Go(func() { s.forget(ctx) }) // what loading found to be over
	if s.adverts != nil {
		others.Go(func() {
			if err := s.hear(ctx); err != nil {
				s.log.Error("router advertisements are not checked any more", "err", err)
			}
		})
		others.Go(func() { s.checkRouters(ctx) })
	}
	err := s.read(ctx, queue, buffers)
	cancel()
	<-closed
	others.Wait()
	close(queue)
	workers.Wait()
	return err
}

func newBuffers() *sync.Pool {
	return &sync.Pool{New: func() any { return new([packetSize]byte) }}
}

// read hands to the workers what they can take.
func (s *Server) read(ctx context.Context, queue chan<- inbound, buffers *sync.Pool) error {
	failed := 0
	for {
		buf := buffers.Get().(*[packetSize]byte)
		n, from, multicast, err := s.port.ReadFrom(buf[:])
		if err != nil {
			buffers.Put(buf)
			if ctx.Err() != nil {
				return nil
			}
			if failed++; errors.Is(err, net.ErrClosed) || failed >= readErrors {
				return protocol.Errorf(protocol.CodeUnavailable, "DHCPv6 server", "reading from %s: %w", s.port.LocalAddr(), err)
			}
			s.log.Warn("dhcpv6 read failed", "err", err)
			if !pause(ctx, readRetry) {
				return nil
			}
			continue
		}
		failed = 0
		select {
		case queue <- inbound{buf: buf, n: n, peer: from, multicast: multicast, at: time.Now()}:
		default:
			buffers.Put(buf)
			s.metrics.drops.Inc()
		}
	}
}

// work answers one message. A panic costs that message, not the server.
func (s *Server) work(ctx context.Context, p inbound) {
	defer func() {
		if v := recover(); v != nil {
			s.metrics.packets.WithLabelValues(typeUnknown, resultPanic).Inc()
			s.log.Error("dhcpv6 message caused a panic", "panic", v, "stack", string(debug.Stack()))
		}
	}()
	if ctx.Err() != nil { // the socket is closed; what waits in the queue finds no way out
		return
	}
	out, to := s.respond(ctx, p.buf[:p.n], p.peer, p.multicast)
	if out == nil {
		return
	}
	if err := s.port.WriteTo(out, to); err != nil {
		s.metrics.sendErrors.Inc()
		s.log.Warn("dhcpv6 reply not sent", "to", to.String(), "err", err)
		return
	}
	s.metrics.latency.Observe(time.Since(p.at).Seconds())
}

// pause waits; false says that ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
