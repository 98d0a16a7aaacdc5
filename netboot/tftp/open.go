package tftp

import (
	"runtime/debug"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

// open opens the file, agrees on the options and reads the first blocks. The result is
// resultOpen, or empty where there is no transfer: the request was refused.
func (t *transfer) open() result {
	s := t.server
	var err error
	if t.file, err = t.openFile(); err != nil {
		t.refuse(err)
		return ""
	}
	limits, free := s.cfg.Limits, s.book.free()
	room := free / (2 * aheadWindows) // a quarter of what is left, so that there is some for others
	t.terms = agree(t.asked, t.file.Size, limits.ceiling(t.parties.remote.Addr()), room, limits.Retransmit)
	slots := ringSlots(t.file.Size, t.terms.blksize, t.terms.window, room)
	if !s.book.hold(t.entry, ringSize(slots, t.terms.blksize)) {
		s.metrics.requests.WithLabelValues(requestMemory).Inc()
		return "" // silence, as for any want of room
	}
	t.ring = newRing(t.file, t.file.Size, t.terms.blksize, slots)
	t.flow = flow{window: int64(t.terms.window), total: t.ring.total}
	if t.sock, err = t.parties.door.open(t.parties.local, t.parties.remote); err != nil {
		s.log.Warn("tftp transfer has no socket", "err", err)
		return resultSocket
	}
	block, _ := t.ring.wanted(0)
	if err := t.ring.fill(s.pieces, block); err != nil {
		s.log.Warn("tftp file not read", "err", err)
		t.farewell(resultReadError)
		return resultReadError
	}
	t.ring.read = block
	return resultOpen
}

func (t *transfer) openFile() (f *netboot.File, err error) {
	remote := t.parties.remote.Addr()
	if t.target.token != "" {
		f, err = t.server.cfg.Files.Open(remote, t.target.token, t.target.file)
	} else {
		f, err = t.server.cfg.Files.OpenFor(remote, t.target.file)
	}
	if err == nil && f.Size < 0 {
		_ = f.Close()
		return nil, protocol.Errorf(protocol.CodeInternal, "TFTP open", "a file has no size")
	}
	return f, err
}

// farewell tells the client why there is no more, if it has not said so itself.
func (t *transfer) farewell(r result) {
	if last := r.farewell(); last != nil {
		t.write(last, len(last))
	}
}

// close tells of a transfer that has ended, closes what it had and forgets it.
func (t *transfer) close(r result) {
	s := t.server
	defer s.transfers.Done()
	took := time.Since(t.start)
	r = t.guarded(func() result {
		if r == resultDone {
			s.cfg.Evidence.Record(netboot.Event{
				Kind: protocol.EvidenceFetched, Token: t.target.token, File: t.target.file, Remote: t.parties.remote.Addr(), At: s.cfg.Clock(),
			})
		}
		return r
	})
	t.release()
	if r != "" {
		s.metrics.transfers.WithLabelValues(string(r)).Inc()
	}
	if r == resultDone {
		s.metrics.seconds.Observe(took.Seconds())
	}
	s.log.Debug("tftp transfer ended", "remote", t.parties.remote.String(), "result", string(r), "seconds", took.Seconds())
	s.book.leave(t.entry)
	s.turn()
	if r != "" {
		t.traced(string(r), took)
	}
}

// release closes socket and file.
func (t *transfer) release() {
	if t.sock != nil {
		_ = t.sock.Close()
	}
	if t.file != nil {
		_ = t.file.Close() // it was only read
	}
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
		Source: protocol.TraceTFTP, At: s.cfg.Clock().Add(-took), Asked: what, Token: t.target.token, Remote: t.parties.remote.Addr(),
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
	if err := t.parties.door.reply(refusal, t.parties.remote, t.parties.local); err != nil {
		s.metrics.sendErrors.Inc()
	}
}

// guarded calls do. A panic in it costs the transfer, not the server, and is its result.
func (t *transfer) guarded(do func() result) (r result) {
	defer func() {
		if v := recover(); v != nil {
			t.server.log.Error("tftp transfer caused a panic", "panic", v, "stack", string(debug.Stack()))
			r = resultPanic
		}
	}()
	return do()
}
