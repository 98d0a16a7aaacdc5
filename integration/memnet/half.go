package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// bufferSize is how many bytes one direction holds before a write waits, about
// that of a TCP socket.
const bufferSize = 64 << 10

// half is one direction of a connection.
type half struct {
	mu     sync.Mutex
	wake   *sync.Cond
	buf    []byte
	eof    bool // the writer closed
	gone   bool // the reader closed
	frozen bool // bytes are lost on the way
	reads  deadline
	writes deadline
}

func newHalf() *half {
	h := &half{}
	h.wake = sync.NewCond(&h.mu)
	return h
}

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.gone:
			return 0, net.ErrClosed
		case h.reads.passed:
			return 0, os.ErrDeadlineExceeded
		case len(h.buf) > 0:
			n := copy(p, h.buf)
			h.buf = h.buf[n:]
			h.wake.Broadcast()
			return n, nil
		case h.eof:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		h.wake.Wait()
	}
}

func (h *half) write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	done := 0
	for {
		switch {
		case h.eof:
			return done, net.ErrClosed
		case h.writes.passed:
			return done, os.ErrDeadlineExceeded
		case h.gone:
			return done, io.ErrClosedPipe
		case h.frozen:
			return len(p), nil
		}
		n := min(len(p)-done, bufferSize-len(h.buf))
		h.buf = append(h.buf, p[done:done+n]...)
		done += n
		if n > 0 {
			h.wake.Broadcast()
		}
		if done == len(p) {
			return done, nil
		}
		h.wake.Wait()
	}
}

// set changes a flag under the lock and wakes both sides.
func (h *half) set(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
	h.wake.Broadcast()
}

// deadline is one deadline of a half; its lock is the half's.
type deadline struct {
	timer  *time.Timer
	passed bool
	round  int
}

func (h *half) setDeadline(d *deadline, t time.Time) {
	h.set(func() {
		d.round++
		d.passed = false
		if d.timer != nil {
			d.timer.Stop()
			d.timer = nil
		}
		if t.IsZero() {
			return
		}
		wait := time.Until(t)
		if wait <= 0 {
			d.passed = true
			return
		}
		round := d.round
		d.timer = time.AfterFunc(wait, func() {
			h.set(func() {
				if d.round == round {
					d.passed = true
				}
			})
		})
	})
}
