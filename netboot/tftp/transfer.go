package tftp

import (
	"errors"
	"net/netip"
	"time"

	"rackboot/netboot"
)

// maxStrangers is how many packets from elsewhere a transfer answers (RFC 1350
// section 4: ERROR 5).
const maxStrangers = 8

// transfer is one file on its way to one client. It belongs to the goroutine that opens
// it, then to its carrier, and at the end to the one that closes it.
type transfer struct {
	server  *Server
	entry   *entry
	asked   asked
	target  target
	parties parties
	start   time.Time

	file  *netboot.File
	terms terms
	ring  *ring
	sock  socket
	flow  flow
	begun bool // the client has acknowledged something
	clock clock
	alarm alarm

	filling   bool // somebody reads the file
	stalled   bool // and the next window waits for it
	strangers int
	over      bool
	result    result // once it is over
	buf       [headerSize]byte
}

// parties are who exchanges packets.
type parties struct {
	door   gate // that the request came by
	remote netip.AddrPort
	local  netip.Addr
}

// clock is when a transfer goes on without the client.
type clock struct {
	quiet    time.Time // since when there was no news
	resend   time.Time // when the window is sent again
	times    int       // how often it was, since there was news
	deadline time.Time
}

// begin sends the first packet.
func (t *transfer) begin(now time.Time) {
	t.clock.quiet, t.clock.deadline = now, t.start.Add(t.server.cfg.Limits.Answer)
	t.send(now)
}

// send sends the OACK, or what is due of the file once it was read.
func (t *transfer) send(now time.Time) {
	if t.terms.oack != nil && !t.begun {
		t.write(t.terms.oack, len(t.terms.oack))
		t.flow.at = now
	} else {
		if t.stalled = t.flow.end() > t.ring.read; t.stalled {
			return // until filled
		}
		first, last, again := t.flow.due(now)
		for next := first; next <= last; {
			b, end := t.ring.run(next, last)
			t.write(b, int(t.ring.stride()))
			next = end + 1
		}
		if first <= last {
			t.server.metrics.bytes.Add(float64(min(last*t.ring.blksize, t.ring.size) - (first-1)*t.ring.blksize))
		}
		if again > 0 {
			t.server.metrics.retransmits.Add(float64(again))
		}
	}
	t.clock.resend = now.Add(t.patience())
}

// patience is how long the client may take before the window is sent again.
func (t *transfer) patience() time.Duration {
	if t.terms.fixed {
		return t.terms.timer
	}
	return t.flow.rtt.resend(t.clock.times, t.terms.timer)
}

// write sends packets of a size. What the host does not take counts as lost, and the timer
// repeats it.
func (t *transfer) write(b []byte, size int) {
	if err := t.sock.send(b, size, t.parties.remote); err != nil {
		t.server.metrics.sendErrors.Inc()
	}
}

// wakes is when to call late, if nothing comes.
func (t *transfer) wakes() time.Time {
	at := t.clock.deadline
	if t.stalled {
		return at
	}
	for _, other := range [...]time.Time{t.clock.resend, t.flow.hurry, t.givesUp()} {
		if !other.IsZero() && other.Before(at) {
			at = other
		}
	}
	return at
}

// givesUp is until when the client must say something new. That is as long as before its
// round trips were known.
func (t *transfer) givesUp() time.Time {
	return t.clock.quiet.Add(time.Duration(t.server.cfg.Limits.Tries+1) * t.terms.timer)
}

// late sends again what the client should have answered, or ends the transfer.
func (t *transfer) late(now time.Time) result {
	switch {
	case !now.Before(t.clock.deadline):
		return t.overdue()
	case t.stalled:
		return ""
	case t.flow.late():
	case !now.Before(t.givesUp()):
		return resultTimeout
	default:
		t.clock.times++
	}
	t.send(now)
	return ""
}

// overdue is the result at the deadline: one that nobody ever answered is a
// timeout.
func (t *transfer) overdue() result {
	if !t.begun {
		return resultTimeout
	}
	return resultDeadline
}

// readable takes one packet, and sends what is due then.
func (t *transfer) readable() result {
	n, from, err := t.sock.receive(t.buf[:])
	switch {
	case errors.Is(err, errNothing):
		return ""
	case err != nil:
		t.server.log.Warn("tftp transfer lost its socket", "err", err)
		return resultSocket
	case from != t.parties.remote:
		t.stranger(t.buf[:n], from)
		return ""
	}
	now := time.Now()
	news, r := t.take(t.buf[:n], now)
	if !news || r != "" {
		return r
	}
	if t.flow.base == t.ring.total {
		return resultDone
	}
	t.clock.quiet, t.clock.times = now, 0
	t.send(now)
	return ""
}

// take reads a packet of the client.
func (t *transfer) take(b []byte, now time.Time) (news bool, r result) {
	n, ok := number(b)
	if !ok {
		return false, ""
	}
	switch opcode(b) {
	case opError:
		return false, ended(t.begun, t.asked.tsize, n)
	case opAck:
		if t.terms.oack == nil || t.begun {
			news = t.flow.acked(n, now)
		} else if news = n == 0; news && t.clock.times == 0 { // acknowledges the OACK (RFC 2347)
			t.flow.answered(now)
		}
		if news && !t.begun {
			t.begun = true
			t.entry.begun.Store(true)
			t.clock.deadline = t.start.Add(t.server.cfg.Limits.Deadline)
		}
	}
	return news, ""
}

// stranger answers what comes from another port than the client's, and goes on.
func (t *transfer) stranger(b []byte, from netip.AddrPort) {
	if t.strangers++; t.strangers > maxStrangers || opcode(b) == opError || from.Port() == 0 {
		return
	}
	refusal := errorPacket(errTID, "unknown transfer")
	if err := t.sock.send(refusal, len(refusal), from); err != nil {
		t.server.metrics.sendErrors.Inc()
	}
}

// filled goes on after the file was read up to a block.
func (t *transfer) filled(block int64, now time.Time) {
	t.ring.read = block
	if t.stalled {
		t.clock.quiet = now
		t.send(now)
	}
}
