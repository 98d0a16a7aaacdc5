package leasing

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"rackboot/protocol"
)

// Socket is where packets come from. M is what it knows of a packet beside its sender.
type Socket[M any] interface {
	ReadFrom(b []byte) (n int, from netip.AddrPort, mark M, err error)
	LocalAddr() net.Addr
}

// Packet is what came from a socket. Data is valid until the packet is answered.
type Packet[M any] struct {
	Data []byte
	From netip.AddrPort
	Mark M

	// At is when it came.
	At time.Time

	buf *[PacketSize]byte
}

// Server answers packets, several at once.
type Server[M any] interface {
	// Answer sends the reply to a packet and returns where it went; the zero AddrPort
	// says that there is none, or that it is sent later: see [Metrics.Sent]. An error says that the
	// reply was not sent. It calls [Waits] before it waits.
	Answer(ctx context.Context, p Packet[M]) (to netip.AddrPort, err error)
	// Asker takes a first look at a packet, which may be anything. It is called for each, by
	// whoever reads.
	Asker(data []byte, from netip.AddrPort) Asker
	// Writes reports whether the answer to a packet may wait for the disk, as an ACK does. Such
	// packets have a lane of their own: an OFFER waits for no lease of others.
	Writes(a Asker) bool
}

// Queue takes packets from sockets to the server, by two lanes: of packets whose answer may wait for
// the disk, and of the others. In each, packets are taken one after the other by whoever has its turn. What does not fit is dropped and counted; so is what is beyond the
// share of its [Asker] where the lane is half full.
type Queue[M any] struct {
	server  Server[M]
	metrics *Metrics
	log     *slog.Logger
	packets chan Packet[M]
	writes  chan Packet[M]
	buffers sync.Pool
}

// NewQueue makes an empty one, to be run once.
func NewQueue[M any](s Server[M], m *Metrics, log *slog.Logger) *Queue[M] {
	return &Queue[M]{
		server: s, metrics: m, log: log.With("protocol", m.words.Protocol), packets: make(chan Packet[M], QueueLength),
		writes: make(chan Packet[M], QueueLength), buffers: sync.Pool{New: func() any { return new([PacketSize]byte) }},
	}
}

// Run reads a socket until ctx ends or the socket breaks, which is an unavailable error,
// and returns when no packet is in work any more. Of each lane so many packets are in work at once, all but
// one of which wait. beside is what else is done meanwhile; stop closes all that is read.
func (q *Queue[M]) Run(ctx context.Context, most int, s Socket[M], stop func(), beside ...func(context.Context)) error {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(stopped)
		stop()
	})
	var working, others sync.WaitGroup
	lanes := [...]chan Packet[M]{q.packets, q.writes}
	for _, packets := range lanes {
		l := &lane[M]{packets: packets, most: most}
		l.serve(ctx, &working, func(ctx context.Context, p Packet[M]) {
			q.work(ctx, p)
			q.buffers.Put(p.buf)
		})
	}
	for _, f := range beside {
		others.Go(func() { f(ctx) })
	}
	err := q.Read(ctx, s)
	cancel()
	<-stopped
	others.Wait()
	for _, lane := range lanes {
		close(lane)
	}
	working.Wait()
	return err
}

// Read hands to the workers what they can take. It is for Run, and for other sockets
// beside it.
func (q *Queue[M]) Read(ctx context.Context, s Socket[M]) error {
	failed, shares := 0, newShares()
	for {
		buf := q.buffers.Get().(*[PacketSize]byte)
		n, from, mark, err := s.ReadFrom(buf[:])
		if err != nil {
			q.buffers.Put(buf)
			if ctx.Err() != nil {
				return nil
			}
			if failed++; errors.Is(err, net.ErrClosed) || failed >= ReadErrors {
				return protocol.Errorf(protocol.CodeUnavailable, q.metrics.words.Server, "reading from %s: %w", s.LocalAddr(), err)
			}
			q.log.Warn("dhcp read failed", "err", err)
			if !Pause(ctx, ReadRetry) {
				return nil
			}
			continue
		}
		failed = 0
		now, asker, lane := time.Now(), q.server.Asker(buf[:n], from), q.packets
		if q.server.Writes(asker) {
			lane = q.writes
		}
		if allowed := shares.allow(asker, now); !allowed && 2*len(lane) >= cap(lane) {
			q.buffers.Put(buf)
			q.metrics.Drops.Inc()
			continue
		}
		select {
		case lane <- Packet[M]{Data: buf[:n], From: from, Mark: mark, At: now, buf: buf}:
		default:
			q.buffers.Put(buf)
			q.metrics.Drops.Inc()
		}
	}
}

// work answers one packet. A panic costs that packet, not the server.
func (q *Queue[M]) work(ctx context.Context, p Packet[M]) {
	defer q.metrics.Recover(q.log)
	if ctx.Err() != nil { // the socket is closed; what waits in the queue finds no way out
		return
	}
	to, err := q.server.Answer(ctx, p)
	q.metrics.Sent(q.log, p.At, to, err)
}

// Pause waits, and reports whether ctx goes on.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
