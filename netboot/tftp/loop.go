package tftp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"runtime"
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
)

// gate is a door, and the buckets of those who come by it, which are its reader's.
type gate struct {
	door
	buckets *buckets
}

// loop reads requests until ctx ends or a socket breaks. Transfers outlive ctx by at most
// stopTimeout, and a broken socket not at all.
func (s *Server) loop(ctx context.Context) error {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	closed := context.AfterFunc(reading, func() {
		for _, g := range s.gates {
			_ = g.Close()
		}
	})
	defer closed()
	if err := s.staff(); err != nil {
		cancel()
		return err
	}
	var carrying sync.WaitGroup
	for _, c := range s.carriers {
		carrying.Go(func() {
			c.run()
			c.close()
		})
	}
	var readers errgroup.Group
	for _, g := range s.gates {
		readers.Go(func() error {
			defer cancel()
			return s.read(reading, g)
		})
	}
	err := readers.Wait()
	s.end(err == nil)
	carrying.Wait()
	return err
}

// staff makes the carriers.
func (s *Server) staff() error {
	for range runtime.GOMAXPROCS(0) {
		p, err := s.gates[0].poller()
		if err != nil {
			for _, c := range s.carriers {
				c.close()
			}
			return protocol.Errorf(protocol.CodeUnavailable, "TFTP server", "waiting for packets: %w", err)
		}
		s.carriers = append(s.carriers, newCarrier(s, p))
	}
	return nil
}

// end waits until all transfers have ended, for stopTimeout or not at all, and ends those
// that have not.
func (s *Server) end(patient bool) {
	s.stopping.Store(true)
	s.book.dismiss()
	stop := func() {
		for _, c := range s.carriers {
			c.post(post{})
		}
	}
	if patient {
		over := time.AfterFunc(stopTimeout, stop)
		s.transfers.Wait()
		over.Stop()
	}
	stop()
	s.transfers.Wait()
}

// read lets requests in.
func (s *Server) read(ctx context.Context, g gate) error {
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
		s.packet(g, buf[:n], from, local)
	}
}

// packet does with a packet to the server's port what admit says.
func (s *Server) packet(g gate, b []byte, from netip.AddrPort, local netip.Addr) {
	if !from.IsValid() || from.Port() == 0 {
		return // nobody to answer
	}
	k, req := parseRequest(b)
	s.admitting.Lock()
	defer s.admitting.Unlock()
	now := time.Now()
	token := k != kindOther && g.buckets.take(from.Addr(), now)
	what, named := parseName(req.name)
	repeated, room := s.book.look(from, b, now)
	o := admit(k, token, req.mode == modeOctet, named, repeated, room)
	s.metrics.requests.WithLabelValues(string(o)).Inc()
	s.log.Debug("tftp request", "remote", from.String(), "outcome", string(o))
	if o == outcomeServe || o == outcomeWait {
		t := &transfer{
			server: s, asked: req.asked, target: what, parties: parties{g, from, local}, start: now, alarm: alarm{place: -1},
		}
		if o == outcomeWait {
			s.book.wait(t, b, now)
			s.turn() // the last one that ran may have ended meanwhile
			return
		}
		t.entry = s.book.enter(from, b)
		s.begin(t)
		return
	}
	if refusal := o.refusal(); refusal != nil {
		if err := g.reply(refusal, from, local); err != nil {
			s.metrics.sendErrors.Inc()
		}
	}
}

// begin opens a transfer and gives it to the carrier that has the fewest.
func (s *Server) begin(t *transfer) {
	s.transfers.Add(1)
	go func() {
		r := t.guarded(t.open)
		if r != resultOpen {
			t.close(r)
			return
		}
		least := s.carriers[0]
		for _, c := range s.carriers[1:] {
			if c.load.Load() < least.load.Load() {
				least = c
			}
		}
		least.load.Add(1)
		least.post(post{of: t, result: resultOpen})
	}()
}

// turn begins the transfers of requests that waited, as far as there is room. The caller is
// a reader, or a transfer that has ended and is not done yet.
func (s *Server) turn() {
	if s.stopping.Load() {
		return
	}
	now := time.Now()
	for t := s.book.turn(now); t != nil; t = s.book.turn(now) {
		t.start = now
		s.begin(t)
	}
}

// reply sends an ERROR to a client that has no transfer, from a port of its own
// like any answer.
func (g gate) reply(b []byte, to netip.AddrPort, local netip.Addr) error {
	c, err := g.open(local, to)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.send(b, len(b), to)
}
