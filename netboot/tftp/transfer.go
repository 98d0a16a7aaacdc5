package tftp

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

// maxStrangers is how many packets from elsewhere a transfer answers (RFC 1350
// section 4: ERROR 5).
const maxStrangers = 8

// transfer is one file on its way to one client. It belongs to one goroutine.
type transfer struct {
	server *Server
	door   gate // that the request came by
	entry  *entry
	asked  asked
	target target
	remote netip.AddrPort
	local  netip.Addr
	start  time.Time

	terms     terms
	ring      *ring
	sock      socket
	stopped   atomic.Bool
	flow      flow
	begun     bool // the client has acknowledged something
	deadline  time.Time
	strangers int
	// buf takes the opcode and the number; what comes after them is for people.
	buf [headerSize]byte
}

// run opens the file, agrees on the options and sends. The result is empty where
// there was no transfer: the request was refused.
func (t *transfer) run(ctx context.Context) result {
	s := t.server
	file, err := t.openFile()
	if err != nil {
		t.refuse(err)
		return ""
	}
	defer file.Close()
	limits := s.cfg.Limits
	// The room is for the windows and for what is read at once, which is not more.
	t.terms = agree(t.asked, file.Size, limits.ceiling(t.remote.Addr()), s.book.free()/(2*aheadWindows), limits.Retransmit)
	if !s.book.hold(t.entry, ringSize(file.Size, t.terms.blksize, t.terms.window)) {
		s.metrics.requests.WithLabelValues(requestMemory).Inc()
		return "" // silence, as for any want of room
	}
	t.ring = newRing(file, file.Size, t.terms.blksize, t.terms.window)
	t.flow = flow{window: int64(t.terms.window), total: t.ring.total}
	if t.sock, err = t.door.open(t.local); err != nil {
		s.log.Warn("tftp transfer has no socket", "err", err)
		return resultSocket
	}
	defer t.sock.Close()
	defer context.AfterFunc(ctx, func() {
		t.stopped.Store(true)
		_ = t.sock.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
	})()
	t.deadline = t.start.Add(limits.Answer)
	r := t.exchange()
	if r == resultDone {
		s.cfg.Evidence.Record(netboot.Event{
			Kind: protocol.EvidenceFetched, Token: t.target.token, File: t.target.file, Remote: t.remote.Addr(), At: s.cfg.Clock(),
		})
	}
	if last := r.farewell(); last != nil {
		t.write(last)
	}
	return r
}

func (t *transfer) openFile() (f *netboot.File, err error) {
	if t.target.token != "" {
		f, err = t.server.cfg.Files.Open(t.remote.Addr(), t.target.token, t.target.file)
	} else {
		f, err = t.server.cfg.Files.OpenFor(t.remote.Addr(), t.target.file)
	}
	if err == nil && f.Size < 0 {
		_ = f.Close()
		return nil, protocol.Errorf(protocol.CodeInternal, "TFTP open", "a file has no size")
	}
	return f, err
}

// traced tells the caller what became of the transfer.
func (t *transfer) traced(what string, took time.Duration) {
	s := t.server
	if s.cfg.Trace == nil {
		return
	}
	var acked int64
	if t.ring != nil {
		acked = min(t.flow.base*t.ring.blksize, t.ring.size)
	}
	s.cfg.Trace(netboot.Exchange{
		Source: protocol.TraceTFTP, At: s.cfg.Clock().Add(-took), Asked: what, Token: t.target.token, Remote: t.remote.Addr(),
		File: t.target.file, Bytes: acked, Took: took,
	})
}

// refuse answers by the error's code. What is denied does not exist, so that a
// stranger learns nothing from the difference, and because shim goes on to its next
// file only after ERROR 1. The error is logged, the client sees only the code.
func (t *transfer) refuse(err error) {
	s, refusal := t.server, errorPacket(errNotFound, "file not found")
	t.traced("refused: "+string(protocol.CodeOf(err)), time.Since(t.start))
	switch code := protocol.CodeOf(err); code {
	case protocol.CodeNotFound, protocol.CodeDenied, protocol.CodeInvalid:
		s.metrics.requests.WithLabelValues(requestNotFound).Inc()
	default:
		s.metrics.requests.WithLabelValues(requestFailed).Inc()
		s.log.Warn("tftp request failed", "code", code, "err", err)
		refusal = errorPacket(errUndefined, "not available now")
	}
	if err := t.door.reply(refusal, t.remote, t.local); err != nil {
		s.metrics.sendErrors.Inc()
	}
}

// exchange sends and waits in turn until the transfer has ended.
func (t *transfer) exchange() result {
	tries := 0
	for {
		if err := t.send(); err != nil {
			t.server.log.Warn("tftp file not read", "err", err)
			return resultReadError
		}
		news, r := t.wait()
		switch {
		case r != "":
			return r
		case news && t.flow.base == t.ring.total:
			return resultDone
		case news:
			tries = 0
		case t.flow.late():
		default:
			if tries++; tries > t.server.cfg.Limits.Tries {
				return resultTimeout
			}
		}
	}
}

// send sends the OACK, or what is due of the file, and reads the next window
// ahead.
func (t *transfer) send() error {
	now := time.Now()
	_ = t.sock.SetWriteDeadline(now.Add(t.terms.timer))
	if t.terms.oack != nil && !t.begun {
		t.write(t.terms.oack)
		t.flow.at = now
		return t.ring.fill(0, t.ring.total)
	}
	first, last, again := t.flow.due(now)
	if err := t.ring.fill(t.flow.base, last); err != nil {
		return err
	}
	bytes := 0
	for block := first; block <= last; block++ {
		p := t.ring.packet(block)
		t.write(p)
		bytes += len(p) - headerSize
	}
	t.server.metrics.bytes.Add(float64(bytes))
	t.server.metrics.retransmits.Add(float64(again))
	return t.ring.fill(t.flow.base, t.ring.total) // as far as there is room
}

// write sends a packet. One that the host does not take counts as lost, and the
// timer repeats it.
func (t *transfer) write(b []byte) {
	if _, err := t.sock.WriteToUDPAddrPort(b, t.remote); err != nil {
		t.server.metrics.sendErrors.Inc()
	}
}

// wait waits until the client acknowledges something new. Without news and
// without a result, its time is up, and what was sent is to be sent again.
func (t *transfer) wait() (news bool, r result) {
	until := time.Now().Add(t.terms.timer)
	for {
		_ = t.sock.SetReadDeadline(t.until(until))
		if t.stopped.Load() { // after the deadline was set: whoever stops sets it later
			return false, resultStopped
		}
		n, from, err := t.sock.ReadFromUDPAddrPort(t.buf[:])
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			if t.stopped.Load() {
				return false, resultStopped
			}
			if !time.Now().Before(t.deadline) {
				return false, t.overdue()
			}
			return false, ""
		case err != nil:
			t.server.log.Warn("tftp transfer lost its socket", "err", err)
			return false, resultSocket
		case from != t.remote:
			t.stranger(t.buf[:n], from)
		default:
			if news, r = t.take(t.buf[:n]); news || r != "" {
				return news, r
			}
		}
	}
}

// until is the earliest of the timer, the flow's own and the deadline in all.
func (t *transfer) until(timer time.Time) time.Time {
	if t.flow.hurry.After(time.Time{}) && t.flow.hurry.Before(timer) {
		timer = t.flow.hurry
	}
	if t.deadline.Before(timer) {
		timer = t.deadline
	}
	return timer
}

// overdue is the result at the deadline: one that nobody ever answered is a
// timeout.
func (t *transfer) overdue() result {
	if !t.begun {
		return resultTimeout
	}
	return resultDeadline
}

// take reads a packet of the client.
func (t *transfer) take(b []byte) (news bool, r result) {
	n, ok := number(b)
	if !ok {
		return false, ""
	}
	switch opcode(b) {
	case opError:
		return false, ended(t.begun, t.asked.tsize, n)
	case opAck:
		if t.terms.oack != nil && !t.begun {
			if news = n == 0; news { // acknowledges the OACK (RFC 2347)
				t.flow.trip = time.Since(t.flow.at)
			}
		} else {
			news = t.flow.acked(n, time.Now())
		}
		if news && !t.begun {
			t.begun = true
			t.entry.begun.Store(true)
			t.deadline = t.start.Add(t.server.cfg.Limits.Deadline)
		}
	}
	return news, ""
}

// stranger answers what comes from another port than the client's, and goes on.
func (t *transfer) stranger(b []byte, from netip.AddrPort) {
	if t.strangers++; t.strangers > maxStrangers || opcode(b) == opError || from.Port() == 0 {
		return
	}
	if _, err := t.sock.WriteToUDPAddrPort(errorPacket(errTID, "unknown transfer"), from); err != nil {
		t.server.metrics.sendErrors.Inc()
	}
}
