package tftp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rackboot/protocol"
)

const (
	// stopTimeout is what running transfers get when the server stops.
	stopTimeout = 5 * time.Second
	// readRetry is the pause after a read error that may pass (interface down).
	readRetry = 100 * time.Millisecond
	// readErrors in a row mean that the socket is broken.
	readErrors = 100
	// replyTimeout bounds the sending of an ERROR.
	replyTimeout = time.Second
)

// gate is a door, and the buckets of those who come by it, which are its reader's.
type gate struct {
	door
	buckets *buckets
}

// loop reads requests until ctx ends or a socket breaks.
func (s *Server) loop(ctx context.Context) error {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	closed := context.AfterFunc(reading, func() {
		for _, g := range s.gates {
			_ = g.Close()
		}
	})
	defer closed()
	// Transfers outlive ctx by at most stopTimeout, and a broken socket not at all.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var transfers sync.WaitGroup
	defer func() {
		end := time.AfterFunc(stopTimeout, stop)
		defer end.Stop()
		transfers.Wait()
	}()
	var readers errgroup.Group
	for _, g := range s.gates {
		readers.Go(func() error {
			err := s.read(reading, running, g, &transfers)
			if err != nil {
				stop()
			}
			cancel()
			return err
		})
	}
	return readers.Wait()
}

// read starts a goroutine for each request that is let in.
func (s *Server) read(ctx, running context.Context, g gate, transfers *sync.WaitGroup) error {
	failed := 0
	buf := make([]byte, maxRequest+1)
	for {
		n, from, local, err := g.next(buf)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if failed++; errors.Is(err, net.ErrClosed) || failed >= readErrors {
				return protocol.Errorf(protocol.CodeUnavailable, "TFTP server", "reading from %s: %w", g.LocalAddr(), err)
			}
			s.log.Warn("tftp read failed", "err", err)
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(readRetry):
			}
			continue
		}
		failed = 0
		s.packet(running, transfers, g, buf[:n], from, local)
	}
}

// packet does with a packet to the server's port what admit says.
func (s *Server) packet(ctx context.Context, transfers *sync.WaitGroup, g gate, b []byte, from netip.AddrPort, local netip.Addr) {
	if !from.IsValid() || from.Port() == 0 {
		return // nobody to answer
	}
	k, req := parseRequest(b)
	s.admitting.Lock()
	defer s.admitting.Unlock()
	token := k != kindOther && g.buckets.take(from.Addr(), time.Now())
	what, named := parseName(req.name)
	repeated, room := s.book.look(from, b)
	o := admit(k, token, req.mode == modeOctet, named, repeated, room)
	s.metrics.requests.WithLabelValues(string(o)).Inc()
	s.log.Debug("tftp request", "remote", from.String(), "outcome", string(o))
	if o == outcomeServe {
		t := &transfer{
			server: s, door: g, entry: s.book.enter(from, b), asked: req.asked, target: what, remote: from, local: local,
			start: time.Now(),
		}
		transfers.Go(func() { s.run(ctx, t) })
		return
	}
	if refusal := o.refusal(); refusal != nil {
		if err := g.reply(refusal, from, local); err != nil {
			s.metrics.sendErrors.Inc()
		}
	}
}

// run carries a transfer out and counts it. A panic costs that transfer, not the
// server.
func (s *Server) run(ctx context.Context, t *transfer) {
	r := resultPanic
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("tftp transfer caused a panic", "panic", v, "stack", string(debug.Stack()))
		}
		took := time.Since(t.start)
		if r != "" {
			s.metrics.transfers.WithLabelValues(string(r)).Inc()
		}
		if r == resultDone {
			s.metrics.seconds.Observe(took.Seconds())
		}
		s.log.Debug("tftp transfer ended", "remote", t.remote.String(), "result", string(r), "seconds", took.Seconds())
		s.book.leave(t.entry)
		if r != "" {
			t.traced(string(r), took)
		}
	}()
	r = t.run(ctx)
}

// reply sends an ERROR to a client that has no transfer, from a port of its own
// like any answer.
func (g gate) reply(b []byte, to netip.AddrPort, local netip.Addr) error {
	c, err := g.open(local)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetWriteDeadline(time.Now().Add(replyTimeout))
	_, err = c.WriteToUDPAddrPort(b, to)
	return err
}
